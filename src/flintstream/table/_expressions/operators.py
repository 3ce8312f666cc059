"""Operators of expressions: arithmetic, comparisons, logic, and what evaluates arguments only if needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.constant_sets import in_sets
from flintstream.table._expressions.expr import Call, Const, Expr, template
from flintstream.table._types.objects import BitmapType, VariantType
from flintstream.table._types.rules import (
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    IntervalType,
    as_decimal,
    common_type,
    decimal_of,
    is_nullable,
    with_null,
)

if TYPE_CHECKING:
    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit

NESTED = 32
"""The most branches of CASE, and arguments of COALESCE, that become nested blocks, which are fastest."""

_MOST_DIGITS = 38
"""Of a decimal; a result with more loses digits."""

Build = Callable[[str, Sequence[Expr], str], "Expr | None"]
"""Returns the expression for a name, resolved arguments and the time zone; None if the types do not fit."""


def _to(argument: Expr, target: DataType, zone: str) -> Expr:
    made = cast(argument, target, zone)
    if made is None:
        raise TypeError(f"no cast to {target!r}")
    return made


def _any_null(arguments: Sequence[Expr]) -> bool:
    return any(is_nullable(argument.type) for argument in arguments)


def arithmetic(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``a + b``, and the same for - * / %."""
    if len(arguments) == 1:
        return negative(name, arguments, zone) if name == "-" else arguments[0]
    a, b = arguments
    timed = _with_interval(name, a, b)
    if timed is not None:
        return timed
    if isinstance(a.type, t.NullType) or isinstance(b.type, t.NullType):
        other = b.type if isinstance(a.type, t.NullType) else a.type
        return Const(other.nullable(), None) if isinstance(other, (t.NumericType, t.NullType)) else None
    if not isinstance(a.type, t.NumericType) or not isinstance(b.type, t.NumericType):
        return None
    nullable = _any_null(arguments)
    exact = isinstance(a.type, t.DecimalType) or isinstance(b.type, t.DecimalType)
    common = common_type([a.type, b.type])
    if exact and not isinstance(common, t.DoubleType):
        return _decimals(name, a, b, nullable=nullable, zone=zone)
    if common is None:
        return None
    divisor = b.type
    a, b = _to(a, common, zone), _to(b, common, zone)
    if type(common) in INTEGERS:
        if name == "%":  # the rest is smaller than the divisor, whose type it has
            return Call(with_null(divisor, nullable), name, (a, b), _remainder)
        bits = INTEGERS[type(common)]
        code = f"((({{0}} {name} {{1}}) + {1 << (bits - 1)}) & {(1 << bits) - 1}) - {1 << (bits - 1)}"
        if name == "/":
            return Call(with_null(common, nullable), name, (a, b), _quotient(bits))
    else:
        code = {"/": "divide_doubles({0}, {1})", "%": "remainder_doubles({0}, {1})"}.get(name, f"{{0}} {name} {{1}}")
        if isinstance(common, t.FloatType):
            code = f"narrow({code})"
    return Call(with_null(common, nullable), name, (a, b), template(code))


def _remainder(generator: Generator, _: Call, names: Sequence[str]) -> str:
    a, b = names
    positive = _is_positive(generator.value_of(b))
    return f"({a} % {b} if {a} >= 0 else -(-{a} % {b}))" if positive else f"remainder({a}, {b})"


@cache
def _quotient(bits: int) -> Emit:
    """Return what writes the code of a division toward zero, which leaves the type only for the least number by -1."""

    def emit(generator: Generator, _: Call, names: Sequence[str]) -> str:
        a, b = names
        positive = _is_positive(generator.value_of(b))
        return f"({a} // {b} if {a} >= 0 else -(-{a} // {b}))" if positive else f"wrap(divide({a}, {b}), {bits})"

    return emit


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, Decimal)) and value > 0


def _decimals(name: str, a: Expr, b: Expr, *, nullable: bool, zone: str) -> Expr:
    x, y = as_decimal(a.type), as_decimal(b.type)
    method = {"+": "add", "-": "subtract", "*": "multiply"}.get(name)
    if not method:  # the others take whole numbers as they are
        a, b = (_to(item, with_null(kind, is_nullable(item.type)), zone) for item, kind in ((a, x), (b, y)))
    if name == "*":
        scale = x.scale + y.scale
        kind = decimal_of(x.precision + y.precision + 1, scale)
    elif name == "/":
        scale = max(6, x.scale + y.precision + 1)
        kind = decimal_of(x.precision - x.scale + y.scale + scale, scale)
    elif name == "%":
        scale = max(x.scale, y.scale)
        kind = decimal_of(min(x.precision - x.scale, y.precision - y.scale) + scale, scale)
    else:
        scale = max(x.scale, y.scale)
        kind = decimal_of(max(x.precision - x.scale, y.precision - y.scale) + scale + 1, scale)
    limits = f"{kind.precision}, {kind.scale}"
    divide = "divide_decimals" if name == "/" else "remainder_decimals"
    code = f"{divide}({{0}}, {{1}}, {limits})"
    if method:
        exact = kind.scale == scale and kind.precision < _MOST_DIGITS
        if exact:
            return Call(with_null(kind, nullable), name, (a, b), _exact_result(method))
        code = f"fit(WIDE.{method}({{0}}, {{1}}), {limits})"
    return Call(with_null(kind, nullable), name, (a, b), template(code))


@cache
def _exact_result(method: str) -> Emit:
    """Return what writes the code of a result that needs no rounding. Zero has no sign, unlike in Python."""

    def emit(generator: Generator, _: Call, names: Sequence[str]) -> str:
        result = f"WIDE.{method}({', '.join(names)})"
        signed = method != "multiply" or not any(_is_positive(generator.value_of(name)) for name in names)
        return f"WIDE.plus({result})" if signed else result

    return emit


def _with_interval(name: str, a: Expr, b: Expr) -> Expr | None:
    if name == "*" and isinstance(b.type, IntervalType):
        a, b = b, a
    if name in "*/" and isinstance(a.type, IntervalType) and type(b.type) in INTEGERS:
        code = "{0} * {1}" if name == "*" else "divide({0}, {1})"
        return Call(with_null(a.type, _any_null((a, b))), name, (a, b), template(code))
    moments = (*TIMESTAMPS, t.DateType, t.TimeType)
    if name == "+" and isinstance(a.type, IntervalType) and isinstance(b.type, moments):
        a, b = b, a
    if name not in "+-" or not isinstance(b.type, IntervalType):
        return None
    nullable = _any_null((a, b))
    sign = "-" if name == "-" else ""
    if isinstance(a.type, moments):
        code = f"plus_months({{0}}, {sign}({{1}}))" if b.type.months else f"plus({{0}}, {sign}({{1}}))"
        return Call(with_null(a.type, nullable), name, (a, b), template(code))
    if isinstance(a.type, IntervalType) and a.type.months == b.type.months:
        return Call(with_null(a.type, nullable), name, (a, b), template(f"{{0}} {name} {{1}}"))
    return None


def negative(_: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return ``-a``."""
    (a,) = arguments
    if isinstance(a, Const) and isinstance(a.type, t.NumericType) and a.value is not None:
        return Const(a.type, -a.value)
    if not isinstance(a.type, (t.NumericType, IntervalType)):
        return None
    bits = INTEGERS.get(type(a.type))
    code = "WIDE.minus({0})" if isinstance(a.type, t.DecimalType) else "-({0})"
    return Call(a.type, "-", (a,), template(code if bits is None else f"wrap(-({{0}}), {bits})"))


WITHOUT_ORDER = (t.ArrayType, t.MapType, t.MultisetType, t.RowType, VariantType, BitmapType)
"""Types whose values are equal or not, but none is less than another one."""


def to_common_type(a: Expr, b: Expr, zone: str) -> tuple[Expr, Expr] | None:
    """Return both sides in one type; None if they cannot be compared."""
    if any(isinstance(x, TIMESTAMPS) and isinstance(y, t.DateType) for x, y in ((a.type, b.type), (b.type, a.type))):
        return None  # CASE brings both to one type, a comparison does not
    if isinstance(a.type, BitmapType) or isinstance(b.type, BitmapType):
        return None  # bitmaps can be grouped by, not compared
    if all(isinstance(item.type, (*INTEGERS, t.DecimalType)) for item in (a, b)):
        return a, b  # no type holds the digits of all, and Python compares them as they are
    common = common_type([a.type, b.type])
    if common is None:
        for text, other in ((a.type, b.type), (b.type, a.type)):
            if isinstance(text, TEXTS) and isinstance(other, (*TIMESTAMPS, t.DateType, t.TimeType, t.NumericType)):
                common = t.DoubleType() if isinstance(other, t.NumericType) else other
    if common is None:
        return None
    if isinstance(common, t.CharType):
        common = t.VarCharType(t.MAX_LENGTH)
    return _to(a, common, zone), _to(b, common, zone)


def comparison(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``a = b``, and the same for <> < <= > >=."""
    pair = to_common_type(arguments[0], arguments[1], zone)
    if pair is None or (name not in {"=", "<>"} and isinstance(pair[0].type, WITHOUT_ORDER)):
        return None
    code = f"{{0}} { ({'=': '==', '<>': '!='}.get(name, name)) } {{1}}"
    return Call(t.BooleanType(_any_null(arguments)), name, pair, template(code))


def distinct_from(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``a IS [NOT] DISTINCT FROM b``: None equals None."""
    pair = to_common_type(arguments[0], arguments[1], zone)
    if pair is None:
        return None
    sign = "==" if "NOT" in name else "!="

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        a, b = map(generator.value, call.arguments)
        return f"({a} {sign} {b})"

    return Call(t.BooleanType(False), name, pair, emit, strict=False)


def logic(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001
    """Return ``a AND b`` or ``a OR b``, of three values; a bare NULL has no type."""
    if not all(isinstance(argument.type, t.BooleanType) for argument in arguments):
        return None
    if len(arguments) == 1:
        return arguments[0]
    parts: list[Expr] = []
    for argument in arguments:
        parts += argument.arguments if isinstance(argument, Call) and argument.name == name else [argument]
    return Call(t.BooleanType(_any_null(arguments)), name, tuple(parts), _and if name == "AND" else _or, strict=False)


def _and(generator: Generator, call: Call, _: Sequence[str]) -> str:
    return _short(generator, call, "False", "True")


def _or(generator: Generator, call: Call, _: Sequence[str]) -> str:
    return _short(generator, call, "True", "False")


def _short(generator: Generator, call: Call, decided: str, other: str) -> str:
    result = generator.put(generator.value(call.arguments[0]))
    for argument in call.arguments[1:]:
        generator.line(f"if {result} is not {decided}:")
        generator.indent()
        value = generator.value(argument)
        unless = f"None if {result} is None or {value} is None else {other}"
        generator.line(f"{result} = {decided} if {value} is {decided} else {unless}")
        generator.indent(-1)
    return result


def negation(_: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001  # noqa: ARG001 - one signature
    """Return ``NOT a``."""
    (a,) = arguments
    if not isinstance(a.type, (t.BooleanType, t.NullType)):
        return None
    return Call(t.BooleanType(is_nullable(a.type)), "NOT", (a,), template("not {0}"))


def is_test(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return ``a IS [NOT] NULL``, TRUE, FALSE or UNKNOWN."""
    (a,) = arguments
    what = {"NULL": "None", "UNKNOWN": "None", "TRUE": "True", "FALSE": "False"}[name.rsplit(maxsplit=1)[-1]]
    sign = "is not" if "NOT" in name else "is"

    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        return f"({generator.value(call.arguments[0])} {sign} {what})"

    return Call(t.BooleanType(False), name, (a,), emit, strict=False)


def case(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return CASE: conditions and results in turn, and the result otherwise."""
    *pairs, otherwise = arguments
    results = [*pairs[1::2], otherwise]
    common = common_type([result.type for result in results])
    if common is None or not all(isinstance(item.type, (t.BooleanType, t.NullType)) for item in pairs[::2]):
        return None
    cast_results = [_to(result, common, zone) for result in results]
    flat = [part for pair in zip(pairs[::2], cast_results, strict=False) for part in pair]
    return Call(common, name, (*flat, cast_results[-1]), _case, strict=False)


def _case(generator: Generator, call: Call, _: Sequence[str]) -> str:
    *pairs, otherwise = call.arguments
    if len(pairs) > 2 * NESTED:
        return generator.function(partial(_long_case, call), [call])
    result = generator.new()
    for condition, then in zip(pairs[::2], pairs[1::2], strict=True):
        generator.line(f"if {generator.value(condition)} is True:")
        generator.indent()
        generator.line(f"{result} = {generator.value(then)}")
        generator.indent(-1)
        generator.line("else:")
        generator.indent()
    generator.line(f"{result} = {generator.value(otherwise)}")
    generator.indent(-(len(pairs) // 2))
    return result


def _long_case(call: Call, generator: Generator) -> None:
    *pairs, otherwise = call.arguments
    for condition, then in zip(pairs[::2], pairs[1::2], strict=True):
        generator.line(f"if {generator.value(condition)} is True:")
        generator.indent()
        generator.line(f"return {generator.value(then)}")
        generator.indent(-1)
    generator.line(f"return {generator.value(otherwise)}")


def coalesce(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return the first argument that is not None."""
    common = common_type([argument.type for argument in arguments])
    if common is None:
        return None
    kind = with_null(common, nullable=all(is_nullable(argument.type) for argument in arguments))
    return Call(kind, name, tuple(_to(argument, common, zone) for argument in arguments), _coalesce, strict=False)


def _coalesce(generator: Generator, call: Call, _: Sequence[str]) -> str:
    if len(call.arguments) > NESTED:
        return generator.function(partial(_long_coalesce, call), [call])
    result = generator.put(generator.value(call.arguments[0]))
    for other in call.arguments[1:]:
        generator.line(f"if {result} is None:")
        generator.indent()
        generator.line(f"{result} = {generator.value(other)}")
    generator.indent(1 - len(call.arguments))
    return result


def _long_coalesce(call: Call, generator: Generator) -> None:
    for argument in call.arguments:
        value = generator.value(argument)
        generator.line(f"if {value} is not None: return {value}")
    generator.line("return None")


def within(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``a IN (b, ...)``."""
    first, *others = arguments
    tests = [comparison("=", (first, other), zone) for other in others]
    known = [test for test in tests if isinstance(test, Call)]
    if len(known) < len(tests):
        return None
    found = logic("OR", in_sets(known), zone)
    return negation("NOT", [found], zone) if found is not None and "NOT" in name else found


def between(_: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return ``a BETWEEN b AND c``."""
    value, low, high = arguments
    both = [comparison(">=", (value, low), zone), comparison("<=", (value, high), zone)]
    known = [item for item in both if item is not None]
    return logic("AND", known, zone) if len(known) == 2 else None
