"""Functions on numbers that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import math
import struct
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._types.nanoseconds import nanoseconds_of
from flintstream.table._expressions.helpers import EPOCH, divide_doubles

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime, time

_WORD = 0xFFFFFFFF


def _of_java(function: Callable[[float], float], huge: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function of ``math`` that gives NaN outside its domain, and ``huge`` if a result is too large."""

    def safe(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return huge(value)

    return safe


def _sign(value: float) -> float:
    return math.copysign(math.inf, value)


def _infinite(value: float) -> float:  # noqa: ARG001 - one signature
    return math.inf


exp = _of_java(math.exp, _infinite)
sinh = _of_java(math.sinh, _sign)
cosh = _of_java(math.cosh, _infinite)
sin, cos, tan = (_of_java(function, _sign) for function in (math.sin, math.cos, math.tan))
asin, acos = (_of_java(function, _sign) for function in (math.asin, math.acos))


def power(base: float, exponent: float) -> float:
    """Return a power as Java gives it: infinite if it is too large, NaN where there is none.

    >>> power(10.0, 400.0), power(-10.0, 401.0), power(0.0, -1.0), power(-1.0, 0.5)
    (inf, -inf, inf, nan)
    """
    try:
        found = math.pow(base, exponent)
    except (OverflowError, ValueError):
        if base < 0 and exponent % 1:
            return math.nan
        odd = exponent % 2 == 1
        return math.copysign(math.inf, base) if odd else math.inf
    if found == 1.0 and exponent and exponent - exponent != 0:  # of 1 and -1, C takes no notice of the exponent
        return math.nan
    return found


def root(value: float) -> float:
    """Return the square root, which Flink computes as a power: that of -Infinity is infinite."""
    return math.sqrt(value) if value >= 0 else math.inf if value == -math.inf else math.nan


def cotangent(value: float) -> float:
    """Return the cotangent; infinite where the tangent is zero."""
    return divide_doubles(1.0, tan(value))


def remainder_doubles(a: float, b: float) -> float:
    """Return the remainder with the sign of the dividend; NaN of a division by zero."""
    return math.fmod(a, b) if b and a - a == 0 else math.nan


def floor_number(value: object) -> object:
    """Return the next whole number below, in the type of the value."""
    return _whole(value, math.floor)


def ceil_number(value: object) -> object:
    """Return the next whole number above, in the type of the value."""
    return _whole(value, math.ceil)


def _whole(value: Any, rounded: Any) -> Any:
    if not isinstance(value, float):
        return type(value)(rounded(value))
    return math.copysign(rounded(value), value) if math.isfinite(value) else value  # a zero keeps its sign


def logarithm(value: float, base: float = math.e) -> float:
    """Return a logarithm as Java gives it: of zero it is -Infinity, of less NaN."""
    if value <= 0:
        return -math.inf if value == 0 else math.nan
    return math.log(value) if base == math.e else math.log10(value) if base == 10 else math.log(value) / math.log(base)


def log(first: float, second: float | None = None) -> float:
    """Return the natural logarithm, or with two arguments that of the second one to the base of the first."""
    if second is None:
        return logarithm(first)
    return divide_doubles(logarithm(second), logarithm(first))


def greatest(*values: float) -> float:
    """Return the largest double; NaN is larger than all others."""
    return next((value for value in values if value != value), max(values))  # noqa: PLR0124 - NaN


def least(*values: float) -> float:
    """Return the smallest double."""
    return min([value for value in values if value == value], default=math.nan)  # noqa: PLR0124 - NaN


class SeededRandom:
    """The random numbers that Java gives for a seed.

    >>> SeededRandom(42).below(10), round(SeededRandom(42).double(), 6)
    (0, 0.727564)
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._state = (seed ^ _FACTOR) & _MASK

    def __reduce__(self) -> Any:
        """Begin again with the seed where the numbers are used."""
        return SeededRandom, (self._seed,)

    def _bits(self, count: int) -> int:
        self._state = (self._state * _FACTOR + 11) & _MASK
        return self._state >> (48 - count)

    def double(self) -> float:
        """Return a number from 0 to below 1."""
        return float(((self._bits(26) << 27) + self._bits(27)) * 2.0**-53)

    def below(self, bound: int) -> int:
        """Return an integer from 0 to below a bound.

        Raises:
            ValueError: The bound is not positive.
        """
        if bound <= 0:
            raise ValueError("RAND_INTEGER: the bound must be positive")
        if bound & (bound - 1) == 0:
            return (bound * self._bits(31)) >> 31
        while True:
            bits = self._bits(31)
            found = bits % bound
            if bits - found + bound - 1 < 1 << 31:
                return found


_FACTOR, _MASK = 0x5DEECE66D, (1 << 48) - 1


def hex_text(value: Any) -> str:
    """Return the hexadecimal digits of the bytes of a text, or of a 64-bit integer."""
    return f"{value & (1 << 64) - 1:X}" if isinstance(value, int) else value.encode("utf-8", "replace").hex().upper()


def sign_number(value: Any) -> Any:
    """Return -1, 0 or 1, in the type of the value."""
    if value != value:  # noqa: PLR0124 - NaN
        return value
    sign = (value > 0) - (value < 0)
    return Decimal(sign).quantize(value) if isinstance(value, Decimal) else type(value)(sign)


# -- hash codes of Java ------------------------------------------------------------------------------------------------


def hash_text(value: str) -> int:
    """Return the absolute hash code of a text."""
    code = 0
    units = value.encode("utf-16-be", "surrogatepass")
    for i in range(0, len(units), 2):
        code = (31 * code + (units[i] << 8 | units[i + 1])) & _WORD
    return _word(abs(_word(code)))


def hash_long(value: int) -> int:
    """Return the hash code of a 64-bit integer."""
    return _word(value ^ (value & (1 << 64) - 1) >> 32)


def hash_boolean(value: bool) -> int:
    """Return the hash code of a boolean."""
    return 1231 if value else 1237


def hash_float(value: float) -> int:
    """Return the hash code of a FLOAT."""
    return _word(int.from_bytes(struct.pack(">f", value), "big"))


def hash_double(value: float) -> int:
    """Return the hash code of a DOUBLE."""
    return hash_long(int.from_bytes(struct.pack(">d", value), "big"))


def hash_decimal(value: Decimal) -> int:
    """Return the hash code of a decimal number, which depends on its scale."""
    scale = -int(value.as_tuple().exponent)
    number = int(value.scaleb(scale))
    code, size = 0, abs(number)
    for shift in range((max(size.bit_length(), 1) - 1) // 32 * 32, -1, -32):
        code = (31 * code + (size >> shift & _WORD)) & _WORD
    return _word(31 * (-code if number < 0 else code) + scale)


def hash_date(value: date) -> int:
    """Return the hash code of a date: its days since the epoch."""
    return (value - EPOCH.date()).days


def hash_time(value: time) -> int:
    """Return the hash code of a time of day: its milliseconds."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def hash_timestamp(value: datetime) -> int:
    """Return the hash code of a timestamp, from its milliseconds and the rest in nanoseconds."""
    ms, rest = divmod((value - EPOCH) // timedelta(microseconds=1), 1000)
    return _word(31 * hash_long(ms) + rest * 1000 + nanoseconds_of(value))


def _word(value: int) -> int:
    value &= _WORD
    return value - (_WORD + 1) if value >> 31 else value
