"""Write records to Cassandra, many at a time, in a task."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from flintstream.connectors.cassandra.client import AwayError, CassandraError, Connection, part, passing
from flintstream.connectors.cassandra.records import Mapping, insert_of, names_of, values_of
from flintstream.connectors.patience import Patience
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flintstream.connectors.cassandra.client import Cluster, Pending
    from flintstream.connectors.sink import WriterContext

MOST_REQUESTS = 500
"""Maximum number of requests that a subtask has sent and that are not answered."""


@dataclass(frozen=True)
class CassandraOutput:
    """The settings of the sink. Tasks get a copy."""

    make: Callable[[], Cluster] = field(repr=False)  # may contain passwords
    where: str
    """What messages call the cluster."""
    query: str | None = None
    """None if records are of data classes that name their tables."""
    mapping: Mapping = field(default_factory=Mapping)
    ignores_nulls: bool = False
    most_requests: int = MOST_REQUESTS
    patience_seconds: float | None = None
    """How long to wait for Cassandra before the job fails; None for as long as it takes."""
    on_failure: Callable[[Exception], None] | None = None
    """Gets the error of a rejected record, and raises it or not; None raises it."""


class Entry(NamedTuple):
    """A statement and its values."""

    query: str
    values: tuple[object, ...]
    timestamp: int
    """The time of the write (microseconds since the epoch), the same when it is sent again."""


class Clock:
    """Times of writes: each is later than the one before it, so that of two writes to a row the second remains."""

    def __init__(self) -> None:
        """Start with the time of the machine."""
        self._last = 0

    def tick(self) -> int:
        """Return the next time (microseconds since the epoch)."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last


class Converter:
    """Makes entries of records."""

    def __init__(self, output: CassandraOutput, names: tuple[str, ...] | None) -> None:
        """Take the settings, and the names of the fields of rows."""
        self._output, self._names = output, names
        self._queries: dict[type, str] = {}

    def statement(self, record: object) -> tuple[str, tuple[object, ...]]:
        """Return the statement for a record, and its values."""
        output = self._output
        query = output.query
        if query is None:
            kind = type(record)
            query = self._queries.get(kind)
            if query is None:
                query = self._queries[kind] = insert_of(kind, output.mapping)
        return query, tuple(values_of(record, self._names))


class Requests:
    """Sends entries, and sends again those that Cassandra could not take, until it has all of them."""

    def __init__(self, output: CassandraOutput) -> None:
        """Connect with the first entry."""
        self._output = output
        self.connection = Connection(output.make, output.where)
        self._open: deque[tuple[Entry, Pending]] = deque()
        self._again: list[Entry] = []
        self._why = ""
        self.patience = Patience(f"could not write to {output.where}")
        self._skips_nulls = output.ignores_nulls or not output.mapping.saves_nulls

    def send(self, entries: Iterable[Entry]) -> None:
        """Send entries; when too many are open, wait for the oldest."""
        for entry in entries:
            if len(self._open) >= self._output.most_requests:
                self._await_oldest()
            self._start(entry)

    def flush(self) -> None:
        """Wait until Cassandra has all entries.

        Raises:
            CassandraError: It has rejected one, or cannot be reached for longer than the job may wait.
        """
        since = time.monotonic()
        while True:
            while self._open:
                self._await_oldest()
            if not self._again:
                self.patience.note_success()
                return
            limit = self._output.patience_seconds
            if limit is not None and time.monotonic() - since >= limit:
                raise AwayError(
                    f"{len(self._again)} records were not written to {self._output.where} within {limit:g} s: "
                    f"{self._why}"
                )
            time.sleep(self.patience.note_failure(self._why))
            again, self._again = self._again, []
            self.send(again)

    def discard(self) -> None:
        """Forget the entries that Cassandra does not have."""
        self._open.clear()
        self._again.clear()

    def close(self) -> None:
        """Disconnect."""
        self.connection.close()

    def _start(self, entry: Entry) -> None:
        connection = self.connection
        session = connection.session()
        try:
            statement = connection.prepare(entry.query)
        except Exception as error:
            self._fail(entry, error)
            return
        expected = len(statement.column_metadata)
        if len(entry.values) != expected:
            raise CassandraError(
                f"the query has {expected} placeholders, but {shorten(entry.values)} has {len(entry.values)} values: "
                f"{shorten(entry.query, 400)}"
            )
        statement.consistency_level = self._output.mapping.consistency
        values = entry.values
        if self._skips_nulls:
            unset = part("query").UNSET_VALUE
            values = tuple(unset if value is None else value for value in values)
        connection.timestamp = entry.timestamp
        try:
            self._open.append((entry, session.execute_async(statement, values, trace=self._output.mapping.tracing)))
        except Exception as error:
            if passing(error):
                self._fail(entry, error)
                return
            add_note(error, f"while writing {shorten(entry.values)} with {shorten(entry.query, 400)}")
            raise

    def _await_oldest(self) -> None:
        entry, pending = self._open.popleft()
        try:
            pending.result()
        except Exception as error:
            self._fail(entry, error)

    def _fail(self, entry: Entry, error: Exception) -> None:
        """Keep an entry to send it again; an error that does not pass fails the job, or is the handler's."""
        if passing(error):
            self._again.append(entry)
            self._why = str(error)
            return
        failure = CassandraError(f"{self._output.where} rejects {shorten(entry.values)}: {error}")
        failure.__cause__ = error
        if self._output.on_failure is None:
            raise failure
        self._output.on_failure(failure)


class CassandraWriter(SinkWriter):
    """Writes records as they come. At the end of an epoch, Cassandra has all of them."""

    def __init__(self, output: CassandraOutput, context: WriterContext) -> None:
        """Connect with the first record."""
        self._requests = Requests(output)
        self._converter = Converter(output, names_of(context.input_type))
        self._clock = Clock()

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Send records."""
        statement, tick = self._converter.statement, self._clock.tick
        self._requests.send(Entry(*statement(value), tick()) for value in values)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Wait until Cassandra has all records."""
        self._requests.flush()
        return ()

    def close(self) -> None:
        """Disconnect."""
        self._requests.close()
