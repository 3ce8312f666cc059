"""On plain Python: a dict and a file per process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.workloads.word_count import is_written, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.workload import Run


def subtask(number: int, run: Run) -> Iterator[tuple[str, int]]:
    """Count the words of one file."""
    counts: dict[str, int] = {}
    with Path(run.input, f"words-{number}.txt").open() as file:
        for text in file:
            for word in split(text):
                count = counts[word] = counts.get(word, 0) + 1
                counted = word, count
                if is_written(counted):
                    yield counted
