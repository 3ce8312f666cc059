"""The sink model: a writer in each task and, for exactly-once output, a committer in the driver.

At the end of every epoch a writer turns what it has finished into *committables* (:meth:`SinkWriter.prepare_commit`).
They travel to the driver with the epoch's acknowledgement and are committed there once the epoch counts: when the next
checkpoint completes, or, without checkpointing, when the epoch ends. Until then they are part of the checkpoint: a job
that goes back to it commits them once more. A writer whose task is retried is simply forgotten with everything it did
not get to prepare.

:class:`TwoPhaseCommittingSink` is the place to begin for output to a system that has transactions; a sink that may
repeat records after a failure is simpler still as a :class:`~flintstream.datastream.functions.SinkFunction`.

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

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_contra
from flintstream.errors import as_exception, is_interrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.contracts.functions import RuntimeContext
    from flintstream.storage.file_store import FileStore

_log = logging.getLogger(__name__)


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
    runtime_context: RuntimeContext | None = None
    """What user functions are given, too: metrics, job parameters."""
    with_checkpoints: bool = False
    """Committables wait for checkpoints, so there may be many epochs before one of them is committed."""
    run: str = ""
    """Of the job since it was started, or started again: the same for all writers, and unlike any other run's."""
    staging: FileStore | None = None
    """Where large committables may be kept as files: they survive the job, and whoever commits them deletes them. None
    when checkpoints are kept in the driver's memory, or there are none.
    """


class SinkWriter(ABC, Generic[T_contra]):
    """Writes records inside a task."""

    @abstractmethod
    def write(self, values: list[T_contra], timestamps: list[int] | None) -> None:
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

    def prepare_savepoint(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Do the same when the epoch ends with a savepoint; by default :meth:`prepare_commit` is called.

        Another job may start from the savepoint while this one goes on, and both commit what is in it. What only one
        of them could go on with, such as an open file, should be prepared now and not be part of :meth:`snapshot`.

        Args:
            end_of_input: as for :meth:`prepare_commit`.
            checkpoint: false when the job goes on: it commits with its next checkpoint.
        """
        return self.prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)

    def next_prepare_commit(self) -> int | None:
        """Return when (ms since the epoch) an epoch should end even if there is no record by then, None for never.

        Asked after each :meth:`prepare_commit`. While a stream rests there are no epochs, so a writer that does
        something after a while, such as to close a file, has to ask for one. It must lie in the future, or the job
        never rests; it may come a little later, and earlier when there are records.
        """
        return None

    def snapshot(self) -> object | None:
        """Return what the writer of the next epoch, perhaps in another process, needs to go on (picklable)."""
        return None

    def sync(self) -> None:
        """Make sure that what :meth:`snapshot` tells of survives a crash of the machine: it goes into a checkpoint."""

    def restore(self, state: object) -> None:
        """Take back what :meth:`snapshot` returned at the end of the previous epoch."""

    def recover(self, states: Sequence[Any]) -> None:
        """Go on from a checkpoint or savepoint; called instead of :meth:`restore`.

        Each state in it, as one writer's :meth:`snapshot` gave it, is handed to exactly one of the new writers. That
        is each writer's own as long as the parallelism stays the same. Else some get several, and others none, for
        which this is not called. Override it when several states can be taken over.

        Raises:
            NotImplementedError: There are several states, and the writer does not say what to do with them.
        """
        if len(states) > 1:
            raise NotImplementedError(
                f"{type(self).__name__} cannot go on with a lower parallelism: one writer is to take over the state of "
                f"{len(states)}, which its method recover() has to do"
            )
        self.restore(states[0])

    def close(self) -> None:
        """Release what the writer holds; what was not prepared is lost on purpose."""


@dataclass(frozen=True)
class CommitRetry:
    """How often, and after how many milliseconds, a commit is tried again before the job fails.

    >>> [CommitRetry(attempts=5, delay_ms=100, max_delay_ms=300).delay_after(n) for n in (1, 2, 3, 4, 5)]
    [100, 200, 300, 300, None]
    """

    attempts: int = 10
    delay_ms: int = 100
    """The first delay; each is twice as long as the one before."""
    max_delay_ms: int = 5_000

    def delay_after(self, attempt: int) -> int | None:
        """Return how long to wait (ms) after attempt number ``attempt`` has failed, None to give up."""
        if attempt >= self.attempts:
            return None
        return min(self.delay_ms << min(attempt - 1, 30), self.max_delay_ms)


class Committer(ABC):
    """Makes prepared output visible; lives in the driver. Committing twice must be the same as committing once.

    It may be given what was committed already: a job that goes back to a checkpoint, perhaps in another process, does
    not know how far it had come.
    """

    retry: CommitRetry = CommitRetry()
    """How often to try what :meth:`commit` returns."""
    failure: Exception | None = None
    """Why the last :meth:`commit` could not do all, for the message when that is given up."""

    @abstractmethod
    def commit(self, committables: Sequence[Any]) -> Sequence[Any] | None:
        """Commit what :meth:`SinkWriter.prepare_commit` of all subtasks returned.

        Returns:
            What could not be committed yet and is to be tried again soon; the job waits for it.

        Raises:
            Exception: Trying again is of no use. The job fails; when it starts again from the checkpoint that holds
                the committables, they are committed first of all.
        """

    def close(self) -> None:
        """Release what the committer holds; the job has ended."""


class Sink(ABC, Generic[T_contra]):
    """Where records go. Instances are pickled to the tasks."""

    waits_for_checkpoint: bool = True
    """Whether to commit only with a checkpoint, where there are any. A sink that need not be exact says False."""

    commits_records: bool = False
    """Whether the writer hands over one committable for each record. The driver gives those of several subtasks the
    order of the records, where that is known.
    """

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter[T_contra]:
        """Return a writer; called once per subtask and worker, in the task."""

    def create_committer(self) -> Committer | None:
        """Return the committer, which runs in the driver, or None when there is nothing to commit."""
        return None


class Outcome(Enum):
    """What became of one committable."""

    COMMITTED = "committed"
    ALREADY_COMMITTED = "already committed"
    RETRY_LATER = "retry later"


class TwoPhaseWriter(SinkWriter[T_contra]):
    """Writes records in a way that nobody sees them before they are committed."""

    @abstractmethod
    def precommit(self) -> Sequence[Any]:
        """End the open transaction, so that it can be committed from another process, however late that is.

        Called at the end of every epoch: the next one may run in another process, which could not go on with an open
        transaction. What it returns is handed to the committer once a checkpoint contains it (picklable; plain values
        are best). Return nothing when nothing was written.
        """

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        """Return what :meth:`precommit` does."""
        return self.precommit()


class TwoPhaseCommitter(Committer):
    """Commits one transaction after the other, and tries those again that fail.

    Set the attribute ``retry`` to a :class:`CommitRetry` to say how often. When that is used up, the job fails with
    :class:`~flintstream.errors.CommitError`, and the restart strategy decides; nothing that was prepared is lost, as
    the checkpoint holds it until it is committed.
    """

    @abstractmethod
    def commit_one(self, committable: Any) -> Outcome | None:
        """Commit one transaction; None means that it was committed.

        A transaction that is committed already must be left as it is (``Outcome.ALREADY_COMMITTED``). Return
        ``Outcome.RETRY_LATER``, or raise whatever the other system raises, and it is tried again.
        """

    def commit(self, committables: Sequence[Any]) -> Sequence[Any]:
        """Commit all, and return those that are to be tried again."""
        later = []
        for committable in committables:
            try:
                outcome = self.commit_one(committable)
            except BaseException as error:
                if is_interrupt(error):
                    raise
                _log.warning("%s: %s: %s", type(self).__name__, type(error).__name__, error)
                self.failure = as_exception(error)
                outcome = Outcome.RETRY_LATER
            if outcome is Outcome.RETRY_LATER:
                later.append(committable)
        return later


class TwoPhaseCommittingSink(Sink[T_contra]):
    """Base class of sinks whose output appears exactly once, in a system that takes part with transactions.

    The writer, in the task, writes into a transaction and ends it with the epoch (*precommit*). The committer, in the
    driver, commits it when a checkpoint contains it. A transaction that was begun by an attempt that failed is never
    committed. Without checkpointing, each epoch is committed at its end.

    >>> table, committed = [], set()  # the other system
    >>> class Rows(TwoPhaseCommittingSink):
    ...     def create_writer(self, context):
    ...         return RowsWriter(context)
    ...
    ...     def create_committer(self):
    ...         return RowsCommitter()
    >>> class RowsWriter(TwoPhaseWriter):
    ...     def __init__(self, context):
    ...         self.id, self.number, self.rows = context.attempt, 0, []
    ...
    ...     def write(self, values, timestamps):
    ...         self.rows += values
    ...
    ...     def precommit(self):
    ...         self.number += 1
    ...         transaction, self.rows = (f"{self.id}-{self.number}", self.rows), []
    ...         return [transaction]
    >>> class RowsCommitter(TwoPhaseCommitter):
    ...     def commit_one(self, transaction):
    ...         name, rows = transaction
    ...         if name in committed:
    ...             return Outcome.ALREADY_COMMITTED
    ...         table.extend(rows)
    ...         committed.add(name)
    >>> writer = Rows().create_writer(WriterContext(0, 1, "first"))
    >>> writer.write(["a", "b"], None)
    >>> prepared = writer.prepare_commit(end_of_input=False)
    >>> table
    []
    >>> committer = Rows().create_committer()
    >>> committer.commit(prepared), committer.commit(prepared), table
    ([], [], ['a', 'b'])
    """

    @abstractmethod
    def create_writer(self, context: WriterContext) -> TwoPhaseWriter[T_contra]:
        """Return a writer; called once per subtask and worker, in the task."""

    @abstractmethod
    def create_committer(self) -> TwoPhaseCommitter:
        """Return the committer, which runs in the driver."""
