"""The functions of JSON with clauses: ``JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 0 ON EMPTY)``.

Their clauses become arguments, so that the Table API can call the same functions. The texts among them are words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WRAPPERS = {
    ("WITHOUT",): "WITHOUT_ARRAY",
    ("WITH", "CONDITIONAL"): "CONDITIONAL_ARRAY",
    ("WITH", "UNCONDITIONAL"): "UNCONDITIONAL_ARRAY",
    ("WITH",): "UNCONDITIONAL_ARRAY",
}


class _Clauses:
    """Reads the arguments of a function with sqlglot's parser, after its opening parenthesis."""

    def __init__(self, parser: Any, sqlglot: Any) -> None:
        self.parser = parser
        self.exp = sqlglot.exp
        self.tokens = sqlglot.tokens.TokenType

    def call(self, name: str, *arguments: Any) -> Any:
        return self.exp.Anonymous(this=name, expressions=[*arguments])

    def word(self, text: str) -> Any:
        return self.exp.Literal.string(text)

    def take(self, *words: str) -> bool:
        return bool(self.parser._match_text_seq(*words))

    def value(self) -> Any:
        return self.parser._parse_disjunction()

    def head(self) -> list[Any]:
        """Read the text and the path."""
        value = self.value()
        if not self.parser._match(self.tokens.COMMA):
            self.parser.raise_error("a path is missing")
        return [value, self.value()]

    def returning(self) -> Any:
        """Return a NULL of the type, which is how the function gets it."""
        if not self.take("RETURNING"):
            return self.exp.Null()
        return self.exp.Cast(this=self.exp.Null(), to=self.parser._parse_types())

    def instead(self, on: str, *words: str) -> list[Any]:
        """Read ``NULL ON EMPTY`` or ``DEFAULT 1 ON EMPTY``: the word and the value."""
        for word in words:
            if word == "DEFAULT":
                index = self.parser._index
                if self.take("DEFAULT"):
                    value = self.parser._parse_bitwise()
                    if self.take("ON", on):
                        return [self.word("DEFAULT"), value]
                    self.parser._retreat(index)
            elif self.take(*word.split(), "ON", on):
                return [self.word("_".join(word.split())), self.exp.Null()]
        return []

    def both(self, *words: str) -> tuple[list[Any], list[Any]]:
        """Read what to do ON EMPTY and ON ERROR, in any order."""
        empty = self.instead("EMPTY", *words)
        error = self.instead("ERROR", *words)
        empty = empty or self.instead("EMPTY", *words)
        nothing = [self.word("NULL"), self.exp.Null()]
        return empty or nothing, error or [item.copy() for item in nothing]

    def nulls(self, otherwise: str) -> str:
        """Read ``NULL ON NULL`` or ``ABSENT ON NULL``; nothing is ``otherwise``."""
        return next((name for name in ("NULL", "ABSENT") if self.take(name, "ON", "NULL")), otherwise)

    def several(self, read: Callable[[], list[Any]], otherwise: str) -> list[Any]:
        """Read values with commas, and before them put what becomes of NULL."""
        found: list[Any] = []
        handling = self.nulls("")
        while not handling and self.parser._curr is not None and self.parser._curr.text != ")":
            found += read()
            handling = self.nulls("")
            if not self.parser._match(self.tokens.COMMA):
                break
        return [self.word(handling or otherwise), *found]

    def member(self) -> list[Any]:
        """Read a key and a value."""
        self.take("KEY")
        key = self.parser._parse_column()
        if not self.take("VALUE") and not self.parser._match(self.tokens.COLON):
            self.parser.raise_error("JSON_OBJECT takes KEY ... VALUE ...")
        return [key, self.value()]


def _value(clauses: _Clauses) -> Any:
    parts = [*clauses.head(), clauses.returning()]
    empty, error = clauses.both("NULL", "ERROR", "DEFAULT")
    return clauses.call("JSON_VALUE", *parts, *empty, *error)


def _query(clauses: _Clauses) -> Any:
    found, kind, wrapper = clauses.head(), clauses.returning(), "WITHOUT_ARRAY"
    for words, name in _WRAPPERS.items():
        if clauses.take(*words, "ARRAY", "WRAPPER") or clauses.take(*words, "WRAPPER"):
            wrapper = name
            break
    behaviors = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
    empty, error = (item[0] for item in clauses.both(*behaviors))
    return clauses.call("JSON_QUERY", *found, kind, clauses.word(wrapper), empty, error)


def _exists(clauses: _Clauses) -> Any:
    found = clauses.head()
    words = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
    chosen = next((word for word in words if clauses.take(word, "ON", "ERROR")), "FALSE")
    return clauses.call("JSON_EXISTS", *found, clauses.word(chosen))


def _object(clauses: _Clauses) -> Any:
    return clauses.call("JSON_OBJECT", *clauses.several(clauses.member, "NULL"))


def _array(clauses: _Clauses) -> Any:
    return clauses.call("JSON_ARRAY", *clauses.several(lambda: [clauses.value()], "ABSENT"))


_READERS = {
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_EXISTS": _exists,
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
}


def parsers(sqlglot: Any) -> dict[str, Callable[[Any], Any]]:
    """Return the parsers of the functions by name, for sqlglot."""

    def parser_of(read: Callable[[_Clauses], Any]) -> Callable[[Any], Any]:
        return lambda parser: read(_Clauses(parser, sqlglot))

    return {name: parser_of(read) for name, read in _READERS.items()}
