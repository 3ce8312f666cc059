"""Text from files for a terminal. Control characters in it could move the cursor or change the terminal's settings."""

from __future__ import annotations

import json

__all__ = ["printable", "printable_json"]


def printable(text: str) -> str:
    r"""Return a text with all characters that are not printable as escape sequences.

    >>> printable("name\x1b[2J")
    'name\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def printable_json(text: str) -> str:
    r"""Return a line of JSON with all characters in strings that are not printable as escape sequences of JSON.

    >>> printable_json('"\x9b2J"')
    '"\\u009b2J"'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
