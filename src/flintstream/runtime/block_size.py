"""How many records go through a chain at a time, and when a chain has kept its results for long enough.

A block of records passes a function as a whole: what the function gave for the first record goes on when it has seen
the last one. That is cheap, and does not show where a record takes microseconds. Where it takes a tenth of a second,
blocks have to be small: then watermarks and timers come between the records.
"""

from __future__ import annotations

from flintstream.runtime.plan import RECORDS_PER_BLOCK

FAST_SECONDS = 0.01
SLOW_SECONDS = 0.05
"""A block that takes less than the one doubles the next one; one that takes more than the other is too large."""

SLOW_RECORDS_PER_SECOND = 10_000
"""Functions that do fewer have their epochs cut short: a Spark job more now and then costs little beside them."""

LONGEST_WAIT_MS = 500
"""How long such a function keeps what it has done until its epoch ends."""


def next_size(size: int, records: int, seconds: float) -> int:
    """Return how many records the next block should have after a block of ``records`` took ``seconds``.

    >>> next_size(64, 64, 0.001), next_size(64, 64, 0.5), next_size(64, 64, 60), next_size(64, 3, 0.001)
    (128, 6, 1, 64)
    """
    if not records:  # nothing but watermarks
        return size
    if seconds < FAST_SECONDS:
        return size if records < size else min(size * 2, RECORDS_PER_BLOCK)
    if seconds > SLOW_SECONDS:
        return max(1, min(size, int(records * SLOW_SECONDS / seconds)))
    return size


def is_slow(records: int, seconds: float) -> bool:
    """Tell whether to look at the time rather than at the cost of an epoch."""
    return records < seconds * SLOW_RECORDS_PER_SECOND
