"""Scripts of several statements."""

from __future__ import annotations

import re
from typing import NamedTuple

_PARTS = re.compile(
    r"""'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`[^`]*`?|--[^\n]*|/\*.*?(?:\*/|\Z)|;|\w+|\s+|.""",
    re.DOTALL,
)


class Statement(NamedTuple):
    """A statement of a script."""

    text: str
    line: int
    """Where it begins, from 1 on."""
    ended: bool
    """Whether a semicolon has ended it."""


def split_script(text: str) -> list[Statement]:
    r"""Return the statements of a script, without the semicolons between them and without comments around them.

    >>> [(statement.text, statement.line) for statement in split_script("SELECT ';'; -- a\n\nSHOW TABLES")]
    [("SELECT ';'", 1), ('SHOW TABLES', 3)]
    """
    found: list[Statement] = []
    part: list[str] = []
    words: list[str] = []
    line = start = 1
    for piece in _PARTS.findall(text):
        is_comment = piece.startswith(("--", "/*"))
        if piece == ";" and not _is_open(words):
            if words:
                found.append(Statement("".join(part).strip(), start, True))
            part, words = [], []
        elif words or not (is_comment or piece.isspace()):
            if not words:
                start = line
            part.append(piece)
            if not (is_comment or piece.isspace()):
                words.append(piece.upper())
        line += piece.count("\n")
    if words:
        found.append(Statement("".join(part).strip(), start, False))
    return found


def _is_open(words: list[str]) -> bool:
    """Tell whether a statement set has begun that no END has ended, so that semicolons are within it."""
    begins = any(words[i : i + 3] == ["STATEMENT", "SET", "BEGIN"] for i in range(len(words)))
    return begins and words.count("END") <= words.count("CASE")
