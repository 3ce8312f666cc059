"""Python functions of any kind, called row by row; those on pandas also with batches."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from flintstream.table._functions import series
from flintstream.table._functions.awaiting import AsyncRows, Inner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyarrow import Array

    from flintstream.common._types import data_types as t
    from flintstream.table._functions.series import Data


def by_rows(function: Any, result: t.DataType, kind: str) -> object:
    """Return an object whose ``eval`` takes and returns the values of a row, whatever kind of function it has.

    Raises:
        ValueError: The function is asynchronous, and to be called with batches.
    """
    if kind != "general":
        if _is_async(function.eval):
            raise ValueError(f"Async scalar functions do not support {kind} func_type: they get the values of a row")
        return (ArrowRows if kind == "arrow" else PandasRows)(function, result)
    return AsyncRows(function) if inspect.iscoroutinefunction(function.eval) else function


def _is_async(function: object) -> bool:
    """Return whether calls are awaited, of a function, an object, or one with arguments bound to it."""
    while isinstance(function, functools.partial):
        function = function.func
    call = inspect.getattr_static(type(function), "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


class PandasRows(Inner):
    """Calls a function with a ``Series`` for each argument, and checks what it returns.

    Plans hand it whole batches. Where a plan needs the result for a row at once, as in the condition of a join, the
    batch has one row.
    """

    def __init__(
        self,
        inner: Any,
        result: t.DataType,
        types: Sequence[t.DataType] = (),
        zone: str = "UTC",
        names: Sequence[str] = (),
    ) -> None:
        """Take the function, its types, and the columns of its ``DataFrame`` if it takes one."""
        super().__init__(inner)
        self.result = result
        self.types = list(types)
        self.zone = zone
        self.names = list(names)

    def of_types(self, types: Sequence[t.DataType], zone: str) -> PandasRows:
        """Return the function for arguments of these types, in the time zone of the session."""
        return type(self)(self.inner, self.result, self.types if self.names else types, zone, self.names)

    def of_frames(self, names: Sequence[str], types: Sequence[t.DataType]) -> PandasRows:
        """Return the function for rows with columns of these names and types."""
        return type(self)(self.inner, self.result, types, self.zone, names)

    def eval(self, *values: object) -> object:
        """Return the result for a row."""
        if self.names:
            given = [self.frame(values)]
        else:
            typed = zip(values, self.types, strict=True)
            given = [self.column([value], kind, None, self.zone) for value, kind in typed]
        return self.values(self.call(given, 1))[0]

    def column(self, values: Sequence[object], kind: t.DataType, name: str | None, zone: str) -> Data:
        """Return the values of a column as the function takes them."""
        return series.to_pandas(values, kind, name, zone)

    def frame(self, rows: Iterable[object]) -> Data:
        """Return whole rows as the function takes them."""
        return series.frame_of(rows, self.names, self.types, self.zone)

    def call(self, given: Sequence[Data], count: int) -> Data:
        """Return what the function returns for a batch with a number of rows.

        Raises:
            TypeError: It is neither a ``Series`` nor a ``DataFrame``.
            ValueError: It has another length.
        """
        found = self.inner.eval(*given)
        name = getattr(self.inner.eval, "__name__", "eval")
        frames = series.pandas()
        if not isinstance(found, (frames.Series, frames.DataFrame)):
            raise TypeError(
                f"The result type of Pandas UDF '{name}' must be pandas.Series or pandas.DataFrame, got {type(found)}"
            )
        if len(found) != count:
            raise ValueError(
                f"The result length '{len(found)}' of Pandas UDF '{name}' is not equal to the input length '{count}'"
            )
        return found

    def values(self, found: Data) -> list[object]:
        """Return the values that the function has returned."""
        return series.from_pandas(found, self.result, self.zone)

    def of_array(self, array: Array, kind: t.DataType, name: str | None) -> Data:
        """Return a column of Arrow as the function takes it."""
        return series.column_of(array, kind, name, self.zone)

    def array(self, found: Data) -> Array:
        """Return what the function has returned as an array of Arrow."""
        return series.array_from_pandas(found, self.result, self.zone)


class ArrowRows(PandasRows):
    """Calls a function with an array of Arrow for each argument, and checks what it returns."""

    def column(self, values: Sequence[object], kind: t.DataType, name: str | None, zone: str) -> Data:
        """Return the values of a column as an array."""
        return series.array_of(values, kind)

    def frame(self, rows: Iterable[object]) -> Data:
        """Return whole rows as an array of structs."""
        columns = zip(zip(*rows, strict=True), self.types, strict=True)
        arrays = [series.array_of(values, kind) for values, kind in columns]
        return series.arrow().StructArray.from_arrays(arrays, names=self.names)

    def call(self, given: Sequence[Data], count: int) -> Data:
        """Return what the function returns for a batch with a number of rows.

        Raises:
            TypeError: It is not an array.
            ValueError: It has another length.
        """
        found = self.inner.eval(*given)
        name = getattr(self.inner.eval, "__name__", "eval")
        arrow = series.arrow()
        if isinstance(found, arrow.ChunkedArray):
            found = found.combine_chunks()
        if not isinstance(found, arrow.Array):
            raise TypeError(f"The result type of Arrow UDF '{name}' must be pyarrow.Array, got {type(found)}")
        if len(found) != count:
            raise ValueError(
                f"The result length '{len(found)}' of Arrow UDF '{name}' is not equal to the input length '{count}'"
            )
        return found

    def values(self, found: Data) -> list[object]:
        """Return the values that the function has returned, in the declared type."""
        return series.from_arrow(found, self.result)

    def of_array(self, array: Array, kind: t.DataType, name: str | None) -> Data:
        """Return the column."""
        return array

    def array(self, found: Data) -> Array:
        """Return the array that the function has returned, in the declared type."""
        return series.array_from_arrow(found, self.result)
