"""On plain Python: the rules are a dict that each process has from the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import SAMPLE
from benchmarks.workloads.broadcast import RULES, to_payment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[int, int, int]]:
    """Check one half of the numbers."""
    limits = dict(RULES)

    def process_element(value: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
        n, category, amount = value
        if amount >= limits[category] and n % SAMPLE == 0:
            yield value

    for n in range(number * run.half, (number + 1) * run.half):
        yield from process_element(to_payment(n))
