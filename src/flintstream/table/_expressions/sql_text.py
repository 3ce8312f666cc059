"""Expressions as SQL, as Flink shows them in schemas: ``CAST(`a` AS STRING)``."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from flintstream.table._deep_stack import deep
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import IntervalType, sql_name

_RANKS = ({"OR"}, {"AND"}, {"=", "<>", "<", "<=", ">", ">=", "LIKE"}, {"+", "-"}, {"*", "/", "%"}, {"||"})
"""Operators between two values; those of later sets bind more closely."""
_UNITS = (("DAY", 86_400_000), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1000))
_QUOTED_NAMES = """
    ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX
    ARRAY_MIN ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION BTRIM
    COALESCE CURRENT_WATERMARK ELT ENDSWITH IFNULL JSON_QUOTE JSON_UNQUOTE MAP_ENTRIES MAP_FROM_ARRAYS
    MAP_KEYS MAP_UNION MAP_VALUES PARSE_URL PRINTF REGEXP_COUNT REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR
    SOURCE_WATERMARK SPLIT STARTSWITH TO_TIMESTAMP_LTZ TRANSLATE TYPEOF UNHEX URL_DECODE URL_ENCODE
"""
_QUOTED = frozenset(_QUOTED_NAMES.split())
"""Functions that Flink defines itself and not with those of SQL: it shows their names in quotes."""


def sql_text(syntax: s.Syntax) -> str | None:
    """Return the text of an expression; None if it has a part whose form is not known.

    >>> sql_text(s.Apply(None, "+", (s.Name(None, ("a",)), s.Name(None, ("b",)))))
    '`a` + `b`'
    """
    try:
        return deep(_text)(syntax)
    except TypeError:
        return None


def _text(syntax: s.Syntax) -> str:
    if isinstance(syntax, s.Name):
        return ".".join(f"`{part}`" for part in syntax.parts)
    if isinstance(syntax, s.Value):
        return _literal(syntax)
    if isinstance(syntax, s.Convert):
        word = "TRY_CAST" if syntax.lenient else "CAST"
        return f"{word}({_text(syntax.argument)} AS {sql_name(syntax.type.nullable())})"
    if not isinstance(syntax, s.Apply):
        raise TypeError(f"no text for {type(syntax).__name__}")
    name, arguments = syntax.function.upper(), syntax.arguments
    rank = _rank(syntax)
    if rank >= 0:
        first, *others = arguments
        return f" {name} ".join([_within(first, rank), *(_within(other, rank + 1) for other in others)])
    if name in {"NOT", "-"} and len(arguments) == 1:
        return f"{name}{' ' if name == 'NOT' else ''}{_within(arguments[0], len(_RANKS))}"
    if name.startswith("IS ") and len(arguments) == 1:
        return f"{_within(arguments[0], len(_RANKS))} {name}"
    if not name.isidentifier() or name in {"CASE", "EXTRACT", "ROW", "ITEM", "BETWEEN", "IN"}:
        raise TypeError(f"no text for {name}")
    called = f"`{name}`" if name in _QUOTED else name
    return f"{called}({', '.join(map(_text, arguments))})"


def _rank(syntax: s.Syntax) -> int:
    """Return how closely an operator binds; -1 for what is none."""
    if not isinstance(syntax, s.Apply) or len(syntax.arguments) < 2:
        return -1
    if len(syntax.arguments) > 2 and syntax.function.upper() not in {"AND", "OR"}:
        return -1
    return next((i for i, names in enumerate(_RANKS) if syntax.function.upper() in names), -1)


def _within(syntax: s.Syntax, rank: int) -> str:
    """Return a part of an operator, in parentheses if it binds less closely."""
    return f"({_text(syntax)})" if 0 <= _rank(syntax) < rank else _text(syntax)


def _literal(syntax: s.Value) -> str:
    value: Any = syntax.value
    if isinstance(syntax.type, IntervalType):
        return _interval(value, months=syntax.type.months)
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    for kind, word in ((datetime, "TIMESTAMP"), (date, "DATE"), (time, "TIME")):
        if isinstance(value, kind):
            return f"{word} '{value}'"
    if isinstance(value, (bytes, float)):
        raise TypeError(f"no text for {value!r}")
    return str(value)


def _interval(value: int, *, months: bool) -> str:
    if months:
        return f"INTERVAL '{value}' MONTH" if value % 12 else f"INTERVAL '{value // 12}' YEAR"
    unit, size = next((item for item in _UNITS if value % item[1] == 0), ("SECOND", 1000))
    return f"INTERVAL '{value / size if value % size else value // size}' {unit}"
