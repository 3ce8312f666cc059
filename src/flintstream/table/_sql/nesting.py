"""How deeply parts of a statement may be nested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlglot.tokenizer_core import Token

    from flintstream.table._errors import Place

LEVELS = 1000
"""The most nested parentheses, functions, CASE, signs and queries."""

TYPES = 100
"""The most nested rows, arrays and maps: Python's pickle and the types of columns are recursive."""

_CONTAINERS = {"ROW", "ARRAY", "MAP"}
_OPENS, _CLOSES, _PREFIXES = {"(", "[", "CASE"}, {")", "]", "END"}, {"NOT", "-", "+"}


def refuse_deep_nesting(tokens: Iterable[Token], place: Callable[[Token], Place]) -> None:
    """Check that the stack of the parser and planner has room for a statement.

    Raises:
        SqlError: It is nested more deeply; the message names the place.
    """
    depth = signs = 0
    containers: list[int] = []
    before = ""
    for token in tokens:
        word = "" if token.token_type.name in {"STRING", "IDENTIFIER"} else str(token.text).upper()
        depth = max(depth + (word in _OPENS) - (word in _CLOSES), 0)
        signs = signs + 1 if word in _PREFIXES else 0
        if before in _CONTAINERS and word in _OPENS:
            containers.append(depth)
        while containers and containers[-1] > depth:
            containers.pop()
        before = word
        if len(containers) > TYPES:
            raise SqlError(f"'{token.text}' at {place(token)} is nested in more than {TYPES} rows, arrays and maps")
        if depth + signs > LEVELS:
            raise SqlError(
                f"'{token.text}' at {place(token)} is nested in more than {LEVELS:,} parentheses, functions, CASE and "
                "queries: split the statement with views, or write AND, OR and + without parentheses"
            )


_BEFORE_ITEMS = frozenset({"SELECT", "DISTINCT", "ALL", "(", "[", ","})
_AFTER_ITEMS = frozenset({"FROM", "WHERE", ")", "]"})


def refuse_stray_commas(tokens: Iterable[Token], place: Callable[[Token], Place]) -> None:
    """Check that a comma stands between two items; sqlglot passes over others.

    Raises:
        SqlError: One does not; the message names its place.
    """
    before, comma = "", None
    for token in tokens:
        word = "item" if token.token_type.name in {"STRING", "IDENTIFIER"} else str(token.text).upper()
        if comma is not None and word in _AFTER_ITEMS:
            break
        if word == "," and before in _BEFORE_ITEMS:
            raise SqlError(f"',' at {place(token)} has nothing before it")
        comma = token if word == "," else None
        before = word
    if comma is not None:
        raise SqlError(f"',' at {place(comma)} has nothing after it")


def arguments(tokens: Sequence[Token], start: int) -> tuple[list[list[Token]], int]:
    """Return the tokens between commas, up to the closing parenthesis, and the position after it."""
    parts: list[list[Token]] = [[]]
    depth, position = 0, start
    while position < len(tokens):
        text = tokens[position].text
        if text == ")" and depth == 0:
            return parts, position + 1
        depth += (text in {"(", "["}) - (text in {")", "]"})
        if text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(tokens[position])
        position += 1
    raise SqlError("a parenthesis is not closed")
