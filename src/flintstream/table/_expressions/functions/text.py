"""Functions of texts and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._expressions.expr import Call, Const
from flintstream.table._expressions.fields import split_index
from flintstream.table._expressions.functions.signatures import BOOLEAN, INT, STRING, add, define, structure
from flintstream.table._types.rules import INTEGERS, TEXTS, common_type, is_nullable, with_null

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._expressions.operators import Build


def _join(arguments: Sequence[Expr]) -> DataType:
    lengths = [argument.type.length if isinstance(argument.type, TEXTS) else t.MAX_LENGTH for argument in arguments]
    total = min(sum(lengths), t.MAX_LENGTH)
    fixed = all(isinstance(argument.type, t.CharType) for argument in arguments)
    return t.CharType(total) if fixed else t.VarCharType(total)


def _as_given(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    return kind if isinstance(kind, TEXTS) else STRING


def _shorter(arguments: Sequence[Expr]) -> DataType:
    kind = arguments[0].type
    return t.VarCharType(max(kind.length, 1)) if isinstance(kind, TEXTS) else STRING


def _shorter_or_null(arguments: Sequence[Expr]) -> DataType:
    return _shorter(arguments).nullable()


def _longer(arguments: Sequence[Expr]) -> DataType:
    lengths = [item.type.length for item in arguments[:2] if isinstance(item.type, TEXTS)]
    return t.VarCharType(max(min(sum(lengths), t.MAX_LENGTH), 1)) if len(lengths) == 2 else STRING


def _value_test(code: str) -> Any:
    """Return the builder of a test of any value; None never is such a value."""

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
        made = tuple(arguments)
        return Call(BOOLEAN.not_null(), name, made, structure(code), strict=False) if len(made) == 1 else None

    return build


def _text_or_null(arguments: Sequence[Expr]) -> DataType:
    return with_null(STRING, any(is_nullable(argument.type) for argument in arguments))


def _one_of(arguments: Sequence[Expr]) -> DataType:
    return (common_type([item.type for item in arguments[1:]]) or STRING).nullable()


def _lazy(
    code: str | Callable[[Sequence[Expr]], str],
    least: int,
    returns: Callable[[Sequence[Expr]], DataType],
    number: int = -1,
) -> Build:
    """Return the builder of a function of texts that decides itself what a NULL among its arguments means.

    Args:
        code: The code, or what makes it of the arguments.
        least: The number of arguments that must be there.
        returns: Makes the type of the arguments.
        number: The position of an argument that is an integer.
    """

    def build(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
        if len(arguments) < least or not all(
            isinstance(item.type, (t.NullType, *(INTEGERS if i == number else TEXTS)))
            for i, item in enumerate(arguments)
        ):
            return None
        made = code if isinstance(code, str) else code(arguments)
        return Call(returns(arguments), name, tuple(arguments), structure(made), strict=False)

    return build


def _is_decimal(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:
    """Return IS_DECIMAL, which holds for all values of a number, also for NULL."""
    if len(arguments) == 1 and isinstance(arguments[0].type, t.NumericType):
        return Const(BOOLEAN.not_null(), True)
    made: Expr | None = _value_test("is_decimal({0})")(name, arguments, zone)
    return made


_SIZES = {**INTEGERS, t.FloatType: 32, t.DoubleType: 64}
"""The number of bits of binary numbers."""


def _printf(name: str, arguments: Sequence[Expr], zone: str) -> Expr | None:  # noqa: ARG001 - one signature
    if not arguments:
        return None
    sizes = tuple(_SIZES.get(type(argument.type), 0) for argument in arguments[1:])
    return Call(STRING, name, tuple(arguments), structure(f"printf({sizes!r}, {{all}})"), strict=False)


def _sha2(arguments: Sequence[Expr]) -> str:
    return f"sha2({{all}}, constant={isinstance(arguments[1], Const)})"


def _digest_or_null(arguments: Sequence[Expr]) -> DataType:
    return with_null(t.VarCharType(128), any(is_nullable(argument.type) for argument in arguments))


def _like(generator: Generator, _: Call, names: Sequence[str]) -> str:
    """Read a constant pattern once."""
    text, given = names
    pattern = generator.value_of(given)
    if not isinstance(pattern, str):
        return f"like({given})({text})"
    part = pattern.strip("%")
    if not part or {*part} & {"%", "_"}:
        return f"like({given})({text})"
    known = generator.constant(part)
    if part == pattern:
        return f"{text} == {known}"
    if pattern.startswith("%"):
        return f"{known} in {text}" if pattern.endswith("%") else f"{text}.endswith({known})"
    return f"{text}.startswith({known})"


define("UPPER", "S", _as_given, "{0}.upper()")
define("LOWER", "S", _as_given, "{0}.lower()")
define("CHAR_LENGTH | CHARACTER_LENGTH | LENGTH", "S", INT, "len({0})")
define("OCTET_LENGTH", "S", INT, "len(utf8({0}))")
define("TRIM", "S", _shorter, "{0}.strip(' ')")
define("BTRIM", "S SS", STRING, "btrim({all})")
define("TRIM_BOTH", "SS", _shorter, "{0}.strip({1})")
define("TRIM_LEADING", "SS", _shorter, "{0}.lstrip({1})")
define("TRIM_TRAILING", "SS", _shorter, "{0}.rstrip({1})")
define("LTRIM", "S SS", _shorter, "ltrim({all})")
define("RTRIM", "S SS", _shorter, "rtrim({all})")
define("SUBSTRING | SUBSTR", "SI SII", _shorter, "substring({all})", may_be_null=True)
define("LEFT", "SI", _shorter_or_null, "{0}[:max({1}, 0)]", may_be_null=True)
define("RIGHT", "SI", _shorter_or_null, "{0}[max(len({0}) - {1}, 0):]", may_be_null=True)
define("CONCAT", "S*", STRING, "''.join(({all},))")
define("||", "SS", _join, "{0} + {1}")
define("REPLACE", "SSS", STRING, "replace({all})")
add("TRANSLATE", ("SSS",), _lazy("translate({all})", 3, _text_or_null))
define("REVERSE", "S", STRING, "{0}[::-1]", may_be_null=True)
define("REPEAT", "SI", STRING, "repeat({0}, {1})")
define("LPAD", "SIS", STRING, "pad({all}, left=True)", lacking=True)
define("RPAD", "SIS", STRING, "pad({all}, left=False)", lacking=True)
define("OVERLAY", "SSI SSII", _longer, "overlay({all})")
define("INITCAP", "S", _as_given, "initcap({0})")
define("POSITION", "SS", INT, "position({all})")
define("INSTR", "SS", INT, "position({1}, {0})")
define("LOCATE", "SS SSI", INT, "position({all})")
define("LIKE", "SP", BOOLEAN, _like)
define("LIKE ESCAPE", "SPP", BOOLEAN, "like({1}, {2})({0})")
define("REGEXP", "SS", BOOLEAN, "regexp({all})")
define("SIMILAR TO", "SS", BOOLEAN, "similar({1})({0})")
define("REGEXP_EXTRACT", "SS SSI", STRING, "regexp_extract({all})", may_be_null=True)
define("REGEXP_EXTRACT_ALL", "SS SSI", t.ArrayType(STRING), "regexp_extract_all({all})", may_be_null=True)
define("REGEXP_REPLACE", "SSS", STRING, "regexp_replace({all})", lacking=True)
define("REGEXP_COUNT", "SS", INT, "regexp_count({all})", may_be_null=True)
define("REGEXP_INSTR", "SS", INT, "regexp_instr({all})", may_be_null=True)
define("REGEXP_SUBSTR", "SS", STRING, "regexp_extract({all}, 0)", may_be_null=True)
define("SPLIT_INDEX", "SSI SII", STRING, split_index, may_be_null=True)
define("SPLIT", "SS", t.ArrayType(STRING), "split({all})")
define("STR_TO_MAP", "S SS SSS", t.MapType(STRING, STRING), "str_to_map({all})", may_be_null=True)
add("ELT", ("IS*",), _lazy("elt({all})", 2, _one_of, number=0))
define("ASCII", "S", INT, "ascii_of({0})")
define("CHR", "I", STRING, "(chr({0} % 256) if {0} >= 0 else '')", may_be_null=True)
define("TO_BASE64", "S", STRING, "base64.b64encode(utf8({0})).decode()")
define("FROM_BASE64", "S", STRING, "from_base64({0})")
define("STARTSWITH", "SS", BOOLEAN, "{0}.startswith({1})")
define("ENDSWITH", "SS", BOOLEAN, "{0}.endswith({1})")
add("IS_ALPHA", ("A",), _value_test("is_alpha({0})"))
add("IS_DIGIT", ("A",), _value_test("is_digit({0})"))
add("IS_DECIMAL", ("A",), _is_decimal)
define("URL_ENCODE", "S", STRING, "url_encode({0})", may_be_null=True)
define("URL_DECODE", "S", STRING, "url_decode({0})", may_be_null=True)
define("INET_ATON", "S", t.BigIntType(), "inet_aton({0})", may_be_null=True)
define("INET_NTOA", "I", STRING, "inet_ntoa({0})", may_be_null=True)
define("PARSE_URL", "SS SSS", STRING, "parse_url({all})", may_be_null=True)
add("PRINTF", ("SA*",), _printf)
for _name, _digits in (("MD5", 32), ("SHA1", 40), ("SHA224", 56), ("SHA256", 64), ("SHA384", 96), ("SHA512", 128)):
    define(_name, "S", t.CharType(_digits), f"hashlib.{_name.lower()}(utf8({{0}})).hexdigest()")
add("SHA2", ("SI",), _lazy(_sha2, 2, _digest_or_null, number=1))
define("ENCODE", "SS", t.VarBinaryType(t.MAX_LENGTH), "encode_text({0}, {1})")
define("DECODE", "YS", STRING, "decode_bytes({0}, {1})")
define("UNHEX", "S", t.VarBinaryType(t.MAX_LENGTH), "unhex({0})", may_be_null=True)
define("UUID", "", t.CharType(36, False), "str(uuid.uuid4())")
