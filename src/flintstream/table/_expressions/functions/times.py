"""Functions of dates and times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.fields import MILLIS_WITHIN_YEARS
from flintstream.table._expressions.functions.signatures import (
    BIGINT,
    FUNCTIONS,
    INT,
    STRING,
    Function,
    add,
    define,
    structure,
)
from flintstream.table._expressions.times.helpers import FIRST_MS, LAST_MS, CurrentWatermark
from flintstream.table._expressions.times.patterns import date_writers, unix_writers
from flintstream.table._types.rules import (
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    IntervalType,
    is_nullable,
    sql_name,
    with_null,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Expr

_LTZ3 = t.LocalZonedTimestampType(3, False)
_CLOCK = {"HOUR", "MINUTE", "SECOND"}
UNITS = ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
"""The units of intervals."""
_COUNTED = (*UNITS, "CENTURY", "MILLENNIUM")
"""The units of TIMESTAMPDIFF: for decades, Flink gives years."""
_ALL_UNITS = (*UNITS, "DECADE", "CENTURY", "MILLENNIUM")
_OF_MONTHS = {"MONTH", "QUARTER", "YEAR", "CENTURY", "MILLENNIUM"}
_CLOCK_UNITS = ("MILLISECOND", "SECOND", "MINUTE", "HOUR")
_PARTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}


def _part(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``YEAR(x)`` and its like."""
    if len(arguments) != 1:
        return None
    unit = _PARTS[name]
    return _extract("EXTRACT", (Const(t.CharType(len(unit), False), unit), arguments[0]), zone)


def _extract(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``EXTRACT(unit FROM x)``; the parts of a TIMESTAMP_LTZ are those of the local time."""
    unit, moment = arguments
    kind = moment.type
    if isinstance(kind, t.LocalZonedTimestampType) and getattr(unit, "value", "") != "EPOCH":
        moment = cast(moment, t.TimestampType(kind.precision), zone) or moment
    if isinstance(kind, IntervalType):
        code = "extract_months({0}, {1})" if kind.months else "extract_interval({0}, {1})"
    elif isinstance(kind, t.TimeType):
        code = "extract_clock({0}, {1})"
    elif isinstance(kind, (*TIMESTAMPS, t.NullType)):
        code = "extract({0}, {1})"
        part = str(getattr(unit, "value", "")).lower()
        if isinstance(kind, TIMESTAMPS) and part in _FIELDS.values():
            code = f"({{1}}.{part} if {{1}}.year >= 1970 else {code})"
    elif isinstance(kind, t.DateType):
        code = "extract(_unit, as_timestamp({1}))".replace("_unit", "{0}")
    else:
        return None
    return Call(with_null(BIGINT, is_nullable(kind)), name, (unit, moment), template(code))


def _check_unit(name: str, unit: Expr, units: tuple[str, ...]) -> None:
    """Refuse a unit that has no fixed length, unless it is a number of months."""
    if getattr(unit, "value", "") not in units:
        raise SqlError(f"{name} has no unit {getattr(unit, 'value', '')}; its units are {', '.join(units)}")


def _plus_units(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``TIMESTAMPADD(unit, count, moment)``."""
    if len(arguments) != 3:
        return None
    unit, count, moment = arguments
    kind = moment.type
    if type(count.type) not in INTEGERS or not isinstance(kind, (*TIMESTAMPS, t.DateType, t.TimeType)):
        return None
    _check_unit(name, unit, _ALL_UNITS)
    result: DataType = kind
    if isinstance(kind, t.DateType) and getattr(unit, "value", "") in _CLOCK:
        result = t.TimestampType(6)
        moment = cast(moment, result, zone) or moment
    nullable = is_nullable(kind) or is_nullable(count.type)
    return Call(with_null(result, nullable), name, (unit, count, moment), template("plus_units({all})"))


def _rounding(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``FLOOR(moment TO unit)`` or CEIL; a TIMESTAMP_LTZ is rounded in local time."""
    moment, unit = arguments
    kind = moment.type
    if not isinstance(kind, (*TIMESTAMPS, t.DateType, t.TimeType)):
        return None
    if getattr(unit, "value", "") not in (_CLOCK_UNITS if isinstance(kind, t.TimeType) else _ALL_UNITS):
        raise SqlError(f"{name.partition(' ')[0]} has no unit {getattr(unit, 'value', '')} for {sql_name(kind)}")
    function = "floor_of" if name == "FLOOR TO" else "ceil_time"
    if isinstance(kind, t.LocalZonedTimestampType):
        moment = cast(moment, t.TimestampType(kind.precision), zone) or moment
    found = Call(with_null(moment.type, is_nullable(kind)), name, (moment, unit), template(function + "({0}, {1})"))
    return (cast(found, kind, zone) or found) if isinstance(kind, t.LocalZonedTimestampType) else found


def _format(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``DATE_FORMAT(moment, pattern)``; that of a text has the patterns of FROM_UNIXTIME, as in Flink."""
    if len(arguments) != 2 or not isinstance(arguments[1].type, (*TEXTS, t.NullType)):
        return None
    moment, pattern = arguments
    if isinstance(moment.type, TEXTS):
        _check_pattern(pattern, unix_writers)
        return Call(STRING, name, (moment, pattern), template("format_text({0}, {1})"))
    _check_pattern(pattern, date_writers)
    if isinstance(moment.type, (t.DateType, t.LocalZonedTimestampType)):
        digits = 3 if isinstance(moment.type, t.DateType) else moment.type.precision
        moment = cast(moment, t.TimestampType(digits), zone) or moment
    if not isinstance(moment.type, (t.TimestampType, t.NullType)):
        return None
    return Call(STRING, name, (moment, pattern), _format_date)


_FIELDS = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour", "mm": "minute", "ss": "second"}
_RUNS = re.compile(r"([A-Za-z])\1*|[-/:., _]")


def _format_date(generator: Generator, _: Call, names: Sequence[str]) -> str:
    """Return the code of a format, which is short for the usual patterns."""
    moment, given = names
    pattern = generator.value_of(given)
    runs = [found[0] for found in _RUNS.finditer(pattern)] if isinstance(pattern, str) else []
    if not runs or "".join(runs) != pattern or any(run.isalpha() and run not in _FIELDS for run in runs):
        return f"format_date({moment}, {given})"
    return f"(w0 if (w0 := show_fields({moment}, {given})) is not None else format_date({moment}, {given}))"


def _from_unix(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``FROM_UNIXTIME(seconds)``, with or without a pattern."""
    if not 1 <= len(arguments) <= 2 or not isinstance(arguments[0].type, (*INTEGERS, t.NullType)):
        return None
    if not all(isinstance(argument.type, (*TEXTS, t.NullType)) for argument in arguments[1:]):
        return None
    for pattern in arguments[1:]:
        _check_pattern(pattern, unix_writers)
    return Call(STRING, name, tuple(arguments), template(f"from_unixtime({zone!r}, {{all}})"))


def _check_pattern(pattern: Expr, read: Callable[[str], object]) -> None:
    """Refuse a constant that is not a pattern: it would fail for the first record."""
    if isinstance(pattern, Const) and isinstance(pattern.value, str):
        try:
            read(pattern.value)
        except ValueError as error:
            raise SqlError(str(error)) from None


def _difference(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return ``(a - b) SECOND``; years and months are months."""
    a, b = arguments
    if not all(isinstance(argument.type, (*TIMESTAMPS, t.DateType, t.NullType)) for argument in arguments):
        return None
    months = name.endswith(("YEAR", "QUARTER", "MONTH"))
    unit = "MONTH" if months else "MILLISECOND"
    kind = IntervalType(months, is_nullable(a.type) or is_nullable(b.type))
    return Call(kind, name, (a, b), template(f"timestamp_diff('{unit}', {{1}}, {{0}})"))


def _units_between(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return TIMESTAMPDIFF: between two points in time the exact one, else that of local times."""
    if len(arguments) != 3:
        return None
    unit, *moments = arguments
    nullable = any(is_nullable(moment.type) for moment in moments)
    if all(isinstance(moment.type, t.TimeType) for moment in moments):
        _check_unit(name, unit, _COUNTED)
        return Call(with_null(INT, nullable), name, (unit, *moments), template("timestamp_diff({0}, {1}, {2})"))
    if not all(isinstance(moment.type, (*TIMESTAMPS, t.DateType, t.NullType)) for moment in moments):
        return None
    _check_unit(name, unit, _COUNTED)
    local = [isinstance(moment.type, t.LocalZonedTimestampType) for moment in moments]
    if not all(local) or (isinstance(unit, Const) and unit.value in _OF_MONTHS):
        moments = [
            (cast(item, t.TimestampType(3), zone) or item) if there else item
            for item, there in zip(moments, local, strict=True)
        ]
    kind = with_null(INT, any(is_nullable(moment.type) for moment in moments))
    return Call(kind, name, (unit, *moments), template("wrap(timestamp_diff({0}, {1}, {2}), 32)"))


_QUOTED = re.compile("'[^']*'")
_WITHIN_YEARS = f"{FIRST_MS} <= {{0}} <= {LAST_MS}"


def _to_ltz(_: Generator, call: Call, names: Sequence[str]) -> str:
    """Return the code of TO_TIMESTAMP_LTZ, which is short for whole ms."""
    if _is_of_millis(call):
        return f"(moment_of({{0}}) if {_WITHIN_YEARS} else None)".format(names[0])
    return f"to_ltz({_digits(call.arguments)}, {', '.join(names)})"


def _ltz(arguments: Sequence[Expr]) -> DataType:
    return t.LocalZonedTimestampType(_digits(arguments))


def _digits(arguments: Sequence[Expr]) -> int:
    """Return the digits of TO_TIMESTAMP_LTZ: those of a literal or of a pattern, at least 3."""
    given = arguments[1].value if len(arguments) > 1 and isinstance(arguments[1], Const) else None
    digits = _QUOTED.sub("", given).count("S") if isinstance(given, str) else given
    return min(max(digits, 3), 9) if isinstance(digits, int) else 3


def in_millis(moment: Expr) -> Expr:
    """Return a time as ms since the epoch."""
    if isinstance(moment, Call) and moment.name == "TO_TIMESTAMP_LTZ" and _is_of_millis(moment):
        within = template(f"({{0}} if {_WITHIN_YEARS} else None)")
        return Call(BIGINT, MILLIS_WITHIN_YEARS, (moment.arguments[0],), within, lacking=True)
    return Call(BIGINT, "MILLIS", (moment,), structure("(None if {0} is None else millis({0}))"), strict=False)


def _is_of_millis(call: Call) -> bool:
    number, *digits = call.arguments
    return type(number.type) in INTEGERS and all(
        isinstance(item, Const) and item.value == _LTZ3.precision for item in digits
    )


def _watermark(_name: str, arguments: Sequence[Expr], _zone: str) -> Expr | None:
    """Return CURRENT_WATERMARK, which does not depend on the value of its argument."""
    if len(arguments) != 1 or not isinstance(arguments[0].type, TIMESTAMPS):
        return None
    kind = t.LocalZonedTimestampType if isinstance(arguments[0].type, t.LocalZonedTimestampType) else t.TimestampType
    found = CurrentWatermark()

    def emit(generator: Generator, _call: Call, _names: Sequence[str]) -> str:
        return f"{generator.known('watermark', found)}()"

    return Call(kind(3), "CURRENT_WATERMARK", (), emit)


for _name in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"):
    add(f"- {_name}", ("DD",), _difference)
for _name in _PARTS:
    add(_name, ("D",), _part)
add("EXTRACT", ("SD", "SC", "SV"), _extract)
add("TIMESTAMPADD", ("SID", "SIC"), _plus_units)
add("FLOOR TO", ("DS",), _rounding)
add("CEIL TO", ("DS",), _rounding)
add("DATE_FORMAT", ("TS", "SS"), _format)
define("TO_DATE", "S SS", t.DateType(), "read_date({all})", may_be_null=True)
define("TO_TIMESTAMP", "S SS", t.TimestampType(3), "read_timestamp({all})", may_be_null=True)
define(
    "TO_TIMESTAMP_LTZ",
    "N NI S SS SSS",
    _ltz,
    _to_ltz,
    may_be_null=True,
)
FUNCTIONS["TIMESTAMPDIFF"] = Function(
    "TIMESTAMPDIFF", (), _units_between, "(unit, DATE or TIMESTAMP, DATE or TIMESTAMP) or (unit, TIME, TIME)"
)
define("UNIX_TIMESTAMP", " S SS", BIGINT, "unix_timestamp({zone}, {all})")
add("FROM_UNIXTIME", ("I", "IS"), _from_unix)
define("CONVERT_TZ", "SSS", STRING, "convert_zone({all})", may_be_null=True)
define("CURRENT_TIMESTAMP | NOW | CURRENT_ROW_TIMESTAMP | PROCTIME", "", _LTZ3, "now()")
add("CURRENT_WATERMARK", ("T",), _watermark)
define("LOCALTIMESTAMP", "", t.TimestampType(3, False), "zoned(now(), {zone})")
define("CURRENT_DATE", "", t.DateType(False), "zoned(now(), {zone}).date()")
define("CURRENT_TIME | LOCALTIME", "", t.TimeType(0, False), "zoned(now(), {zone}).time().replace(microsecond=0)")
