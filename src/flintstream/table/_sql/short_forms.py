"""Forms of SQL that sqlglot does not read, written out in tokens: TABLE t, VALUES 1, IN (VALUES ...), (a - b) DAY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot.tokenizer_core import Token

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
DIFFERENCES = {f"$minus_{unit}": unit for unit in UNITS}
"""Functions that stand for ``(a - b) DAY``, and the units."""
_BEFORE_QUERIES = {"", "(", "AS", "ALL", "DISTINCT", "UNION", "INTERSECT", "EXCEPT"}
_AFTER_QUERIES = {"UNION", "INTERSECT", "EXCEPT", "ORDER", "ORDER BY", "LIMIT", "OFFSET", "FETCH"}
_COMPARISONS = {"=", "<>", "!=", "<", "<=", ">", ">="}


def written_out(tokens: Sequence[Token], tokenize: Callable[[str], list[Any]]) -> list[Any]:
    """Return tokens with ``SELECT * FROM t`` for ``TABLE t``, a query for a list ``VALUES`` of IN, and ANY for SOME.

    Args:
        tokens: The tokens of a query; window functions are one token each.
        tokenize: What cuts a text into tokens.
    """
    tokens = _rows_in_parentheses(tokens, tokenize)
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


def _rows_in_parentheses(tokens: Sequence[Token], tokenize: Callable[[str], list[Token]]) -> list[Token]:
    """Return tokens with ``VALUES (1), (2)`` for ``VALUES 1, 2`` and for ``VALUE (1), (2)``."""
    words = [_word(item) for item in tokens]
    found: list[Token] = []
    lists: list[tuple[int, bool]] = []
    """The lists of VALUES that are being read: their depth, and whether the current row got a parenthesis."""
    depth = 0
    for i, token in enumerate(tokens):
        word, before, after = words[i], words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else ""
        ends = bool(lists) and depth == lists[-1][0] and (word in {",", ")"} or word in _AFTER_QUERIES)
        if ends and lists.pop()[1]:
            found += _at(token, tokenize(")"))
        if (
            word == "ROW"
            and lists
            and lists[-1] == (depth, False)
            and found[-1].text.upper() in {"VALUES", "VALUE", ","}
        ):
            continue
        found.append(token)
        depth += (word in {"(", "["}) - (word in {")", "]"})
        short = word == "VALUE" and before in _BEFORE_QUERIES - {"AS"} and after == "("
        if short:
            found[-1:] = _at(token, tokenize("VALUES"))
        if short or (word == "VALUES" and before in {*_BEFORE_QUERIES, ")"}) or (ends and word == ","):
            bare = after not in {"", "ROW"} and not _is_row(words, i + 1)
            lists.append((depth, bare))
            found += _at(token, tokenize("(")) if bare else []
    return [*found, *(_at(found[-1], tokenize(")")) if lists and lists[-1][1] else [])]


def _is_row(words: Sequence[str], start: int) -> bool:
    """Return whether what begins at a token is all in one pair of parentheses."""
    depth = 0
    for i in range(start, len(words)):
        depth += (words[i] in {"(", "["}) - (words[i] in {")", "]"})
        if depth <= 0:
            return words[start] == "(" and (words[i + 1] if i + 1 < len(words) else "") in {
                "",
                ",",
                ")",
                *_AFTER_QUERIES,
            }
    return False


def _word(token: Token) -> str:
    quoted = token.token_type.name in {"STRING", "IDENTIFIER"}
    return f"'{token.text}'" if quoted else str(token.text).upper()


def _at(place: Any, tokens: list[Token]) -> list[Any]:
    """Return tokens at the place of another one."""
    kind = type(place)
    return [kind(token.token_type, token.text, place.line, place.col, place.start, place.end) for token in tokens]


def name_token(token: Token, name: str) -> Any:
    """Return a name at the place of a token."""
    kind = type(token)
    return kind(type(token.token_type).VAR, name, token.line, token.col, token.start, token.end)


def _follows(token: Token, text: Any) -> bool:
    """Return whether a text begins where a name ends."""
    return bool(text.token_type.name == "STRING" and text.start == token.end + 1)


_BEFORE_VALUES = set("SELECT WHERE HAVING AND OR NOT BETWEEN CASE WHEN THEN ELSE BY DISTINCT".split())  # noqa: SIM905


def read_differences(tokens: Sequence[Token]) -> list[Any]:
    """Return what sqlglot can read: ``$minus_DAY(a - b)`` for ``(a - b) DAY``, and ``'a'`` for ``_UTF8'a'``."""
    found: list[Any] = []
    opened: list[int] = []
    i = 0
    while i < len(tokens):
        token = tokens[i]
        following = [str(item.text).upper() for item in tokens[i + 1 : i + 4]]
        sign = "" if token.token_type.name == "STRING" else token.text
        i += 1
        if sign[:1] == "_" and following and _follows(token, tokens[i]):
            continue  # a text is Unicode here
        found.append(token)
        if sign == "(":
            opened.append(len(found) - 1)
        elif sign == ")" and opened:
            start = opened.pop()
            before = found[start - 1].text.upper() if start else ""
            if following and following[0] in UNITS and (before in _BEFORE_VALUES or not before[-1:].isalnum()):
                found.insert(start, name_token(tokens[i], f"$minus_{following[0]}"))
                i += 3 if following[1:2] == ["TO"] else 1
    return found
