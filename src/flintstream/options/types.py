"""The types of options: parsing, formatting and validation of values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flintstream.options.units import MILLISECOND, duration_text, parse_bytes, parse_nanos, size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = [
    "FLAG",
    "MAX_INT",
    "MAX_LONG",
    "SIZE",
    "TEXT",
    "OptionType",
    "count",
    "duration",
    "names",
    "number",
    "several",
    "size",
]

T_co = TypeVar("T_co", covariant=True)

MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1
"""The limits of Java integers of 32 and 64 bits, which Flink uses. Values outside are refused, as in Flink."""


@dataclass(frozen=True)
class OptionType(Generic[T_co]):
    """The type of an option's values."""

    name: str
    """Its name in the documentation."""
    accepted: str
    """A description of valid values, to follow ``must be`` in errors."""
    read: Callable[[str], T_co]
    """Parses a string without surrounding spaces, and raises ``ValueError`` if it is invalid."""
    write: Callable[[Any], str] = str
    """Returns a value as a string that :attr:`read` can parse."""
    minimum: int = -MAX_LONG
    """The smallest value of a count, a duration (ms) or a size (bytes)."""
    maximum: int = MAX_LONG


def _flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


TEXT = OptionType("text", "a string", str)
"""Names, paths, and values that are checked where they are used."""

FLAG = OptionType("flag", "'true' or 'false'", _flag, lambda value: str(value).lower())


def size(minimum: int = 0, maximum: int = MAX_LONG) -> OptionType[int]:
    """Return the type of memory sizes within bounds, all in bytes.

    >>> size(maximum=1 << 20).read("1 mb"), size().write(20 << 10)
    (1048576, '20 kb')
    """

    def read(text: str) -> int:
        value = parse_bytes(text)
        if not minimum <= value <= maximum:
            raise ValueError(text)
        return value

    least = f" of at least {size_text(minimum)}" if minimum else ""
    most = f" of at most {size_text(maximum)}" if maximum < MAX_INT else ""
    return OptionType("size", f"a size{least}{most}, such as '64 kb' or '1 mb'", read, size_text, minimum, maximum)


SIZE = size()


def duration(minimum: int) -> OptionType[int]:
    """Return the type of durations of at least ``minimum`` ms. Values are whole numbers of ms, rounded down.

    Flink has no text for negative durations. A negative minimum allows them, for values with a special meaning.

    >>> duration(1).read("PT1.5S"), duration(-1).read("-1"), duration(1).write(60_000)
    (1500, -1, '1 min')
    """

    def read(text: str) -> int:
        negative = minimum < 0 and text.startswith("-")
        millis = (-parse_nanos(text[1:]) if negative else parse_nanos(text)) // MILLISECOND
        if not minimum <= millis <= MAX_LONG:
            raise ValueError(text)
        return millis

    least = f" of at least {_duration_text(minimum)}" if -MAX_LONG < minimum != 0 else ""
    accepted = f"a duration{least}, such as '10 s', '5 min' or '250' (ms)"
    return OptionType("duration", accepted, read, _duration_text, minimum, MAX_LONG)


def _duration_text(millis: int) -> str:
    return duration_text(millis * MILLISECOND)


def count(minimum: int, maximum: int = MAX_INT, *, also: int | None = None) -> OptionType[int]:
    """Return the type of whole numbers within bounds. ``also`` is an additional value with a special meaning.

    >>> count(1).read("5"), count(1, also=-1).read("-1")
    (5, -1)
    """

    def read(text: str) -> int:
        value = int(text)
        if not minimum <= value <= maximum and value != also:
            raise ValueError(text)
        return value

    bounds = f"of at least {minimum}" if maximum == MAX_INT else f"from {minimum} to {maximum}"
    special = "" if also is None else f", or {also}"
    return OptionType("whole number", f"a whole number {bounds}{special}", read, str, minimum, maximum)


def number(which: str, accepts: Callable[[float], bool]) -> OptionType[float]:
    """Return the type of numbers for which ``accepts`` is true. ``which`` describes them.

    >>> number("greater than 1", lambda value: value > 1).read("1.5")
    1.5
    """

    def read(text: str) -> float:
        value = float(text)
        if not accepts(value):
            raise ValueError(text)
        return value

    return OptionType("number", f"a number {which}", read)


def names(*members: str, also: Mapping[str, str] | None = None) -> OptionType[str]:
    """Return the type of names. Parsing ignores case. ``also`` maps other spellings, in lower case, to the names.

    >>> names("WARM", "COLD").read("cold"), names("none", also={"off": "none"}).read("Off")
    ('COLD', 'none')
    """
    known = {**(also or {}), **{member.lower(): member for member in members}}

    def read(text: str) -> str:
        if text.lower() not in known:
            raise ValueError(text)
        return known[text.lower()]

    return OptionType("name", f"one of {', '.join(members)}", read)


def several(members: Collection[str]) -> OptionType[list[str]]:
    """Return the type of one or several names separated by ``;``.

    >>> several(["WARM", "COLD"]).read("cold; warm")
    ['COLD', 'WARM']
    """
    one = names(*members)

    def read(text: str) -> list[str]:
        return [one.read(part.strip()) for part in re.split("[;,]", text) if part.strip()]

    return OptionType("names", f"{one.accepted}, or several separated by ';'", read, ";".join)
