"""Which public names have no example.

A class has one in its docstring. A method has one in its docstring, or is called in that of its class. A method
that a base class has is documented there.
"""

from __future__ import annotations

import inspect
import re
import sys
from doctest import DocTest, DocTestParser
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = (
    "flintstream.datastream.stream_execution_environment",
    "flintstream.datastream.data_stream",
    "flintstream.datastream.state",
    "flintstream.datastream.window",
    "flintstream.datastream.connectors",
    "flintstream.datastream.connectors.elasticsearch",
    "flintstream.datastream.connectors.hybrid_source",
    "flintstream.datastream.functions",
    "flintstream.datastream.async_data_stream",
    "flintstream.datastream.output_tag",
    "flintstream.common.watermark_strategy",
)
PUBLISHING = (
    "flintstream.datastream.functions",
    "flintstream.datastream.state",
    "flintstream.datastream.state_backend",
    "flintstream.datastream.window",
    "flintstream.table.expression",
    "flintstream.table.expressions",
)
"""Modules whose classes are in other files."""


def without_example() -> Iterator[str]:
    """Name the public classes of streams, states, windows, functions and connectors, and their methods, without one."""
    seen: set[type] = set()
    for module in map(import_module, MODULES):
        for name in sorted(getattr(module, "__all__", ("StreamExecutionEnvironment",))):
            cls = getattr(module, name)
            if not inspect.isclass(cls) or cls in seen:
                continue
            seen.add(cls)
            shown = cls.__doc__ or ""
            if ">>>" not in shown:
                yield name
            called = set(
                re.findall(r"\b(\w+)\(", "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)", shown, re.MULTILINE)))
            )
            inherited = {member for base in cls.__mro__[1:] for member in vars(base)}
            for member, given in vars(cls).items():
                function = inspect.unwrap(getattr(given, "__func__", getattr(given, "fget", given)))
                if member.startswith("_") or member in inherited | called or not inspect.isfunction(function):
                    continue
                if ">>>" not in (function.__doc__ or ""):
                    yield f"{name}.{member}"


def of_methods_elsewhere() -> Iterator[DocTest]:
    """Return the examples of methods that pytest does not find.

    These are the methods of classes that carry the name of another module than that of their file: pytest finds the
    class in the former, and takes its methods for those of another module.
    """
    seen: set[type] = set()
    for module in map(import_module, PUBLISHING):
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls in seen or not cls.__module__.startswith("flintstream."):
                continue
            seen.add(cls)
            for member, given in vars(cls).items():
                function = inspect.unwrap(getattr(given, "__func__", getattr(given, "fget", given)))
                shown = getattr(function, "__doc__", None) or ""
                if inspect.isfunction(function) and function.__module__ != cls.__module__ and ">>>" in shown:
                    names = dict(vars(sys.modules[cls.__module__]))
                    name = f"{cls.__module__}.{cls.__name__}.{member}"
                    yield DocTestParser().get_doctest(shown, names, name, inspect.getsourcefile(function), 0)


if __name__ == "__main__":
    print(*without_example(), sep="\n")
