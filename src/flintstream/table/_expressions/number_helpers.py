"""Functions on numbers that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import math
import random
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


def rand_integer(first: int, second: int | None = None) -> int:
    """Return a random integer below the last argument; the first of two is a seed."""
    return random.randrange(first if second is None else second)  # noqa: S311 - no secret


def hex_text(value: Any) -> str:
    """Return the hexadecimal digits of the bytes of a text, or of an integer of 64 bits."""
    return f"{value & (1 << 64) - 1:X}" if isinstance(value, int) else value.encode().hex().upper()


def sign_number(value: Any) -> Any:
    """Return -1, 0 or 1, in the type of the value."""
    sign = (value > 0) - (value < 0)
    return Decimal(sign).quantize(value) if isinstance(value, Decimal) else type(value)(sign)
