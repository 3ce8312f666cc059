"""Casts: the code that converts a value of one type to another."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.expr import Call, Const
from flintstream.table._expressions.fields import integer_field, is_field
from flintstream.table._types.objects import BitmapType, StructuredType, VariantType
from flintstream.table._types.rules import (
    BYTES,
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    IntervalType,
    as_decimal,
    is_nullable,
    with_null,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr


_SHORT = 18
"""The digits of a decimal that Flink keeps in 64 bits, and reads in its own way."""


def cast(argument: Expr, target: DataType, zone: str, *, lenient: bool = False) -> Expr | None:
    """Return the expression that converts to a type; None if there is no such cast.

    Args:
        argument: The expression to convert.
        target: The type; it becomes nullable if the argument is.
        zone: The time zone of the session, for ``TIMESTAMP_LTZ``.
        lenient: Whether a value that cannot be converted becomes None (``TRY_CAST``).
    """
    if isinstance(target, (t.DayTimeIntervalType, t.YearMonthIntervalType)):
        return _to_interval(argument, target, zone, lenient=lenient)
    source = argument.type
    nullable = is_nullable(source) or lenient
    result = with_null(target, nullable)
    if source.nullable() == target.nullable() or isinstance(source, t.NullType):
        if isinstance(argument, Const):
            return Const(result, argument.value)
        return argument
    code = _code(source, target, zone)
    if code is None:
        return None
    if lenient:
        return Call(with_null(target, nullable=True), "TRY_CAST", (argument,), _guard(code), strict=False)
    if type(target) in INTEGERS and is_field(argument):
        return Call(result, "CAST", (argument,), integer_field(INTEGERS[type(target)]), strict=False)
    may_lose = "fit(" in code and not _always_fits(source, target) and not _known_to_fit(argument, target)
    return Call(with_null(target, nullable or may_lose), "CAST", (argument,), _inline(code))


_UNITS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "MONTH": 1, "YEAR": 12}


def _to_interval(
    argument: Expr, target: t.DayTimeIntervalType | t.YearMonthIntervalType, zone: str, *, lenient: bool
) -> Expr | None:
    """Return the cast to an interval: Flink counts a literal in the unit, other numbers in ms or months."""
    kind = IntervalType(isinstance(target, t.YearMonthIntervalType), is_nullable(target))
    unit = _UNITS.get(target.resolution.name)
    if not isinstance(argument.type, (IntervalType, t.NullType)) and unit is None:
        return None
    if isinstance(argument, Const) and unit is not None and type(argument.type) in INTEGERS:
        value = argument.value
        return Const(with_null(kind, is_nullable(argument.type)), None if value is None else value * unit)
    return cast(argument, kind, zone, lenient=lenient)


def _always_fits(source: DataType, target: DataType) -> bool:
    """Return whether a decimal type holds all values of another number's."""
    if not isinstance(source, (*INTEGERS, t.DecimalType)) or not isinstance(target, t.DecimalType):
        return False
    exact = as_decimal(source)
    return exact.scale <= target.scale and exact.precision - exact.scale <= target.precision - target.scale


def _known_to_fit(argument: Expr, target: DataType) -> bool:
    """Return whether a decimal type holds a literal, with room for rounding up."""
    if not isinstance(target, t.DecimalType) or not isinstance(argument, Const):
        return False
    value = argument.value
    return isinstance(value, (int, Decimal)) and abs(Decimal(value)) + 1 < 10 ** (target.precision - target.scale)


def _inline(code: str) -> Emit:
    def emit(_: Generator, __: Call, names: Sequence[str]) -> str:
        return code.format(names[0])

    return emit


def _guard(code: str) -> Emit:
    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        name = generator.value(call.arguments[0])
        result = generator.new()
        generator.line("try:")
        generator.line(f"    {result} = None if {name} is None else {code.format(name)}")
        generator.line("except (ValueError, ArithmeticError):")
        generator.line(f"    {result} = None")
        return result

    return emit


def _code(source: DataType, target: DataType, zone: str) -> str | None:
    if isinstance(target, TEXTS):
        text = _to_text(source, zone)
        if text is None:
            return None
        if isinstance(target, t.CharType):
            return f"{text}.ljust({target.length})[:{target.length}]"
        return text if target.length == t.MAX_LENGTH else f"{text}[:{target.length}]"
    if isinstance(target, t.NumericType):
        return _to_number(source, target)
    if isinstance(target, t.BooleanType):
        if isinstance(source, TEXTS):
            return "parse_boolean({0})"
        return "{0} != 0" if isinstance(source, t.NumericType) else None
    if isinstance(target, BYTES):
        if isinstance(source, BitmapType):
            return "bitmap_to_bytes({0})" if target.length == t.MAX_LENGTH else None
        text = "{0}" if isinstance(source, BYTES) else "utf8({0})" if isinstance(source, TEXTS) else None
        if text is None or target.length == t.MAX_LENGTH:
            return text
        padded = f"{text}.ljust({target.length}, ZERO_BYTE)" if isinstance(target, t.BinaryType) else text
        return f"{padded}[:{target.length}]"
    if isinstance(target, (*TIMESTAMPS, t.DateType, t.TimeType)):
        return _to_time(source, target, zone)
    if isinstance(target, IntervalType):
        same = isinstance(source, IntervalType) and source.months == target.months
        return "{0}" if same or type(source) in INTEGERS else None
    return _to_structure(source, target, zone)


def _to_structure(source: DataType, target: DataType, zone: str) -> str | None:
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        inner = _element(source.element_type, target.element_type, zone, "e")
        return None if inner is None else f"[{inner} for e in {{0}}]"
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        key = _element(source.key_type, target.key_type, zone, "k")
        value = _element(source.value_type, target.value_type, zone, "v")
        return None if key is None or value is None else f"{{{{{key}: {value} for k, v in {{0}}.items()}}}}"
    if isinstance(source, t.RowType) and isinstance(target, t.RowType) and len(source) == len(target):
        pairs = zip(source.field_types(), target.field_types(), strict=True)
        parts = [_element(x, y, zone, f"{{0}}[{i}]") for i, (x, y) in enumerate(pairs)]
        if None not in parts:
            return f"named_row({tuple(target.names)!r}, [{', '.join(map(str, parts))}])"
    return None


def _element(source: DataType, target: DataType, zone: str, name: str) -> str | None:
    code = "{0}" if source.nullable() == target.nullable() else _code(source, target, zone)
    if code is None:
        return None
    return name if code == "{0}" else f"(None if {name} is None else {code.replace('{0}', name)})"


def _to_text(source: DataType, zone: str) -> str | None:
    simple: dict[type[DataType], str] = {
        t.BooleanType: "('TRUE' if {0} else 'FALSE')",
        t.FloatType: "float_to_text({0})",
        t.DoubleType: "double_to_text({0})",
        t.DecimalType: "format({0}, 'f')",
        t.DateType: "{0}.isoformat()",
    }
    if type(source) in simple:
        return simple[type(source)]
    if isinstance(source, TEXTS):
        return "{0}"
    if isinstance(source, BYTES):
        return "{0}.decode('utf-8', 'replace')"
    if type(source) in INTEGERS:
        return "str({0})"
    if isinstance(source, t.LocalZonedTimestampType):
        return f"timestamp_to_text({_local_time(zone)}, {source.precision})"
    if isinstance(source, t.TimestampType):
        return f"timestamp_to_text({{0}}, {source.precision})"
    if isinstance(source, t.TimeType):
        return f"time_to_text({{0}}, {source.precision})"
    if isinstance(source, (VariantType, BitmapType)):
        return "str({0})"
    if isinstance(source, IntervalType):
        return "months_to_text({0})" if source.months else "interval_to_text({0})"
    return _structure_to_text(source, zone)


def _structure_to_text(source: DataType, zone: str) -> str | None:
    """Return the code for an array, map or row, whose parts have the texts of their types."""
    if isinstance(source, t.MultisetType):
        item = _part_to_text(source.element_type, zone, "k")
        return (
            None
            if item is None
            else f"('{{{{' + ', '.join([{item} + '=' + str(n) for k, n in {{0}}.items()]) + '}}}}')"
        )
    if isinstance(source, t.ArrayType):
        item = _part_to_text(source.element_type, zone, "e")
        return None if item is None else f"('[' + ', '.join([{item} for e in {{0}}]) + ']')"
    if isinstance(source, t.MapType):
        key, value = _part_to_text(source.key_type, zone, "k"), _part_to_text(source.value_type, zone, "v")
        if key is None or value is None:
            return None
        return f"('{{{{' + ', '.join([{key} + '=' + {value} for k, v in {{0}}.items()]) + '}}}}')"
    if isinstance(source, t.RowType):
        parts = [_part_to_text(kind, zone, f"{{0}}[{i}]") for i, kind in enumerate(source.field_types())]
        if isinstance(source, StructuredType):
            parts = [part and f"{name + '='!r} + {part}" for name, part in zip(source.names, parts, strict=True)]
        return None if None in parts else f"('(' + ', '.join([{', '.join(map(str, parts))}]) + ')')"
    return None


def _part_to_text(source: DataType, zone: str, name: str) -> str | None:
    code = _to_text(source, zone)
    return None if code is None else f"('NULL' if {name} is None else {code.replace('{0}', name)})"


def _digits(bits: int) -> int:
    """Return how many digits integers have at most."""
    return len(str((1 << bits - 1) - 1))


def _local_time(zone: str) -> str:
    """Return the code of the local time of a point in time."""
    return "{0}" if zone in {"UTC", "GMT"} else f"zoned({{0}}, {zone!r})"


def _to_number(source: DataType, target: DataType) -> str | None:
    if isinstance(target, t.DecimalType):
        limits = f"{target.precision}, {target.scale}"
        if isinstance(source, TEXTS):
            read = "parse_short_decimal" if target.precision <= _SHORT else "parse_decimal"
            return f"fit({read}({{0}}), {limits})"
        if isinstance(source, t.DecimalType):
            return f"fit({{0}}, {limits})"
        if not target.scale and type(source) in INTEGERS and _digits(INTEGERS[type(source)]) <= target.precision:
            return "Decimal({0})"
        if isinstance(source, t.NumericType):
            return f"fit(Decimal(repr({{0}})), {limits})"
        return f"fit(Decimal(int({{0}})), {limits})" if isinstance(source, t.BooleanType) else None
    if type(target) in INTEGERS:
        bits = INTEGERS[type(target)]
        if isinstance(source, TEXTS):
            return f"(w0 if (w0 := plain_integer({{0}}, {bits})) is not None else parse_integer({{0}}, {bits}))"
        if isinstance(source, IntervalType) and not source.months:
            return "divide({0}, 1000)"
        if isinstance(source, t.BooleanType):
            return "int({0})"
        if type(source) in INTEGERS:
            return "{0}" if INTEGERS[type(source)] <= bits else f"wrap({{0}}, {bits})"
        if isinstance(source, t.DecimalType):
            return f"wrap(int({{0}}), {bits})"
        return f"whole({{0}}, {bits})" if isinstance(source, t.NumericType) else None
    number = "float({0})" if not isinstance(source, TEXTS) else "parse_double({0})"
    if not isinstance(source, (*TEXTS, t.NumericType, t.BooleanType)):
        return None
    return f"narrow({number})" if isinstance(target, t.FloatType) else number


def _to_time(source: DataType, target: DataType, zone: str) -> str | None:
    precision = getattr(target, "precision", 0)
    if isinstance(target, t.DateType):
        if isinstance(source, TEXTS):
            return "parse_date({0})"
        if isinstance(source, t.TimestampType):
            return "date_of({0})"
        return f"{_local_time(zone)}.date()" if isinstance(source, t.LocalZonedTimestampType) else None
    if isinstance(target, t.TimeType):
        if isinstance(source, TEXTS):
            return f"cut_time(round_time(parse_time({{0}})), {precision})"
        if isinstance(source, t.TimestampType):
            return f"cut_time(time_of({{0}}), {precision})"
        if isinstance(source, t.TimeType):
            return "{0}" if source.precision <= precision else f"cut_time({{0}}, {precision})"
        of_zone = f"cut_time({_local_time(zone)}.time(), {precision})"
        return of_zone if isinstance(source, t.LocalZonedTimestampType) else None
    local = isinstance(target, t.LocalZonedTimestampType)
    if isinstance(source, TIMESTAMPS):
        was_local = isinstance(source, t.LocalZonedTimestampType)
        moved = "{0}" if was_local == local else f"unzoned({{0}}, {zone!r})" if local else _local_time(zone)
        return moved if source.precision <= precision else f"cut({moved}, {precision})"
    read = f"parse_timestamp({{0}}, {precision})" if isinstance(source, TEXTS) else None
    if isinstance(source, t.DateType):
        read = "as_timestamp({0})"
    if isinstance(source, t.TimeType):
        read = "at_epoch({0})" if precision >= 3 else f"cut(at_epoch({{0}}), {precision})"
    return None if read is None else f"unzoned({read}, {zone!r})" if local else read
