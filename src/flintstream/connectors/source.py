"""The source model: a split enumerator in the driver and readers in the tasks, both in Python, like Flink's FLIP-27.

A source has three small parts. The *enumerator* discovers *splits* (a file, a partition, a range). The engine assigns
each split to a subtask. The *reader* there yields batches of records and advances the position in the split. The
split, pickled after a batch, is therefore enough to continue after exactly those records.

>>> class Countdown(Source):
...     def create_enumerator(self, parallelism):
...         return StaticEnumerator([CountdownSplit("0", 3)])
...
...     def create_reader(self):
...         return CountdownReader()
>>> @dataclass
... class CountdownSplit(SourceSplit):
...     left: int = 0
>>> class CountdownReader(SourceReader):
...     def read(self, split, fetch):
...         while split.left:
...             split.left -= 1
...             yield [split.left + 1]
...         return True  # this split is used up for good
>>> split = Countdown().create_enumerator(1).discover()[0]
>>> list(Countdown().create_reader().read(split, Fetch()))
[[3], [2], [1]]
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.common._generic import Generic, T_co

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.contracts.functions import RuntimeContext


class Boundedness(enum.Enum):
    """Whether a source comes to an end.

    >>> from flintstream.datastream.connectors import NumberSequenceSource
    >>> NumberSequenceSource(1, 3).get_boundedness() is Boundedness.BOUNDED
    True
    """

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


@record
@dataclass
class SourceSplit:
    """A part of the input that one subtask reads. Subclasses add the position. Instances must be picklable.

    >>> @dataclass
    ... class Part(SourceSplit):
    ...     position: int = 0
    >>> Part("orders-0", position=17)
    Part(split_id='orders-0', position=17)
    """

    split_id: str


@record
@dataclass
class Timestamped:
    """A batch of records with one timestamp each (ms since the epoch).

    >>> Timestamped(["to", "be"], [1_000, 1_500]).timestamps
    [1000, 1500]
    """

    values: list[Any]
    timestamps: list[int]


@record
@dataclass
class SourceWatermark:
    """Yielded between batches: all further records of the split are later than ``timestamp`` (ms since the epoch).

    For sources that know event time themselves, in streams without a watermark strategy.

    >>> SourceWatermark(1_500).timestamp
    1500
    """

    timestamp: int


@dataclass
class Fetch:
    """The engine's request for the next batch; a reader may check it before each ``yield``.

    >>> Fetch().size, Fetch(size=10).size
    (1024, 10)
    """

    size: int = 1024
    """Number of records in a batch: a hint, not a limit. It starts small and grows while downstream keeps up."""


class SourceReader(ABC):
    """Reads splits inside a task.

    >>> @dataclass
    ... class Part(SourceSplit):
    ...     position: int = 0
    >>> class Words(SourceReader):
    ...     def open(self, runtime_context):
    ...         self.words = ["to", "be", "or"]
    ...
    ...     def read(self, split, fetch):
    ...         while split.position < len(self.words):
    ...             batch = self.words[split.position : split.position + fetch.size]
    ...             split.position += len(batch)
    ...             yield batch
    ...         return True
    ...
    ...     def set_aside(self, split):
    ...         print(split.split_id, "must wait")
    ...
    ...     def progress(self, splits):
    ...         return {split.split_id: split.position for split in splits}
    ...
    ...     def pending_records(self, splits):
    ...         return sum(len(self.words) - split.position for split in splits)
    ...
    ...     def close(self):
    ...         self.words = []
    >>> reader, part = Words(), Part("hamlet")
    >>> reader.open(None)
    >>> batches = reader.read(part, Fetch(size=2))
    >>> next(batches), reader.progress([part]), reader.pending_records([part])
    (['to', 'be'], {'hamlet': 2}, 1)
    >>> next(batches)
    ['or']
    >>> reader.close()
    """

    gives_away: bool = False
    """Whether the reader keeps no reference to yielded objects, so that mutable records need not be copied."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare the reader; called once per subtask and worker."""

    @abstractmethod
    def read(self, split: Any, fetch: Fetch) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield batches from the split's position, and advance the position before each ``yield``.

        The engine may stop after any batch by closing the generator. It continues later, perhaps in another process,
        with the split as it was after that batch.

        Returns:
            True if the split has been read completely, False if there is nothing more to read at the moment.
        """

    def set_aside(self, split: Any) -> None:
        """Note that a split will not be read for some time because it is too far ahead of others.

        A reader that fetches for several splits at once must not let this split fill the shared buffer.
        """

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return a picklable object that the enumerator gets once a checkpoint contains the epoch that ends now.

        ``splits`` are those that have not been read completely, with their current positions.
        """
        return None

    def pending_records(self, splits: Sequence[Any]) -> int | None:
        """Return how many records could be read already, or None if that is unknown: the metric ``pendingRecords``.

        Called after every epoch, so it must not ask another system. ``splits`` are as for :meth:`progress`.
        """
        return None

    def close(self) -> None:
        """Release the resources of :meth:`open`."""


class SplitEnumerator(ABC):
    """Discovers splits; runs in the driver.

    >>> class Folder(SplitEnumerator):
    ...     def __init__(self):
    ...         self.seen, self.done = set(), False
    ...
    ...     def start(self, *, checkpoints, batch):
    ...         self.files = ["a", "b"] if batch else ["a"]
    ...
    ...     def discover(self):
    ...         new = [name for name in self.files if name not in self.seen]
    ...         self.seen.update(new)
    ...         return [SourceSplit(name) for name in new]
    ...
    ...     def is_finished(self):
    ...         return self.done
    ...
    ...     def snapshot(self):
    ...         return sorted(self.seen)
    ...
    ...     def restore(self, state):
    ...         self.seen = set(state)
    ...
    ...     def epoch_ended(self, *, all_read):
    ...         self.done = all_read
    ...
    ...     def epoch_progressed(self, progress):
    ...         print("done", progress)
    ...
    ...     def epoch_read(self, progress):
    ...         print("read", progress)
    ...
    ...     def checkpoint_completed(self, progress):
    ...         print("safe", progress)
    ...
    ...     def close(self):
    ...         self.files = []
    ...
    ...     def note_end(self):
    ...         self.last = len(self.files)
    ...
    ...     def has_reached_end(self):
    ...         return self.done and len(self.seen) >= self.last
    >>> enumerator = Folder()
    >>> enumerator.restore(["a"])
    >>> enumerator.start(checkpoints=False, batch=True)
    >>> enumerator.discover(), enumerator.snapshot()
    ([SourceSplit(split_id='b')], ['a', 'b'])
    >>> enumerator.epoch_ended(all_read=True)
    >>> enumerator.note_end()
    >>> enumerator.is_finished(), enumerator.has_reached_end()
    (True, True)
    """

    replaces_progress: bool = False
    """Whether the progress of an epoch replaces that of earlier ones, which are then not kept until a checkpoint."""

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Start; called once, before the first :meth:`discover` and after :meth:`restore` if there is state.

        Args:
            checkpoints: checkpoints are taken regularly, so :meth:`checkpoint_completed` will be called.
            batch: there is only one epoch, which starts when all splits have been discovered.
        """

    @abstractmethod
    def discover(self) -> Sequence[SourceSplit]:
        """Return the splits found since the last call. Called before every epoch, so it must be fast."""

    def is_finished(self) -> bool:
        """Return whether no more splits will be discovered."""
        return True

    def snapshot(self) -> object:
        """Return the picklable state from which :meth:`restore` continues after a restart."""
        return None

    def restore(self, state: object) -> None:
        """Restore the state that :meth:`snapshot` returned."""

    def epoch_ended(self, *, all_read: bool) -> None:
        """React to the successful end of an epoch.

        Args:
            all_read: every split discovered so far has been read completely.
        """

    def epoch_progressed(self, progress: Sequence[object]) -> None:
        """React to what the readers have done in an epoch that has ended, before a checkpoint of this epoch is taken.

        What it changes is part of that checkpoint's :meth:`snapshot`, as the positions of the readers are: use it for
        splits that depend on others, such as the children of a shard.

        Args:
            progress: the results of :meth:`SourceReader.progress` of all subtasks in this epoch.
        """

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """React to a checkpoint that contains everything read so far.

        Use it only for actions that may be skipped, such as reporting progress to the other system: if the job fails
        just before, the call never happens. An exception fails the job.

        Args:
            progress: the results of :meth:`SourceReader.progress` of all subtasks since the last call, in order.
        """

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """React to the end of an epoch in a job without checkpoints; see also :meth:`checkpoint_completed`.

        Args:
            progress: the results of :meth:`SourceReader.progress` of all subtasks.
        """

    def note_end(self) -> None:
        """Note where the input ends now, before the first :meth:`discover`: the job runs until it has read that far.

        Only a job with ``flintstream.until-caught-up`` calls it.
        """

    def has_reached_end(self) -> bool | None:
        """Return whether the readers have passed the end that :meth:`note_end` noted, as :meth:`epoch_progressed` told.

        None, the default, if the source does not know: the job then waits until all splits are read, or until none has
        given a record for some seconds.
        """
        return None

    def close(self) -> None:
        """Release all resources."""


class Source(ABC, Generic[T_co]):
    """An origin of records. Instances are pickled to the tasks.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Countdown(Source):
    ...     def create_enumerator(self, parallelism):
    ...         return StaticEnumerator([CountdownSplit("0", 3)])
    ...
    ...     def create_reader(self):
    ...         return CountdownReader()
    ...
    ...     def release(self):
    ...         print("lift-off")
    >>> @dataclass
    ... class CountdownSplit(SourceSplit):
    ...     left: int = 0
    >>> class CountdownReader(SourceReader):
    ...     def read(self, split, fetch):
    ...         while split.left:
    ...             split.left -= 1
    ...             yield [split.left + 1]
    ...         return True
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> list(env.add_source(Countdown()).execute_and_collect(limit=9))
    lift-off
    [3, 2, 1]
    >>> Countdown().get_boundedness().name
    'BOUNDED'
    """

    boundedness: Boundedness = Boundedness.BOUNDED
    watermarks_per_split: bool = False
    """Whether each split has its own event time. The watermark is then the lowest of all splits."""

    def get_boundedness(self) -> Boundedness:
        """Return whether the source is bounded."""
        return self.boundedness

    @abstractmethod
    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator for a source with ``parallelism`` subtasks; it runs in the driver."""

    @abstractmethod
    def create_reader(self) -> SourceReader:
        """Return a reader; called once per subtask, in the task."""

    def release(self) -> None:
        """Release, in the driver, all resources that survive failures. The job has read and committed everything."""


class StaticEnumerator(SplitEnumerator):
    """Returns a fixed list of splits once.

    >>> enumerator = StaticEnumerator([SourceSplit("0"), SourceSplit("1")])
    >>> [split.split_id for split in enumerator.discover()], enumerator.discover(), enumerator.is_finished()
    (['0', '1'], [], True)
    """

    def __init__(self, splits: Sequence[SourceSplit]) -> None:
        """Take the splits; the engine distributes them to the subtasks in this order."""
        self._splits: list[SourceSplit] = list(splits)

    def discover(self) -> Sequence[SourceSplit]:
        """Return all splits in the first call, none in later calls."""
        splits, self._splits = self._splits, []
        return splits

    def snapshot(self) -> object:
        """Return the splits that have not been returned yet."""
        return self._splits

    def restore(self, state: object) -> None:
        """Restore the splits that have not been returned yet."""
        self._splits = list(state)  # type: ignore[call-overload]
