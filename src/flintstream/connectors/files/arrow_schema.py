"""The schema that Arrow has for rows of a type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.connectors.files.arrow_values import arrow
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PLAIN: dict[type[t.DataType], str] = {
    t.CharType: "string",
    t.VarCharType: "string",
    t.BooleanType: "bool_",
    t.TinyIntType: "int8",
    t.SmallIntType: "int16",
    t.IntType: "int32",
    t.BigIntType: "int64",
    t.FloatType: "float32",
    t.DoubleType: "float64",
    t.BinaryType: "binary",
    t.VarBinaryType: "binary",
    t.DateType: "date32",
}


def arrow_schema(
    row_type: t.RowType,
    purpose: str,
    without: Iterable[type[t.DataType]] = (),
    *,
    reading: bool = False,
    time_unit: str = "us",
) -> object:
    """Return Arrow's schema for rows.

    Args:
        row_type: The type of the rows.
        purpose: What the schema is for, for messages.
        without: Types that the file format does not support.
        reading: Whether timestamps of up to three digits have milliseconds only, as Flink keeps them.
        time_unit: The unit of other timestamps, as Arrow abbreviates it.

    Raises:
        TypeError: ``row_type`` is not a row type.
        PlanError: A column has a type that the file format does not support.
    """
    if not isinstance(row_type, t.RowType):
        raise TypeError(f"{purpose} needs a row type, like DataTypes.ROW([DataTypes.FIELD(...)]), but got {row_type!r}")
    if not row_type.fields:
        raise PlanError(f"{purpose} needs a row type with at least one field")
    convert = partial(_arrow_type, tuple(without), reading, time_unit)
    return arrow().schema([_field(field, f"{purpose}: field '{field.name}'", convert) for field in row_type])


def _field(field: t.RowField, owner: str, convert: Callable[[t.DataType, str], object]) -> object:
    # Fields stay nullable even if they are NOT NULL, because the type of a stream cannot express that.
    return arrow().field(field.name, convert(field.data_type, owner))


def _arrow_type(
    refused: tuple[type[t.DataType], ...], reading: bool, time_unit: str, data_type: t.DataType, owner: str
) -> object:
    pa, convert = arrow(), partial(_arrow_type, refused, reading, time_unit)
    plain = _PLAIN.get(type(data_type))
    if isinstance(data_type, refused):
        raise PlanError(f"{owner} has the type {data_type!r}, which the file format does not support")
    if plain is not None:
        return getattr(pa, plain)()
    if isinstance(data_type, t.DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, t.TimeType):
        return pa.time32("ms") if data_type.precision <= 3 else pa.time64("us")
    if isinstance(data_type, (t.TimestampType, t.LocalZonedTimestampType)):
        unit = "ms" if reading and data_type.precision <= 3 else time_unit
        return pa.timestamp(unit, tz=None if isinstance(data_type, t.TimestampType) else "UTC")
    if isinstance(data_type, t.ArrayType):
        return pa.list_(convert(data_type.element_type, owner))
    if isinstance(data_type, t.MapType):
        return pa.map_(*(convert(part, owner) for part in (data_type.key_type, data_type.value_type)))
    if isinstance(data_type, t.RowType):
        return pa.struct([_field(field, f"{owner}.{field.name}", convert) for field in data_type])
    raise PlanError(f"{owner} has the type {data_type!r}, which the file format does not support")


def with_required_fields(schema: object, row_type: t.RowType) -> object:
    """Return a schema whose fields cannot be null where a type says NOT NULL.

    >>> from flintstream.table import DataTypes
    >>> row_type = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT().not_null())])
    >>> with_required_fields(arrow_schema(row_type, "a test"), row_type).field("id").nullable
    False
    """
    return arrow().schema(
        [_mark_required(field, own.data_type) for field, own in zip(_fields(schema), row_type, strict=True)]
    )


def _fields(schema: object) -> Iterable[object]:
    return schema  # type: ignore[return-value]  # Arrow has no types


def _mark_required(field: object, data_type: t.DataType) -> object:
    pa, kind = arrow(), field.type  # type: ignore[attr-defined]
    if isinstance(data_type, t.ArrayType):
        kind = pa.list_(_mark_required(kind.value_field, data_type.element_type))
    elif isinstance(data_type, t.MapType):
        kind = pa.map_(kind.key_type, _mark_required(kind.item_field, data_type.value_type))
    elif isinstance(data_type, t.RowType):
        kind = pa.struct([_mark_required(kind.field(k), own.data_type) for k, own in enumerate(data_type)])
    return pa.field(field.name, kind, nullable=data_type._nullable)  # type: ignore[attr-defined]
