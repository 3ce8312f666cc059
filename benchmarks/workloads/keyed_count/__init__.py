"""Count numbers per key in keyed state; write the count of every 101st number."""

from __future__ import annotations

from benchmarks.workload import SPREAD


def to_pair(n: int, keys: int, half: int) -> tuple[int, int]:
    """Return a key and the number.

    The halves of the numbers have separate keys: counts must not depend on which half is read faster.
    """
    return n * SPREAD % (keys // 2) * 2 + (n >= half), n
