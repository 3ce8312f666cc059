"""Expressions as Flink shows them: ``plus(a, 1)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._deep_stack import deep
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.frames import frame_text
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = {
    "=": "equals", "<>": "notEquals", "<": "lessThan", "<=": "lessThanOrEqual", ">": "greaterThan",
    ">=": "greaterThanOrEqual", "+": "plus", "-": "minus", "*": "times", "/": "divide", "%": "mod", "IF": "ifThenElse",
    "FLOOR TO": "floor", "CEIL TO": "ceil", "LIKE ESCAPE": "LIKE", "ITEM": "at", "SIMILAR TO": "similar",
    "INITCAP": "initCap", "TIMESTAMPDIFF": "timestampDiff", "CONCAT_WS": "concat_ws", "LISTAGG": "listAgg",
    "FIRST_VALUE": "first_value", "LAST_VALUE": "last_value", "LOCALTIME": "localTime",
    "LOCALTIMESTAMP": "localTimestamp", "OVERLAPS": "temporalOverlaps", "FROM_UNIXTIME": "fromUnixtime",
    "RAND_INTEGER": "randInteger", "CURRENT_ROW": "CURRENT_ROW", "CURRENT_RANGE": "CURRENT_RANGE",
}  # fmt: skip
"""Names of Flink's functions that do not follow from those of SQL."""
_CAMEL = """
ABS ACOS AND AS ASC ASCII ASIN ATAN ATAN2 AVG BETWEEN BIN CARDINALITY CEIL CHAR_LENGTH CHR COLLECT CONCAT CONVERT_TZ
COS COSH COT COUNT CURRENT_DATABASE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATE_FORMAT DECODE DEGREES DESC
DISTINCT E ELEMENT ENCODE END EXP EXTRACT FLATTEN FLOOR FROM_BASE64 GET HEX IN INSTR IS_FALSE IS_NOT_FALSE
IS_NOT_NULL IS_NOT_TRUE IS_NULL IS_TRUE LEFT LN LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM ARRAY MAP ROW MAX MD5 MIN NOT
OR OVER OVERLAY PARSE_URL PI POSITION POWER PROCTIME RADIANS RAND REGEXP REGEXP_EXTRACT REGEXP_REPLACE REPEAT
REPLACE REVERSE RIGHT ROUND ROWTIME RPAD RTRIM SHA1 SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH SPLIT_INDEX SQRT
START STDDEV_POP STDDEV_SAMP STR_TO_MAP SUBSTR SUBSTRING SUM SUM0 TAN TANH TO_BASE64 TO_DATE TO_TIMESTAMP TRUNCATE
UNIX_TIMESTAMP UPPER UUID VAR_POP VAR_SAMP
"""
"""Functions of SQL whose names Flink writes in camel case; it keeps those of younger functions."""
_IN_CAMEL_CASE = frozenset(_CAMEL.split())
_TESTS = {
    "null": "NULL", "notnull": "NOT NULL", "true": "TRUE", "nottrue": "NOT TRUE", "false": "FALSE",
    "notfalse": "NOT FALSE",
}  # fmt: skip
_TRIM = {"TRIM": "true, true", "TRIM_BOTH": "true, true", "TRIM_LEADING": "true, false", "TRIM_TRAILING": "false, true"}
_WORDS = {"EXTRACT": 0, "TIMESTAMPDIFF": 0, "FLOOR TO": 1, "CEIL TO": 1, "JSON_EXISTS": 2}
"""The positions of arguments that are words rather than texts."""


def _names_of_flink() -> dict[str, str]:
    """Return the names of functions by those that Flink has for them, in lower case."""
    made = {name.replace("_", "").lower(): name for name in _IN_CAMEL_CASE}
    made |= {f"is{word}": f"IS {spaced}" for word, spaced in _TESTS.items()}
    return made | {flink.lower(): name for name, flink in _NAMES.items() if flink.lower() != name.lower()}


def function_named(name: str) -> str | None:
    """Return the function that Flink calls so; None if there is none.

    >>> function_named("charLength"), function_named("plus"), function_named("isNotNull")
    ('CHAR_LENGTH', '+', 'IS NOT NULL')
    """
    return _OF_FLINK.get(name.lower())


def summary(syntax: s.Syntax) -> str:
    """Return the text of an expression, which Flink's messages and schemas contain.

    >>> a, one = s.Name(None, ("a",)), s.Value(None, 1, t.IntType(False))
    >>> summary(s.Apply(None, "+", (a, s.Apply(None, "CHAR_LENGTH", (one,)))))
    'plus(a, charLength(1))'
    """
    shown: str = deep(_show)(syntax)
    return shown


def name_in_flink(function: str) -> str:
    """Return the name that Flink has for a function: ``plus`` for ``+``."""
    if function in _NAMES:
        return _NAMES[function]
    plain = function.replace(" ", "_")
    if plain in _IN_CAMEL_CASE:
        first, *rest = plain.split("_")
        return first.lower() + "".join(map(str.capitalize, rest))
    return plain if function.startswith("IS JSON") else function


def _show(syntax: s.Syntax) -> str:
    if isinstance(syntax, s.Name):
        return ".".join(syntax.parts)
    if isinstance(syntax, s.Value):
        return _literal(syntax.value)
    if isinstance(syntax, s.Alias):
        return _call("as", [_show(syntax.argument), *map(_quote, syntax.names)])
    if isinstance(syntax, s.Aggregate):
        return _aggregate(syntax)
    if isinstance(syntax, s.Convert):
        return _convert(syntax)
    if isinstance(syntax, s.Columns):
        return _columns(syntax)
    if isinstance(syntax, s.Quantified):
        return _call("in", [*map(_show, syntax.values), ".".join(getattr(syntax.query, "name", ("a query",)))])
    if isinstance(syntax, s.Over):
        keys = [_show(key) for key, *_ in syntax.order]
        return _call("over", [_show(syntax.function), *keys, *frame_text(syntax.frame), *map(_show, syntax.partition)])
    if isinstance(syntax, s.Star):
        return "*"
    if isinstance(syntax, s.Invoke):
        return _call(syntax.function.name, map(_show, syntax.arguments))
    return _apply(syntax) if isinstance(syntax, s.Apply) else type(syntax).__name__


def _apply(syntax: s.Apply) -> str:
    function, arguments = syntax.function, syntax.arguments
    if function in _TRIM:
        return _call(
            "trim", [_TRIM[function], _show(arguments[1]) if len(arguments) > 1 else "' '", _show(arguments[0])]
        )
    if function == "NOT" and isinstance(arguments[0], s.Apply) and arguments[0].function == "BETWEEN":
        return _call("notBetween", map(_show, arguments[0].arguments))
    if function == "-" and len(arguments) == 1:
        return _call("minusPrefix", map(_show, arguments))
    if function.startswith("UNBOUNDED_") or (function.startswith("CURRENT_R") and not arguments):
        return function
    if function.startswith("IS JSON "):
        return f"IS_JSON({_show(arguments[0])}, {function.removeprefix('IS JSON ')})"
    if function in {"JSON_VALUE", "JSON_QUERY"}:
        return _json(syntax)
    shown = [_show(argument) for argument in arguments]
    position = _WORDS.get(function, len(shown))
    if position < len(shown):
        shown[position] = shown[position].strip("'")
    return _call(name_in_flink(function), shown)


def _aggregate(syntax: s.Aggregate) -> str:
    name = syntax.function if isinstance(syntax.function, str) else syntax.function.name
    shown = [] if syntax.argument is None else [_show(syntax.argument)]
    shown += map(_show, syntax.more)
    if syntax.option is not None:
        shown.append(_quote(syntax.option))
    text = _call(name_in_flink(name), shown)
    return f"distinct({text})" if syntax.distinct else text


def _convert(syntax: s.Convert) -> str:
    literal = isinstance(syntax.argument, s.Value)
    if literal and not isinstance(syntax.type, (t.DateType, t.TimeType, t.TimestampType)):
        return _show(syntax.argument)
    return _call("TRY_CAST" if syntax.lenient else "cast", [_show(syntax.argument), sql_name(syntax.type)])


def _columns(syntax: s.Columns) -> str:
    ranges = [_call("rangeTo", map(str, item)) if isinstance(item, tuple) else str(item) for item in syntax.chosen]
    only_range = len(ranges) == 1 and isinstance(syntax.chosen[0], tuple) and not syntax.without
    return ranges[0] if only_range else _call("withoutColumns" if syntax.without else "withColumns", ranges)


def _json(syntax: s.Apply) -> str:
    json, path, kind, *rest = syntax.arguments
    returned = kind.type if isinstance(kind, s.Value) else t.NullType()
    shown = ["STRING" if isinstance(returned, t.NullType) else sql_name(returned)]
    for argument in rest:
        text = _show(argument)
        shown.append(text.strip("'") if isinstance(argument, s.Value) and isinstance(argument.value, str) else text)
    return _call(syntax.function, [_show(json), _show(path), *shown])


def _call(name: str, arguments: Sequence[str] | map[str]) -> str:
    return f"{name}({', '.join(arguments)})"


def _literal(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (bytes, bytearray)):
        return str(list(value))
    return _quote(value) if isinstance(value, str) else str(value)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_OF_FLINK = _names_of_flink()


def show_briefly(syntax: s.Syntax) -> str:
    """Return an expression with operators between their operands, as programs wrote it.

    >>> show_briefly(s.Apply(None, "+", (s.Name(None, ("a",)), s.Name(None, ("b",)))))
    'a + b'
    """
    if isinstance(syntax, s.Name):
        return ".".join(syntax.parts)
    if isinstance(syntax, s.Value):
        return repr(syntax.value)
    if isinstance(syntax, s.Alias):
        return f"{show_briefly(syntax.argument)} AS {', '.join(syntax.names)}"
    if isinstance(syntax, s.Aggregate):
        return f"{syntax.function}({'*' if syntax.argument is None else show_briefly(syntax.argument)})"
    if isinstance(syntax, s.Apply):
        parts = [show_briefly(argument) for argument in syntax.arguments]
        infix = len(parts) == 2 and not syntax.function[:1].isalpha()
        return f" {syntax.function} ".join(parts) if infix else f"{syntax.function}({', '.join(parts)})"
    return type(syntax).__name__
