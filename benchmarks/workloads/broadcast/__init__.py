"""Broadcast rules; each record looks up the rule of its category and passes or not.

There are 8 rules. Records that arrive before the last rule wait. One of 101 passing records is written.
"""

from __future__ import annotations

from benchmarks.workload import SPREAD

RULES = [(category, 100 * category) for category in range(8)]
"""Pairs of a category and the least amount that passes."""


def to_payment(n: int) -> tuple[int, int, int]:
    """Return number, category and amount."""
    return n, n % len(RULES), n * SPREAD % 1000
