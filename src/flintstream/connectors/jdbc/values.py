"""Convert records to the tuples of values that a driver expects."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from flintstream.common._types.conversion import Scope, tuple_converter
from flintstream.common._types.parts import basic_type, inline, time_type, without_converters
from flintstream.common.time import Instant
from flintstream.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from flintstream.common.types import Row
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
Adapter: TypeAlias = "Callable[[Any], Any]"

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_ARRAYS = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_BASIC = {BasicType.BIG_DEC: Decimal, BasicType.BIG_INT: int, BasicType.INSTANT: Instant}
_LOCAL = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: dt.date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: dt.time,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: dt.datetime,
}


def instant_in_utc(instant: Instant) -> dt.datetime:
    """Return an instant as a datetime in UTC, truncated to microseconds.

    >>> instant_in_utc(Instant.of_epoch_milli(-1)).isoformat()
    '1969-12-31T23:59:59.999000+00:00'
    """
    return _EPOCH + dt.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


def class_of(type_info: TypeInformation) -> type | None:
    """Return the class of a type's values if drivers treat it differently, else None. ``int`` means any size.

    >>> class_of(Types.SQL_DATE()), class_of(Types.LIST(Types.INT())), class_of(Types.INT())
    (<class 'datetime.date'>, <class 'list'>, None)
    """
    type_info = without_converters(type_info)
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC.get(basic_type(type_info))
    if isinstance(type_info, LocalTimeTypeInfo):
        return _LOCAL[time_type(type_info)]
    for kind, found in ((DateTypeInfo, dt.date), (TimeTypeInfo, dt.time), (TimestampTypeInfo, dt.datetime)):
        if isinstance(type_info, kind):
            return found
    return list if isinstance(type_info, _ARRAYS) and type_info != _BYTES else None


def column_types(type_info: TypeInformation) -> list[TypeInformation]:
    """Return the types of a record's values: those of its fields, or the type itself.

    Raises:
        PlanError: A value has a type for which databases have no column.
    """
    if not isinstance(type_info, TypeInformation):
        raise TypeError(f"the type of the records must be one of Types, such as Types.ROW([...]), got {type_info!r}")
    type_info = without_converters(type_info)
    if not isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        return [_check_type(type_info, "the record")]
    return [
        _check_type(item, f"field {index} of {type_info}") for index, item in enumerate(type_info.get_field_types())
    ]


def _check_type(type_info: TypeInformation, what: str) -> TypeInformation:
    if isinstance(type_info, (MapTypeInfo, RowTypeInfo, TupleTypeInfo)):
        raise PlanError(f"{what} has type {type_info}, which fits no column: convert it to text such as JSON")
    return type_info


def to_columns(type_info: TypeInformation, adapters: Mapping[int, Adapter]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that converts a record to a tuple of its values.

    Values are converted to the declared types and then by ``adapters``, which are keyed by field index. None stays
    None.

    >>> from flintstream.common import Types
    >>> make = to_columns(Types.ROW_NAMED(["id", "at"], [Types.INT(), Types.INSTANT()]), {1: instant_in_utc})
    >>> make(Row(at=None, id=1)), make((2, None))
    ((1, None), (2, None))
    """
    types = column_types(type_info)
    type_info = without_converters(type_info)
    if isinstance(type_info, RowTypeInfo):
        names, row_type = tuple(type_info.get_field_names()), type_info
        single = False
    else:
        names, row_type = None, RowTypeInfo(types)
        single = not isinstance(type_info, TupleTypeInfo)
    scope = Scope()
    inlines = [inline(kind, scope).nullable() for kind in types]
    convert = tuple_converter(inlines, scope, lambda value: tuple(row_type._convert(value)))

    def columns(value: Any) -> tuple[Any, ...]:
        if single:
            value = (value,)
        # fields without names are matched by position
        elif isinstance(value, Row) and (
            names is None or value._field_names is None or tuple(value._field_names) == names
        ):
            value = tuple(value._values)
        converted: tuple[Any, ...] = convert(value)
        return converted

    if not adapters:
        return columns
    pairs = tuple(adapters.items())

    def to_bind_values(value: Any) -> tuple[Any, ...]:
        parts = list(columns(value))
        for index, adapt in pairs:
            if parts[index] is not None:
                parts[index] = adapt(parts[index])
        return tuple(parts)

    return to_bind_values
