"""Hints in comments: ``/*+ OPTIONS('key' = 'value') */`` after the name of a table, and others after SELECT."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._syntax.queries import Hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._errors import Place

_COMMENT = re.compile(r"\s*(?:/\*\+(.*?)\*/|/\*(?!\+).*?\*/|--[^\n]*)", re.DOTALL)
"""The next comment; the group is what it has, if it is one of hints."""
_OF_JOINS = ("BROADCAST", "MULTI_JOIN", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE")
"""Hints that name tables, about how to join them: results are the same without them."""
_OF_PAIRS = ("OPTIONS", "LOOKUP", "STATE_TTL")


def hints_after(sql: str, token: Token, tokens: Any, place: Place) -> list[Hint]:
    """Return the hints in the comment after a token, or in that which it is itself.

    Args:
        sql: The statement.
        token: A token of sqlglot.
        tokens: What cuts a text into tokens.
        place: Where the token is.

    Raises:
        SqlError: The hint is unknown or written in a wrong way, or a second comment has hints.
    """
    own = [token.text.removeprefix("/*+").removesuffix("*/")] if token.token_type.name == "HINT" else []
    texts = [*own, *_hint_texts(sql, token.end + 1)]
    if len(texts) > 1:
        raise SqlError(f"two comments of hints{at(place)}: write all hints in one comment, with commas between them")
    return [hint for text in texts for hint in _read(tokens(text), place)]


def _hint_texts(sql: str, start: int) -> list[str]:
    """Return what is in comments of hints from a position up to the next word."""
    found: list[str] = []
    comment = _COMMENT.match(sql, start)
    while comment is not None:
        if comment[1] is not None:
            found.append(comment[1])
        comment = _COMMENT.match(sql, comment.end())
    return found


def _read(cursor: Any, place: Place) -> Iterator[Hint]:
    while not cursor.ended:
        name = cursor.name().upper()
        if name not in {*_OF_JOINS, *_OF_PAIRS}:
            raise SqlError(f"unknown hint {name}{at(place)}{nearest(name, (*_OF_JOINS, *_OF_PAIRS))}")
        options: dict[str, str] = {}
        names: list[str] = []
        if cursor.take("("):
            while not cursor.take(")"):
                first = cursor.text() if cursor.peek()[:1] == "'" else ".".join(cursor.path())
                if name in _OF_JOINS:
                    names.append(first)
                elif cursor.take("="):
                    options[first] = cursor.text()
                else:
                    raise SqlError(f"the hint {name}{at(place)} takes pairs of strings such as 'key' = 'value'")
                cursor.take(",")
        if not options and not names:
            wanted = "a table" if name in _OF_JOINS else "a pair of strings such as 'key' = 'value'"
            raise SqlError(f"the hint {name}{at(place)} needs {wanted}")
        if not cursor.take(",") and not cursor.ended:
            raise SqlError(f"hints are separated by commas, but '{cursor.peek()}' follows {name}{at(place)}")
        yield Hint(place, name, options, tuple(names))


def table_options(hints: Sequence[Hint]) -> dict[str, str]:
    """Return what the hints after the name of a table say about its options.

    Raises:
        UnsupportedClauseError: One of them is about the whole query.
    """
    for hint in hints:
        if hint.options and hint.name != "OPTIONS":
            raise unsupported(f"{hint.name} after a table", hint.place, "write it right after SELECT")
    return {key: value for hint in hints for key, value in hint.options.items()}


def is_hinted(sql: str, token: Token) -> bool:
    """Return whether a hint follows a token, and not only a comment."""
    return bool(token.comments) and bool(_hint_texts(sql, token.end + 1))
