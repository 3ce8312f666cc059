"""Functions on numbers that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any


def floor_number(value: Any) -> Any:
    """Return the next whole number below, in the type of the value."""
    return _whole(value, math.floor)


def ceil_number(value: Any) -> Any:
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
    return math.log(value) if base == math.e else math.log10(value) if base == 10 else math.log2(value)


def log(first: float, second: float | None = None) -> float:
    """Return the natural logarithm, or with two arguments that of the second one to the base of the first."""
    if second is None:
        return logarithm(first)
    below = logarithm(first)
    return logarithm(second) / below if below else math.nan


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
    """Return the hexadecimal digits of the bytes of a text, or of an integer of 64 bits."""
    return f"{value & (1 << 64) - 1:X}" if isinstance(value, int) else value.encode().hex().upper()


def sign_number(value: Any) -> Any:
    """Return -1, 0 or 1, in the type of the value."""
    sign = (value > 0) - (value < 0)
    return Decimal(sign).quantize(value) if isinstance(value, Decimal) else type(value)(sign)
