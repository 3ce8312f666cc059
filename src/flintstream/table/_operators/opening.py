"""Opens and closes the Python functions that generated code calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._functions.user_defined import FunctionContext

if TYPE_CHECKING:
    from collections.abc import Iterable


def open_all(functions: Iterable[Any], runtime_context: object) -> None:
    """Open functions in a task."""
    for function in functions:
        function.open(FunctionContext.of(runtime_context))


def close_all(functions: Iterable[Any]) -> None:
    """Close functions."""
    for function in functions:
        function.close()
