"""Types of single values: numbers, strings, booleans, dates and times."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import T_co
from flintstream.common._text.java import (
    clock_text,
    double_text,
    float_text,
    instant_text,
    narrow,
    plain_text,
    timestamp_text,
)
from flintstream.common._types.base import TypeInformation
from flintstream.common._types.conversion import Inline, Scope, leaf, mismatch
from flintstream.common.time import Instant

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._types.conversion import Converter


class BasicType(Enum):
    """The basic types. Each value is the name that Flink prints.

    >>> BasicType.LONG.value, BasicType("Integer").name
    ('Long', 'INT')
    """

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


_INTEGER_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}

_FAST_TESTS = {
    BasicType.STRING: "(type({x}) is str or {x} is None)",
    BasicType.BOOLEAN: "({x} is True or {x} is False)",
    BasicType.DOUBLE: "type({x}) is float",
    BasicType.CHAR: "(type({x}) is str and len({x}) == 1)",
    BasicType.BIG_INT: "(type({x}) is int or {x} is None)",
    BasicType.BIG_DEC: "(type({x}) is Decimal or {x} is None)",
    BasicType.INSTANT: "(type({x}) is Instant or {x} is None)",
    **{
        basic: f"(type({{x}}) is int and {-(1 << bits - 1)} <= {{x}} <= {(1 << bits - 1) - 1})"
        for basic, bits in _INTEGER_BITS.items()
    },
}

_KINDS = {
    BasicType.STRING: "s",
    BasicType.BOOLEAN: "?",
    BasicType.DOUBLE: "d",
    BasicType.CHAR: "c",
    BasicType.BIG_INT: "n",
    BasicType.BYTE: "b",
    BasicType.SHORT: "h",
    BasicType.INT: "i",
    BasicType.LONG: "q",
}
"""The letters of the compiled tests that do the same as :data:`_FAST_TESTS`."""

_NULLABLE = {BasicType.STRING, BasicType.BIG_INT, BasicType.BIG_DEC, BasicType.INSTANT}


def _number(type_info: TypeInformation, value: Any) -> Any:
    """Return ``value`` if Python (or NumPy) considers it a number, never a string."""
    is_text = isinstance(value, (str, bytes))  # NumPy's strings have number methods
    if not is_text and (hasattr(type(value), "__float__") or hasattr(type(value), "__index__")):
        return value
    raise mismatch(type_info, value)


def _whole(type_info: TypeInformation, value: Any) -> int:
    """Return a number without its fractional part."""
    try:
        return int(_number(type_info, value))
    except (TypeError, ValueError, OverflowError):  # not a number, NaN or infinite
        raise mismatch(type_info, value) from None


def _to_integer(type_info: BasicTypeInfo, value: Any) -> int:
    number = _whole(type_info, value)
    bits = _INTEGER_BITS[type_info._basic_type]
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise OverflowError(f"{number} does not fit the declared type {type_info} ({bits} bits)")
    return number


def _to_double(type_info: BasicTypeInfo, value: Any) -> float:
    try:
        return float(_number(type_info, value))
    except (TypeError, ValueError, OverflowError):  # not a number, or an integer that is too large
        raise mismatch(type_info, value) from None


def _to_float(type_info: BasicTypeInfo, value: Any) -> float:
    return narrow(_to_double(type_info, value))


def _to_boolean(type_info: BasicTypeInfo, value: Any) -> bool:
    return _whole(type_info, value) != 0  # so 0.5 is false, as in PyFlink


def _to_big_integer(type_info: BasicTypeInfo, value: Any) -> int:
    number = _whole(type_info, value)
    if number != value:
        raise mismatch(type_info, value, "round it first")
    return number


def _to_decimal(type_info: BasicTypeInfo, value: Any) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, str):
        text = plain_text(value)
    elif isinstance(value, (int, float)):  # IntEnum members have a different str()
        text = repr(int(value) if isinstance(value, int) else float(value))
    else:
        text = str(_number(type_info, value))
    try:
        return Decimal(text)
    except ArithmeticError:
        raise mismatch(type_info, value) from None


def _to_text(type_info: BasicTypeInfo, value: Any) -> str:
    if isinstance(value, str):
        return plain_text(value)
    raise mismatch(type_info, value, "convert it with str(...)")


def _to_character(type_info: BasicTypeInfo, value: Any) -> str:
    if isinstance(value, str) and len(value) == 1:
        return plain_text(value)
    raise mismatch(type_info, value)


def _to_instant(type_info: BasicTypeInfo, value: Any) -> Instant:
    if isinstance(value, Instant):
        return value
    raise mismatch(type_info, value)


_SLOW: dict[BasicType, Callable[[BasicTypeInfo, Any], Any]] = {
    BasicType.STRING: _to_text,
    BasicType.BYTE: _to_integer,
    BasicType.BOOLEAN: _to_boolean,
    BasicType.SHORT: _to_integer,
    BasicType.INT: _to_integer,
    BasicType.LONG: _to_integer,
    BasicType.FLOAT: _to_float,
    BasicType.DOUBLE: _to_double,
    BasicType.CHAR: _to_character,
    BasicType.BIG_INT: _to_big_integer,
    BasicType.BIG_DEC: _to_decimal,
    BasicType.INSTANT: _to_instant,
}


class BasicTypeInfo(TypeInformation[T_co]):
    """The type of numbers, booleans, strings and instants.

    >>> from flintstream.common import Types
    >>> BasicTypeInfo.LONG_TYPE_INFO() == Types.LONG(), BasicTypeInfo.STRING_TYPE_INFO()
    (True, String)
    >>> BasicTypeInfo.BYTE_TYPE_INFO(), BasicTypeInfo.SHORT_TYPE_INFO(), BasicTypeInfo.INT_TYPE_INFO()
    (Byte, Short, Integer)
    >>> BasicTypeInfo.FLOAT_TYPE_INFO(), BasicTypeInfo.DOUBLE_TYPE_INFO(), BasicTypeInfo.BOOLEAN_TYPE_INFO()
    (Float, Double, Boolean)
    >>> BasicTypeInfo.BIG_INT_TYPE_INFO(), BasicTypeInfo.BIG_DEC_TYPE_INFO(), BasicTypeInfo.CHAR_TYPE_INFO()
    (BigInteger, BigDecimal, Char)
    >>> BasicTypeInfo.INSTANT_TYPE_INFO()
    Instant
    """

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    def _signature(self) -> tuple[object, ...]:
        return (self._basic_type,)

    def __repr__(self) -> str:
        return self._basic_type.value

    def _inline(self, scope: Scope) -> Inline:
        scope.names |= {"Decimal": Decimal, "Instant": Instant}
        if self._basic_type is BasicType.FLOAT:
            return Inline("type({x}) is float", "narrow({x})", keeps=False)
        return Inline.keep(_FAST_TESTS[self._basic_type], _KINDS.get(self._basic_type, ""))

    def _compile(self) -> Converter:
        scope = Scope()
        return leaf(self._inline(scope), scope, self._convert)

    def _convert(self, value: Any) -> Any:
        if value is None:
            if self._basic_type in _NULLABLE:
                return None
            raise mismatch(self, value, "only STRING, BIG_INT, BIG_DEC, INSTANT and the SQL types allow None")
        return _SLOW[self._basic_type](self, value)

    def is_plain_text(self) -> bool:
        """See :meth:`TypeInformation.is_plain_text`."""
        special = (BasicType.DOUBLE, BasicType.FLOAT, BasicType.BOOLEAN, BasicType.INSTANT)
        return self._basic_type not in special

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if value is None:
            return "null"
        basic = self._basic_type
        if basic is BasicType.DOUBLE:
            return double_text(value)
        if basic is BasicType.FLOAT:
            return float_text(value)
        if basic is BasicType.BOOLEAN:
            return "true" if value else "false"
        if basic is BasicType.INSTANT and isinstance(value, Instant):
            return instant_text(value)
        return str(value)

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo[str]:
        """The type of strings."""
        return _BASIC[BasicType.STRING]

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo[bool]:
        """The type of booleans."""
        return _BASIC[BasicType.BOOLEAN]

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo[int]:
        """The type of 8-bit integers."""
        return _BASIC[BasicType.BYTE]

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo[int]:
        """The type of 16-bit integers."""
        return _BASIC[BasicType.SHORT]

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """The type of 32-bit integers."""
        return _BASIC[BasicType.INT]

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo[int]:
        """The type of 64-bit integers."""
        return _BASIC[BasicType.LONG]

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo[float]:
        """The type of 32-bit floating point numbers."""
        return _BASIC[BasicType.FLOAT]

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo[float]:
        """The type of 64-bit floating point numbers."""
        return _BASIC[BasicType.DOUBLE]

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo[str]:
        """The type of single characters."""
        return _BASIC[BasicType.CHAR]

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """The type of integers of any size."""
        return _BASIC[BasicType.BIG_INT]

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo[Decimal]:
        """The type of decimal numbers."""
        return _BASIC[BasicType.BIG_DEC]

    @staticmethod
    def INSTANT_TYPE_INFO() -> BasicTypeInfo[Instant]:
        """The type of points in time."""
        return _BASIC[BasicType.INSTANT]


class InstantTypeInfo(BasicTypeInfo[Instant]):
    """The type of :class:`~flintstream.common.time.Instant`.

    >>> from flintstream.common import Types
    >>> isinstance(Types.INSTANT(), InstantTypeInfo), Types.INSTANT().stringify(Instant.of_epoch_milli(1_500))
    (True, '1970-01-01T00:00:01.500Z')
    """

    def __init__(self, basic_type: BasicType = BasicType.INSTANT) -> None:
        super().__init__(basic_type)

    def need_conversion(self) -> bool:
        """See :meth:`TypeInformation.need_conversion`."""
        return True


_BASIC: dict[BasicType, BasicTypeInfo] = {
    basic: InstantTypeInfo(basic) if basic is BasicType.INSTANT else BasicTypeInfo(basic) for basic in BasicType
}


class SqlTimeTypeInfo(TypeInformation[T_co]):
    """Factory for the types of dates and times.

    >>> SqlTimeTypeInfo.DATE(), SqlTimeTypeInfo.TIME(), SqlTimeTypeInfo.TIMESTAMP()
    (DateTypeInfo, TimeTypeInfo, TimestampTypeInfo)
    """

    @staticmethod
    def DATE() -> DateTypeInfo:
        """The type of dates."""
        return _DATE

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """The type of times of day."""
        return _TIME

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """The type of dates with a time of day."""
        return _TIMESTAMP

    def _signature(self) -> tuple[object, ...]:
        return ()

    def need_conversion(self) -> bool:
        """See :meth:`TypeInformation.need_conversion`."""
        return True


class DateTypeInfo(SqlTimeTypeInfo[dt.date]):
    """The type of :class:`datetime.date`. Truncates a datetime to its date.

    >>> from datetime import datetime
    >>> from flintstream.common import Types
    >>> Types.SQL_DATE().converter()(datetime(2026, 5, 17, 8, 30))
    datetime.date(2026, 5, 17)
    """

    EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()

    def __repr__(self) -> str:
        return "DateTypeInfo"

    def _convert(self, value: Any) -> dt.date | None:
        if isinstance(value, dt.datetime):
            return value.date()
        if value is None or isinstance(value, dt.date):
            return value
        raise mismatch(self, value)


class TimeTypeInfo(SqlTimeTypeInfo[dt.time]):
    """The type of :class:`datetime.time` without time zone, with millisecond precision. A datetime loses its date.

    >>> from datetime import time
    >>> from flintstream.common import Types
    >>> Types.SQL_TIME().converter()(time(8, 30, 0, 123_456))
    datetime.time(8, 30, 0, 123000)
    """

    EPOCH_ORDINAL = 0

    def __repr__(self) -> str:
        return "TimeTypeInfo"

    def _convert(self, value: Any) -> dt.time | None:
        if value is None:
            return None
        if isinstance(value, dt.datetime):
            value = value.time()
        if not isinstance(value, dt.time):
            raise mismatch(self, value)
        if value.microsecond % 1000 == 0 and value.tzinfo is None:
            return value
        return value.replace(microsecond=value.microsecond // 1000 * 1000, tzinfo=None)

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`; java.sql.Time prints whole seconds."""
        return f"{value:%H:%M:%S}" if isinstance(value, dt.time) else super().stringify(value)


class TimestampTypeInfo(SqlTimeTypeInfo[dt.datetime]):
    """The type of :class:`datetime.datetime`. Converts values with a time zone to UTC.

    >>> from datetime import datetime, timedelta, timezone
    >>> from flintstream.common import Types
    >>> Types.SQL_TIMESTAMP().converter()(datetime(2026, 5, 17, 8, 30, tzinfo=timezone(timedelta(hours=2))))
    datetime.datetime(2026, 5, 17, 6, 30)
    """

    def __repr__(self) -> str:
        return "TimestampTypeInfo"

    def _convert(self, value: Any) -> dt.datetime | None:
        if value is None:
            return None
        if not isinstance(value, dt.datetime):
            raise mismatch(self, value)
        return value if value.tzinfo is None else value.astimezone(dt.timezone.utc).replace(tzinfo=None)

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        return timestamp_text(value) if isinstance(value, dt.datetime) else super().stringify(value)


_DATE, _TIME, _TIMESTAMP = DateTypeInfo(), TimeTypeInfo(), TimestampTypeInfo()


class LocalTimeTypeInfo(TypeInformation[dt.date | dt.time]):
    """The type of ``java.time`` dates, times or datetimes: without time zone, with microsecond precision.

    >>> from datetime import date
    >>> LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE).converter()(date(2026, 5, 17))
    datetime.date(2026, 5, 17)
    """

    class TimeType(Enum):
        """Date, time or datetime."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    def _signature(self) -> tuple[object, ...]:
        return (self._time_type,)

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"

    def _convert(self, value: Any) -> Any:
        expected = {
            self.TimeType.LOCAL_DATE: dt.date,
            self.TimeType.LOCAL_TIME: dt.time,
            self.TimeType.LOCAL_DATE_TIME: dt.datetime,
        }[self._time_type]
        if expected is dt.date and isinstance(value, dt.datetime):
            return value.date()
        if value is None or isinstance(value, expected):
            return value
        raise mismatch(self, value)

    def stringify(self, value: Any) -> str:
        """See :meth:`TypeInformation.stringify`."""
        if isinstance(value, dt.datetime):
            return f"{value.date().isoformat()}T{clock_text(value)}"
        return clock_text(value) if isinstance(value, dt.time) else super().stringify(value)
