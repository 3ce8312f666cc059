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


class Functions:
    """Opens and closes the Python functions of generated code."""

    def __init__(self, functions: Iterable[Opened]) -> None:
        self.functions = tuple(functions)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open all functions."""
        open_all(self.functions, runtime_context)

    def close(self) -> None:
        """Close all functions."""
        close_all(self.functions)
