"""Texts of a statement: codes of characters in ``U&'...'`` and ``E'...'``, and texts over several lines."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, place_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.tokenizer_core import Token

_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
_CODES = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}|[0-7]{1,2}\Z)|([bfnrt\\uU]))"
)
_OCTETS = 256
_NO_ESCAPE = re.compile(r"[0-9a-fA-F\s+\"']")


def read_texts(sql: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a statement with one token for each text.

    Raises:
        SqlError: A code has other than four digits, UESCAPE names no character or follows another text, or a text
            continues in the same line.
    """
    found: list[Token] = []
    position = 0
    while position < len(tokens):
        token, position = tokens[position], position + 1
        kind = token.token_type.name
        if kind in {"STRING", "UNICODE_STRING", "NATIONAL_STRING"}:
            end = _end_of_text(sql, tokens, position)
            token = _join([token, *tokens[position:end]])
            position = end
            escape = "\\"
            if position < len(tokens) and tokens[position].text.upper() == "UESCAPE":
                if kind != "UNICODE_STRING":
                    raise _error(sql, tokens[position], "UESCAPE belongs after a text that begins with U&")
                escape, position = _escape_after(sql, tokens, position), position + 2
            if kind == "UNICODE_STRING":
                token = _text(token, _without_codes(sql, token, escape))
            elif found and found[-1].text in {"e", "E"} and found[-1].end + 1 == token.start:
                found.pop()
                token = _text(token, _with_controls(sql, token))
        found.append(token)
    return found


def _error(sql: str, token: Token, what: str, remedy: str = "") -> SqlError:
    return SqlError(f"{what} at {place_at(sql, token.start)}{remedy}")


def _end_of_text(sql: str, tokens: Sequence[Token], position: int) -> int:
    """Return the position after the tokens that continue a text, each in a new line."""
    while position < len(tokens) and tokens[position].token_type.name == "STRING":
        between = sql[tokens[position - 1].end + 1 : tokens[position].start]
        if "\n" not in between:
            remedy = ": begin a new line before it, or write || between the strings"
            raise _error(sql, tokens[position], "a string continues on the same line", remedy)
        position += 1
    return position


def _join(parts: Sequence[Token]) -> Token:
    first, last = parts[0], parts[-1]
    if first is last:
        return first
    kind = type(first)
    text = "".join(part.text for part in parts)
    return kind(first.token_type, text, last.line, last.col, first.start, last.end, last.comments)


def _text(token: Token, text: str) -> Token:
    kind = type(token.token_type).STRING
    return type(token)(kind, text, token.line, token.col, token.start, token.end, token.comments)


def _with_controls(sql: str, token: Token) -> str:
    r"""Return a text with characters for their codes, such as ``\n``, ``\101``, ``\x41`` and ``\u0041``."""

    def character(code: re.Match[str]) -> str:
        *hexadecimal, octal, control = code.groups()
        digits = next(filter(None, hexadecimal), "")
        number = int(digits, 16) if digits else int(octal or "0", 8)
        if octal and number >= _OCTETS:
            return code[0]
        if control in {"u", "U"} or number > sys.maxunicode:
            wanted = "eight" if code[0][1] == "U" else "four"
            remedy = f": write \\{code[0][1]} and {wanted} hexadecimal digits, or \\\\ for the character itself"
            raise _error(sql, token, f"'{code[0]}' is not the code of a character in the text", remedy)
        return chr(number) if control is None else _CONTROLS[control]

    return _CODES.sub(character, token.text)


def _escape_after(sql: str, tokens: Sequence[Token], position: int) -> str:
    """Return the character that UESCAPE names."""
    escape = tokens[position + 1] if position + 1 < len(tokens) else tokens[position]
    if escape.token_type.name != "STRING" or len(escape.text) != 1 or _NO_ESCAPE.match(escape.text):
        remedy = ": write one character in quotes that is not a hexadecimal digit, space, plus sign or quote"
        raise _error(sql, escape, f"UESCAPE is not one character but '{escape.text}'", remedy)
    return str(escape.text)


def _without_codes(sql: str, token: Token, escape: str) -> str:
    r"""Return a text with characters for their codes, such as ``\0041``, and half of each doubled ``escape``."""
    mark = re.escape(escape)

    def character(code: re.Match[str]) -> str:
        if code[0] == escape * 2:
            return escape
        if code[1] is None:
            remedy = f": write {escape} and four hexadecimal digits, or {escape * 2} for the character itself"
            raise _error(sql, token, f"'{code[0]}' is not the code of a character in the text", remedy)
        return chr(int(code[1], 16))

    text = re.sub(
        f"{mark}(?:{mark}|([0-9a-fA-F]{{4}}|\\+[0-9a-fA-F]{{3}})|.{{0,4}})", character, token.text, flags=re.DOTALL
    )
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
