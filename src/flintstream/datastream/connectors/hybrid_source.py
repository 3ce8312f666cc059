"""One source after the other; mirrors ``pyflink.datastream.connectors.hybrid_source``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.hybrid import HybridInput
from flintstream.connectors.source import Boundedness, Source
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing import Self

    from flintstream.common.typeinfo import TypeInformation

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(HybridInput):
    """Reads bounded sources one after the other, and then a last one, which may have no end.

    The next source begins when all splits of the one before have been read by all subtasks. Which one is being read is
    part of checkpoints, as is how far.

    >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
    >>> history, later = NumberSequenceSource(1, 3), NumberSequenceSource(4, 9)
    >>> HybridSource.builder(history).add_source(later).build().get_boundedness().name
    'BOUNDED'
    """

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder that begins with ``first_source``."""
        return HybridSourceBuilder(first_source)

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records, if the sources agree about it."""
        types = [getattr(source, "produced_type", None) for source in self.sources]
        return types[0] if all(each == types[0] for each in types) else None


class HybridSourceBuilder:
    """Builds a :class:`HybridSource`; use :meth:`HybridSource.builder`."""

    def __init__(self, first_source: Source) -> None:
        self._sources: list[Source] = []
        self.add_source(first_source)

    def add_source(self, source: Source) -> Self:
        """Read ``source`` after those that are there.

        Raises:
            TypeError: It is no source.
            PlanError: The source before it has no end.
        """
        if not isinstance(source, Source):
            raise TypeError(f"a HybridSource consists of sources, got {type(source).__name__}")
        if self._sources and self._sources[-1].get_boundedness() is not Boundedness.BOUNDED:
            before = type(self._sources[-1]).__name__
            raise PlanError(
                f"{type(source).__name__} would never be read, because {before} before it has no end: all sources of a "
                "HybridSource but the last must be bounded"
            )
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._sources)
