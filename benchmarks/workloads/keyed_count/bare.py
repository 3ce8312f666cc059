"""On plain Python: a dict per process; the halves of the numbers have separate keys, so there is no exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_count import to_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[int, int]]:
    """Count one half of the numbers."""
    keys, half = run.settings["keys"], run.half
    state: dict[int, int] = {}

    def process_element(value: tuple[int, int], key: int) -> Iterator[tuple[int, int]]:
        count = (state.get(key) or 0) + 1
        state[key] = count
        if value[1] % SAMPLE == 0:
            yield value[0], count

    for n in range(number * half, (number + 1) * half):
        value = to_pair(n, keys, half)
        yield from process_element(value, value[0])
