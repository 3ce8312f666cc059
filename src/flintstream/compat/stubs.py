"""Stubs of ``pyflink`` for type checkers and editors, which do not know that flintstream serves its modules."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar
from typing import __all__ as typing_names

from flintstream.compat._module_proxies import (
    MIRRORED,
    MODULE,
    NAMES,
    STAND_IN,
    TYPE_VARIABLE,
    module_behind,
)
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["write_stubs"]

MARK = "# Written by `flintstream stubs`. Changes are lost when it runs again."
_UNTYPED = "  # type: ignore  # its package may be missing, or have no types"


def write_stubs(directory: Path) -> int:
    """Write the stubs of all modules below ``directory/pyflink``, and return their number.

    Each name is that of the module of flintstream which programs get, so that type checkers see flintstream's
    annotations.

    Raises:
        FlintstreamError: ``directory/pyflink`` has other files.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     count = write_stubs(Path(folder))
    ...     text = Path(folder, "pyflink", "common", "time.pyi").read_text()
    >>> count > 100, "from flintstream.common.time import Duration as Duration" in text
    (True, True)
    """
    top = directory / "pyflink"
    if top.exists() and MARK not in _first_line(top / "__init__.pyi"):
        raise FlintstreamError(f"{top} has files that `flintstream stubs` did not write: name another directory")
    modules = sorted({*_modules()})
    packages = {name.rpartition(".")[0] for name in modules}
    texts = {name: _text(name) for name in modules}
    shutil.rmtree(top, ignore_errors=True)
    for name in sorted({*modules, *packages} - {""}):
        path = directory.joinpath(*name.split("."))
        path = path / "__init__.pyi" if name in packages else path.with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get(name, f"{MARK}\n"), encoding="utf-8")
    return len(modules)


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0] if path.exists() else ""


def _modules() -> Iterator[str]:
    """Yield the names of PyFlink's modules that have no private part."""
    yield from ("pyflink", *(name for name in NAMES if "._" not in name))
    for part in MIRRORED:
        yield f"pyflink.{part}"
        for found in walk_packages(import_module(f"flintstream.{part}").__path__, f"pyflink.{part}."):
            if "._" not in found.name and module_behind(found.name) is not None:
                yield found.name


def _text(name: str) -> str:
    lines = [MARK]
    of_pyflink = {
        item: _public(origin, item) for origin, names in NAMES.get(name, {}).items() for item in names.split()
    }
    behind = module_behind(name)
    if behind is not None:
        module = import_module(behind)
        public = getattr(module, "__all__", None) or [item for item in vars(module) if not item.startswith("_")]
        for item in public:
            value = getattr(module, item)
            if item not in of_pyflink and not isinstance(value, ModuleType):
                lines.append(f"from {_defining(value, item, behind)} import {item} as {item}")
    if TYPE_VARIABLE in of_pyflink.values():
        lines.append("from typing import TypeVar")
    if STAND_IN in of_pyflink.values():
        lines.append("from typing import Any")
    lines += (_further(item, origin) for item, origin in of_pyflink.items() if not item.startswith("_"))
    return "\n".join(lines) + "\n"


def _public(origin: str, name: str) -> str:
    """Return the origin of a name; ``typing`` has type variables that only it may use."""
    return TYPE_VARIABLE if origin == "typing" and name not in typing_names else origin


def _defining(value: object, name: str, module: str) -> str:
    """Return the module that defines a value: type checkers refuse names that another one only imports."""
    where = getattr(value, "__module__", None)
    if (
        isinstance(value, TypeVar)
        or where not in sys.modules
        or where.partition(".")[0] not in {"flintstream", "typing"}
    ):
        return module
    return where if getattr(sys.modules[where], name, None) is value else module


def _further(name: str, origin: str) -> str:
    """Return the line of a name that only PyFlink's module has."""
    if origin == STAND_IN:
        return f"{name}: Any"
    if origin == TYPE_VARIABLE:
        return f'{name} = TypeVar("{name}")'
    if origin == MODULE:
        return f"import {name} as {name}{_UNTYPED}"
    known = origin.partition(".")[0] in {"pyflink", "flintstream", *sys.stdlib_module_names}
    return f"from {origin} import {name} as {name}{'' if known else _UNTYPED}"
