"""On plain Python: dicts of dicts and of lists, where nothing expires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_state import item_of, to_visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[int, int, int]]:
    """Read one half of the numbers."""
    half = run.half
    mine = (to_visit(n, half) for n in range(number * half, (number + 1) * half))
    return count_items(mine) if run.settings["kind"] == "map" else gather(mine)


def count_items(visits: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Count the items of each key."""
    state: dict[int, dict[int, int]] = {}
    for key, n in visits:
        counts = state.setdefault(key, {})
        item = item_of(n)
        count = counts[item] = counts.get(item, 0) + 1
        if n % SAMPLE == 0:
            yield key, item, count


def gather(visits: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Keep the numbers of each key until it is emptied."""
    state: dict[int, list[int]] = {}
    for key, n in visits:
        state.setdefault(key, []).append(n)
        if n % SAMPLE == 0:
            numbers = state.pop(key)
            yield key, len(numbers), sum(numbers)
