"""Read several sources in sequence, such as history from files and then a live stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import Source, SourceReader, SourceSplit, SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.source import Boundedness, Fetch, SourceWatermark, Timestamped
    from flintstream.contracts.functions import RuntimeContext


@record
@dataclass
class HybridSplit(SourceSplit):
    """A split of one of the sources.

    All splits of a source without watermarks per split have the same name, so that they share one watermark.
    """

    number: int
    """The split of that source."""
    split: Any


class HybridInput(Source):
    """A sequence of sources. It is bounded if the last one is."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Read ``sources``, in this order."""
        self.sources = tuple(sources)
        self.watermarks_per_split = any(source.watermarks_per_split for source in self.sources)

    def get_boundedness(self) -> Boundedness:
        """Return whether the last source is bounded."""
        return self.sources[-1].get_boundedness()

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator that switches from source to source."""
        return HybridEnumerator(self.sources, parallelism)

    def create_reader(self) -> SourceReader:
        """Return a reader for splits of all sources."""
        return HybridReader(self.sources)

    def release(self) -> None:
        """Call ``finished`` of all sources."""
        for source in self.sources:
            source.release()


class HybridEnumerator(SplitEnumerator):
    """Discovers the splits of one source until all subtasks have read them, and then those of the next source."""

    def __init__(self, sources: Sequence[Source], parallelism: int) -> None:
        """Start with the first source."""
        self._sources = sources
        self._parallelism = parallelism
        self._number = 0
        self._restored: tuple[object] | None = None
        self._all_read = True
        self._settings: dict[str, bool] = {}
        self._open: dict[int, SplitEnumerator] = {}
        """Includes those of earlier sources, which may still have to hear of checkpoints."""

    @property
    def _current(self) -> SplitEnumerator:
        return self._open[self._number]

    @property
    def _is_last(self) -> bool:
        return self._number == len(self._sources) - 1

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Start the current source."""
        self._settings = {"checkpoints": checkpoints, "batch": batch}
        self._begin()

    def _begin(self) -> None:
        # Not earlier: the start position may depend on the current time, and on the data that exists then.
        enumerator = self._open[self._number] = self._sources[self._number].create_enumerator(self._parallelism)
        if self._restored is not None:
            enumerator.restore(*self._restored)
            self._restored = None
        enumerator.start(**self._settings)

    def discover(self) -> Sequence[HybridSplit]:
        """Return splits of the current source; switch to the next one when nothing is left to discover or to read."""
        found = self._discover()
        while not self._is_last and self._current.is_finished() and (self._all_read or self._settings["batch"]):
            self._number += 1
            self._begin()
            found += self._discover()
        return found

    def _discover(self) -> list[HybridSplit]:
        number, per_split = self._number, self._sources[self._number].watermarks_per_split
        found = self._current.discover()
        if found:
            self._all_read = False
        return [HybridSplit(f"{number}:{s.split_id}" if per_split else str(number), number, s) for s in found]

    def is_finished(self) -> bool:
        """Return whether the last source has no more splits."""
        return self._is_last and self._current.is_finished()

    def snapshot(self) -> object:
        """Return the index of the current source, and the state of its enumerator."""
        return (self._number, self._current.snapshot())

    def restore(self, state: Any) -> None:
        """Continue with that source. The first epoch shows whether its splits have been read."""
        self._number, *restored = state
        self._restored = (restored[0],)
        self._all_read = False

    def epoch_ended(self, *, all_read: bool) -> None:
        """Note whether the current source has been read."""
        self._all_read = all_read
        self._current.epoch_ended(all_read=all_read)

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """Pass each enumerator the progress of the readers of its source."""
        for number, enumerator in self._open.items():
            told = [item[number] for item in progress if number in item]
            if told:
                enumerator.checkpoint_completed(told)

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """Pass each enumerator the progress of the readers of its source."""
        for number, enumerator in self._open.items():
            told = [item[number] for item in progress if number in item]
            if told:
                enumerator.epoch_read(told)

    def close(self) -> None:
        """Close all enumerators."""
        for enumerator in self._open.values():
            enumerator.close()


class HybridReader(SourceReader):
    """Reads splits of all sources, each with a reader of that source."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Take the sources; a source's reader is created with its first split."""
        self._sources = sources
        self._open: dict[int, SourceReader] = {}
        self._reads: SourceReader | None = None

    @property
    def gives_away(self) -> bool:  # type: ignore[override]
        """Whether the reader that yielded last holds no object that it has yielded."""
        return self._reads is not None and self._reads.gives_away

    def open(self, runtime_context: RuntimeContext) -> None:
        """Remember the context for the readers."""
        self._context = runtime_context

    def _reader(self, number: int) -> SourceReader:
        found = self._open.get(number)
        if found is None:
            found = self._sources[number].create_reader()
            found.open(self._context)
            self._open[number] = found
        return found

    def read(
        self, split: HybridSplit, fetch: Fetch
    ) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield the batches of the source's reader."""
        reader = self._reader(split.number)
        reading = reader.read(split.split, fetch)
        try:
            while True:
                try:
                    batch = next(reading)
                except StopIteration as stop:
                    return bool(stop.value)
                self._reads = reader
                yield batch
        finally:
            reading.close()

    def set_aside(self, split: HybridSplit) -> None:
        """Forward the call to the source's reader."""
        self._reader(split.number).set_aside(split.split)

    def progress(self, splits: Sequence[HybridSplit]) -> object | None:
        """Return the progress of the readers, by source."""
        told = {}
        for number, reader in self._open.items():
            own = reader.progress([split.split for split in splits if split.number == number])
            if own is not None:
                told[number] = own
        return told or None

    def pending_records(self, splits: Sequence[HybridSplit]) -> int | None:
        """Return what the readers know together."""
        told = [
            reader.pending_records([split.split for split in splits if split.number == number])
            for number, reader in self._open.items()
        ]
        known = [pending for pending in told if pending is not None]
        return sum(known) if known else None

    def close(self) -> None:
        """Close all readers. They may still be asked for their progress."""
        for reader in self._open.values():
            reader.close()
