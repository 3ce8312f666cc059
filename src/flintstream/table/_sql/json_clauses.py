# ruff: noqa: SLF001 - the functions here extend a parser of sqlglot
"""The functions of JSON with clauses: ``JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 0 ON EMPTY)``.

Their clauses become arguments, so that the Table API can call the same functions. The texts among them are words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WRAPPERS = {
    ("WITHOUT",): "WITHOUT_ARRAY",
    ("WITH", "CONDITIONAL"): "CONDITIONAL_ARRAY",
    ("WITH", "UNCONDITIONAL"): "UNCONDITIONAL_ARRAY",
    ("WITH",): "UNCONDITIONAL_ARRAY",
}


def parsers(sqlglot: Any) -> dict[str, Callable[[Any], Any]]:
    """Return the parsers of the functions by name, for sqlglot."""
    exp = sqlglot.exp
    word = exp.Literal.string

    def call(name: str, *arguments: Any) -> Any:
        return exp.Anonymous(this=name, expressions=list(arguments))

    def behaviour(parser: Any, on: str, words: tuple[str, ...]) -> tuple[Any, Any] | None:
        """Read ``NULL ON EMPTY`` or ``DEFAULT 1 ON EMPTY``: the word, and the value."""
        index = parser._index
        if parser._match_text_seq("DEFAULT"):
            value = parser._parse_bitwise()
            if parser._match_text_seq("ON", on):
                return word("DEFAULT"), value
            parser._retreat(index)
            return None
        for each in words:
            if parser._match_text_seq(*each.split(), "ON", on):
                return word("_".join(each.split())), exp.Null()
        return None

    def behaviours(parser: Any, words: tuple[str, ...]) -> list[Any]:
        empty = behaviour(parser, "EMPTY", words) or (word("NULL"), exp.Null())
        error = behaviour(parser, "ERROR", words) or (word("NULL"), exp.Null())
        return [*empty, *error]

    def head(parser: Any) -> list[Any]:
        value = parser._parse_disjunction()
        if not parser._match(sqlglot.tokens.TokenType.COMMA):
            parser.raise_error("a path is missing")
        return [value, parser._parse_disjunction()]

    def returning(parser: Any) -> Any:
        """Return a NULL of the type, which is how the function gets it."""
        if not parser._match_text_seq("RETURNING"):
            return exp.Null()
        return exp.Cast(this=exp.Null(), to=parser._parse_types())

    def value_of(parser: Any) -> Any:
        found, kind = head(parser), returning(parser)
        return call("JSON_VALUE", *found, kind, *behaviours(parser, ("NULL", "ERROR")))

    def query(parser: Any) -> Any:
        found, kind, wrapper = head(parser), returning(parser), "WITHOUT_ARRAY"
        for words, name in _WRAPPERS.items():
            if parser._match_text_seq(*words, "ARRAY", "WRAPPER") or parser._match_text_seq(*words, "WRAPPER"):
                wrapper = name
                break
        empty, _, error, _ = behaviours(parser, ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT", "EMPTY"))
        return call("JSON_QUERY", *found, kind, word(wrapper), empty, error)

    def exists(parser: Any) -> Any:
        found = head(parser)
        for each in ("TRUE", "FALSE", "UNKNOWN", "ERROR"):
            if parser._match_text_seq(each, "ON", "ERROR"):
                return call("JSON_EXISTS", *found, word(each))
        return call("JSON_EXISTS", *found)

    def nulls(parser: Any) -> str:
        for each in ("NULL", "ABSENT"):
            if parser._match_text_seq(each, "ON", "NULL"):
                return each
        return ""

    def ended(parser: Any) -> bool:
        return parser._curr is None or parser._curr.text == ")"

    def members(parser: Any) -> Any:
        found: list[Any] = []
        handling = nulls(parser)
        while not handling and not ended(parser):
            parser._match_text_seq("KEY")
            found.append(parser._parse_column())
            if not parser._match_text_seq("VALUE") and not parser._match(sqlglot.tokens.TokenType.COLON):
                parser.raise_error("JSON_OBJECT takes KEY ... VALUE ...")
            found.append(parser._parse_disjunction())
            handling = nulls(parser)
            if not parser._match(sqlglot.tokens.TokenType.COMMA):
                break
        return call("JSON_OBJECT", word(handling or "NULL"), *found)

    def elements(parser: Any) -> Any:
        found: list[Any] = []
        handling = nulls(parser)
        while not handling and not ended(parser):
            found.append(parser._parse_disjunction())
            handling = nulls(parser)
            if not parser._match(sqlglot.tokens.TokenType.COMMA):
                break
        return call("JSON_ARRAY", word(handling or "ABSENT"), *found)

    return {
        "JSON_VALUE": value_of,
        "JSON_QUERY": query,
        "JSON_EXISTS": exists,
        "JSON_OBJECT": members,
        "JSON_ARRAY": elements,
    }
