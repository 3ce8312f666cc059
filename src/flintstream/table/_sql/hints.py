"""Hints in comments: ``/*+ OPTIONS('key' = 'value') */`` after the name of a table, and hints for a planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at, nearest, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._errors import Place

WITHOUT_EFFECT = ("BROADCAST", "MULTI_JOIN", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE")
"""Hints about how to join: results are the same without them."""
REFUSED = {
    "LOOKUP": "lookups happen once for each key of a block",
    "STATE_TTL": "set table.exec.state.ttl for all state",
}


@dataclass(frozen=True)
class Hint:
    """A hint with its arguments: pairs of texts for OPTIONS."""

    name: str
    options: dict[str, str]
    place: Place


def hints_after(token: Token, tokens: Any, place: Place) -> list[Hint]:
    """Return the hints in the comments of a token.

    Args:
        token: A token of sqlglot; it has the comments after it, or is a hint itself.
        tokens: What cuts a text into tokens.
        place: Where the token is.

    Raises:
        SqlError: There is no such hint, or it is written in a wrong way.
        UnsupportedClauseError: flintstream does not have it.
    """
    return [hint for text in token.comments for hint in _read(tokens(text), place)]


def _read(cursor: Any, place: Place) -> Iterator[Hint]:
    while not cursor.ended:
        name = cursor.name().upper()
        options: dict[str, str] = {}
        if name == "OPTIONS":
            cursor.expect("(")
            while not cursor.take(")"):
                key = cursor.text()
                cursor.expect("=")
                options[key] = cursor.text()
                cursor.take(",")
        elif name in REFUSED:
            raise unsupported(f"the hint {name}", place, REFUSED[name])
        elif name not in WITHOUT_EFFECT:
            known = ("OPTIONS", *WITHOUT_EFFECT, *REFUSED)
            raise SqlError(f"unknown hint {name}{at(place)}{nearest(name, known)}")
        elif cursor.take("("):
            cursor.until(")")
            cursor.expect(")")
        cursor.take(",")
        yield Hint(name, options, place)


def table_options(hints: Sequence[Hint]) -> dict[str, str]:
    """Return what the hints after the name of a table say about its options."""
    return {key: value for hint in hints for key, value in hint.options.items()}


def is_hinted(sql: str, token: Token) -> bool:
    """Return whether a hint follows a token, and not only a comment."""
    return bool(token.comments) and sql[token.end + 1 :].lstrip().startswith("/*+")
