"""Rows and types of Arrow as those of tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import from_nanoseconds
from flintstream.connectors.files.arrow_values import change_times
from flintstream.errors import optional_module
from flintstream.table._functions.series import with_their_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_PRECISIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def from_arrow_type(kind: pa.DataType, nullable: bool = True) -> t.DataType:
    """Return the type of a column of Arrow.

    >>> import pyarrow
    >>> from_arrow_type(pyarrow.timestamp("ms"))
    TimestampType(3, true)

    Raises:
        TypeError: There is none.
    """
    found = _type_of(kind)
    return found if nullable else found.not_null()


def _type_of(kind: pa.DataType) -> t.DataType:
    types = optional_module("pyarrow.types", extra="dataframes", purpose="from_arrow()", package="pyarrow")
    simple: tuple[tuple[Callable[[pa.DataType], bool], t.DataType], ...] = (
        (types.is_boolean, t.DataTypes.BOOLEAN()),
        (types.is_int8, t.DataTypes.TINYINT()),
        (types.is_int16, t.DataTypes.SMALLINT()),
        (types.is_int32, t.DataTypes.INT()),
        (types.is_int64, t.DataTypes.BIGINT()),
        (types.is_uint8, t.DataTypes.SMALLINT()),
        (types.is_uint16, t.DataTypes.INT()),
        (types.is_uint32, t.DataTypes.BIGINT()),
        (types.is_float32, t.DataTypes.FLOAT()),
        (types.is_float64, t.DataTypes.DOUBLE()),
        (types.is_string, t.DataTypes.STRING()),
        (types.is_large_string, t.DataTypes.STRING()),
        (types.is_string_view, t.DataTypes.STRING()),
        (types.is_binary, t.DataTypes.BYTES()),
        (types.is_large_binary, t.DataTypes.BYTES()),
        (types.is_binary_view, t.DataTypes.BYTES()),
        (types.is_date32, t.DataTypes.DATE()),
        (types.is_null, t.DataTypes.NULL()),
    )
    for fits, found in simple:
        if fits(kind):
            return found
    if types.is_fixed_size_binary(kind):
        return t.DataTypes.BINARY(kind.byte_width)
    if types.is_decimal(kind):
        return t.DataTypes.DECIMAL(kind.precision, kind.scale)
    if types.is_time(kind):
        return t.DataTypes.TIME(_PRECISIONS[kind.unit])
    if types.is_timestamp(kind):
        return t.DataTypes.TIMESTAMP(_PRECISIONS[kind.unit])
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return t.DataTypes.ARRAY(from_arrow_type(kind.value_type))
    if types.is_map(kind):
        return t.DataTypes.MAP(from_arrow_type(kind.key_type), from_arrow_type(kind.item_type))
    if types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return t.DataTypes.ROW([t.DataTypes.FIELD(f.name, from_arrow_type(f.type, f.nullable)) for f in fields])
    if types.is_dictionary(kind):
        return from_arrow_type(kind.value_type)
    raise TypeError(f"Unsupported data type of Arrow: {kind}")


def rows_of_arrow(table: pa.Table, zone: str) -> list[tuple[object, ...]]:
    """Return the rows of a table of Arrow; points in time with a zone become local time of ``zone``."""
    types = optional_module("pyarrow.types", extra="dataframes", purpose="from_arrow()", package="pyarrow")
    columns = []
    for column in local_times(table, zone).columns:
        if types.is_timestamp(column.type):
            columns.append(_times(column))
        else:
            read = _reader(column.type)
            columns.append([None if value is None else read(value) for value in column.to_pylist()])
    return list(zip(*columns, strict=True)) if columns else []


def local_times(table: pa.Table, zone: str) -> pa.Table:
    """Return a table of Arrow in which points in time with a zone are local time of ``zone``, without one."""
    arrow, change = _arrow(), partial(_local, zone)
    for i, field in enumerate(table.schema):
        changed = [change_times(chunk, chunk.type, change) for chunk in table.column(i).chunks]
        if changed and changed[0].type != field.type:
            local = arrow.chunked_array(changed)
            table = table.set_column(i, arrow.field(field.name, local.type, field.nullable), local)
    return table


def _arrow() -> pa:
    return optional_module("pyarrow", extra="dataframes", purpose="from_arrow()")


def _compute() -> pa:
    return optional_module("pyarrow.compute", extra="dataframes", purpose="from_arrow()", package="pyarrow")


def _local(zone: str, column: pa.Array, _: pa.DataType) -> pa.Array:
    """Return what clocks of a zone show at points in time; times without a zone as they are."""
    if column.type.tz is None:
        return column
    shown = column.cast(_arrow().timestamp(column.type.unit, str(ZoneInfo(zone))))
    return _compute().local_timestamp(shown)


def _times(column: pa.ChunkedArray) -> list[object]:
    """Return points in time."""
    if column.type.unit == "ns":
        return [None if value is None else from_nanoseconds(value) for value in column.cast("int64").to_pylist()]
    unit = _arrow().timestamp("us")
    found: list[object] = column.cast(unit, safe=False).to_pylist()
    return found


def _reader(kind: pa.DataType) -> Callable[[object], object]:
    """Return what makes a value of Arrow one of a table: structs become tuples, and pairs dicts."""
    types = optional_module("pyarrow.types", extra="dataframes", purpose="from_arrow()", package="pyarrow")
    if types.is_struct(kind):
        parts = [(kind.field(i).name, _reader(kind.field(i).type)) for i in range(kind.num_fields)]
        return lambda value: tuple(
            None if item is None else read(item)
            for name, read in parts
            for item in [value[name]]  # type: ignore[index]  # a dict
        )
    if types.is_map(kind):
        key, item = _reader(kind.key_type), _reader(kind.item_type)
        return lambda pairs: {
            key(name): None if value is None else item(value)
            for name, value in pairs  # type: ignore[attr-defined]  # pairs
        }
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        element = _reader(kind.value_type)
        return lambda values: [
            None if value is None else element(value)
            for value in values  # type: ignore[attr-defined]  # a list
        ]
    if types.is_timestamp(kind) and kind.unit == "ns":
        return with_their_nanoseconds
    return lambda value: value
