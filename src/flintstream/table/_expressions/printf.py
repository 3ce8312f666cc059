"""PRINTF: formats as Java's ``String.format`` writes them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from flintstream.table._expressions.helpers import double_to_text

_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)([1-9]\d*)?(?:\.(\d+))?([a-zA-Z%])")
_LONGEST = 1 << 28


def printf(pattern: str | None, *values: object) -> str | None:
    """Return the text; None if the pattern is None, wrong, or does not fit the values.

    >>> printf("%s has %05d of %,d: %.1f%%", "a", 7, 1234567, 2.26)
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
        if letter in "n%":
            parts.append("\n" if letter == "n" else "%")
            continue
        if index:
            last = int(index[:9])
        elif "<" not in flags:
            following += 1
            last = following
        if not 0 < last <= len(values) or len(width or "") > 6 or len(digits or "") > 6:
            return None
        made = _made(values[last - 1], flags, digits, letter)
        if made is None:
            return None
        length += len(made) + int(width or 0)
        if length > _LONGEST:
            raise ValueError(f"PRINTF would return a string of more than {_LONGEST:,} characters")
        parts.append(_fill(made, flags, int(width or 0)))


def _fill(text: str, flags: str, width: int) -> str:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and text[-1:].isdigit():
        sign = text[:1] if text[:1] in "+- (" else ""
        return sign + text[len(sign) :].rjust(width - len(sign), "0")
    return text.rjust(width)


def _made(value: object, flags: str, digits: str | None, letter: str) -> str | None:
    """Return the text of a value, before it is filled up; None if the letter does not fit it."""
    kind = letter.lower()
    text: str | None = None
    if kind in "bh":
        text = ("true" if value is not False else "false") if value is not None else "false"
        text = text if kind == "b" else None if value is not None else "null"
    elif kind == "s":
        text = _plain(value)
    elif value is None:
        text = "null"[: int(digits or 4)] if kind in "dxocfeg" else None
    elif kind in "dxo" and isinstance(value, int) and not isinstance(value, bool):
        text = _integer(value, flags, kind)
    elif kind == "c" and isinstance(value, int) and not isinstance(value, bool):
        text = chr(value) if 0 <= value <= _LAST_CHARACTER else None
    elif kind in "feg" and isinstance(value, (float, Decimal)):
        return _fraction(value, flags, int(digits or 6), letter)
    if text is not None and digits is not None and kind in "sb":
        text = text[: int(digits)]
    return text.upper() if text is not None and letter.isupper() else text


_LAST_CHARACTER = 0x10FFFF


def _plain(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        f"{value:f}"
        if isinstance(value, Decimal)
        else double_to_text(value)
        if isinstance(value, float)
        else str(value)
    )


def _sign(text: str, flags: str) -> str:
    if text.startswith("-"):
        return f"({text[1:]})" if "(" in flags else text
    return f"+{text}" if "+" in flags else f" {text}" if " " in flags else text


def _integer(value: int, flags: str, kind: str) -> str:
    if kind == "d":
        return _sign(f"{value:,}" if "," in flags else str(value), flags)
    bits = 32 if -(1 << 31) <= value < 1 << 31 else 64
    prefix = {"x": "0x", "o": "0"}[kind] if "#" in flags else ""
    return prefix + format(value & (1 << bits) - 1, kind)


def _fraction(value: Any, flags: str, digits: int, letter: str) -> str:
    if value - value != 0:
        text = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 - NaN
    else:
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        text = format(exact, f"{',' if ',' in flags else ''}.{digits}{letter.lower()}")
        if letter.lower() == "e":
            mantissa, _, exponent = text.partition("e")
            text = f"{mantissa}e{exponent[0]}{exponent[1:]:0>2}"
    made = _sign(text, flags)
    return made.upper() if letter.isupper() else made
