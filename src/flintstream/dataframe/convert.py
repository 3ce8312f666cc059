"""DataFrames of Python's values, pandas, Arrow and tables; mirrors ``pyflink.dataframe.convert``."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from flintstream.common._public import publish
from flintstream.common._types.inference import infer_schema
from flintstream.dataframe._records import check_names, rows_of_records
from flintstream.dataframe.context import get_or_create_table_environment
from flintstream.dataframe.dataframe import DataFrame
from flintstream.errors import PlanError, optional_module
from flintstream.table._owners import (
    rows_of_arrow,
    stream_environment_of,
    table_of_arrow,
    table_of_rows,
    type_of_arrow,
)
from flintstream.table.schema import Schema
from flintstream.table.table import Table
from flintstream.table.table_environment import StreamTableEnvironment
from flintstream.table.types import DataTypes, LocalZonedTimestampType, TimestampType

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from flintstream.engine.frames.data_frames import SparkDataFrame
    from flintstream.table.types import RowType

__all__ = ["from_arrow", "from_dict", "from_pandas", "from_records", "from_spark", "from_table", "range"]


class ArrowStream(Protocol):
    """What exports its rows as a stream of Arrow, such as DataFrames of Polars and relations of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the stream in a capsule."""


SCALARS = (str, bytes, bytearray, memoryview)


def _watermark(watermark: object) -> tuple[str, str] | None:
    if watermark is None:
        return None
    if not isinstance(watermark, tuple) or len(watermark) != 2:
        raise TypeError("watermark must be a tuple of (column, expression)")
    column, expression = watermark
    if not (isinstance(column, str) and isinstance(expression, str) and column.strip() and expression.strip()):
        raise TypeError("watermark column and expression must be non-empty strings")
    return column, expression


def _frame(rows: Sequence[tuple[object, ...]], kind: RowType, marks: tuple[str, str] | None) -> DataFrame:
    t_env = get_or_create_table_environment()
    if marks is None:
        return DataFrame(table_of_rows(t_env, rows, kind))
    fields = {field.name: field for field in kind.fields}
    if marks[0] not in fields:
        raise ValueError(f"watermark column {marks[0]!r} is not present in data")
    timed = fields[marks[0]].data_type
    if not isinstance(timed, (TimestampType, LocalZonedTimestampType)):
        raise ValueError(f"watermark column {marks[0]!r} must have a timestamp type")
    fields[marks[0]].data_type = type(timed)(3, timed == timed.nullable())
    schema = Schema.new_builder().from_row_data_type(kind).watermark(*marks).build()
    return DataFrame(table_of_rows(t_env, rows, kind, schema))


def from_table(table: Table) -> DataFrame:
    """Return a DataFrame with the rows of a table.

    Raises:
        TypeError: It is not a table.

    >>> import flintstream.dataframe as pf
    >>> table = pf.range(3).to_table()
    >>> pf.from_table(table).to_table() is table
    True
    """
    if not isinstance(table, Table):
        raise TypeError("table must be a pyflink.table.Table")
    return DataFrame(table)


def from_spark(frame: SparkDataFrame) -> DataFrame:
    """Return the rows of a DataFrame of Spark, which Spark computes once, when a job starts.

    Its tasks write files of Arrow, which the tasks of the job read; no row passes through the driver.

    Raises:
        PlanError: A column has a type that tables lack, or the environment is not a ``StreamTableEnvironment``.

    >>> from pyspark.sql import SparkSession
    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> pf.from_spark(spark.range(3)).columns  # doctest: +SKIP
    ['id']
    """
    t_env = get_or_create_table_environment()
    if not isinstance(t_env, StreamTableEnvironment):
        raise PlanError("from_spark() needs a StreamTableEnvironment, which set_table_environment() can take")
    return DataFrame(t_env.from_data_stream(stream_environment_of(t_env).from_dataframe(frame)))


def from_pandas(
    pdf: pd.DataFrame, schema: Sequence[str] | None = None, watermark: tuple[str, str] | None = None
) -> DataFrame:
    """Return the rows of a DataFrame of pandas, with the types that Arrow has for its columns.

    Args:
        pdf: The rows.
        schema: Other names for the columns, by position.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: There are more or fewer names than columns.

    >>> import pandas as pd
    >>> import flintstream.dataframe as pf
    >>> pf.from_pandas(pd.DataFrame({"id": [1, 2]}), schema=["number"]).columns
    ['number']
    """
    pandas = optional_module("pandas", extra="dataframes", purpose="from_pandas()")
    if not isinstance(pdf, pandas.DataFrame):
        raise TypeError(f"data must be a pandas.DataFrame, but was {type(pdf).__name__}")
    arrow = optional_module("pyarrow", extra="dataframes", purpose="from_pandas()")
    if schema is not None:
        _check_width(schema, len(pdf.columns))
        pdf = pdf.set_axis(builtins.range(len(pdf.columns)), axis=1)
    return from_arrow(arrow.Table.from_pandas(pdf, preserve_index=False), schema, watermark)


def from_arrow(
    table: pa.Table | ArrowStream, schema: Sequence[str] | None = None, watermark: tuple[str, str] | None = None
) -> DataFrame:
    """Return the rows of a table of Arrow.

    Args:
        table: The rows; also a DataFrame of Polars, a relation of DuckDB or another object that exports a stream of
            Arrow.
        schema: Other names for the columns, by position.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type, or tables do not have the type of a column.
        ValueError: There are more or fewer names than columns.

    >>> import pyarrow as pa
    >>> import flintstream.dataframe as pf
    >>> pf.from_arrow(pa.table({"id": [1, 2], "name": ["ann", "bob"]})).columns
    ['id', 'name']
    """
    table = _arrow_table(table)
    marks = _watermark(watermark)
    names = list(table.column_names) if schema is None else _check_width(schema, table.num_columns)
    kind = type_of_arrow(check_names(names), table.schema)
    t_env = get_or_create_table_environment()
    if marks is None:
        return DataFrame(table_of_arrow(t_env, table, kind))
    return _frame(rows_of_arrow(table, t_env.get_config().get_local_timezone()), kind, marks)


def _arrow_table(data: object) -> pa.Table:
    """Return a table of Arrow as it is, and what exports a stream of Arrow as one, without copying its columns.

    Raises:
        TypeError: It is neither.
    """
    arrow = optional_module("pyarrow", extra="dataframes", purpose="from_arrow()")
    if isinstance(data, arrow.Table):
        return data
    if type(data).__module__.startswith("pandas.") or not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(f"data must be a pyarrow.Table, but was {type(data).__name__}")
    return arrow.table(data)


def _check_width(schema: object, width: int) -> Sequence[str]:
    if isinstance(schema, list) and len(schema) != width:
        raise ValueError(f"schema has {len(schema)} fields but data has {width} columns")
    return check_names(schema)


def from_records(
    data: Sequence[Sequence[object] | Mapping[str, object]],
    schema: Sequence[str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return rows of dicts, named tuples or sequences.

    Dicts and named tuples bring their names; with a schema, only these fields count. Sequences need one.

    Args:
        data: The rows, at least one.
        schema: The names of the columns.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: A row is none of these.
        ValueError: Rows are missing, or they differ in their fields.

    >>> import flintstream.dataframe as pf
    >>> pf.from_records([{"id": 1, "name": "ann"}]).columns, pf.from_records([(1,)], schema=["id"]).columns
    (['id', 'name'], ['id'])
    """
    if not isinstance(data, Sequence) or isinstance(data, SCALARS):
        raise TypeError("data must be a sequence of records, such as a list or tuple")
    if not data:
        raise ValueError("data must not be empty")
    marks = _watermark(watermark)
    rows, names = rows_of_records(data, schema)
    return _frame(rows, infer_schema(rows, names), marks)


def from_dict(
    data: Mapping[str, Sequence[object]],
    schema: Sequence[str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return rows of columns.

    Args:
        data: The values of each column, as many for each.
        schema: Which columns, and in which order.
        watermark: The column of event time, and its watermark as SQL.

    Raises:
        TypeError: An argument has another type.
        ValueError: A column is missing, or the columns differ in length.

    >>> import flintstream.dataframe as pf
    >>> pf.from_dict({"name": ["ann", "bob"], "id": [1, 2]}, schema=["id", "name"]).columns
    ['id', 'name']
    """
    if not isinstance(data, Mapping):
        raise TypeError("data must be a mapping")
    if not data:
        raise ValueError("data must not be empty")
    marks = _watermark(watermark)
    names = check_names(list(data) if schema is None else schema)
    columns: list[Sequence[object]] = []
    for name in names:
        if name not in data:
            raise ValueError(f"column {name!r} is not present in data")
        values = data[name]
        if not isinstance(values, Sequence) or isinstance(values, SCALARS):
            raise TypeError(f"column {name!r} values must be a sequence, such as a list or tuple")
        columns.append(values)
    if len({len(values) for values in columns}) != 1:
        raise ValueError("columns must have equal lengths")
    rows = list(zip(*columns, strict=True))
    if not rows:
        raise ValueError("data must contain at least one row")
    return _frame(rows, infer_schema(rows, names), marks)


def range(start_or_end: int, end: int | None = None, step: int = 1) -> DataFrame:
    """Return whole numbers in a column ``id``, as Python's ``range`` counts them.

    Raises:
        TypeError: An argument is not a whole number.
        ValueError: The step is 0.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> _ = pf.config.set("flintstream.engine", "inline")
    >>> pf.range(1, 6, 2).collect()
    [<Row(1)>, <Row(3)>, <Row(5)>]
    """
    if not isinstance(start_or_end, int):
        raise TypeError("start_or_end must be an integer")
    if end is not None and not isinstance(end, int):
        raise TypeError("end must be an integer")
    if not isinstance(step, int):
        raise TypeError("step must be an integer")
    if step == 0:
        raise ValueError("step must not be zero")
    numbers = builtins.range(0, start_or_end, step) if end is None else builtins.range(start_or_end, end, step)
    kind = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])
    return _frame([(number,) for number in numbers], kind, None)


publish(__name__, __all__, globals())
