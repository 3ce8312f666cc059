"""``execute_and_collect``: a running job's records, delivered to the program."""

from __future__ import annotations

import queue
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_co
from flintstream.common._text.notebook import FIRST, PATIENCE_SECONDS, table_html
from flintstream.common.job_status import JobStatus
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from typing_extensions import Self

    from flintstream.common.job_client import JobClient
    from flintstream.connectors.sink import WriterContext
    from flintstream.datastream._environment.job import JobHandle


MOST_UNREAD = 2
"""How many epochs with records a job that waits for its reader may be ahead."""
_LOOK_SECONDS = 0.02


START_SECONDS = 60.0
"""How long a notebook waits for a job to start, before it waits for records."""


class CollectQueueSink(Sink):
    """Puts every record into a queue in the driver once its epoch is committed."""

    commits_records = True

    def __init__(self) -> None:
        """Create the queue, which stays in the driver."""
        self.queue: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self.goes_on: Callable[[], bool] = _always
        """Whether the job is to go on although its records have not been read."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the queue."""
        return {}

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that buffers the epoch's records."""
        return _Writer()

    def create_committer(self) -> Committer:
        """Return the committer, which fills the queue."""
        return _Committer(self)


class _Writer(SinkWriter):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.values += values

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        values, self.values = self.values, []
        return values


class _Committer(Committer):
    def __init__(self, sink: CollectQueueSink) -> None:
        self.sink = sink

    def commit(self, committables: Sequence[object]) -> None:
        self.sink.queue.put(list(committables))
        while self.sink.queue.qsize() > MOST_UNREAD and not self.sink.goes_on():
            time.sleep(_LOOK_SECONDS)


def _always() -> bool:
    return True


def collect_into(add: Callable[[str, Sink], Any]) -> CollectQueueSink:
    """Add a collecting sink with ``add`` and return it."""
    sink = CollectQueueSink()
    add("Collect", sink)
    return sink


def caption(shown: int, *, complete: bool) -> str:
    """Describe how many records a notebook shows."""
    if not shown and not complete:
        return "no records yet"
    if complete:
        return "1 record" if shown == 1 else f"{shown} records"
    return f"the first {'record' if shown == 1 else f'{shown} records'}; there may be more"


class CloseableIterator(Generic[T_co]):
    """Iterates over the records of a running job. Closing it cancels the job if it is still running.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> with env.from_collection([1, 2, 3]).execute_and_collect() as numbers:
    ...     print(numbers.next())
    ...     print(list(numbers))  # the rest
    1
    [2, 3]
    >>> numbers = env.from_collection([1, 2, 3]).execute_and_collect()
    >>> numbers.next()
    1
    >>> numbers.close()  # without "with"
    """

    def __init__(self, sink: CollectQueueSink, client: JobClient) -> None:
        """Read the records that ``sink`` collects from the job of ``client``."""
        self._sink = sink
        self._client = client
        self._ready: Iterator[T_co] = iter(())
        self._handle: JobHandle = client._handle  # type: ignore[assignment]
        self._done = self._handle.finished

    def __iter__(self) -> Self:
        """Return self."""
        return self

    def hold_job_back(self) -> None:
        """Let the job wait for the reader from now on: its records need not fit into memory.

        A request to the job, such as one to cancel it, ends the waiting.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> with env.from_collection(range(3)).execute_and_collect() as numbers:
        ...     numbers.hold_job_back()
        ...     sum(numbers)
        3
        """
        self._sink.goes_on = lambda: self._handle.has_request

    def _peek(self, limit: int, seconds: float) -> tuple[list[T_co], str]:
        """Wait for the next ``limit`` records, which stay, until the end of the job or of so many seconds.

        The seconds count from the start of the job, which may have to wait for Spark. Return the records, and what
        there is to say of them.
        """
        records, until = list(self._ready), time.monotonic() + seconds
        latest, ended = until + START_SECONDS, False
        while len(records) <= limit and not ended and time.monotonic() < until:
            ended = self._done.is_set()  # read it first: the queue then has all that was committed
            with suppress(queue.Empty):
                while len(records) <= limit:
                    records += self._sink.queue.get(block=not ended, timeout=0.05)
            if self._handle.status() is JobStatus.CREATED:
                until = min(latest, time.monotonic() + seconds)
        self._ready = iter(records)
        shown = records[:limit]
        told = caption(len(shown), complete=ended and len(shown) == len(records))
        return shown, told + self._failure() if ended else told

    def _failure(self) -> str:
        try:
            self._client.get_job_execution_result().result()
        except Exception as error:  # noqa: BLE001 - a function may raise anything
            return f"; then the job failed: {type(error).__name__}: {error}"
        return ""

    def _repr_html_(self) -> str:
        """Return the next records for a notebook. They stay in the iterator."""
        records, told = self._peek(FIRST, PATIENCE_SECONDS)
        return table_html(["record"], [[shorten(record, 200)] for record in records], told)

    def __next__(self) -> T_co:
        """Wait for the next record and return it.

        Raises:
            Exception: The cause, if the job fails.
        """
        while True:
            for record in self._ready:
                return record
            ended = self._done.is_set()  # read it first: the queue then has all that was committed
            try:
                self._ready = iter(self._sink.queue.get(block=not ended, timeout=0.05))
            except queue.Empty:
                if ended:
                    self._client.get_job_execution_result().result()
                    raise StopIteration from None

    def next(self) -> T_co:
        """Return the next record; see :meth:`__next__`."""
        return self.__next__()

    def close(self) -> None:
        """Stop reading, and cancel the job if it is still running."""
        if not self._done.is_set():
            self._client.cancel().result()
            self._done.wait()

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the iterator."""
        self.close()
