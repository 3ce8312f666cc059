"""Sources with a limit of records per second."""

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
"""An unused allowance of up to this many seconds may be used later."""


class RateLimiterStrategy:
    """How many records a source may emit. Flink has this class in Java only.

    >>> from flintstream.datastream.connectors.number_seq import NumberSequenceSource
    >>> slow = RateLimiterStrategy.per_second(100).limit(NumberSequenceSource(1, 1000))
    """

    def __init__(self, per_second: float | None) -> None:
        """Create a strategy; programs call one of the static methods instead."""
        self._per_second = per_second

    @staticmethod
    def per_second(records: float) -> RateLimiterStrategy:
        """Allow this many records per second in all subtasks together; each subtask gets an equal share.

        Raises:
            PlanError: The number is not positive.
        """
        if not isinstance(records, (int, float)) or isinstance(records, bool) or records <= 0:
            raise PlanError(f"a rate must be a positive number of records per second, got {records!r}")
        return RateLimiterStrategy(records)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Return a strategy without a limit."""
        return RateLimiterStrategy(None)

    def limit(self, source: Source) -> Source:
        """Return ``source`` with this limit.

        Raises:
            TypeError: ``source`` is not a source.
        """
        if not isinstance(source, Source):
            raise TypeError(f"only a Source can be limited, got {type(source).__name__}")
        return source if self._per_second is None else LimitedSource(source, self._per_second)


class LimitedSource(Source):
    """A source with a limited rate."""

    def __init__(self, source: Source, per_second: float) -> None:
        """Read at most ``per_second`` records per second from ``source``."""
        self.source = source
        self.per_second = per_second
        self.watermarks_per_split = source.watermarks_per_split
        self.produced_type = getattr(source, "produced_type", None)

    def get_boundedness(self) -> Boundedness:
        """Return whether the source is bounded."""
        return self.source.get_boundedness()

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator of the source."""
        return self.source.create_enumerator(parallelism)

    def create_reader(self) -> SourceReader:
        """Return a reader that keeps to the limit."""
        return LimitedReader(self.source.create_reader(), self.per_second)

    def release(self) -> None:
        """Call ``finished`` of the source."""
        self.source.release()


class LimitedReader(SourceReader):
    """Reports that there is nothing more to read at the moment whenever it has emitted its share."""

    def __init__(self, reader: SourceReader, per_second: float) -> None:
        """Read records with ``reader``."""
        self._reader = reader
        self._per_second = per_second
        self.gives_away = reader.gives_away
        self._allowed = 1.0
        self._since = time.monotonic()

    def open(self, runtime_context: RuntimeContext) -> None:
        """Compute this subtask's share of the rate."""
        self._per_second /= runtime_context.get_number_of_parallel_subtasks()
        self._reader.open(runtime_context)

    def _allowance(self) -> int:
        """Return how many records may be emitted now."""
        now = time.monotonic()
        most = max(1.0, self._per_second * BURST_SECONDS)
        self._allowed = min(self._allowed + (now - self._since) * self._per_second, most)
        self._since = now
        return int(self._allowed)

    def read(self, split: Any, fetch: Fetch) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield batches as long as the rate allows. A longer wait follows a batch that is too large."""
        reading, size = None, fetch.size
        try:
            while left := self._allowance():
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
        """Forward the call to the reader."""
        self._reader.set_aside(split)

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return the progress of the reader."""
        return self._reader.progress(splits)

    def pending_records(self, splits: Sequence[Any]) -> int | None:
        """Return what the reader knows."""
        return self._reader.pending_records(splits)

    def close(self) -> None:
        """Close the reader."""
        self._reader.close()
