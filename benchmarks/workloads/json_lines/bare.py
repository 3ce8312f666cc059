"""On plain Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.workloads.json_lines import is_order, is_sample, text_of, to_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[int, str, int]]:
    """Read one half of the numbers."""
    for n in range(number * run.half, (number + 1) * run.half):
        event = json.loads(text_of(n))
        if is_order(event):
            order = to_order(event)
            if is_sample(order):
                yield order
