"""Opens and closes the Python functions that generated code calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def open_all(functions: Iterable[Any], runtime_context: Any) -> None:
    """Open functions in a task."""
    from flintstream.table.udf import FunctionContext  # noqa: PLC0415 - only tasks need it

    for each in functions:
        each.open(FunctionContext.of(runtime_context))


def close_all(functions: Iterable[Any]) -> None:
    """Close functions."""
    for each in functions:
        each.close()
