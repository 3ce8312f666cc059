"""On plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workloads.stateless import calibrate, is_sample, is_valid, split, to_reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run
    from benchmarks.workloads.stateless import Pair


def subtask(number: int, run: Run) -> Iterator[Pair]:
    """Read one half of the numbers."""
    for n in range(number * run.half, (number + 1) * run.half):
        reading = to_reading(n)
        if is_valid(reading):
            for part in split(reading):
                result = calibrate(part)
                if is_sample(result):
                    yield result
