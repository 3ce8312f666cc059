"""The import surface: every name that programs can import from a module of PyFlink, and its origin here.

``python -m tests.parity.surface`` writes the table of names that PyFlink's modules have and ours lack,
``src/flintstream/compat/names.json``. With the path of a JSON file, which maps module -> name -> versions, it takes the
names from there into ``surface.json`` first.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from flintstream.compat._module_proxies import MODULE, STAND_IN, TYPE_VARIABLE, module_behind

SURFACE = Path(__file__).with_name("surface.json")
"""Facts only. ``names``: module -> versions -> the names that these versions can import from it; ``table``: names of
the Table API, of 2.3; ``without_all``: modules of 2.3 without ``__all__``."""

TABLE = Path(__file__).parents[2] / "src" / "flintstream" / "compat" / "names.json"

ELSEWHERE = (
    *("abc", "typing", "enum", "io", "itertools", "threading", "logging", "datetime", "textwrap", "inspect"),
    *("functools", "py4j.protocol", "py4j.java_gateway", "flintstream.compat.home.window_hashes"),
)
"""Modules from which PyFlink imports names; the first that has a name is its origin."""

VARIABLE = re.compile(r"[A-Z]{1,3}[12]?")
"""The form of the names of type variables."""


@cache
def surface() -> dict[str, dict[str, str]]:
    """Return module -> name -> versions, without the Table API."""
    names = json.loads(SURFACE.read_text(encoding="utf-8"))["names"]
    return {
        module: {name: versions for versions, text in of.items() for name in text.split()}
        for module, of in names.items()
    }


@cache
def table_surface() -> dict[str, list[str]]:
    """Return module -> names of the Table API."""
    names = json.loads(SURFACE.read_text(encoding="utf-8"))["table"]
    return {module: text.split() for module, text in names.items()}


def take(path: Path) -> None:
    """Add the names of ``path`` to ``surface.json``."""
    kept = json.loads(SURFACE.read_text(encoding="utf-8"))
    names: dict[str, dict[str, list[str]]] = {}
    for module, of in json.loads(path.read_text(encoding="utf-8")).items():
        for name, versions in sorted(of.items()):
            names.setdefault(module, {}).setdefault(" ".join(versions), []).append(name)
    kept["names"] = {module: {v: " ".join(n) for v, n in sorted(of.items())} for module, of in names.items()}
    SURFACE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


@cache
def behind(module: str) -> ModuleType | None:
    """Return our module for one of PyFlink's."""
    name = module_behind(module)
    return None if name is None else import_module(name)


def is_ours(module: str, name: str) -> bool:
    """Return whether our module has the name itself: it exports or defines it."""
    ours = behind(module)
    if ours is None or name not in vars(ours):
        return ours is not None and name in getattr(ours, "__all__", ())
    value = getattr(ours, name)
    if name in getattr(ours, "__all__", ()) or getattr(value, "__module__", None) == ours.__name__:
        return True
    return isinstance(value, ModuleType) and value.__name__ == f"{ours.__name__}.{name}"


@cache
def homes() -> dict[str, str]:
    """Return the home module of each of our names: the defining one, else the deepest."""
    found: dict[str, list[str]] = defaultdict(list)
    for module, of in surface().items():
        for name in of:
            if is_ours(module, name):
                found[name].append(module)

    def rank(name: str, module: str) -> tuple[bool, int, str]:
        defined = getattr(getattr(behind(module), name, None), "__module__", "")
        return defined == getattr(behind(module), "__name__", None), module.count("."), module

    return {name: max(modules, key=lambda module: rank(name, module)) for name, modules in found.items()}


def origin(module: str, name: str) -> str | None:
    """Return the origin of a name, None if our module has it itself."""
    if is_ours(module, name) or f"{module}.{name}" in surface():
        return None
    if name in sys.stdlib_module_names:
        return MODULE
    siblings = [full.rpartition(".")[0] for full in surface() if full.endswith(f".{name}")]
    if siblings:
        return siblings[0]
    if name in homes() and not VARIABLE.fullmatch(name):
        return homes()[name]
    for elsewhere in ELSEWHERE:
        if hasattr(import_module(elsewhere), name):
            return elsewhere
    if name == "py4j":
        return MODULE
    return TYPE_VARIABLE if VARIABLE.fullmatch(name) else STAND_IN


def table_origin(module: str, name: str) -> str | None:
    """Return the origin of a name of the Table API."""
    if is_ours(module, name) or f"{module}.{name}" in table_surface():
        return None
    found = next((m for m in table_surface() if m != module and is_ours(m, name)), None)
    return found or (STAND_IN if VARIABLE.fullmatch(name) else homes().get(name, STAND_IN))


def names() -> dict[str, dict[str, list[str]]]:
    """Return module -> origin -> names."""
    found: dict[str, dict[str, list[str]]] = {}
    for origin_of, surfaces in ((origin, surface()), (table_origin, table_surface())):
        for module, of in surfaces.items():
            for name in sorted(of):
                where = origin_of(module, name)
                if where is not None:
                    found.setdefault(module, {}).setdefault(where, []).append(name)
    return found


def names_of(module: str) -> tuple[list[str], list[str], list[str]]:
    """Return the names that our module has itself, the re-exports, and the stand-ins."""
    origins = {name: origin(module, name) for name in surface()[module]}
    ours = [name for name, where in origins.items() if where is None]
    stand_ins = [name for name, where in origins.items() if where == STAND_IN]
    return ours, [name for name in origins if name not in ours and name not in stand_ins], stand_ins


def counts() -> tuple[int, int, int]:
    """Return the numbers of names that our modules have themselves, of re-exports, and of stand-ins."""
    ours, elsewhere, stand_ins = zip(*map(names_of, surface()), strict=True)
    return sum(map(len, ours)), sum(map(len, elsewhere)), sum(map(len, stand_ins))


def table() -> str:
    """Return the table of names, as JSON."""
    found = {
        module: {where: " ".join(values) for where, values in sorted(of.items())}
        for module, of in sorted(names().items())
    }
    without = [*json.loads(SURFACE.read_text(encoding="utf-8"))["without_all"], *table_surface()]
    return json.dumps({"names": found, "without_all": without}, indent=1) + "\n"


def value_of(module: str, name: str) -> Any:
    """Return the result of ``from module import name``."""
    scope: dict[str, Any] = {}
    exec(f"from {module} import {name} as value", scope)  # noqa: S102 - the statement is what is tested
    return scope["value"]


if __name__ == "__main__":
    if sys.argv[1:]:
        take(Path(sys.argv[1]))
    TABLE.write_text(table(), encoding="utf-8")
    print(f"{TABLE} is written")
