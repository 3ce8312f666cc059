"""Values as the conversions of Java's ``String.format`` write them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from flintstream.common._text.java import clock_text
from flintstream.common._types.nanoseconds import fraction_of, nanoseconds_of
from flintstream.table._expressions.helpers import EPOCH, double_to_text, float_to_text

if TYPE_CHECKING:
    from collections.abc import Callable

_ANY_DIGITS = Context(prec=2_000_000, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LAST_CHARACTER = 0x10FFFF
_ALLOWED = {
    **dict.fromkeys("bhs", "-"),
    **dict.fromkeys("ct", "-"),
    "d": "-+ 0,(",
    **dict.fromkeys("ox", "-#+ 0("),
    "e": "-#+ 0(",
    "f": "-#+ 0,(",
    "g": "-+ 0,(",
    "a": "-#+ 0",
}
"""The flags of conversions; ``#`` belongs to values that format themselves, which none do."""


class NotFormattableError(ValueError):
    """A conversion has wrong flags, or does not fit the value."""


@dataclass(frozen=True)
class Format:
    """The flags, width and digits of a conversion; -1 if there are none."""

    flags: str
    width: int
    digits: int

    def pad(self, text: str) -> str:
        """Fill a text up with spaces."""
        missing = self.width - len(text) - sum(character > "\uffff" for character in text)
        return text + " " * missing if "-" in self.flags else " " * missing + text

    def cut(self, text: str) -> str:
        """Return the first characters, as Java counts them; half of a pair becomes a question mark."""
        if self.digits < 0:
            return text
        units = text.encode("utf-16-le", "surrogatepass")
        if len(units) <= 2 * self.digits:
            return text
        return units[: 2 * self.digits].decode("utf-16-le", "replace").replace("\ufffd", "?")

    def with_sign(self, negative: bool, magnitude: str, prefix: str = "") -> str:
        """Return a number with its sign, filled up with zeros or spaces."""
        flags = self.flags
        before = "(" if negative and "(" in flags else "-" if negative else "+" if "+" in flags else ""
        before = before or (" " if " " in flags else "")
        after = ")" if before == "(" else ""
        if "0" in flags:
            magnitude = magnitude.rjust(self.width - len(before) - len(prefix) - len(after), "0")
        return self.pad(before + prefix + magnitude + after)


def text_of(form: Format, letter: str, value: object, size: int) -> str:
    """Return the text of a value, in small letters if the conversion has some of its own.

    Args:
        form: The flags, width and digits.
        letter: The conversion, in lower case.
        value: The value.
        size: The number of bits of a binary number, else 0.

    Raises:
        NotFormattableError: The conversion has wrong flags, or does not fit the value.
    """
    flags, kind = form.flags, letter[0]
    if kind not in _ALLOWED or set(flags) - set(_ALLOWED[kind]):
        raise NotFormattableError
    if form.width < 0 and ("-" in flags or "0" in flags):
        raise NotFormattableError
    if {"-", "0"} <= set(flags) or {"+", " "} <= set(flags) or (form.digits >= 0 and kind in "doxct"):
        raise NotFormattableError
    if isinstance(value, date) and not isinstance(value, datetime):
        value, size = value.toordinal() - EPOCH.toordinal(), 32
    elif isinstance(value, time):
        value = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        size = 32
    if kind == "b":
        return form.pad(form.cut("true" if value is not None and value is not False else "false"))
    if value is None:
        return form.pad(form.cut("null"))
    if kind in "hs":
        return form.pad(form.cut(_plain(value, size) if kind == "s" else f"{_hash(value, size) & 0xFFFFFFFF:x}"))
    return _number(form, letter, value, size)


def _number(form: Format, letter: str, value: object, size: int) -> str:
    kind = letter[0]
    if isinstance(value, int) and not isinstance(value, bool):
        if kind == "d":
            return form.with_sign(value < 0, f"{abs(value):,}" if "," in form.flags else str(abs(value)))
        if kind in "ox" and not set(form.flags) & set("+ ("):
            prefix = {"x": "0x", "o": "0"}[kind] if "#" in form.flags else ""
            return form.with_sign(False, format(value & (1 << size) - 1, kind), prefix)
        if kind == "c" and size < 64 and 0 <= value <= _LAST_CHARACTER:
            return form.pad(chr(value))
        if kind == "t" and size == 64:
            return form.pad(_time(letter[1:], value))
    elif isinstance(value, float) and kind in "efga":
        if math.isnan(value):
            return form.pad("NaN")
        if math.isinf(value):
            return Format(form.flags.replace("0", ""), form.width, -1).with_sign(value < 0, "Infinity")
        negative = math.copysign(1.0, value) < 0
        if kind == "a":
            return form.with_sign(negative, _hexadecimal(abs(value), form.digits), "0x")
        return form.with_sign(negative, _decimal(abs(value), form, kind))
    raise NotFormattableError


def _plain(value: object, size: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_to_text(value) if size == 32 else double_to_text(value)
    if isinstance(value, datetime):
        return f"{value.date()}T{clock_text(value)}"  # %Y has no zeros before years below 1000
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _decimal(value: float, form: Format, kind: str) -> str:
    """Return a number without its sign, rounded half up from the digits that Java shows of it."""
    digits = 6 if form.digits < 0 else form.digits
    exact = Decimal(double_to_text(value))
    comma = "," if "," in form.flags else ""
    if kind == "g":
        digits = digits or 1
        rounded = _round(exact, digits - 1 - exact.adjusted()) if exact else exact
        exponent = rounded.adjusted() if exact else 0
        if -4 <= exponent < digits:
            return f"{_round(exact, digits - 1 - exponent):{comma}f}"
        kind, digits = "e", digits - 1
    if kind == "f":
        text = f"{_round(exact, digits):{comma}f}"
        return text + ("." if "#" in form.flags and not digits else "")
    if exact:
        exact = _round(exact, digits - exact.adjusted())
    exponent = exact.adjusted() if exact else 0
    mantissa = f"{exact.scaleb(-exponent):.{digits}f}" if exact else f"{0:.{digits}f}"
    point = "." if "#" in form.flags and not digits else ""
    return f"{mantissa}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _round(value: Decimal, digits: int) -> Decimal:
    """Return a number with so many digits after the point, or fewer before it if negative."""
    return value.quantize(Decimal((0, (1,), -digits)), ROUND_HALF_UP, _ANY_DIGITS)


def _hexadecimal(value: float, digits: int) -> str:
    """Return a number in hexadecimal without its sign and ``0x``; digits are rounded half to even."""
    if not value:
        return f"0.{'0' * max(digits, 1)}p0"
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * (1 << 53)), exponent - 1  # 1 and 52 bits
    if digits < 0 and exponent < -1022:
        whole, exponent, first = whole >> (-1022 - exponent), -1022, 0
        return f"{first}.{whole & (1 << 52) - 1:013x}".rstrip("0") + f"p{exponent}"
    if 0 <= digits < 13:
        cut = 52 - 4 * max(digits, 1)
        half, rest = 1 << (cut - 1), whole & ((1 << cut) - 1)
        whole >>= cut
        whole += rest > half or (rest == half and whole & 1)
        whole <<= cut
        if whole >> 53:
            whole, exponent = whole >> 1, exponent + 1
    text = f"{whole & (1 << 52) - 1:013x}"
    text = text.rstrip("0") or "0" if digits < 0 else text.ljust(digits, "0")[: max(digits, 1)]
    return f"1.{text}p{exponent}"


def _hash(value: object, size: int) -> int:
    """Return the hash of a value in Java."""
    if isinstance(value, bool):
        return 1231 if value else 1237
    if isinstance(value, int):
        return value ^ (value >> 32) if size == 64 else value
    if isinstance(value, float):
        if size == 32:
            (bits,) = struct.unpack(">i", struct.pack(">f", value))
            return int(bits)
        (bits,) = struct.unpack(">q", struct.pack(">d", value))
        return int(bits ^ (bits >> 32))
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        unscaled = int("".join(map(str, digits)))
        hashed = 0
        for word in _words(unscaled):
            hashed = 31 * hashed + word
        return 31 * (-hashed if sign else hashed) - int(exponent)
    if isinstance(value, datetime):
        micros = (value - EPOCH) // timedelta(microseconds=1)
        return 31 * ((micros // 1000) ^ ((micros // 1000) >> 32)) + micros % 1000 * 1000 + nanoseconds_of(value)
    if isinstance(value, str):
        return _murmur(value.encode("utf-8", "replace"))
    raise NotFormattableError


def _words(number: int) -> list[int]:
    """Return the words of 32 bits of a number, the highest first."""
    words: list[int] = []
    while number:
        words.insert(0, number & 0xFFFFFFFF)
        number >>= 32
    return words


def _murmur(data: bytes) -> int:
    """Return the hash of a text in Flink: MurmurHash3 of words, and of the bytes that are left."""
    hashed, whole = 42, len(data) // 4 * 4
    words = [*struct.unpack(f"<{whole // 4}I", data[:whole]), *struct.unpack(f"{len(data) - whole}b", data[whole:])]
    for word in words:
        mixed = word * 0xCC9E2D51 & 0xFFFFFFFF
        mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & 0xFFFFFFFF
        hashed ^= mixed
        hashed = ((hashed << 13 | hashed >> 19) & 0xFFFFFFFF) * 5 + 0xE6546B64 & 0xFFFFFFFF
    hashed ^= len(data)
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return hashed ^ hashed >> 16


_TIMES: dict[str, Callable[[datetime], str]] = {
    "H": lambda at: f"{at.hour:02}",
    "I": lambda at: f"{at.hour % 12 or 12:02}",
    "k": lambda at: f"{at.hour}",
    "l": lambda at: f"{at.hour % 12 or 12}",
    "M": lambda at: f"{at.minute:02}",
    "S": lambda at: f"{at.second:02}",
    "L": lambda at: f"{at.microsecond // 1000:03}",
    "N": fraction_of,
    "p": lambda at: "am" if at.hour < 12 else "pm",
    "z": lambda _: "+0000",
    "Z": lambda _: "UTC",
    "B": lambda at: f"{at:%B}",
    "b": lambda at: f"{at:%b}",
    "h": lambda at: f"{at:%b}",
    "A": lambda at: f"{at:%A}",
    "a": lambda at: f"{at:%a}",
    "C": lambda at: f"{at.year // 100:02}",
    "Y": lambda at: f"{at.year:04}",
    "y": lambda at: f"{at.year % 100:02}",
    "j": lambda at: f"{at.timetuple().tm_yday:03}",
    "m": lambda at: f"{at.month:02}",
    "d": lambda at: f"{at.day:02}",
    "e": lambda at: f"{at.day}",
    "R": lambda at: f"{at:%H:%M}",
    "T": lambda at: f"{at:%H:%M:%S}",
    "r": lambda at: f"{at:%I:%M:%S} {'AM' if at.hour < 12 else 'PM'}",
    "D": lambda at: f"{at:%m/%d/%y}",
    "F": lambda at: f"{at.year:04}-{at:%m-%d}",
    "c": lambda at: f"{at:%a %b %d %H:%M:%S} UTC {at.year}",
}


def _time(letter: str, millis: int) -> str:
    """Return a part of a time, in ms since 1970, in UTC.

    Raises:
        NotFormattableError: There is no such part, or the year is not one of Python's.
    """
    if letter in "sQ":
        return str(millis // 1000 if letter == "s" else millis)
    part = _TIMES.get(letter)
    try:
        at = EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        raise NotFormattableError from None
    if part is None:
        raise NotFormattableError
    return part(at)
