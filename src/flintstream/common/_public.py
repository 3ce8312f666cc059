"""The names under which public classes are known, wherever they are defined."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["publish"]


def publish(module: str, names: Iterable[str], namespace: Mapping[str, Any]) -> None:
    """Give public classes and functions the name of the module that programs import them from.

    Pickles and messages then name that module, so that the file of a class can move.

    Args:
        module: The public module, such as ``flintstream.datastream.window``.
        names: What that module exports.
        namespace: Where the names are defined; what comes from elsewhere keeps its module.
    """
    package = namespace["__name__"].rpartition(".")[0] if namespace["__name__"] == module else namespace["__name__"]
    for name in names:
        value = namespace[name]
        if isinstance(value, (type, FunctionType)) and value.__module__.startswith(f"{package}."):
            value.__module__ = module
