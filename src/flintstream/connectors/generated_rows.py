"""Rows whose values functions make from the row's number: the source behind tables of generated data."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from flintstream.connectors.source import Fetch, SplitEnumerator

_ENDLESS = 1 << 62


class GeneratedField(Protocol):
    """How to make the values of a field. It travels to the workers, unlike the function that it makes."""

    @property
    def null_rate(self) -> float:
        """The part of the values that are None, from 0 to 1."""

    def maker(self) -> Callable[[int], Any]:
        """Return the function that makes the value of a row by its number."""


@record
@dataclass
class GeneratedSplit(SourceSplit):
    """The rows from ``next`` on; one row in ``step`` belongs to this split."""

    next: int
    end: int
    step: int


class GeneratedRows(Source):
    """Makes rows as tuples."""

    watermarks_per_split = True

    def __init__(self, fields: Sequence[GeneratedField], rows: int | None) -> None:
        """Make this number of rows; None for no end."""
        self.fields = list(fields)
        self.rows = rows
        self.boundedness = Boundedness.CONTINUOUS_UNBOUNDED if rows is None else Boundedness.BOUNDED

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of a split for each subtask."""
        end = _ENDLESS if self.rows is None else self.rows
        return StaticEnumerator([GeneratedSplit(str(i), i, end, parallelism) for i in range(parallelism)])

    def create_reader(self) -> SourceReader:
        """Return a reader that makes rows."""
        return _Reader(self.fields)


class _Reader(SourceReader):
    gives_away = True

    def __init__(self, fields: Sequence[GeneratedField]) -> None:
        self.fields = fields
        self.makers = [field.maker() for field in fields]

    def read(self, split: GeneratedSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        makers, rates = self.makers, [field.null_rate for field in self.fields]
        while split.next < split.end:
            numbers = range(split.next, min(split.next + max(fetch.size, 1) * split.step, split.end), split.step)
            split.next += len(numbers) * split.step
            columns = [[make(n) for n in numbers] for make in makers]
            for i, rate in enumerate(rates):
                if rate:
                    columns[i] = [None if random.random() < rate else value for value in columns[i]]  # noqa: S311
            yield list(zip(*columns, strict=True))
        return True
