"""State that expires an hour after it was written: a map counts items, a list keeps numbers until it is emptied.

``kind`` is map (50 items per key) or list (about 100 numbers per key; every 101st number empties the list of its key).
"""

from __future__ import annotations

from benchmarks.workload import SPREAD

KEYS = 1000
ITEMS = 50


def to_visit(n: int, half: int) -> tuple[int, int]:
    """Return a key and the number; the halves of the numbers have separate keys."""
    return n * SPREAD % (KEYS // 2) * 2 + (n >= half), n


def item_of(n: int) -> int:
    """Return the item of its key that a number belongs to."""
    return n // KEYS % ITEMS
