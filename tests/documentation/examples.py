"""Which public names have no example.

Public are the names in ``__all__`` of every module that PyFlink has as well, and all that the documentation
renders from docstrings. Each class and function has an example in its docstring. A method or property has one in its
docstring, or is used in that of its class. If a public base class has it too, the example may be there.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from doctest import DocTest, DocTestParser
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import flintstream

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs"
SURFACE = Path(__file__).parents[1] / "parity" / "surface.json"
PACKAGES = ("common", "datastream", "metrics", "table")
"""The packages with PyFlink's modules."""
SHOWN = re.compile(r"^\.\. automodule:: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)


def public_names() -> Iterator[tuple[str, str]]:
    """Return modules and names: those of PyFlink's modules, and those that pages render."""
    surface = json.loads(SURFACE.read_text(encoding="utf-8"))
    theirs = {*surface["names"], *surface["table"], *surface["without_all"]}
    for package in PACKAGES:
        root = import_module(f"flintstream.{package}")
        for module in (
            root.__name__,
            *(module.name for module in walk_packages(root.__path__, f"{root.__name__}.")),
        ):
            if module.replace("flintstream", "pyflink", 1) in theirs:
                for name in getattr(import_module(module), "__all__", ()):
                    yield module, name
    for page in sorted(DOCS.rglob("*.md")):
        for module, options in SHOWN.findall(page.read_text(encoding="utf-8")):
            found = re.search(r":members: (.+)", options)
            hidden = re.search(r":exclude-members: (.+)", options)
            names = found[1].split(", ") if found else _documented(module)
            for name in names:
                if not hidden or name not in hidden[1].split(", "):
                    yield module, name


def _documented(module: str) -> list[str]:
    namespace = vars(import_module(module))
    own = [name for name, value in namespace.items() if getattr(value, "__module__", None) == module]
    return [name for name in namespace.get("__all__", own) if not name.startswith("_")]


def public_objects() -> dict[int, tuple[str, Any]]:
    """Return the classes and functions among the public names, by their identity, with one of their names."""
    found: dict[int, tuple[str, Any]] = {}
    for module, name in public_names():
        value = getattr(import_module(module), name)
        if inspect.isclass(value) or inspect.isfunction(value):
            found.setdefault(id(value), (f"{module.removeprefix('flintstream.')}.{name}", value))
    return found


def without_example() -> Iterator[str]:
    """Name the public classes, methods, properties and functions without one."""
    objects = public_objects()
    for name, value in objects.values():
        shown = value.__doc__ or ""
        if ">>>" not in shown:
            yield name
        if not inspect.isclass(value):
            continue
        code = "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)", shown, re.MULTILINE))
        used = set(re.findall(r"\b(\w+)\(|\.(\w+)\b", code))
        elsewhere = {member for base in value.__mro__[1:] if id(base) in objects for member in dir(base)}
        for member, given in _members(value).items():
            if member not in elsewhere | {item for pair in used for item in pair}:
                function = inspect.unwrap(getattr(given, "__func__", getattr(given, "fget", given)))
                if inspect.isfunction(function) and ">>>" not in (function.__doc__ or ""):
                    yield f"{name}.{member}"


def _members(cls: type) -> dict[str, Any]:
    """Return what a class and our classes above it define under public names."""
    ours = [base for base in reversed(cls.__mro__) if base.__module__.startswith("flintstream.")]
    return {name: value for base in ours for name, value in vars(base).items() if not name.startswith("_")}


def of_methods_elsewhere() -> Iterator[DocTest]:
    """Return the examples of methods that pytest does not find.

    These are the methods of classes that carry the name of another module than that of their file: pytest finds the
    class in the former, and takes its methods for those of another module.
    """
    for name in [module.name for module in walk_packages(flintstream.__path__, "flintstream.")]:
        module = sys.modules.get(name)
        for cls in list(vars(module).values()) if module else ():
            if not inspect.isclass(cls) or cls.__module__ != name:
                continue
            for member, given in vars(cls).items():
                function = inspect.unwrap(getattr(given, "__func__", getattr(given, "fget", given)))
                shown = getattr(function, "__doc__", None) or ""
                if inspect.isfunction(function) and function.__module__ != cls.__module__ and ">>>" in shown:
                    names = dict(vars(module))
                    yield DocTestParser().get_doctest(
                        shown, names, f"{name}.{cls.__name__}.{member}", inspect.getsourcefile(function), 0
                    )


if __name__ == "__main__":
    missing = list(without_example())
    print(
        *missing, f"{len(public_objects())} classes and functions; names without an example: {len(missing)}", sep="\n"
    )
