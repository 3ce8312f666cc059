"""The sink model: a writer in each task and, for exactly-once output, a committer in the driver.

A committer with much to do runs it in tasks (:attr:`Committer.run_tasks`).

At the end of every epoch a writer turns its finished output into *committables* (:meth:`SinkWriter.prepare_commit`).
The driver receives them with the acknowledgement of the epoch. It commits them when the next checkpoint completes or,
without checkpointing, when the epoch ends. Until then they are part of the checkpoint: a job that is restored from it
commits them again. If a task is retried, its writer is dropped together with all output that it had not prepared.

Start from :class:`TwoPhaseCommittingSink` for a system with transactions. A sink that may repeat records after a
failure is simpler as a :class:`~flintstream.datastream.functions.SinkFunction`.

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
from flintstream.common._user_code.forks import only_one_returns
from flintstream.errors import as_exception, is_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.contracts.functions import RuntimeContext
    from flintstream.storage.file_store import FileStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WriterContext:
    """The surroundings of a sink writer.

    >>> context = WriterContext(subtask=0, parallelism=2, attempt="7f3a")
    >>> f"part-{context.subtask}-{context.attempt}", context.with_checkpoints
    ('part-0-7f3a', False)
    """

    subtask: int
    parallelism: int
    attempt: str
    """Unique for every attempt to run this subtask's epoch. Use it in names of files that a retry must not reuse."""
    identity: str = ""
    """Identifies job and operator, the same for all attempts. Two uses of one sink object must not share files."""
    input_type: TypeInformation | None = None
    """The type of the records; None for an untyped stream."""
    runtime_context: RuntimeContext | None = None
    """The context that user functions also receive: metrics, job parameters."""
    with_checkpoints: bool = False
    """Whether committables wait for checkpoints, so that many epochs may pass before one is committed."""
    run: str = ""
    """Identifies this run of the job, from one start or restart to the next. It is the same for all writers."""
    staging: FileStore | None = None
    """Directory for large committables. Its files survive the job; the committer deletes them. None if checkpoints are
    kept in the driver's memory or are disabled.
    """


class SinkWriter(ABC, Generic[T_contra]):
    """Writes records inside a task.

    >>> class Batches(SinkWriter):
    ...     def __init__(self):
    ...         self.open, self.watermark = [], None
    ...
    ...     def write(self, values, timestamps):
    ...         self.open += values
    ...
    ...     def on_watermark(self, timestamp):
    ...         self.watermark = timestamp
    ...
    ...     def prepare_commit(self, *, end_of_input, checkpoint=True):
    ...         if len(self.open) < 3 and not end_of_input:
    ...             return []
    ...         ready, self.open = self.open, []
    ...         return [ready]
    ...
    ...     def prepare_savepoint(self, *, end_of_input, checkpoint=True):
    ...         return self.prepare_commit(end_of_input=True)  # leave nothing open for two jobs
    ...
    ...     def next_prepare_commit(self):
    ...         return 60_000 if self.open else None
    ...
    ...     def snapshot(self):
    ...         return self.open
    ...
    ...     def sync(self):
    ...         pass  # the state is in memory
    ...
    ...     def restore(self, state):
    ...         self.open = list(state)
    ...
    ...     def recover(self, states):
    ...         self.open = [value for state in states for value in state]
    ...
    ...     def close(self):
    ...         self.open = []
    >>> writer = Batches()
    >>> writer.recover([["to"], ["be"]])
    >>> writer.prepare_commit(end_of_input=False), writer.snapshot(), writer.next_prepare_commit()
    ([], ['to', 'be'], 60000)
    >>> writer.write(["or"], None)
    >>> writer.prepare_commit(end_of_input=False), writer.snapshot()
    ([['to', 'be', 'or']], [])
    """

    @abstractmethod
    def write(self, values: list[T_contra], timestamps: list[int] | None) -> None:
        """Write one block; ``timestamps`` (ms) is None when the records have none."""

    def on_watermark(self, timestamp: int) -> None:
        """React to a watermark of ``timestamp`` (ms)."""

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Flush, and return the picklable committables for the committer; called at the end of each epoch.

        Args:
            end_of_input: no record follows.
            checkpoint: the returned committables are committed before the next epoch starts. If False, they are kept
                until the next checkpoint, so the writer may also return them later.
        """
        return ()

    def prepare_savepoint(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Do the same at the end of an epoch with a savepoint; calls :meth:`prepare_commit` by default.

        Another job may start from the savepoint while this one continues, and both commit its committables. Prepare
        now what only one of them can continue, such as an open file, and leave it out of :meth:`snapshot`.

        Args:
            end_of_input: as for :meth:`prepare_commit`.
            checkpoint: False if the job continues: it then commits with its next checkpoint.
        """
        return self.prepare_commit(end_of_input=end_of_input, checkpoint=checkpoint)

    def next_prepare_commit(self) -> int | None:
        """Return when (ms since the epoch) an epoch should end even without records; None for never.

        Called after each :meth:`prepare_commit`. An idle stream has no epochs, so a writer that acts after some time,
        for example to close a file, must request one. The time must be in the future, or the job never idles. The epoch
        may end a little later, or earlier if there are records.
        """
        return None

    def snapshot(self) -> object | None:
        """Return the picklable state with which the writer of the next epoch, maybe in another process, continues."""
        return None

    def sync(self) -> None:
        """Make the files behind :meth:`snapshot` survive a crash of the machine: the state goes into a checkpoint."""

    def restore(self, state: object) -> None:
        """Restore the state that :meth:`snapshot` returned at the end of the previous epoch."""

    def recover(self, states: Sequence[Any]) -> None:
        """Restore from a checkpoint or savepoint; called instead of :meth:`restore`.

        Each state that a writer's :meth:`snapshot` returned goes to exactly one of the new writers. If the parallelism
        is unchanged, each writer gets its own state. Otherwise some writers get several states; for those that get
        none, this method is not called. Override it if the writer can merge several states.

        Raises:
            NotImplementedError: There are several states, and the writer does not override this method.
        """
        if len(states) > 1:
            raise NotImplementedError(
                f"{type(self).__name__} cannot continue with a lower parallelism: one writer would get the state of "
                f"{len(states)} writers. Override recover() to merge them"
            )
        self.restore(states[0])

    def close(self) -> None:
        """Release all resources. Output that was not prepared is lost on purpose."""


@dataclass(frozen=True)
class CommitRetry:
    """How often, and after how many milliseconds, to retry a commit before the job fails.

    >>> [CommitRetry(attempts=5, delay_ms=100, max_delay_ms=300).delay_after(n) for n in (1, 2, 3, 4, 5)]
    [100, 200, 300, 300, None]
    """

    attempts: int = 10
    delay_ms: int = 100
    """The first delay. It doubles with each retry."""
    max_delay_ms: int = 5_000

    def delay_after(self, attempt: int) -> int | None:
        """Return how long to wait (ms) after attempt number ``attempt`` has failed; None to give up."""
        if attempt >= self.attempts:
            return None
        return min(self.delay_ms << min(attempt - 1, 30), self.max_delay_ms)


def run_in_place(functions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run functions one after the other, in this thread.

    >>> run_in_place([lambda: 1, lambda: 2])
    [1, 2]
    """
    return [function() for function in functions]


class Committer(ABC):
    """Makes prepared output visible; called in the driver. Committing twice must be the same as committing once.

    It may receive committables that are already committed: a job that is restored from a checkpoint, perhaps in another
    process, does not know which commits had succeeded.

    >>> class Renamed(Committer):
    ...     def __init__(self):
    ...         self.visible = set()
    ...
    ...     def commit(self, committables):
    ...         self.run_tasks([lambda name=name: self.visible.add(name) for name in committables])
    ...         return []
    ...
    ...     def close(self):
    ...         print("the job has written", sorted(self.visible))
    >>> committer = Renamed()
    >>> committer.commit(["a", "b"]), committer.commit(["b"])  # again after a restart
    ([], [])
    >>> committer.close()
    the job has written ['a', 'b']
    """

    retry: CommitRetry = CommitRetry()
    """How often to retry the committables that :meth:`commit` returns."""
    failure: Exception | None = None
    """Why the last :meth:`commit` was incomplete, for the message when the job gives up."""
    run_tasks: Callable[[Sequence[Callable[[], Any]]], list[Any]] = staticmethod(run_in_place)
    """Runs picklable functions as tasks, in parallel, and returns their results in order; the job sets it.

    Like any task, a function may run several times, even at the same time, and it may still run when this has raised
    an error, or when another process has taken the job over. It must be as idempotent as the commit.
    """

    @abstractmethod
    def commit(self, committables: Sequence[Any]) -> Sequence[Any] | None:
        """Commit the committables that :meth:`SinkWriter.prepare_commit` of all subtasks returned.

        Returns:
            The committables to retry soon; the job waits for them.

        Raises:
            Exception: A retry would be useless. The job fails; when it restarts from the checkpoint that holds the
                committables, it commits them first.
        """

    def close(self) -> None:
        """Release all resources; the job has ended."""


class Sink(ABC, Generic[T_contra]):
    """A destination of records. Instances are pickled to the tasks.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Files(Sink):  # an epoch's records become visible together
    ...     def create_writer(self, context):
    ...         return Prepared()
    ...
    ...     def create_committer(self):
    ...         return Published()
    >>> class Prepared(SinkWriter):
    ...     def __init__(self):
    ...         self.values = []
    ...
    ...     def write(self, values, timestamps):
    ...         self.values += values
    ...
    ...     def prepare_commit(self, *, end_of_input, checkpoint=True):
    ...         values, self.values = self.values, []
    ...         return [values] if values else []
    >>> class Published(Committer):
    ...     def commit(self, committables):
    ...         print(committables)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.set_parallelism(1).from_collection(["to", "be"]).sink_to(Files())
    >>> _ = env.execute()
    [['to', 'be']]
    """

    waits_for_checkpoint: bool = True
    """Whether to commit only with a checkpoint if checkpointing is on. False for a sink without exactly-once output."""

    commits_records: bool = False
    """Whether the writer returns one committable per record. The driver then puts the committables of several subtasks
    into the order of the records, if that order is known.
    """

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter[T_contra]:
        """Return a writer; called once per subtask and worker, in the task."""

    def create_committer(self) -> Committer | None:
        """Return the committer, which runs in the driver, or None if there is nothing to commit."""
        return None


class Outcome(Enum):
    """The result of committing one committable.

    >>> [outcome.value for outcome in Outcome]
    ['committed', 'already committed', 'retry later']
    """

    COMMITTED = "committed"
    ALREADY_COMMITTED = "already committed"
    RETRY_LATER = "retry later"


class TwoPhaseWriter(SinkWriter[T_contra]):
    """Writes records that stay invisible until they are committed.

    >>> class Rows(TwoPhaseWriter):
    ...     def __init__(self):
    ...         self.rows = []
    ...
    ...     def write(self, values, timestamps):
    ...         self.rows += values
    ...
    ...     def precommit(self):
    ...         rows, self.rows = self.rows, []
    ...         return [rows] if rows else []
    >>> writer = Rows()
    >>> writer.write(["to", "be"], None)
    >>> writer.prepare_commit(end_of_input=False), writer.prepare_commit(end_of_input=True)
    ([['to', 'be']], [])
    """

    @abstractmethod
    def precommit(self) -> Sequence[Any]:
        """End the open transaction so that another process can commit it, however late that is.

        Called at the end of every epoch: the next one may run in another process, which could not continue an open
        transaction. The committer receives the returned objects once a checkpoint contains them. They must be
        picklable; prefer plain values. Return an empty sequence if nothing was written.
        """

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Return the result of :meth:`precommit`."""
        return self.precommit()


class TwoPhaseCommitter(Committer):
    """Commits transactions one by one, and retries those that fail.

    Set the attribute ``retry`` to a :class:`CommitRetry` to limit the retries. When they are used up, the job fails
    with :class:`~flintstream.errors.CommitError`, and the restart strategy decides. No prepared output is lost, because
    the checkpoint holds it until it is committed.

    >>> class Rows(TwoPhaseCommitter):
    ...     def commit_one(self, committable):
    ...         return Outcome.RETRY_LATER if committable == "locked" else Outcome.COMMITTED
    >>> Rows().commit(["a", "locked", "b"])
    ['locked']
    """

    @abstractmethod
    def commit_one(self, committable: Any) -> Outcome | None:
        """Commit one transaction; None means that it was committed.

        Do not change a transaction that is already committed; return ``Outcome.ALREADY_COMMITTED``. To retry later,
        return ``Outcome.RETRY_LATER`` or let the other system's exception propagate.
        """

    def commit(self, committables: Sequence[Any]) -> Sequence[Any]:
        """Commit all, and return those to retry."""
        later = []
        for committable in committables:
            try:
                with only_one_returns():
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
    """Base class of sinks with exactly-once output to a system that has transactions.

    The writer, in the task, writes to a transaction and ends it with the epoch (*precommit*). The committer, in the
    driver, commits it once a checkpoint contains it. A transaction that a failed attempt started is never committed.
    Without checkpointing, each epoch is committed at its end.

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
