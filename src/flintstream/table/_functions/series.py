"""Columns of tables as pandas data and back, through Arrow as PyFlink does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import MICROSECONDS, to_nanoseconds, with_nanoseconds
from flintstream.errors import optional_module
from flintstream.table._functions.arrow_values import naive_utc, time_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from pandas import DataFrame, Series
    from pyarrow import Array, DataType, Schema

    Data: TypeAlias = Series | DataFrame
    Convert: TypeAlias = Callable[..., object]

_PLAIN: dict[type[t.DataType], str] = {
    t.BigIntType: "int64",
    t.BooleanType: "bool_",
    t.CharType: "utf8",
    t.DateType: "date32",
    t.DoubleType: "float64",
    t.FloatType: "float32",
    t.IntType: "int32",
    t.NullType: "null",
    t.SmallIntType: "int16",
    t.TinyIntType: "int8",
    t.VarBinaryType: "binary",
    t.VarCharType: "utf8",
}


def pandas() -> Any:
    """Return the module ``pandas``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return optional_module("pandas", extra="dataframes", purpose="pandas functions")


def arrow() -> Any:
    """Return the module ``pyarrow``.

    Raises:
        MissingDependencyError: It is not installed.
    """
    return optional_module("pyarrow", extra="dataframes", purpose="pandas functions")


def arrow_type(kind: t.DataType, unit_of: Callable[[int], str] = time_unit) -> DataType:
    """Return the type of Arrow that PyFlink has for a type; ``unit_of`` says which unit timestamps of a precision have.

    >>> str(arrow_type(t.DataTypes.ARRAY(t.DataTypes.TIMESTAMP(3))))
    'list<item: timestamp[ms]>'

    Raises:
        ValueError: There is none.
    """
    pa = arrow()
    plain = _PLAIN.get(type(kind))
    if plain is not None:
        return getattr(pa, plain)()
    if isinstance(kind, t.BinaryType):
        return pa.binary(kind.length)
    if isinstance(kind, t.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, t.TimeType):
        unit = time_unit(kind.precision)
        return pa.time32(unit) if unit in {"s", "ms"} else pa.time64(unit)
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return pa.timestamp(unit_of(kind.precision))
    if isinstance(kind, t.MapType):
        return pa.map_(arrow_type(kind.key_type, unit_of), arrow_type(kind.value_type, unit_of))
    if isinstance(kind, t.ArrayType):
        return pa.list_(arrow_type(kind.element_type, unit_of))
    if isinstance(kind, t.RowType):
        return pa.struct([(field.name, arrow_type(field.data_type, unit_of)) for field in kind.fields])
    raise ValueError(f"field_type {kind} is not supported.")


def arrow_schema(field_names: Sequence[str], field_types: Sequence[t.DataType]) -> Schema:
    """Return the schema of Arrow for columns of these names and types.

    >>> arrow_schema(["id", "day"], [t.DataTypes.BIGINT(), t.DataTypes.DATE()]).names
    ['id', 'day']

    Raises:
        ValueError: Arrow has no such type.
    """
    columns = zip(field_names, field_types, strict=True)
    return arrow().schema([arrow().field(name, arrow_type(kind), kind.nullable() == kind) for name, kind in columns])


def to_pandas(values: Sequence[object], kind: t.DataType, name: str | None, zone: str) -> Data:
    """Return the values of a column as a ``Series``; rows as a ``DataFrame``.

    ``zone`` is that of the session. As in PyFlink, a ``TIMESTAMP_LTZ`` has it, but the time of day of UTC.

    >>> list(to_pandas([1, None], t.DataTypes.INT(), "n", "UTC"))
    [1.0, nan]
    """
    return column_of(array_of(values, kind), kind, name, zone)


def array_of(values: Iterable[object], kind: t.DataType, unit_of: Callable[[int], str] = time_unit) -> Array:
    """Return the values of a column as an array of Arrow, whose timestamps have units by their precision."""
    written, wanted = writer(kind), arrow_type(kind, unit_of)
    made: Array = arrow().array([*values] if written is None else [*map(written, values)], wanted)
    return made


def column_of(array: Array, kind: t.DataType, name: str | None, zone: str) -> Data:
    """Return a column of Arrow as a ``Series``; rows as a ``DataFrame``."""
    if isinstance(kind, t.RowType):
        parts = zip(array.flatten(), kind.names, strict=True)
        return pandas().concat([part.to_pandas(date_as_object=True).rename(field) for part, field in parts], axis=1)
    found = array.to_pandas(date_as_object=True).rename(name)
    return found.dt.tz_localize(zone) if isinstance(kind, t.LocalZonedTimestampType) else found


def frame_of(rows: Iterable[object], names: Sequence[str], types: Sequence[t.DataType], zone: str) -> DataFrame:
    """Return whole rows as a ``DataFrame``; columns that are rows themselves become a column for each field."""
    columns = zip(*rows, strict=True)
    parts = zip(columns, types, names, strict=True)
    return pandas().concat([to_pandas(column, kind, name, zone) for column, kind, name in parts], axis=1)


def from_pandas(found: Data, kind: t.DataType, zone: str) -> list[object]:
    """Return the values of what a function has returned.

    Raises:
        RuntimeError: They do not fit the type.
    """
    if isinstance(kind, t.RowType) and isinstance(found, pandas().DataFrame):
        # a column at a time: Arrow would make a dict for each row
        parts = zip(_parts(found, kind), kind.field_types(), strict=False)
        return list(zip(*(values_of(_array(column, of, zone), of) for column, of in parts), strict=True))
    return values_of(_array(found, kind, zone), kind)


def from_arrow(found: Array, kind: t.DataType) -> list[object]:
    """Return the values of an array of Arrow that a function has returned.

    >>> from_arrow(arrow().array([1, None]), t.DataTypes.DOUBLE())
    [1.0, None]

    Raises:
        RuntimeError: They do not fit the type.
    """
    if isinstance(kind, t.RowType) and not found.null_count and found.type.num_fields == len(kind.names):
        columns = [from_arrow(part, of) for part, of in zip(found.flatten(), kind.field_types(), strict=True)]
        return list(zip(*columns, strict=True))
    return values_of(_cast(found, kind), kind)


def array_from_pandas(found: Data, kind: t.DataType, zone: str) -> Array:
    """Return what a function of pandas has returned as an array of Arrow.

    >>> array_from_pandas(pandas().Series([1.0, None]), t.DataTypes.INT(), "UTC").to_pylist()
    [1, None]

    Raises:
        RuntimeError: It does not fit the type.
    """
    if isinstance(kind, t.RowType) and isinstance(found, pandas().DataFrame):
        parts = zip(_parts(found, kind), kind.field_types(), strict=False)
        return arrow().StructArray.from_arrays([array_from_pandas(c, of, zone) for c, of in parts], names=kind.names)
    return _array(found, kind, zone)


def array_from_arrow(found: Array, kind: t.DataType) -> Array:
    """Return what a function of Arrow has returned in the declared type.

    >>> array_from_arrow(arrow().array([1, None]), t.DataTypes.DOUBLE()).to_pylist()
    [1.0, None]

    Raises:
        RuntimeError: It does not fit the type.
    """
    if isinstance(kind, t.RowType) and not found.null_count and found.type.num_fields == len(kind.names):
        parts = zip(found.flatten(), kind.field_types(), strict=True)
        return arrow().StructArray.from_arrays([array_from_arrow(part, of) for part, of in parts], names=kind.names)
    return _cast(found, kind)


def _parts(found: DataFrame, kind: t.RowType) -> list[Series]:
    """Return the columns of a ``DataFrame`` that is the rows of a type."""
    columns = [found.iloc[:, i] for i in range(found.shape[1])]
    if len(columns) < len(kind.names):
        raise ValueError(f"the declared type is {kind}, but the DataFrame has {len(columns)} columns")
    return columns[: len(kind.names)]


def _cast(found: Array, kind: t.DataType) -> Array:
    wanted = arrow_type(kind)
    try:
        return found if found.type == wanted else found.cast(wanted)
    except arrow().ArrowException as error:
        raise RuntimeError(f"Exception thrown when converting {found.type} to pyarrow.Array ({wanted}).") from error


def _array(series: Series, kind: t.DataType, zone: str) -> Array:
    pa = arrow()
    if isinstance(kind, t.LocalZonedTimestampType) and getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert(zone).dt.tz_localize(None)
    wanted = arrow_type(kind)
    try:
        return pa.Array.from_pandas(series, mask=series.isna(), type=wanted)
    except pa.ArrowException as error:
        raise RuntimeError(
            f"Exception thrown when converting pandas.Series ({series.dtype}) to pyarrow.Array ({wanted}).", error
        ) from error


def values_of(array: Array, kind: t.DataType) -> list[object]:
    """Return the values of an array of Arrow; its timestamps may have another unit than that of the type.

    >>> values_of(arrow().array([0], arrow().timestamp("us")), t.DataTypes.TIMESTAMP(0))
    [datetime.datetime(1970, 1, 1, 0, 0)]
    """
    if isinstance(kind, t.RowType) and not array.null_count and array.type.num_fields == len(kind.names):
        columns = [values_of(part, of) for part, of in zip(array.flatten(), kind.field_types(), strict=True)]
        return list(zip(*columns, strict=True))
    values: list[object] = array.to_pylist()
    read = reader(kind)
    return values if read is None else [*map(read, values)]


def writer(kind: t.DataType) -> Convert | None:
    """Return what makes a value one that Arrow takes; None if it stays."""
    if isinstance(kind, t.RowType):
        names = kind.names
        parts = [writer(part) or _same for part in kind.field_types()]
        return lambda row: None if row is None else {n: f(v) for n, f, v in zip(names, parts, row, strict=True)}
    if isinstance(kind, t.MapType):
        key, value = writer(kind.key_type) or _same, writer(kind.value_type) or _same
        return lambda found: None if found is None else [(key(k), value(v)) for k, v in found.items()]
    if isinstance(kind, t.ArrayType):
        item = writer(kind.element_type)
        return None if item is None else lambda found: None if found is None else [*map(item, found)]
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)) and kind.precision > MICROSECONDS:
        return _nanoseconds
    return None


def reader(kind: t.DataType) -> Convert | None:
    """Return what makes a value of Arrow one of a table; None if it stays."""
    if isinstance(kind, t.RowType):
        names = kind.names
        parts = [reader(part) or _same for part in kind.field_types()]
        return lambda row: None if row is None else tuple([f(row[n]) for n, f in zip(names, parts, strict=True)])
    if isinstance(kind, t.MapType):
        key, value = reader(kind.key_type) or _same, reader(kind.value_type) or _same
        return lambda found: None if found is None else {key(k): value(v) for k, v in found}
    if isinstance(kind, t.ArrayType):
        item = reader(kind.element_type)
        return None if item is None else lambda found: None if found is None else [*map(item, found)]
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)) and kind.precision > MICROSECONDS:
        return with_their_nanoseconds
    return None


def _nanoseconds(value: datetime | None) -> int | None:
    """Return the nanoseconds since 1970 of a time of UTC, or of one that has a zone."""
    utc = naive_utc(value) if value is not None and value.tzinfo is not None else value
    return None if utc is None else to_nanoseconds(utc)


def with_their_nanoseconds(found: object) -> object:
    """Return a time of pandas as one of a table."""
    if not isinstance(found, pandas().Timestamp):
        return found
    return with_nanoseconds(found.to_pydatetime(warn=False), found.nanosecond)


def _same(value: object) -> object:
    return value
