"""The scalar functions: what they take, what they return, and their code.

A signature has a letter for each argument: S text, I integer, N number, F floating point, B boolean, T timestamp,
D date or timestamp, A any type, Y bytes or text. A ``?`` makes the last one optional, a ``*`` lets it repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flintstream.common import _datatypes as t
from flintstream.table._expressions import operators as op
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Call, Const, template
from flintstream.table._expressions.types import (
    BYTES,
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    common_type,
    decimal_of,
    is_nullable,
    with_null,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._datatypes import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Emit, Expr

STRING, INT, BIGINT, DOUBLE, BOOLEAN = (
    t.VarCharType(t.MAX_LENGTH),
    t.IntType(),
    t.BigIntType(),
    t.DoubleType(),
    t.BooleanType(),
)
LTZ3 = t.LocalZonedTimestampType(3, False)

_LETTERS: dict[str, tuple[type[DataType], ...]] = {
    "S": TEXTS,
    "I": tuple(INTEGERS),
    "N": (t.NumericType,),
    "F": (t.NumericType,),
    "B": (t.BooleanType,),
    "T": TIMESTAMPS,
    "D": (*TIMESTAMPS, t.DateType),
    "A": (t.DataType,),
    "Y": (*TEXTS, *BYTES),
}


class Function(NamedTuple):
    """A function of the catalog that comes with the system."""

    name: str
    signatures: tuple[str, ...]
    build: op.Build
    takes: str
    """What the arguments may be, for messages."""


FUNCTIONS: dict[str, Function] = {}
"""By name, in capital letters."""


def _fits(signature: str, arguments: Sequence[Expr]) -> bool:
    letters = signature.replace("?", "").replace("*", "")
    least = len(letters) - (1 if signature.endswith(("?", "*")) else 0)
    if len(arguments) < least or (len(arguments) > len(letters) and not signature.endswith("*")):
        return False
    padded = letters + letters[-1:] * (len(arguments) - len(letters))
    return all(
        isinstance(each.type, (*_LETTERS[letter], t.NullType)) for letter, each in zip(padded, arguments, strict=False)
    )


def _prepared(signature: str, arguments: Sequence[Expr], zone: str) -> list[Expr]:
    letters = signature.replace("?", "").replace("*", "")
    padded = letters + letters[-1:] * max(len(arguments) - len(letters), 0)
    return [
        (cast(each, DOUBLE, zone) or each) if letter == "F" else each
        for letter, each in zip(padded, arguments, strict=False)
    ]


def _words(signature: str) -> str:
    names = {
        "S": "STRING",
        "I": "INT",
        "N": "number",
        "F": "number",
        "B": "BOOLEAN",
        "T": "TIMESTAMP",
        "D": "DATE or TIMESTAMP",
        "A": "any",
        "Y": "STRING or BYTES",
    }
    text = ", ".join(names[letter] for letter in signature if letter in names)
    return f"({text}{' [optional]' if signature.endswith('?') else ', ...' if signature.endswith('*') else ''})"


def define(
    name: str,
    signature: str,
    returns: DataType | Callable[[Sequence[Expr]], DataType],
    code: str,
    *,
    may_be_null: bool = False,
) -> None:
    """Add a function whose code is a template.

    Args:
        name: Its name; several, separated by `` | ``, are aliases.
        signature: Signatures, separated by spaces.
        returns: The type, or a function of the arguments that returns it.
        code: The code; ``{all}`` is all arguments.
        may_be_null: Whether it may return None for arguments that are not None.
    """
    signatures = tuple(signature.split(" "))

    def build(called: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
        fitting = next((each for each in signatures if _fits(each, arguments)), None)
        if fitting is None:
            return None
        kind = returns if isinstance(returns, t.DataType) else returns(arguments)
        nullable = may_be_null or any(is_nullable(each.type) for each in arguments)
        given = tuple(_prepared(fitting, arguments, zone))
        return Call(with_null(kind, nullable), called, given, template(code.replace("{zone}", repr(zone))))

    _add(name, signatures, build)


def _add(name: str, signatures: tuple[str, ...], build: op.Build) -> None:
    takes = " or ".join(_words(each) for each in signatures)
    for alias in name.split(" | "):
        FUNCTIONS[alias] = Function(alias, signatures, build, takes)


def _first(arguments: Sequence[Expr]) -> DataType:
    return arguments[0].type


def _rounded(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    if not isinstance(kind, t.DecimalType):
        return kind
    digits = arguments[1].value if len(arguments) > 1 and isinstance(arguments[1], Const) else 0
    scale = min(max(digits, 0), kind.scale) if isinstance(digits, int) else kind.scale
    return decimal_of(max(kind.precision - kind.scale + scale + 1, 1), scale)


def _whole(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    return t.DecimalType(kind.precision, 0) if isinstance(kind, t.DecimalType) else kind


def _define_text() -> None:
    text = STRING
    define("UPPER", "S", text, "{0}.upper()")
    define("LOWER", "S", text, "{0}.lower()")
    define("CHAR_LENGTH | CHARACTER_LENGTH | LENGTH", "S", INT, "len({0})")
    define("OCTET_LENGTH", "S", INT, "len({0}.encode())")
    define("TRIM | BTRIM", "S", text, "{0}.strip(' ')")
    define("TRIM_BOTH", "SS", text, "{0}.strip({1})")
    define("TRIM_LEADING", "SS", text, "{0}.lstrip({1})")
    define("TRIM_TRAILING", "SS", text, "{0}.rstrip({1})")
    define("LTRIM", "S", text, "{0}.lstrip(' ')")
    define("RTRIM", "S", text, "{0}.rstrip(' ')")
    define("SUBSTRING | SUBSTR", "SI SII", text, "substring({all})", may_be_null=True)
    define("LEFT", "SI", text, "{0}[:max({1}, 0)]")
    define("RIGHT", "SI", text, "{0}[max(len({0}) - {1}, 0):]")
    define("CONCAT | ||", "S*", text, "''.join(({all},))")
    define("REPLACE", "SSS", text, "{0}.replace({1}, {2})")
    define("REVERSE", "S", text, "{0}[::-1]")
    define("REPEAT", "SI", text, "{0} * {1}")
    define("LPAD", "SIS", text, "pad({all}, left=True)", may_be_null=True)
    define("RPAD", "SIS", text, "pad({all}, left=False)", may_be_null=True)
    define("INITCAP", "S", text, "initcap({0})")
    define("POSITION", "SS", INT, "position({all})")
    define("INSTR", "SS", INT, "position({1}, {0})")
    define("LOCATE", "SS SSI", INT, "position({all})")
    define("LIKE", "SS", BOOLEAN, "like({1})({0}) is not None")
    define("LIKE ESCAPE", "SSS", BOOLEAN, "like({1}, {2})({0}) is not None")
    define("REGEXP", "SS", BOOLEAN, "regex({1}).search({0}) is not None")
    define("SIMILAR TO", "SS", BOOLEAN, "regex({1}.replace('%', '.*').replace('_', '.')).fullmatch({0}) is not None")
    define("REGEXP_EXTRACT", "SS SSI", text, "regexp_extract({all})", may_be_null=True)
    define("REGEXP_REPLACE", "SSS", text, "regexp_replace({all})", may_be_null=True)
    define("SPLIT_INDEX", "SSI", text, "split_index({all})", may_be_null=True)
    define("ASCII", "S", t.TinyIntType(), "(wrap(ord({0}[0]), 8) if {0} else 0)")
    define("CHR", "I", text, "chr({0} % 256)")
    define("TO_BASE64", "S", text, "base64.b64encode({0}.encode()).decode()")
    define("FROM_BASE64", "S", text, "base64.b64decode({0}).decode()")
    define("STARTSWITH", "SS", BOOLEAN, "{0}.startswith({1})")
    define("ENDSWITH", "SS", BOOLEAN, "{0}.endswith({1})")
    for name in ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512"):
        define(name, "S", text, f"hashlib.{name.lower()}({{0}}.encode()).hexdigest()")
    define("ENCODE", "SS", t.VarBinaryType(t.MAX_LENGTH), "{0}.encode({1})")
    define("DECODE", "YS", text, "{0}.decode({1})")
    define("HEX", "S", text, "{0}.encode().hex().upper()")
    define("UUID", "", STRING.not_null(), "str(uuid.uuid4())")


def _define_numbers() -> None:
    define("ABS", "N", _first, "abs({0})")
    define("FLOOR", "N", _whole, "type({0})(math.floor({0}))")
    define("CEIL | CEILING", "N", _whole, "type({0})(math.ceil({0}))")
    define("ROUND", "N NI", _rounded, "round_number({all})")
    define("TRUNCATE", "N NI", _rounded, "truncate_number({all})")
    define("SIGN", "N", _first, "type({0})(({0} > 0) - ({0} < 0))")
    define("POWER", "FF", DOUBLE, "math.pow({0}, {1})")
    define("SQRT", "F", DOUBLE, "(math.sqrt({0}) if {0} >= 0 else math.nan)")
    define("LN", "F", DOUBLE, "math.log({0})")
    define("LOG10", "F", DOUBLE, "math.log10({0})")
    define("LOG2", "F", DOUBLE, "math.log2({0})")
    define("LOG", "F", DOUBLE, "math.log({0})")
    for name in ("EXP", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "RADIANS", "DEGREES"):
        define(name, "F", DOUBLE, f"math.{name.lower()}({{0}})")
    define("ATAN2", "FF", DOUBLE, "math.atan2({0}, {1})")
    define("PI", "", DOUBLE.not_null(), "math.pi")
    define("E", "", DOUBLE.not_null(), "math.e")
    define("RAND", " I", DOUBLE.not_null(), "random.random()")
    define("RAND_INTEGER", "I", INT, "random.randrange({0})")
    define("BIN", "I", STRING, "format({0} & (1 << 64) - 1, 'b')")


def _define_times() -> None:
    define("EXTRACT", "SD", BIGINT, "extract({0}, {1})")
    define("DATE_FORMAT", "TS", STRING, "format_date({0}, {1})")
    define("FLOOR_TIME", "DS", _first, "floor_time({0}, {1})")
    define("TO_DATE", "S SS", t.DateType(), "read_date({all})", may_be_null=True)
    define("TO_TIMESTAMP", "S SS", t.TimestampType(3), "read_timestamp({all})", may_be_null=True)
    define("TO_TIMESTAMP_LTZ", "I II", t.LocalZonedTimestampType(3), "to_ltz({all})")
    define("TIMESTAMPDIFF", "SDD", INT, "timestamp_diff({all})")
    define("UNIX_TIMESTAMP", " S SS", BIGINT, "unix_timestamp({zone}, {all})")
    define("FROM_UNIXTIME", "I IS", STRING, "from_unixtime({zone}, {all})")
    define("CURRENT_TIMESTAMP | NOW | CURRENT_ROW_TIMESTAMP | PROCTIME", "", LTZ3, "now()")
    define("LOCALTIMESTAMP", "", t.TimestampType(3, False), "zoned(now(), {zone})")
    define("CURRENT_DATE", "", t.DateType(False), "zoned(now(), {zone}).date()")
    define("CURRENT_TIME | LOCALTIME", "", t.TimeType(0, False), "zoned(now(), {zone}).time().replace(microsecond=0)")


def _define_operators() -> None:
    for names, signature, build in (
        ("+ | - | * | / | %", "AA", op.arithmetic),
        ("= | <> | < | <= | > | >=", "AA", op.comparison),
        ("AND | OR", "BB*", op.logic),
        ("NOT", "B", op.negation),
        ("BETWEEN", "AAA", op.between),
        ("COALESCE | IFNULL", "A*", op.coalesce),
        ("CASE", "BAA", op.case),
        ("IF", "BAA", op.case),
        ("IN", "AA*", op.within),
        ("MOD", "NN", lambda _, arguments, zone: op.arithmetic("%", arguments, zone)),
        ("NULLIF", "AA", _nullif),
        ("GREATEST | LEAST", "A*", _extreme),
        ("ARRAY", "A*", _array),
        ("MAP", "AA*", _map),
        ("ROW", "A*", _row),
        ("CARDINALITY", "A", _cardinality),
        ("ITEM", "AA", _item),
        ("CONCAT_WS", "SS*", _concat_ws),
    ):
        _add(names, (signature,), build)
    for name in ("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"):
        FUNCTIONS[name] = Function(name, ("A",), op.is_test, "(any)")
    for name in ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"):
        FUNCTIONS[name] = Function(name, ("AA",), op.distinct_from, "(any, any)")


def _nullif(_: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    test = op.comparison("=", arguments, zone)
    if test is None:
        return None
    return op.case("NULLIF", (test, Const(t.NullType(), None), arguments[0]), zone)


def _extreme(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    common = common_type([each.type for each in arguments])
    given = [cast(each, common, zone) for each in arguments] if common is not None else []
    parts = tuple(each for each in given if each is not None)
    if common is None or len(parts) < len(arguments):
        return None
    return Call(common, name, parts, template("max({all})" if name == "GREATEST" else "min({all})"))


def _array(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    common = common_type([each.type for each in arguments])
    if common is None:
        return None
    parts = tuple(cast(each, common, zone) or each for each in arguments)
    return Call(t.ArrayType(common, False), name, parts, _structure("[{all}]"), strict=False)


def _map(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    key = common_type([each.type for each in arguments[::2]])
    value = common_type([each.type for each in arguments[1::2]])
    if key is None or value is None or len(arguments) % 2:
        return None
    parts = tuple(cast(each, (key, value)[i % 2], zone) or each for i, each in enumerate(arguments))
    pairs = ", ".join(f"{{{i}}}: {{{i + 1}}}" for i in range(0, len(arguments), 2))
    return Call(t.MapType(key, value, False), name, parts, _structure(f"{{{{{pairs}}}}}"), strict=False)


def _row(name: str, arguments: Sequence[Expr], zone: str) -> Expr:  # noqa: ARG001 - one signature
    fields = [t.RowField(f"EXPR${i}", each.type) for i, each in enumerate(arguments)]
    names = tuple(field.name for field in fields)
    return Call(
        t.RowType(fields, False), name, tuple(arguments), _structure(f"named_row({names!r}, [{{all}}])"), strict=False
    )


def _structure(code: str) -> Emit:
    def emit(generator: Generator, call: Call, _: Sequence[str]) -> str:
        names = [generator.value(each) for each in call.arguments]
        return generator.put(code.format(*names, all=", ".join(names)))

    return emit


def _cardinality(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    (a,) = arguments
    if not isinstance(a.type, (t.ArrayType, t.MapType)):
        return None
    return Call(t.IntType(is_nullable(a.type)), name, (a,), template("len({0})"))


def _item(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    container, key = arguments
    if isinstance(container.type, t.ArrayType) and type(key.type) in INTEGERS:
        code = "({0}[{1} - 1] if 0 < {1} <= len({0}) else None)"
        return Call(container.type.element_type.nullable(), name, (container, key), template(code))
    if isinstance(container.type, t.MapType):
        return Call(container.type.value_type.nullable(), name, (container, key), template("{0}.get({1})"))
    return None


def _concat_ws(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    if not all(isinstance(each.type, (*TEXTS, t.NullType)) for each in arguments):
        return None
    kind = with_null(STRING, is_nullable(arguments[0].type))
    return Call(kind, name, tuple(arguments), _structure("concat_ws({all})"), strict=False)


_define_text()
_define_numbers()
_define_times()
_define_operators()
