"""The records of all connectors, and the expected results. Imports only the standard library: the engines' jobs use it.

A text is a key, a number and a filling. The two files, or partitions, have separate keys, so that two processes need no
exchange. The results do not depend on the order: the counts of every key are 1, 2, 3 and so on.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = 500
"""Number of keys of each part."""
CYCLE = 10_000
"""Number of texts after which they repeat."""
EVERY = 10
"""Every tenth count of files is written: the case measures reading."""
FILE_LENGTH, KAFKA_LENGTH = 59, 100
"""Characters, without the end of the line."""


def texts(part: int, count: int, length: int) -> Iterator[str]:
    """Return the texts of one of two parts."""
    cycle = [f"{i % KEYS * 2 + part:06d},{i:08d},".ljust(length, "x") for i in range(CYCLE)]
    for start in range(0, count, CYCLE):
        yield from islice(cycle, count - start)


def parse(text: str) -> tuple[str, int]:
    """Return key and number of a text."""
    key, number, _ = text.split(",", 2)
    return key, int(number)


def is_written(counted: tuple[str, int]) -> bool:
    """Choose every tenth count."""
    return counted[1] % EVERY == 0


def to_text(counted: tuple[str, int]) -> str:
    """Return a key and its count as a text for Kafka, as long as those that were read."""
    return f"{counted[0]},{counted[1]:093d}"


def to_name(number: int) -> str:
    """Return the name of a number in the database."""
    return f"name {number}"


def counts(records: int) -> Iterator[tuple[str, int]]:
    """Return all counts of all keys."""
    for part in range(2):
        for i in range(KEYS):
            times = (records // 2 - i + KEYS - 1) // KEYS
            yield from ((f"{i * 2 + part:06d}", count) for count in range(1, times + 1))
