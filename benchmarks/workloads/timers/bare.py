"""On plain Python: a heap of timers per process, where deleted timers stay until they are due."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from benchmarks.workloads.windows import GAP, in_bursts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[int, int, int]]:
    """Read one half of the numbers."""
    half = run.half
    counts: dict[int, int] = {}
    ends: dict[int, int] = {}
    timers: list[tuple[int, int]] = []
    for n in range(number * half, (number + 1) * half):
        key, _, time = in_bursts(n, half)
        while timers and timers[0][0] <= time:
            end, timed = heappop(timers)
            if ends.get(timed) == end:
                yield timed, end, counts.pop(timed)
                del ends[timed]
        ends[key] = time + GAP
        heappush(timers, (time + GAP, key))
        counts[key] = counts.get(key, 0) + 1
    for key, end in ends.items():
        yield key, end, counts[key]
