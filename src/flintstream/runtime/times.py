"""Times in milliseconds: Flink's limits, and checks of the times that users give."""

from __future__ import annotations

from typing import Any

MIN_TIMESTAMP = -(2**63)
"""Flink's ``Long.MIN_VALUE``: the timestamp of records without one, and the watermark before the first one."""

MAX_TIMESTAMP = 2**63 - 1
"""Flink's ``Long.MAX_VALUE``: the watermark that ends a bounded input."""


def whole_ms(time: Any, what: str) -> int:
    """Return a user's time as a whole number of ms, truncated as in PyFlink; ``what`` names it in errors.

    As in PyFlink, anything that ``int`` accepts is a number, except text.

    >>> whole_ms(12.9, "the time of a timer")
    12

    Raises:
        TypeError: if it is not a number.
        OverflowError: if it does not fit in 64 bits.
    """
    try:
        whole = None if isinstance(time, (str, bytes, bytearray)) else int(time)
    except (ValueError, OverflowError):  # not a number, infinity
        whole = MAX_TIMESTAMP + 1
    except TypeError:
        whole = None
    if whole is None:
        raise TypeError(f"{what} must be an integer in ms, but got {time!r} of type {type(time).__name__}")
    if not MIN_TIMESTAMP <= whole <= MAX_TIMESTAMP:
        raise OverflowError(f"{what} must be a time in ms that fits in 64 bits, but got {time!r}")
    return whole


def all_fit(timestamps: list[Any]) -> bool:
    """Return whether all timestamps are ints that fit in 64 bits. No bytecode runs per timestamp.

    >>> all_fit([3, 2**63 - 1]), all_fit([3, 2**63]), all_fit([2**63 - 1, -(2**63) - 1]), all_fit([3, 2.0])
    (True, False, False, False)

    Raises:
        TypeError: Some are not numbers.
    """
    if not timestamps:
        return True
    total, highest = sum(timestamps), max(timestamps)  # ints if all timestamps are ints
    if not (type(total) is int is type(highest) and highest <= MAX_TIMESTAMP):
        return False
    # The lowest one is at least what the sum leaves if all others are as high as the highest.
    return total - (len(timestamps) - 1) * highest >= MIN_TIMESTAMP or min(timestamps) >= MIN_TIMESTAMP
