"""Python functions on data of pandas, and asynchronous ones, called row by row."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from flintstream.errors import optional_module
from flintstream.table._functions.arrow_values import DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types import data_types as t


def by_rows(function: Any, types: Sequence[t.DataType] | None, *, pandas: bool) -> object:
    """Return an object whose ``eval`` takes and returns the values of a row, whatever kind of function it has."""
    if pandas:
        return PandasRows(function, types)
    return AsyncRows(function) if inspect.iscoroutinefunction(function.eval) else function


class _Inner:
    """Opens and closes another function."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def open(self, function_context: Any) -> None:
        """Open the function."""
        if hasattr(self.inner, "open"):
            self.inner.open(function_context)

    def close(self) -> None:
        """Close the function."""
        if hasattr(self.inner, "close"):
            self.inner.close()


def plain(value: object) -> object:
    """Return a value of pandas as Python's; NaN is None."""
    found = value.item() if hasattr(value, "item") else value
    return None if found is None or (isinstance(found, float) and found != found) else found  # noqa: PLR0124 - NaN


def series_of(pandas: Any, values: list[object], kind: t.DataType | None, otherwise: object = None) -> object:
    """Return values of a type as a ``Series``, of the same ``dtype`` as PyFlink's: integers with NULL are floats."""
    dtype = DTYPES.get(type(kind))
    if dtype is not None and any(value is None for value in values):
        dtype = dtype if dtype.startswith("float") else None if dtype == "bool" else "float64"
    return pandas.Series(values, dtype=dtype or otherwise)


class PandasRows(_Inner):
    """Calls a function with a ``Series`` of one value for each argument.

    Flink's batches have any size as well, so that a result cannot depend on the rows around.
    """

    def __init__(self, inner: Any, types: Sequence[t.DataType] | None, names: Sequence[str] = ()) -> None:
        """Take the function, the types of its arguments, and the columns of its ``DataFrame`` if it takes one."""
        super().__init__(inner)
        self.types = list(types or ())
        self.names = list(names)

    def of_types(self, types: Sequence[t.DataType]) -> PandasRows:
        """Return the function for arguments of these types."""
        return PandasRows(self.inner, types, self.names)

    def of_frames(self, names: Sequence[str], types: Sequence[t.DataType]) -> PandasRows:
        """Return the function for rows with columns of these names and types."""
        return PandasRows(self.inner, types, names)

    def eval(self, *values: Any) -> Any:
        """Return the result for a row."""
        pandas = optional_module("pandas", extra="dataframes", purpose="functions on data of pandas")
        given = values[0] if self.names else values
        types = self.types if len(self.types) == len(given) else [None] * len(given)
        series = [series_of(pandas, [value], kind) for value, kind in zip(given, types, strict=True)]
        if self.names:
            series = [pandas.DataFrame(dict(zip(self.names, series, strict=True)))]
        found: Any = self.inner.eval(*series)
        name = getattr(self.inner.eval, "__name__", "eval")
        if not isinstance(found, (pandas.Series, pandas.DataFrame)):
            raise TypeError(
                f"The result type of Pandas UDF '{name}' must be pandas.Series or pandas.DataFrame, got {type(found)}"
            )
        if len(found) != 1:
            raise ValueError(
                f"The result length '{len(found)}' of Pandas UDF '{name}' is not equal to the input length '1'"
            )
        if isinstance(found, pandas.DataFrame):
            return tuple(map(plain, next(found.itertuples(index=False, name=None))))
        return plain(next(iter(found), None))


class AsyncRows(_Inner):
    """Awaits a function for each row."""

    def __init__(self, inner: Any) -> None:
        """Take the function."""
        super().__init__(inner)
        self.loop: asyncio.AbstractEventLoop | None = None

    def eval(self, *values: Any) -> Any:
        """Return the result for a row."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(self.inner.eval(*values))

    def close(self) -> None:
        """Close the function and the loop."""
        super().close()
        if self.loop is not None:
            self.loop.close()
            self.loop = None
