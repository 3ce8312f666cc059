"""Functions with their types: what ``udf`` and ``udtf`` return."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from flintstream.common._types import data_types as t
from flintstream.table._functions.user_defined import UserDefinedFunction
from flintstream.table._syntax import scalar as s
from flintstream.table._types.reader import data_type_of
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType

__all__ = ["FunctionKind", "FunctionWrapper"]


FunctionKind = Literal["scalar", "table", "aggregate", "table aggregate"]


class PlainFunction(UserDefinedFunction):
    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function


class FunctionWrapper:
    """A Python function with its types: what ``udf`` and ``udtf`` return."""

    advice = "join its rows with LATERAL TABLE(...) or join_lateral()"

    def __init__(
        self,
        implementation: Any,
        kind: FunctionKind,
        input_types: Any,
        results: Any,
        name: str | None,
        deterministic: bool | None = None,
    ) -> None:
        """Wrap a function, an object with ``__call__``, or a :class:`UserDefinedFunction`.

        Raises:
            TypeError: It is none of these, or a type is not one of ``DataTypes``.
            ValueError: The function says that it is not ``deterministic``.
        """
        if not callable(implementation) and not isinstance(implementation, UserDefinedFunction):
            raise TypeError(
                "Invalid function: not a function or callable (__call__ is not defined): "
                f"{type(implementation)}; pass a function, or an object of a subclass of ScalarFunction"
            )
        known = implementation.is_deterministic() if isinstance(implementation, UserDefinedFunction) else None
        if None not in {known, deterministic} and known != deterministic:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {known}")
        self.kind = kind
        self._deterministic = True if deterministic is None and known is None else bool(deterministic or known)
        self.implementation = implementation if hasattr(implementation, "eval") else PlainFunction(implementation)
        given = [input_types] if isinstance(input_types, (t.DataType, str)) else input_types
        self.input_types = None if given is None else [data_type_of(item) for item in given]
        if kind != "table" and not isinstance(results, (t.DataType, str)):
            raise TypeError(f"Invalid returnType: returnType should be DataType or str but is {results!r}")
        self.result_types = _columns(results) if kind == "table" else [data_type_of(results)]
        self.result_type = self.result_types[0]
        self.name = self._name = name or getattr(implementation, "__name__", type(implementation).__name__)
        self.alias_names: tuple[str, ...] = ()

    def alias(self, *alias_names: str) -> FunctionWrapper:
        """Give the columns of the result names, where a method of tables takes the function and no call of it."""
        renamed = copy(self)
        renamed.alias_names = alias_names
        return renamed

    def of_types(self, types: Sequence[DataType], zone: str) -> FunctionWrapper:
        """Return the function for arguments of these types, which decide what pandas makes of them.

        ``zone`` is the time zone of the session.
        """
        if not hasattr(self.implementation, "of_types"):
            return self
        typed = copy(self)
        typed.implementation = self.implementation.of_types(types, zone)
        return typed

    def of_rows(self, names: Sequence[str], types: Sequence[DataType]) -> FunctionWrapper:
        """Return the function for a single argument that is a row with all columns of a table.

        A pandas function gets a ``DataFrame``.
        """
        whole = copy(self)
        whole.input_types = None
        if hasattr(self.implementation, "of_frames"):
            whole.implementation = self.implementation.of_frames(names, types)
        return whole

    def __call__(self, *arguments: object) -> Any:
        """Return the expression of a call."""
        return Expression(s.Invoke(None, self, tuple(syntax_of(argument) for argument in arguments)))


def _columns(results: Any) -> list[DataType]:
    if isinstance(results, (t.DataType, str)):
        one = data_type_of(results)
        return one.field_types() if isinstance(one, t.RowType) else [one]
    return [data_type_of(result) for result in results]
