"""PRINTF: formats as Java's ``String.format`` writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.table._expressions.printf_values import Format, NotFormattableError, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?(t[a-zA-Z]|T[a-zA-Z]|[a-zA-Z%])")
_LONGEST = 1 << 28


def printf(sizes: Sequence[int], pattern: str | None, *values: object) -> str | None:
    """Return the text; None if the pattern is None, wrong, or does not fit the values.

    Args:
        sizes: The number of bits of each value that is a number in binary, and 0 of others.
        pattern: The format.
        values: The values.

    >>> printf((0, 32, 32, 64), "%s has %05d of %,d: %.1f%%", "a", 7, 1234567, 2.25)
    'a has 00007 of 1,234,567: 2.3%'
    """
    if pattern is None:
        return None
    parts: list[str] = []
    at = following = last = length = 0
    while True:
        start = pattern.find("%", at)
        if start < 0:
            return "".join([*parts, pattern[at:]])
        found = _SPECIFIER.match(pattern, start)
        if found is None:
            return None
        parts.append(pattern[at:start])
        at = found.end()
        index, flags, width, digits, letter = found.groups()
        if len(width or "") > 9 or len(digits or "") > 6 or len(set(flags)) < len(flags):
            return None
        form = Format(
            flags.replace("<", ""), -1 if width is None else int(width), -1 if digits is None else int(digits)
        )
        if letter in "n%":
            made = _write_fixed(form, letter)
        else:
            if index:
                last = int(index[:9])
            elif "<" not in flags:
                following += 1
                last = following
            if not 0 < last <= len(values):
                return None
            made = _write_value(form, letter, values[last - 1], sizes[last - 1])
        if made is None:
            return None
        length += len(made)
        if length > _LONGEST:
            raise ValueError(f"PRINTF would return a string of more than {_LONGEST:,} characters")
        parts.append(made)


def _write_fixed(form: Format, letter: str) -> str | None:
    """Return a percent sign or the end of a line."""
    if form.digits >= 0 or (letter == "n" and (form.flags or form.width >= 0)):
        return None
    if set(form.flags) - {"-"} or ("-" in form.flags and form.width < 0):
        return None
    return "\n" if letter == "n" else form.pad("%")


def _write_value(form: Format, letter: str, value: object, size: int) -> str | None:
    if form.width > _LONGEST:
        raise ValueError(f"PRINTF would return a string of more than {_LONGEST:,} characters")
    try:
        text = text_of(form, letter[0].lower() + letter[1:], value, size)
    except NotFormattableError:
        return None
    return text.upper() if letter[0].isupper() else text
