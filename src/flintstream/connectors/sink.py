"""The sink model: a writer in each task and, for exactly-once output, a committer in the driver.

At the end of every epoch a writer turns what it has finished into *committables* (:meth:`SinkWriter.prepare_commit`).
They travel to the driver with the epoch's acknowledgement and are committed there once the epoch counts: when the next
checkpoint completes, or, without checkpointing, when the epoch ends. Until then they are part of the checkpoint: a job
that goes back to it commits them once more. A writer whose task is retried is simply forgotten with everything it did
not get to prepare.

>>> class Shout(Sink):
...     def create_writer(self, context):
...         return ShoutWriter()
>>> class ShoutWriter(SinkWriter):
...     def write(self, values, timestamps):
...         for value in values:
...             print(str(value).upper())
>>> Shout().create_writer(None).write(["hello"], None)
HELLO
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation


@dataclass(frozen=True)
class WriterContext:
    """What a sink writer may know about where it runs."""

    subtask: int
    parallelism: int
    attempt: str
    """Unique for every attempt to run this subtask's epoch: use it in names of files that a retry must not meet again.
    """
    identity: str = ""
    """Of the job and the operator, the same for all its attempts: two uses of one sink object must not share files."""
    input_type: TypeInformation | None = None
    """The type of the records, None for an untyped stream."""


class SinkWriter(ABC):
    """Writes records inside a task."""

    @abstractmethod
    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write one block; ``timestamps`` (ms) is None when the records have none."""

    def on_watermark(self, timestamp: int) -> None:
        """See that event time has reached ``timestamp`` (ms)."""

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        """Flush, and return what the committer shall make visible (picklable); called at the end of each epoch.

        Args:
            end_of_input: nothing follows.
            checkpoint: what is returned now will be committed before the next epoch begins. Otherwise the committer has
                to wait for the next checkpoint, so there is no hurry; what is returned all the same is kept for it.
        """
        return ()

    def snapshot(self) -> object | None:
        """Return what the writer of the next epoch, perhaps in another process, needs to go on (picklable)."""
        return None

    def restore(self, state: object) -> None:
        """Take back what :meth:`snapshot` returned at the end of the previous epoch."""

    def close(self) -> None:
        """Release what the writer holds; what was not prepared is lost on purpose."""


class Committer(ABC):
    """Makes prepared output visible; lives in the driver. Committing twice must be the same as committing once."""

    @abstractmethod
    def commit(self, committables: Sequence[object]) -> None:
        """Commit what :meth:`SinkWriter.prepare_commit` of all subtasks returned in one epoch."""


class Sink(ABC):
    """Where records go. Instances are pickled to the tasks."""

    waits_for_checkpoint: bool = True
    """Whether to commit only with a checkpoint, where there are any. A sink that need not be exact says False."""

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer; called once per subtask and worker, in the task."""

    def create_committer(self) -> Committer | None:
        """Return the committer, which runs in the driver, or None when there is nothing to commit."""
        return None
