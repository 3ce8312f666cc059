"""Count and sum per key and window of event time; the result has the key, the window, the count and the sum.

``kind`` is tumbling (10 s), sliding (10 s every 2 s) or session (gap of 5 s). Keys of sessions come in bursts: 40
records in 10 s, then 10 s of silence. Keys of the others have 20 records in 10 s.
"""

from __future__ import annotations

from benchmarks.workload import SPREAD

KEYS = 1000
SIZE = 10_000
SLIDE = 2_000
GAP = 5_000


def steady(n: int, half: int) -> tuple[int, int, int]:
    """Return key, number and time (ms); each half of the numbers starts at 0 and has separate keys."""
    second = n >= half
    time = n - half if second else n
    return time * SPREAD % (KEYS // 2) * 2 + second, n, time


def in_bursts(n: int, half: int) -> tuple[int, int, int]:
    """Return key, number and time (ms); half of the keys are silent for 10 s while the others are not."""
    second = n >= half
    time = n - half if second else n
    return (time % (KEYS // 4) + time // SIZE % 2 * (KEYS // 4)) * 2 + second, n, time
