"""Values that Python functions return, in the form that a plan has for their declared types."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Context, Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from flintstream.common._types import data_types as t
from flintstream.common._types.data_types import to_type_info
from flintstream.common._types.nanoseconds import MICROSECONDS, plain_datetime
from flintstream.common.time import Instant
from flintstream.common.typeinfo import Types
from flintstream.table._expressions.helpers import named_row, zone_of
from flintstream.table._expressions.times.helpers import from_instant, to_microseconds
from flintstream.table._types.rules import is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import tzinfo

    from flintstream.common._types.data_types import DataType

    Convert: TypeAlias = Callable[[object], object]


def converter_of(kind: DataType, simple: Callable[[DataType], Convert | None] | None = None) -> Convert | None:
    """Return a function that gives values other than None the form of a type; None if all have it.

    A decimal gets the digits of its type, rounded half to even, a time has milliseconds, and a timestamp has the digits
    that Flink keeps. What is in arrays, maps and rows is converted as well, and may be None if its type is nullable.

    Args:
        kind: The type.
        simple: Returns the function for types that are neither arrays, maps nor rows; :func:`simple_converter_of` by
            default.

    >>> converter_of(t.DataTypes.ARRAY(t.DataTypes.DECIMAL(10, 2)))([Decimal("1.005"), None])
    [Decimal('1.00'), None]

    The function raises ``TypeError`` for a value of another kind, and ``OverflowError`` for a number with more digits
    than its type has.
    """
    if isinstance(kind, t.ArrayType):
        return partial(_list, _element_of(kind.element_type, simple), sql_name(kind))
    if isinstance(kind, t.MapType):
        keys, values = _element_of(kind.key_type, simple), _element_of(kind.value_type, simple)
        return partial(_map, keys, values, sql_name(kind))
    if isinstance(kind, t.RowType):
        parts = [_element_of(part, simple) for part in kind.field_types()]
        fields = Types.ROW_NAMED(kind.names, [Types.PICKLED_BYTE_ARRAY() for _ in kind.names]).converter()
        return None if fields is None else partial(_row, tuple(kind.names), fields, parts)
    return (simple or simple_converter_of)(kind)


def simple_converter_of(kind: DataType) -> Convert | None:
    """Return the function for a type that is neither an array, a map nor a row."""
    if isinstance(kind, t.DecimalType):
        return partial(_decimal, Context(prec=kind.precision), Decimal((0, (1,), -kind.scale)), sql_name(kind))
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return partial(_timestamp, 1000 if kind.precision <= 3 else 1, sql_name(kind))
    if isinstance(kind, t.TimeType):
        return _time
    plain: Convert | None = to_type_info(kind).converter()
    return plain


def _element_of(kind: DataType, simple: Callable[[DataType], Convert | None] | None) -> Convert:
    """Return the function for values that may be None."""
    return partial(_value, converter_of(kind, simple), None if is_nullable(kind) else sql_name(kind))


def _value(convert: Convert | None, strict: str | None, value: object) -> object:
    if value is None:
        if strict is not None:
            raise TypeError(f"the declared type is {strict}, but the value is None")
        return None
    return value if convert is None else convert(value)


def _refuse(kind: str, value: object) -> TypeError:
    return TypeError(f"the declared type is {kind}, but the value is {value!r} of type {type(value).__name__}")


def _decimal(context: Context, unit: Decimal, kind: str, value: object) -> object:
    if not isinstance(value, Decimal) or not value.is_finite():
        raise _refuse(kind, value)
    try:
        return value.quantize(unit, context=context)
    except InvalidOperation:
        raise OverflowError(f"the declared type is {kind}, which has fewer digits than {value}") from None


def _timestamp(unit: int, kind: str, value: object) -> object:
    """Return a timestamp without zone, as PyFlink writes its parts, cut to a number of microseconds."""
    if isinstance(value, Instant):
        value = from_instant(value)
    if not isinstance(value, datetime):
        raise _refuse(kind, value)
    rest = value.microsecond % unit
    if rest or value.tzinfo is not None:
        return value.replace(microsecond=value.microsecond - rest, tzinfo=None)
    return value


def _time(value: object) -> object:
    if not isinstance(value, time):
        raise _refuse("TIME", value)
    rest = value.microsecond % 1000
    if rest or value.tzinfo is not None:
        return value.replace(microsecond=value.microsecond - rest, tzinfo=None)
    return value


def _list(convert: Convert, kind: str, value: object) -> object:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple, range)):
        raise _refuse(kind, value)
    return [convert(item) for item in value]


def _map(keys: Convert, values: Convert, kind: str, value: object) -> object:
    if not isinstance(value, dict):
        raise _refuse(kind, value)
    return {keys(key): values(item) for key, item in value.items()}


def _row(names: tuple[str, ...], fields: Convert, converts: Sequence[Convert], value: object) -> object:
    parts: Iterable[object] = fields(value)  # type: ignore[assignment]  # a row
    return named_row(names, [convert(part) for convert, part in zip(converts, parts, strict=True)])


def zone_converter(kind: DataType, zone: str) -> Convert | None:
    """Return a function that gives points in time a zone, without a change of their hour; None if there are none.

    Times lose nanoseconds, which ``datetime`` lacks.

    >>> from datetime import datetime
    >>> found = zone_converter(t.DataTypes.ARRAY(t.DataTypes.TIMESTAMP_LTZ(3)), "Asia/Shanghai")(
    ...     [datetime(2026, 5, 17)]
    ... )
    >>> found[0].isoformat()
    '2026-05-17T00:00:00+08:00'
    """
    if isinstance(kind, t.LocalZonedTimestampType):
        return partial(_with_zone, zone_of(zone))
    if isinstance(kind, t.TimestampType):
        return to_microseconds if kind.precision > MICROSECONDS else None
    if isinstance(kind, t.ArrayType):
        inner = zone_converter(kind.element_type, zone)
        return None if inner is None else partial(_each, inner)
    if isinstance(kind, t.MapType):
        keys, values = zone_converter(kind.key_type, zone), zone_converter(kind.value_type, zone)
        return None if keys is values is None else partial(_map, keys or _same, values or _same, sql_name(kind))
    if isinstance(kind, t.RowType):
        parts = [zone_converter(part, zone) for part in kind.field_types()]
        return None if not any(parts) else partial(_fields, tuple(kind.names), [part or _same for part in parts])
    return None


def _same(value: object) -> object:
    return value


def _with_zone(zone: tzinfo, value: object) -> object:
    return plain_datetime(value).replace(tzinfo=zone) if isinstance(value, datetime) else value


def _each(convert: Convert, values: list[object] | None) -> object:
    return None if values is None else [convert(value) for value in values]


def _fields(names: tuple[str, ...], converts: Sequence[Convert], row: Iterable[object] | None) -> object:
    if row is None:
        return None
    return named_row(names, [convert(part) for convert, part in zip(converts, row, strict=True)])
