"""A source of records that the program holds in a collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.source import Fetch, SplitEnumerator


@record
@dataclass
class CollectionSplit(SourceSplit):
    """The part of the collection that has not been emitted yet."""

    position: int = 0


class CollectionSource(Source):
    """Emits the elements of a list in order, always in one subtask, as in Flink."""

    def __init__(self, elements: Sequence[Any]) -> None:
        """Take the elements, which are pickled to the task."""
        self.elements = list(elements)

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the only split."""
        return StaticEnumerator([CollectionSplit("collection")])

    def create_reader(self) -> SourceReader:
        """Return a reader of the elements."""
        return _Reader(self.elements)


class _Reader(SourceReader):
    def __init__(self, elements: list[Any]) -> None:
        self.elements = elements

    def read(self, split: CollectionSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        while split.position < len(self.elements):
            start = split.position
            split.position = min(start + fetch.size, len(self.elements))
            yield self.elements[start : split.position]
        return True
