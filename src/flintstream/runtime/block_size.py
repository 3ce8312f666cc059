"""The size of the blocks that go through a chain, and the time after which a slow chain ends its epoch.

A block of records passes a function as a whole: the result for the first record moves on only after the function has
seen the last one. That is cheap, and unnoticeable if a record takes microseconds. If a record takes a tenth of a
second, blocks must be small so that watermarks and timers come between the records.
"""

from __future__ import annotations

from flintstream.runtime.plan import RECORDS_PER_BLOCK

FAST_SECONDS = 0.01
SLOW_SECONDS = 0.05
"""A block that takes less than the former doubles the next one; one that takes more than the latter is too large."""

SLOW_RECORDS_PER_SECOND = 10_000
"""Slower functions end their epochs early: next to their cost, an additional Spark job is cheap."""

LOOK_MS = 2
"""How often a source asks at most whether its process has been waiting."""

LONGEST_WAIT_MS = 500
"""How long a slow function holds its results before its epoch ends."""


def next_size(size: int, records: int, seconds: float, most: int = RECORDS_PER_BLOCK) -> int:
    """Return the number of records for the next block, at ``most``, after a block of ``records`` took ``seconds``.

    >>> next_size(64, 64, 0.001), next_size(64, 64, 0.5), next_size(64, 64, 60), next_size(64, 3, 0.001)
    (128, 6, 1, 64)
    """
    if not records:  # only watermarks
        return size
    if seconds < FAST_SECONDS:
        return size if records < size else min(size * 2, most)
    if seconds > SLOW_SECONDS:
        return max(1, min(size, int(records * SLOW_SECONDS / seconds)))
    return size


def is_slow(records: int, seconds: float) -> bool:
    """Tell whether a function is too slow for the cost of an epoch to matter."""
    return records < seconds * SLOW_RECORDS_PER_SECOND
