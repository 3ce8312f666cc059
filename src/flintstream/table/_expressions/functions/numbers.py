"""Functions of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.functions.signatures import DOUBLE, INT, STRING, add, define, first_type
from flintstream.table._expressions.number_helpers import SeededRandom
from flintstream.table._types.rules import INTEGERS, TEXTS, TIMESTAMPS, decimal_of, is_nullable, with_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Expr


def _round(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    if not isinstance(kind, t.DecimalType):
        return kind
    digits = arguments[1].value if len(arguments) > 1 and isinstance(arguments[1], Const) else 0
    scale = min(max(digits, 0), kind.scale) if isinstance(digits, int) else kind.scale
    return decimal_of(max(kind.precision - kind.scale + scale + 1, 1), scale)


def _whole(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    return t.DecimalType(kind.precision, 0) if isinstance(kind, t.DecimalType) else kind


def _rounding(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return ROUND or TRUNCATE; an integer that gets too large wraps."""
    kind = arguments[0].type if arguments else None
    if not 1 <= len(arguments) <= 2 or not isinstance(kind, (t.NumericType, t.NullType)):
        return None
    if len(arguments) > 1 and not isinstance(arguments[1].type, (*INTEGERS, t.NullType)):
        return None
    function = "round_number" if name == "ROUND" else "truncate_number"
    code = f"{function}({{all}})"
    if type(kind) in INTEGERS:
        code = f"wrap({code}, {INTEGERS[type(kind)]})"
    nullable = any(is_nullable(argument.type) for argument in arguments)
    return Call(with_null(_round(arguments), nullable), name, tuple(arguments), template(code))


_ABSOLUTE = {t.FloatType: "abs({0})", t.DoubleType: "abs({0})", t.DecimalType: "WIDE.abs({0})", t.NullType: "{0}"}


def _absolute(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    (a,) = arguments if len(arguments) == 1 else (None,)
    if a is None or not isinstance(a.type, (t.NumericType, t.NullType)):
        return None
    bits = INTEGERS.get(type(a.type))
    return Call(a.type, name, (a,), template(_ABSOLUTE.get(type(a.type), f"wrap(abs({{0}}), {bits})")))


def _random(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    """Return RAND or RAND_INTEGER; a literal as seed gives the numbers that Java gives for it."""
    most = 1 if name == "RAND" else 2
    if not most - 1 <= len(arguments) <= most or any(
        INTEGERS.get(type(argument.type), 64) > 32 for argument in arguments
    ):
        return None
    seed = arguments[0] if len(arguments) == most else None
    nullable = any(is_nullable(argument.type) for argument in arguments)
    kind = with_null(DOUBLE if name == "RAND" else INT, nullable)
    if not isinstance(seed, Const):
        code = "random.random()" if name == "RAND" else "random.randrange({all})"
        given = arguments[most - 1 :] if name == "RAND" else arguments[-1:]
        return Call(kind, name, tuple(given), template(code))
    if seed.value is None:
        return Const(kind, None)
    numbers = SeededRandom(seed.value)

    def emit(generator: Generator, call: Call, names: Sequence[str]) -> str:  # noqa: ARG001 - one signature
        return f"{generator.known('random', numbers)}.{'double' if name == 'RAND' else 'below'}({', '.join(names)})"

    return Call(kind, name, tuple(arguments[1:]), emit)


add("ABS", ("N",), _absolute)
define("FLOOR", "N", _whole, "floor_number({0})")
define("CEIL | CEILING", "N", _whole, "ceil_number({0})")
add("ROUND | TRUNCATE", ("N", "NI"), _rounding)
define("SIGN", "N", first_type, "sign_number({0})")
define("POWER", "FF", DOUBLE, "power({0}, {1})")
define("SQRT", "F", DOUBLE, "root({0})")
define("LN", "F", DOUBLE, "logarithm({0})")
define("LOG10", "F", DOUBLE, "logarithm({0}, 10.0)")
define("LOG2", "F", DOUBLE, "logarithm({0}, 2.0)")
define("LOG", "F FF", DOUBLE, "log({all})")
for _name in ("EXP", "SIN", "COS", "TAN", "ASIN", "ACOS", "SINH", "COSH"):
    define(_name, "F", DOUBLE, f"{_name.lower()}({{0}})")
for _name in ("ATAN", "TANH", "RADIANS", "DEGREES"):
    define(_name, "F", DOUBLE, f"math.{_name.lower()}({{0}})")
define("COT", "F", DOUBLE, "cotangent({0})")
define("ATAN2", "FF", DOUBLE, "math.atan2({0}, {1})")
define("PI", "", DOUBLE.not_null(), "math.pi")
define("E", "", DOUBLE.not_null(), "math.e")
add("RAND", ("", "I"), _random)
add("RAND_INTEGER", ("I", "II"), _random)
define("HEX", "I S", STRING, "hex_text({0})")
define("BIN", "I", STRING, "format({0} & (1 << 64) - 1, 'b')")


_HASHED: dict[type[DataType], str] = {
    **dict.fromkeys(TEXTS, "hash_text({0})"),
    **dict.fromkeys((t.TinyIntType, t.SmallIntType, t.IntType), "{0}"),
    t.BigIntType: "hash_long({0})",
    t.FloatType: "hash_float({0})",
    t.DoubleType: "hash_double({0})",
    t.DecimalType: "hash_decimal({0})",
    t.BooleanType: "hash_boolean({0})",
    t.DateType: "hash_date({0})",
    t.TimeType: "hash_time({0})",
    **dict.fromkeys(TIMESTAMPS, "hash_timestamp({0})"),
}


def _hash_code(name: str, arguments: Sequence[Expr], _zone: str) -> Expr | None:
    code = _HASHED.get(type(arguments[0].type)) if len(arguments) == 1 else None
    if code is None:
        return None
    nullable = is_nullable(arguments[0].type)
    return Call(with_null(INT, nullable), name, tuple(arguments), template(code))


add("HASH_CODE", ("A",), _hash_code)
