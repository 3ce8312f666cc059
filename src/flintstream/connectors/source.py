"""The source model: a split enumerator in the driver, readers in the tasks, both Python (Flink's FLIP-27 in shape).

A source is written in three small parts. The *enumerator* discovers splits (a file, a partition, a range); the engine
hands each split to a subtask; the *reader* there yields batches of records and moves the split's own position on, so
that the split, pickled as it is after a batch, is all that is needed to go on after exactly those records.

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

from flintstream.common._generic import Generic, T_co

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.contracts.functions import RuntimeContext


class Boundedness(enum.Enum):
    """Whether a source ends by itself."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


@dataclass
class SourceSplit:
    """A part of the input that one subtask reads. Subclasses add the position; instances must be picklable."""

    split_id: str


@dataclass
class Timestamped:
    """A batch whose records carry timestamps (ms since the epoch), as long as ``values``."""

    values: list[Any]
    timestamps: list[int]


@dataclass
class SourceWatermark:
    """Among the batches: no record of the split follows whose time is not later (ms since the epoch).

    For sources that know event time by themselves, and streams without a watermark strategy.
    """

    timestamp: int


@dataclass
class Fetch:
    """What the engine wishes for the next batch; a reader may look at it before each ``yield``."""

    size: int = 1024
    """Records in a batch. It starts small and grows while downstream keeps up; a hint, not a limit."""


class SourceReader(ABC):
    """Reads splits inside a task."""

    gives_away: bool = False
    """Whether the reader holds no object that it has yielded, so that records that can change need no copies."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare the reader; called once per subtask and worker."""

    @abstractmethod
    def read(self, split: Any, fetch: Fetch) -> Generator[list[Any] | Timestamped | SourceWatermark, None, bool]:
        """Yield batches from the split's position on and move that position before each ``yield``.

        The engine may stop after any batch (the generator is closed then) and go on later, perhaps in another process,
        from the split as it was after that batch.

        Returns:
            True when the split is used up for good, False when there is nothing more to read at the moment.
        """

    def set_aside(self, split: Any) -> None:
        """Take note that a split is not read for some time, as it is too far ahead of others.

        A reader that fetches for several splits at once must not let that one fill what is kept for all of them.
        """

    def progress(self, splits: Sequence[Any]) -> object | None:  # noqa: ARG002
        """Return what the enumerator is to be told once a checkpoint contains the epoch that ends now (picklable).

        ``splits`` are those that are not used up, at the positions that they have then.
        """
        return None

    def close(self) -> None:
        """Release what :meth:`open` took."""


class SplitEnumerator(ABC):
    """Discovers splits; lives in the driver."""

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Begin; called once, before the first :meth:`discover` and after :meth:`restore`, if there was that.

        Args:
            checkpoints: they are taken regularly, so that :meth:`checkpoint_completed` will be called.
            batch: there is one epoch only, which begins when all splits are discovered.
        """

    @abstractmethod
    def discover(self) -> Sequence[SourceSplit]:
        """Return the splits found since the last call; called before every epoch, so it must be quick."""

    def is_finished(self) -> bool:
        """Tell whether no further split will ever be discovered."""
        return True

    def snapshot(self) -> object:
        """Return what :meth:`restore` needs to go on after a restart (picklable)."""
        return None

    def restore(self, state: object) -> None:
        """Take back what :meth:`snapshot` returned."""

    def epoch_ended(self, *, all_read: bool) -> None:
        """See that an epoch has ended, and counts.

        Args:
            all_read: every split that was discovered so far is used up.
        """

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """See that all that was read until now is in a checkpoint.

        What it does must not be needed by anybody, such as to tell the other system how far the job has come: when the
        job fails right before, it is not done. What it raises fails the job.

        Args:
            progress: what :meth:`SourceReader.progress` of all subtasks returned since the last call, in order.
        """

    def epoch_read(self, progress: Sequence[Any]) -> None:
        """See how far an epoch of a job without checkpoints has come; see also :meth:`checkpoint_completed`.

        Args:
            progress: what :meth:`SourceReader.progress` of all subtasks returned.
        """

    def close(self) -> None:
        """Release what the enumerator holds."""


class Source(ABC, Generic[T_co]):
    """Where records come from. Instances are pickled to the tasks."""

    boundedness: Boundedness = Boundedness.BOUNDED
    watermarks_per_split: bool = False
    """Whether event time passes in each split by itself: the watermark is the lowest of all splits, then."""

    def get_boundedness(self) -> Boundedness:
        """Return whether the source ends by itself."""
        return self.boundedness

    @abstractmethod
    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which runs in the driver, for a source of this many subtasks."""

    @abstractmethod
    def create_reader(self) -> SourceReader:
        """Return a reader; called once per subtask, in the task."""

    def finished(self) -> None:
        """Release, in the driver, what outlives failures: the job has come to its end, all was read and committed."""


class StaticEnumerator(SplitEnumerator):
    """Hands out a fixed list of splits once."""

    def __init__(self, splits: Sequence[SourceSplit]) -> None:
        """Take the splits; the engine spreads them over the subtasks in this order."""
        self._splits: list[SourceSplit] = list(splits)

    def discover(self) -> Sequence[SourceSplit]:
        """Return all splits the first time, none afterwards."""
        splits, self._splits = self._splits, []
        return splits

    def snapshot(self) -> object:
        """Return the splits that were not handed out yet."""
        return self._splits

    def restore(self, state: object) -> None:
        """Take back the splits that were not handed out yet."""
        self._splits = list(state)  # type: ignore[call-overload]
