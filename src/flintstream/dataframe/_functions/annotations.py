"""The annotations of functions, each resolved where it was written."""

from __future__ import annotations

import inspect
import types
import typing
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTAINERS = (("pandas", ("Series", "DataFrame")), ("pyarrow", ("Array", "ChunkedArray")))
_KINDS = {"pandas": "pandas", "pyarrow": "arrow"}
_ALIASES = (("pandas", "pd"), ("pyarrow", "pa"))


def annotations_of(function: Callable[..., object], owner: type | None) -> dict[str, object]:
    """Return the annotations of a function; those that cannot be resolved stay texts.

    Args:
        function: What is called; what it wraps has the annotations.
        owner: The class that has it as a method. Annotations may use names of the class in which it was written.
    """
    plain = inspect.unwrap(getattr(function, "__func__", function))
    written: dict[str, object] = getattr(plain, "__annotations__", {})
    if not any(isinstance(hint, str) or typing.get_args(hint) for hint in written.values()):
        return dict(written)
    known = {**vars(typing), **_containers(), **getattr(plain, "__globals__", {})}
    local = names_of_class(plain, owner)
    return {name: _resolve(name, hint, known, local) for name, hint in written.items()}


def _containers() -> dict[str, object]:
    known: dict[str, object] = {}
    for name, alias in _ALIASES:
        try:
            known[name] = known[alias] = import_module(name)
        except ImportError:
            continue
    return known


def names_of_class(plain: object, owner: type | None) -> dict[str, object]:
    """Return the names in the class in which a function was written, if the owner is that class or inherits it."""
    place = str(getattr(plain, "__qualname__", "")).rpartition(".")[0]
    for base in () if owner is None else owner.__mro__:
        if base.__qualname__ == place and base.__module__ == getattr(plain, "__module__", None):
            return {**vars(base), base.__name__: base}
    return {}


def _resolve(name: str, hint: object, known: dict[str, object], local: dict[str, object]) -> object:
    holder = types.SimpleNamespace(__annotations__={name: hint})
    try:
        return typing.get_type_hints(holder, known, local)[name]
    except (NameError, SyntaxError, AttributeError, TypeError):
        return hint


def container_of(hint: object) -> str | None:
    """Return the kind of functions whose arguments are of a class: ``pandas`` or ``arrow``; None for other classes."""
    for base in getattr(hint, "__mro__", ()):
        package = str(base.__module__).partition(".")[0]
        if any(package == module and base.__name__ in names for module, names in _CONTAINERS):
            return _KINDS[package]
    return None
