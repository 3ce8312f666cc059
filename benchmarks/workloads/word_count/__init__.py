"""Count the words of two text files; write every 100th count of a word. A record is a word.

A line has ten words. Some words are much more frequent than others, and each file has a separate set of 5,000 words, so
that two processes need no exchange.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.workload import Run

WORDS_PER_LINE = 10
EVERY = 100


def prepare(run: Run) -> None:
    """Write the files: the same lines over and over, in a different order each."""
    Path(run.input).mkdir()
    for number in range(2):
        random = Random(number)
        words = [f"word{number}x{position}" for position in range(5000)]
        weights = [1 / (position + 1) for position in range(5000)]
        lines = [" ".join(random.choices(words, weights, k=WORDS_PER_LINE)) for _ in range(10_000)]
        with Path(run.input, f"words-{number}.txt").open("w") as file:
            for position in range(run.half // WORDS_PER_LINE):
                print(lines[position % len(lines)], file=file)


def split(line: str) -> list[str]:
    """Return the words of a line."""
    return line.split()


def is_written(counted: tuple[str, int]) -> bool:
    """Choose every 100th count."""
    return counted[1] % EVERY == 0
