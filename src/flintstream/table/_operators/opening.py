"""Opens and closes the Python functions that generated code calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._functions.user_defined import FunctionContext

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from flintstream.contracts.functions import RuntimeContext
    from flintstream.table._functions.kinds import PandasRows
    from flintstream.table._functions.user_defined import UserDefinedFunction

    Opened: TypeAlias = UserDefinedFunction | PandasRows


def open_all(functions: Iterable[Opened], runtime_context: RuntimeContext) -> None:
    """Open functions in a task."""
    for function in functions:
        function.open(FunctionContext.of(runtime_context))


def close_all(functions: Iterable[Opened]) -> None:
    """Close functions."""
    for function in functions:
        function.close()
