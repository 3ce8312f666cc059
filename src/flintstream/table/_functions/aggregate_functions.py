"""What ``udaf`` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._functions import series
from flintstream.table._functions.user_defined import AggregateFunction, TableAggregateFunction
from flintstream.table._functions.wrappers import FunctionWrapper
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flintstream.table._functions.user_defined import FunctionContext


def plain(value: object) -> object:
    """Return a value of pandas as Python's; NaN is None."""
    found = value.item() if hasattr(value, "item") else value
    return None if found is None or (isinstance(found, float) and found != found) else found  # noqa: PLR0124 - NaN


class OfPandas(AggregateFunction):
    """A function of pandas series, or an ``AggregateFunction`` that accumulates series."""

    def __init__(
        self,
        function: Callable[..., Any] | AggregateFunction,
        types: Sequence[t.DataType] = (),
        zone: str = "UTC",
        names: Sequence[str] = (),
    ) -> None:
        """Take the function, its types, and the columns of its ``DataFrame``; none if it takes series."""
        self.function, self.types, self.zone, self.names = function, list(types), zone, list(names)

    def of_types(self, types: Sequence[t.DataType], zone: str) -> OfPandas:
        """Return the function for arguments of these types, in the time zone of the session."""
        return OfPandas(self.function, self.types if self.names else types, zone, self.names)

    def of_frames(self, names: Sequence[str], types: Sequence[t.DataType]) -> OfPandas:
        """Return the function for rows with columns of these names and types."""
        return OfPandas(self.function, types, self.zone, names)

    def get_result_type(self) -> t.DataType:
        """Return the type that the function names, if it is an object.

        Raises:
            TypeError: It is a plain function.
        """
        if not isinstance(self.function, AggregateFunction):
            raise TypeError("Invalid returnType: a function on pandas data needs its result_type")
        found: t.DataType = self.function.get_result_type()
        return found

    def open(self, function_context: FunctionContext) -> None:
        """Open the function, if it is an object."""
        if isinstance(self.function, AggregateFunction):
            self.function.open(function_context)

    def close(self) -> None:
        """Close the function, if it is an object."""
        if isinstance(self.function, AggregateFunction):
            self.function.close()

    def _call(self, *series: object) -> object:
        if not isinstance(self.function, AggregateFunction):
            return self.function(*series)
        accumulator = self.function.create_accumulator()
        self.function.accumulate(accumulator, *series)
        return self.function.get_value(accumulator)

    def create_accumulator(self) -> list[Any]:
        """Return no rows."""
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        """Keep a row."""
        accumulator.append(args)

    def retract(self, accumulator: list[Any], *args: Any) -> None:
        """Remove a row."""
        accumulator.remove(args)

    def merge(self, accumulator: list[object], accumulators: Iterable[list[object]]) -> None:
        """Keep more rows."""
        for item in accumulators:
            accumulator += item

    def get_value(self, accumulator: list[Any]) -> Any:
        """Return what the function makes of the rows; None if there are none."""
        if not accumulator:
            return None
        if self.names:
            found = self._call(series.frame_of([row for (row,) in accumulator], self.names, self.types, self.zone))
        else:
            columns = zip(*accumulator, strict=True)
            pairs = zip(columns, self.types, strict=True)
            found = self._call(*(series.to_pandas(list(column), kind, None, self.zone) for column, kind in pairs))
        if isinstance(found, (tuple, list, series.pandas().Series)):
            return tuple(map(plain, found))
        return plain(found)


class AggregateWrapper(FunctionWrapper):
    """An aggregate function with its types."""

    advice = "use it in SELECT or select()"

    def __init__(
        self,
        function: Any,
        input_types: object,
        result_type: object,
        name: str | None,
        *,
        pandas: bool,
        deterministic: bool | None = None,
    ) -> None:
        """Wrap an :class:`AggregateFunction`, or a function of series if ``pandas``."""
        made = OfPandas(function) if pandas else function
        if not isinstance(made, AggregateFunction):
            raise TypeError(f"udaf() needs an AggregateFunction, or func_type='pandas', but got {function!r}")
        result = made.get_result_type() if result_type is None else result_type
        super().__init__(function, "aggregate", input_types, result, name, deterministic)
        if pandas and isinstance(self.result_type, (t.MapType, t.MultisetType)):
            kind = type(self.result_type).__name__.removesuffix("Type").upper()
            raise TypeError(f"Invalid returnType: Pandas UDAF doesn't support DataType type {kind} currently")
        self.implementation, self._func = made, function
        self.retracts = type(made).retract is not AggregateFunction.retract

    def __call__(self, *arguments: object) -> Any:
        """Return the expression of a call."""
        return Expression(s.aggregate_of(None, self, tuple(syntax_of(argument) for argument in arguments)))


class TableAggregateWrapper(AggregateWrapper):
    """A function with rows for each group, with its types."""

    advice = "call it in flat_aggregate()"

    def __init__(
        self,
        function: object,
        input_types: object,
        result_type: object,
        name: str | None,
        *,
        deterministic: bool | None = None,
    ) -> None:
        """Wrap a :class:`TableAggregateFunction`."""
        if not isinstance(function, TableAggregateFunction):
            raise TypeError(f"udtaf() needs a TableAggregateFunction, but got {function!r}")
        super().__init__(function, input_types, result_type, name, pandas=False, deterministic=deterministic)
        self.kind = "table aggregate"
        row = self.result_type
        self.names = row.names if isinstance(row, t.RowType) else ["f0"]
        self.result_types = row.field_types() if isinstance(row, t.RowType) else [row]
