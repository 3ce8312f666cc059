"""Splits of a sequence of numbers, and their reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import SourceReader, SourceSplit

if TYPE_CHECKING:
    from collections.abc import Generator

    from flintstream.connectors.source import Fetch


@record
@dataclass
class NumberSplit(SourceSplit):
    """The numbers from ``next`` to ``last``, inclusive."""

    next: int
    last: int


class NumberReader(SourceReader):
    """Counts."""

    gives_away = True

    def read(self, split: NumberSplit, fetch: Fetch) -> Generator[list[int], None, bool]:
        """Yield the split's numbers."""
        while split.next <= split.last:
            first, split.next = split.next, min(split.next + max(1, fetch.size), split.last + 1)
            yield list(range(first, split.next))
        return True
