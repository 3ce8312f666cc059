"""Functions of DataFrames as functions of the Table API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common.types import Row
from flintstream.dataframe._functions.results import _normalize_user_value, rows_of
from flintstream.dataframe._functions.source import Opened
from flintstream.errors import optional_module
from flintstream.table.types import RowType
from flintstream.table.udf import AsyncScalarFunction, ScalarFunction, TableFunction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from flintstream.dataframe._functions.source import Source
    from flintstream.table.types import DataType
    from flintstream.table.udf import FunctionContext


def _fail(*_: object) -> object:
    raise RuntimeError("DataFrame UDF was invoked before open().")


class Adapter:
    """Opens a function in a task."""

    def __init__(
        self,
        source: Source,
        result: DataType,
        *,
        deterministic: bool = True,
        concurrency: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        """Take the function, and the type of what it returns."""
        self.opened = Opened(source, deterministic=deterministic)
        self.result = result
        self.deterministic = deterministic
        self.concurrency = concurrency
        self.batch_size = batch_size
        self.required = result != result.nullable()
        self.call: Callable[..., object] = _fail
        self.__name__ = source.name

    def open(self, function_context: FunctionContext) -> None:
        """Make and open the function."""
        self.call = self.opened.open(function_context)

    def close(self) -> None:
        """Close the function."""
        self.call = _fail
        self.opened.close()

    def is_deterministic(self) -> bool:
        """Return whether equal arguments give equal results."""
        return self.deterministic

    def in_type(self, found: object) -> object:
        """Return what the function returned, in its type.

        Raises:
            TypeError: It is None, which the type does not have.
        """
        if found is None and self.required:
            raise TypeError(
                f"'{self.__name__}' returned None, but its type is without: annotate the result with '| None', or give "
                "a return_dtype that has None"
            )
        return _normalize_user_value(found, self.result)


class ValueFunction(Adapter, ScalarFunction):
    """A function of values."""

    def eval(self, *values: object) -> object:
        """Return what the function returns, in its type."""
        return self.in_type(self.call(*values))


class BatchFunction(Adapter, ScalarFunction):
    """A function of series of pandas, or arrays of Arrow."""

    def eval(self, *columns: object) -> object:
        """Return what the function returns."""
        return self.call(*columns)


class AsyncFunction(Adapter, AsyncScalarFunction):
    """A function that is awaited."""

    async def eval(self, *values: object) -> object:
        """Return what the function returns, in its type."""
        found: Awaitable[object] = self.call(*values)  # type: ignore[assignment]  # it is declared async
        return self.in_type(await found)


class RowFunction(Adapter, ScalarFunction):
    """A function of a dict for each row."""

    names: Sequence[str] = ()

    def eval(self, *values: object) -> object:
        """Return what the function returns for a row."""
        return _normalize_user_value(self.call(dict(zip(self.names, values, strict=True))), self.result)


class AsyncRowFunction(Adapter, AsyncScalarFunction):
    """A function of a dict for each row, that is awaited."""

    names: Sequence[str] = ()

    async def eval(self, *values: object) -> object:
        """Return what the function returns for a row."""
        found: Awaitable[object] = self.call(dict(zip(self.names, values, strict=True)))  # type: ignore[assignment]
        return _normalize_user_value(await found, self.result)


class ColumnsFunction(Adapter, ScalarFunction):
    """A function of a dict of columns for each batch: series of pandas, or arrays of Arrow."""

    names: Sequence[str] = ()
    batch_format = "pandas"

    def eval(self, *columns: object) -> object:
        """Return the columns that the function returns, as rows.

        Raises:
            TypeError: They are not in a dict.
            ValueError: A column is missing.
        """
        found = self.call(dict(zip(self.names, columns, strict=True)))
        if not isinstance(self.result, RowType):
            return found
        if not hasattr(found, "keys"):
            raise TypeError(f"map_batches needs a dict of columns from '{self.__name__}', got {type(found).__name__}")
        return self._join(found)  # type: ignore[arg-type]  # a dict

    def _join(self, found: Mapping[str, object]) -> object:
        names = self.result.field_names() if isinstance(self.result, RowType) else []
        absent = [name for name in names if name not in found]
        if absent:
            raise ValueError(f"'{self.__name__}' returned no column {absent[0]!r}, only {list(found)}")
        if self.batch_format == "pandas":
            frames = optional_module("pandas", extra="dataframes", purpose="map_batches()")
            return frames.DataFrame({name: found[name] for name in names})
        arrow = optional_module("pyarrow", extra="dataframes", purpose="map_batches()")
        arrays = [_whole(arrow, found[name]) for name in names]
        return arrow.StructArray.from_arrays(arrays, names=names)


def _whole(arrow: ModuleType, column: object) -> object:
    joined = getattr(column, "combine_chunks", None)
    if joined is not None:
        return joined()
    return column if hasattr(column, "to_pylist") else arrow.array(column)


class RowsFunction(Adapter, TableFunction):
    """A function that returns rows: for arguments, or for a dict if there are names of columns."""

    names: Sequence[str] | None = None

    def eval(self, *values: object) -> Iterator[Row]:
        """Return the rows that the function returns, one by one.

        Raises:
            ValueError: A row has more than one value for one column.
        """
        given = values if self.names is None else (dict(zip(self.names, values, strict=True)),)
        return map(self._row, rows_of(self.call(*given)))

    def _row(self, item: object) -> Row:
        if isinstance(self.result, RowType):
            width = len(self.result.field_names())
            if width == 1 and item is not None and not isinstance(item, (Row, tuple, dict)):
                item = Row(item)
            made = _normalize_user_value(item, self.result)
            return made if isinstance(made, Row) else Row(*[None] * width)
        if isinstance(item, (Row, tuple)):
            if len(item) != 1:
                raise ValueError("UDTF scalar output requires exactly one field.")
            item = item[0]
        return Row(_normalize_user_value(item, self.result))
