"""Several sources in sequence; mirrors ``pyflink.datastream.connectors.hybrid_source``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.hybrid import HybridInput
from flintstream.connectors.source import Boundedness, Source
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(HybridInput):
    """Reads bounded sources in sequence, and then a last one, which may be unbounded.

    A source starts when all subtasks have read all splits of the source before it. Checkpoints contain the current
    source and its position.

    >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
    >>> history, later = NumberSequenceSource(1, 3), NumberSequenceSource(4, 9)
    >>> HybridSource.builder(history).add_source(later).build().get_boundedness().name
    'BOUNDED'
    """

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder that starts with ``first_source``."""
        return HybridSourceBuilder(first_source)

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records, if all sources have the same.

        >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
        >>> builder = HybridSource.builder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(4, 9))
        >>> builder.build().produced_type
        Long
        """
        types = [getattr(source, "produced_type", None) for source in self.sources]
        return types[0] if all(kind == types[0] for kind in types) else None


class HybridSourceBuilder:
    """Builds a :class:`HybridSource`; use :meth:`HybridSource.builder`.

    >>> from flintstream.common.watermark_strategy import WatermarkStrategy
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
    >>> source = HybridSourceBuilder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(7, 8)).build()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "history, then the rest")
    >>> list(numbers.set_parallelism(1).execute_and_collect(limit=9))
    [1, 2, 3, 7, 8]
    """

    def __init__(self, first_source: Source) -> None:
        self._sources: list[Source] = []
        self.add_source(first_source)

    def add_source(self, source: Source) -> Self:
        """Read ``source`` after the sources added so far.

        Raises:
            TypeError: ``source`` is not a source.
            PlanError: The source before it is unbounded.
        """
        if not isinstance(source, Source):
            raise TypeError(f"a HybridSource needs sources, got {type(source).__name__}")
        if self._sources and self._sources[-1].get_boundedness() is not Boundedness.BOUNDED:
            before = type(self._sources[-1]).__name__
            raise PlanError(
                f"{type(source).__name__} would never be read, because {before} before it is unbounded: all sources of "
                "a HybridSource except the last must be bounded"
            )
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._sources)
