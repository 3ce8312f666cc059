"""Plain values, which most records have: generated code asks here first, and elsewhere if the answer is None.

Compiled code takes the place of these functions if there is any.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from flintstream.compiled import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[str | None], tuple[str | int | None, ...]]
    Loop: TypeAlias = Callable[[list[object], list[int] | None], tuple[list[object], list[int] | None]]

__all__ = ["FieldRows", "Fields", "field_reader", "moment_of", "plain_integer", "show_fields"]

_compiled = load("values")
_EPOCH = datetime.fromtimestamp(0, timezone.utc).replace(tzinfo=None)
_LONGEST = 18


def plain_integer(text: str, bits: int) -> int | None:
    """Return the number of a text of digits, perhaps behind a minus; None for another text, or more bits.

    >>> plain_integer("-12", 32), plain_integer("1.5", 32), plain_integer("128", 8)
    (-12, None, None)
    """
    digits = text[1:] if text[:1] == "-" else text
    if not digits.isdecimal() or not digits.isascii() or len(digits) > _LONGEST:
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def field_reader(separator: str, wanted: Sequence[tuple[int, int]]) -> Reader:
    """Return a function that takes fields out of a text between separators: each by its position and a number of bits.

    A field is the number that :func:`plain_integer` makes of it if it is one of so many bits, else its text, or None if
    the text is empty or has no such field. 0 bits want the text.

    >>> field_reader(",", [(1, 32), (0, 0), (1, 0), (2, 32)])("a,12")
    (12, 'a', '12', None)
    """
    read = _plain_reader(separator, wanted)
    if _compiled is not None:
        with suppress(ValueError):
            compiled: Reader = _compiled.FieldReader(separator, wanted, read)
            return compiled
    return read


def _plain_reader(separator: str, wanted: Sequence[tuple[int, int]]) -> Reader:
    most = 1 + max(position for position, _ in wanted)

    def read(text: str | None) -> tuple[str | int | None, ...]:
        parts = text.split(separator, most) if text else ()
        found: list[str | int | None] = []
        for position, bits in wanted:
            field = parts[position] if position < len(parts) else None
            number = plain_integer(field, bits) if bits and field is not None else None
            found.append(field if number is None else number)
        return tuple(found)

    return read


@dataclass(frozen=True)
class Fields:
    """The fields that code takes out of a text: the position of each, and the bits of its number or 0."""

    separator: str
    wanted: tuple[tuple[int, int], ...] = ()

    def open(self) -> Reader:
        """Return the function that code calls."""
        return field_reader(self.separator, self.wanted)


@dataclass(frozen=True)
class FieldRows:
    """Rows of fields of a text, and what else they have: a compiled loop makes those of a whole block."""

    column: int
    """The position of the text in a record."""
    separator: str
    wanted: tuple[tuple[int, int], ...]
    """The fields, as :class:`Fields` has them."""
    places: tuple[int, ...]
    """Their positions in a row."""
    kept: tuple[tuple[int, int, object], ...] = ()
    """Other values of a row: the position of each, that of the column it comes from, or -1 and a value."""
    prefix: str | None = None
    """How the text of a record begins that has a row; None if all have one."""
    bounds: tuple[int, int] | None = None
    """The lowest and the highest number; others are None."""
    single: bool = False
    """Whether a row is its only field, without a tuple."""
    moments: tuple[int, ...] = ()
    """The positions in a row of numbers that are ms since 1970, in whose places are the times, or None for others."""

    def open(self, parse: Callable[[str, int], int]) -> Loop | None:
        """Return the loop; None if there is none. Where a number is not plain, it calls ``parse``."""
        if _compiled is None:
            return None
        read = _plain_reader(self.separator, self.wanted)
        moments = (self.moments,) if self.moments else ()
        with suppress(ValueError, TypeError):  # compiled code of an earlier commit knows no moments
            made = _compiled.FieldRows(
                *(self.separator, self.wanted, self.places, self.kept, self.column, self.prefix, self.bounds),
                *(self.single, read, parse, *moments),
            )
            loop: Loop = made.rows
            return loop
        return None


def moment_of(ms: int) -> datetime:
    """Return the datetime of ms since 1970, from the year 1 to 9999.

    >>> moment_of(-1)
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)
    """
    return _EPOCH + timedelta(0, 0, 0, ms)


def show_fields(moment: datetime, pattern: str) -> str | None:
    """Return the year, month, day, hour, minute and second that a pattern of these alone has; None for other values.

    >>> show_fields(datetime(2026, 1, 2, 3, 4), "yyyy-MM-dd HH:mm")
    '2026-01-02 03:04'
    """
    if type(moment) is not datetime:
        return None
    parts = {"yyyy": moment.year, "MM": moment.month, "dd": moment.day}
    parts |= {"HH": moment.hour, "mm": moment.minute, "ss": moment.second}
    shown = pattern
    for run, part in parts.items():
        shown = shown.replace(run, f"{part:0{len(run)}d}")
    return shown


if _compiled is not None:
    plain_integer = _compiled.plain_integer
    moment_of = _compiled.moment_of
    show_fields = _compiled.show_fields
