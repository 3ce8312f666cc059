"""Sources that emit no more than so many records in a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flintstream.connectors.source import Source, SourceReader, SourceWatermark, Timestamped
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.source import Boundedness, Fetch, SplitEnumerator
    from flintstream.contracts.functions import RuntimeContext

BURST_SECONDS = 0.1
"""What was not used of so long may be made up for."""


class RateLimiterStrategy:
    """How many records a source may emit; Flink has it in Java.

    >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
    >>> slow = RateLimiterStrategy.per_second(100).limit(NumberSequenceSource(1, 1000))
    """

    def __init__(self, per_second: float | None) -> None:
        """Use one of the static methods."""
        self._per_second = per_second

    @staticmethod
    def per_second(records: float) -> RateLimiterStrategy:
        """Allow so many records in a second, of all subtasks together, each of which has an equal share.

        Raises:
            PlanError: The number is not positive.
        """
        if not isinstance(records, (int, float)) or isinstance(records, bool) or records <= 0:
            raise PlanError(f"a rate must be a positive number of records per second, got {records!r}")
        return RateLimiterStrategy(records)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Allow as many as there are."""
        return RateLimiterStrategy(None)

    def limit(self, source: Source) -> Source:
        """Return ``source`` with this limit.

        Raises:
            TypeError: It is no source.
        """
        if not isinstance(source, Source):
            raise TypeError(f"only a Source can be limited, got {type(source).__name__}")
        return source if self._per_second is None else LimitedSource(source, self._per_second)


class LimitedSource(Source):
    """A source that is read slowly."""

    def __init__(self, source: Source, per_second: float) -> None:
        """Read ``source`` with so many records in a second."""
        self.source = source
        self.per_second = per_second
        self.watermarks_per_split = source.watermarks_per_split
        self.produced_type = getattr(source, "produced_type", None)

    def get_boundedness(self) -> Boundedness:
        """Return whether the source ends."""
        return self.source.get_boundedness()

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return that of the source."""
        return self.source.create_enumerator(parallelism)

    def create_reader(self) -> SourceReader:
        """Return a slow reader."""
        return LimitedReader(self.source.create_reader(), self.per_second)

    def finished(self) -> None:
        """Tell the source."""
        self.source.finished()


class LimitedReader(SourceReader):
    """Says that there is nothing more whenever it has emitted its share."""

    def __init__(self, reader: SourceReader, per_second: float) -> None:
        """Read with ``reader``."""
        self._reader = reader
        self._per_second = per_second
        self.gives_away = reader.gives_away
        self._allowed = 1.0
        self._since = time.monotonic()

    def open(self, runtime_context: RuntimeContext) -> None:
        """Find out how many share the rate."""
        self._per_second /= runtime_context.get_number_of_parallel_subtasks()
        self._reader.open(runtime_context)

    def _left(self) -> int:
        """Return how many records may be emitted now."""
        now = time.monotonic()
        most = max(1.0, self._per_second * BURST_SECONDS)
        self._allowed = min(self._allowed + (now - self._since) * self._per_second, most)
        self._since = now
        return int(self._allowed)

    def read(self, split: Any, fetch: Fetch) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield batches as long as the rate allows; one that is larger is made up for by the wait after it."""
        reading, size = None, fetch.size
        try:
            while left := self._left():
                fetch.size = min(size, left)
                reading = reading or self._reader.read(split, fetch)
                try:
                    batch = next(reading)
                except StopIteration as stop:
                    return bool(stop.value)
                if not isinstance(batch, SourceWatermark):
                    self._allowed -= len(batch.values if isinstance(batch, Timestamped) else batch)
                yield batch
            return False
        finally:
            fetch.size = size
            if reading is not None:
                reading.close()

    def set_aside(self, split: Any) -> None:
        """Tell the reader."""
        self._reader.set_aside(split)

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return what the reader does."""
        return self._reader.progress(splits)

    def close(self) -> None:
        """Close the reader."""
        self._reader.close()
