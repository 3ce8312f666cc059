"""Functions of rows and batches: map, flat_map, map_batches and join_lateral."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flintstream.dataframe._checks import require_choice
from flintstream.dataframe._frame.base import Frame, aliases_of
from flintstream.dataframe._functions.adapters import AsyncRowFunction, ColumnsFunction, RowFunction
from flintstream.dataframe._functions.source import result_of, source_of
from flintstream.dataframe.udf import _DataFrameUDFWrapper, check_limits
from flintstream.dataframe.udtf import _DataFrameUDTFCall, declaration_of, names_of
from flintstream.table.expression import Expression
from flintstream.table.expressions import col
from flintstream.table.types import RowType
from flintstream.table.udf import udf as table_udf

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.dataframe._functions.source import Source
    from flintstream.dataframe.datatype import DataType
    from flintstream.table.table import Table
    from flintstream.table.udf import UserDefinedFunction


class Functions(Frame):
    """The methods that apply functions of programs."""

    def map(self, func: object, *, return_dtype: object = None, concurrency: int | None = None) -> Self:
        """Return what a function makes of each row.

        It gets a dict and returns one, or a tuple, a ``Row`` or an object with these fields. It may be ``async``. Each
        subtask makes one object of a class.

        Args:
            func: The function.
            return_dtype: The type of a row; that of the annotation, such as a ``TypedDict``, if it is not given. A
                value that is not a row is the column ``f0``.
            concurrency: How many subtasks run it.

        Raises:
            TypeError: It cannot be called, or its type is unknown.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> def double(row):
        ...     return {"n": row["id"], "twice": 2 * row["id"]}
        >>> pf.range(2).map(double, return_dtype="ROW<n BIGINT, twice BIGINT>").collect()
        [<Row(0, 0)>, <Row(1, 2)>]
        """
        source, result = _declaration(func, return_dtype)
        check_limits(concurrency, None, "general")
        kind = result._to_table_data_type()
        adapter = (AsyncRowFunction if source.is_async else RowFunction)(source, kind, concurrency=concurrency)
        adapter.names = tuple(self.columns)
        return self._apply(adapter, result, source.name, "general")

    def map_batches(
        self,
        func: object,
        *,
        return_dtype: object = None,
        batch_format: Literal["pandas", "pyarrow"],
        concurrency: int | None = None,
        batch_size: int | None = None,
    ) -> Self:
        """Return what a function makes of batches of rows.

        It gets a dict of columns, ``Series`` of pandas or arrays of Arrow, and returns one, with as many values. Each
        subtask makes one object of a class, which can load a model in its constructor.

        Args:
            func: The function.
            return_dtype: The type of a row.
            batch_format: ``pandas`` or ``pyarrow``.
            concurrency: How many subtasks run it.
            batch_size: The most rows of a batch.

        Raises:
            TypeError: It cannot be called, or its type is unknown.
            ValueError: An argument is out of bounds.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> class Scale:
        ...     def __init__(self):
        ...         self.factor = 10
        ...
        ...     def __call__(self, batch):
        ...         return {"scaled": batch["id"] * self.factor}
        >>> pf.range(3).map_batches(Scale, return_dtype="ROW<scaled BIGINT>", batch_format="pandas").collect()
        [<Row(0)>, <Row(10)>, <Row(20)>]
        """
        source, result = _declaration(func, return_dtype)
        found = require_choice(batch_format, "batch_format", ("pandas", "pyarrow"))
        check_limits(concurrency, batch_size, found)
        if source.is_async:
            raise ValueError("map_batches does not accept async functions; use map()")
        kind = result._to_table_data_type()
        adapter = ColumnsFunction(source, kind, concurrency=concurrency, batch_size=batch_size)
        adapter.names, adapter.batch_format = tuple(self.columns), found
        return self._apply(adapter, result, source.name, "pandas" if found == "pandas" else "arrow")

    def _apply(self, adapter: UserDefinedFunction, result: DataType, name: str, how: str) -> Self:
        wrapper: Callable[..., Expression] = table_udf(
            adapter, result_type=result._to_table_data_type(), name=name, func_type=how
        )
        return self._with(_name_columns(self._table.map(wrapper(*map(col, self.columns))), result))

    def flat_map(self, func: object, *, return_dtype: object = None, concurrency: int | None = None) -> Self:
        """Return the rows that a function makes of each row.

        It gets a dict, and returns rows as functions of ``udtf`` do.

        Args:
            func: A function, an object or a class of one, or what ``udtf`` returns.
            return_dtype: The type of a row, unless ``udtf`` has it.
            concurrency: How many subtasks run it.

        Raises:
            TypeError: It cannot be called, or its type is unknown.
            ValueError: A row has several values without names, or the function does not take a dict.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> lines = pf.from_dict({"line": ["to be"]})
        >>> lines.flat_map(lambda row: row["line"].split(), return_dtype="ROW<word STRING>").collect()
        [<Row('to')>, <Row('be')>]
        """
        declared = declaration_of(func, return_dtype)
        check_limits(concurrency, None, "general")
        if not declared.has_named_fields and len(names_of(declared.return_dtype)) > 1:
            raise ValueError("flat_map requires named output fields; use TypedDict or a named struct.")
        names = names_of(declared.return_dtype) if declared.has_named_fields else ["f0"]
        call = declared.wrapper(self.columns, concurrency)(*map(col, self.columns))
        return self._with(self._table.flat_map(call).alias(*names))

    def join_lateral(self, table_function_call: object, *, how: str = "inner") -> Self:
        """Return each row with the rows that a function returns for it.

        Args:
            table_function_call: A call of a function of ``udtf``, whose columns have names.
            how: ``inner``, or ``left`` to keep rows without any.

        Raises:
            TypeError: It is not a call.
            ValueError: A name is missing, or taken.

        >>> import flintstream.dataframe as pf
        >>> pf.set_table_environment(None)
        >>> _ = pf.config.set("flintstream.engine", "inline")
        >>> chars = pf.udtf(lambda text: list(text), return_dtype=str)
        >>> names = pf.from_dict({"name": ["ab", ""]})
        >>> names.join_lateral(chars(pf.col("name")).alias("c"), how="left").collect()
        [<Row('ab', 'a')>, <Row('ab', 'b')>, <Row('', None)>]
        """
        require_choice(how, "how", ("inner", "left"))
        if isinstance(table_function_call, _DataFrameUDTFCall):
            call = table_function_call.expression
            names = list(table_function_call.output_aliases or ())
            if not names:
                if not table_function_call.has_named_fields:
                    raise ValueError(
                        "UDTF calls passed to join_lateral require output names; use alias, a TypedDict, or a named "
                        "struct return_dtype."
                    )
                names = names_of(table_function_call.return_dtype)
                call = call.alias(*names)
        elif isinstance(table_function_call, Expression):
            call, names = table_function_call, list(aliases_of(table_function_call))
            if not names:
                raise ValueError("Expression arguments passed to join_lateral require alias.")
        else:
            raise TypeError(
                "table_function_call must be a DataFrame UDTF call or Expression, "
                f"got {type(table_function_call).__name__}"
            )
        taken = sorted(set(self.columns) & set(names))
        if taken:
            raise ValueError(f"join_lateral output names conflict with input columns: {taken}")
        table = self._table
        return self._with(table.join_lateral(call) if how == "inner" else table.left_outer_join_lateral(call))


def _declaration(func: object, return_dtype: object) -> tuple[Source, DataType]:
    if isinstance(func, _DataFrameUDFWrapper):
        if return_dtype is not None:
            raise ValueError("return_dtype must not be specified for a DataFrame UDF declaration.")
        return func._runtime_source, func.return_dtype
    source = source_of(func)
    return source, result_of(source, return_dtype)


def _name_columns(table: Table, result: DataType) -> Table:
    kind = result._to_table_data_type()
    names = kind.field_names() if isinstance(kind, RowType) else ["f0"]
    return table.alias(*names)
