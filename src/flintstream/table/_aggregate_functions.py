"""What ``udaf`` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.errors import optional_module
from flintstream.table.udf import AggregateFunction, FunctionWrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class OfPandas(AggregateFunction):
    """A function of series of pandas."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def create_accumulator(self) -> list[Any]:
        """Return no rows."""
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        """Keep a row."""
        accumulator.append(args)

    def retract(self, accumulator: list[Any], *args: Any) -> None:
        """Remove a row."""
        accumulator.remove(args)

    def merge(self, accumulator: list[Any], accumulators: Iterable[list[Any]]) -> None:
        """Keep more rows."""
        for each in accumulators:
            accumulator += each

    def get_value(self, accumulator: list[Any]) -> Any:
        """Return what the function makes of the rows; None if there are none."""
        if not accumulator:
            return None
        pandas = optional_module("pandas", extra="dataframes", purpose="functions on pandas")
        found = self.function(*(pandas.Series(list(column)) for column in zip(*accumulator, strict=True)))
        return found.item() if hasattr(found, "item") else found


class AggregateWrapper(FunctionWrapper):
    """An aggregate function with its types."""

    advice = "use it in SELECT or select()"

    def __init__(self, function: Any, input_types: Any, result_type: Any, name: str | None, *, pandas: bool) -> None:
        """Wrap an :class:`AggregateFunction`, or a function of series if ``pandas``."""
        made = OfPandas(function) if pandas else function
        if not isinstance(made, AggregateFunction):
            raise TypeError(f"udaf() needs an AggregateFunction, or func_type='pandas', but got {function!r}")
        result = made.get_result_type() if result_type is None else result_type
        super().__init__(function, "aggregate", input_types, result, name)
        self.implementation = made
        self.retracts = type(made).retract is not AggregateFunction.retract

    def __call__(self, *arguments: Any) -> Any:
        """Return the expression of a call."""
        from flintstream.table._expressions import syntax as s  # noqa: PLC0415
        from flintstream.table.expression import Expression, syntax_of  # noqa: PLC0415

        return Expression(s.aggregate_of(None, self, tuple(syntax_of(each) for each in arguments)))
