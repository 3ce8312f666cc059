"""Short forms of SQL that sqlglot does not read, written out in tokens: TABLE t, IN (VALUES ...) and SOME."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot.tokenizer_core import Token

_BEFORE_QUERIES = {"", "(", "AS", "ALL", "DISTINCT", "UNION", "INTERSECT", "EXCEPT"}
_COMPARISONS = {"=", "<>", "!=", "<", "<=", ">", ">="}


def written_out(tokens: Sequence[Token], tokenize: Callable[[str], list[Any]]) -> list[Any]:
    """Return tokens with ``SELECT * FROM t`` for ``TABLE t``, a query for a list ``VALUES`` of IN, and ANY for SOME.

    Args:
        tokens: The tokens of a query; window functions are one token each.
        tokenize: What cuts a text into tokens.
    """
    words = [_word(item) for item in tokens]
    found: list[Any] = []
    opened: list[bool] = []
    """For each open parenthesis, whether it needs another one at its end."""
    for i, token in enumerate(tokens):
        word, before, after = words[i], words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else ""
        if word == "TABLE" and before in _BEFORE_QUERIES and after not in {"", "("}:
            found += _at(token, tokenize("SELECT * FROM"))
            continue
        if word == "SOME" and before in _COMPARISONS and after == "(":
            found += _at(token, tokenize("ANY"))
            continue
        found.append(token)
        if word == "(":
            opened.append(before == "IN" and after == "VALUES")
            if opened[-1]:
                found += _at(token, tokenize("SELECT * FROM ("))
        elif word == ")" and opened and opened.pop():
            found.append(token)
    return found


def _word(token: Token) -> str:
    quoted = token.token_type.name in {"STRING", "IDENTIFIER"}
    return f"'{token.text}'" if quoted else str(token.text).upper()


def _at(place: Any, tokens: list[Token]) -> list[Any]:
    """Return tokens at the place of another one."""
    kind = type(place)
    return [kind(token.token_type, token.text, place.line, place.col, place.start, place.end) for token in tokens]
