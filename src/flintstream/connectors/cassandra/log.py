"""The write-ahead log: records wait for their checkpoint, and are then written, those of an epoch once."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from flintstream.checkpoint import codec
from flintstream.checkpoint.registry import record
from flintstream.connectors.cassandra.client import AwayError, CassandraError, passing
from flintstream.connectors.cassandra.records import names_of
from flintstream.connectors.cassandra.writer import Clock, Converter, Entry, Requests
from flintstream.connectors.sink import Committer, SinkWriter
from flintstream.storage.custom import CustomFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.paths import hashed_name
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.cassandra.client import Cluster
    from flintstream.connectors.cassandra.writer import CassandraOutput
    from flintstream.connectors.sink import WriterContext

KEYSPACE = "flink_auxiliary"
AWAY_SECONDS = 5.0
"""How long to wait for Cassandra before the driver may do something else, and then try again."""
INLINE_BYTES = 64 << 10
"""Epochs up to this size travel inside the committable."""


@dataclass(frozen=True)
class Notes:
    """Where Cassandra keeps which epochs have been written."""

    make: Callable[[], Cluster] | None = None
    """None for the cluster of the sink."""
    keyspace: str = KEYSPACE


@record
class Logged(NamedTuple):
    """A committable: the statements of one subtask in one epoch."""

    sink: str
    """Identifies job and sink."""
    subtask: int
    run: str
    number: int
    """Number of the epoch within the run, ascending."""
    records: int
    checksum: int
    data: bytes | None
    """None if they are in a file."""
    directory: str = ""
    file: str = ""

    def entries(self) -> list[tuple[str, tuple[object, ...]]]:
        """Return statements with their values.

        Raises:
            CassandraError: The file is missing or damaged.
        """
        data = self.data
        if data is None:
            where = f"{self.directory}/{self.file}"
            try:
                data = file_store(self.directory).read(self.file)
            except FileNotFoundError:
                raise CassandraError(
                    f"{where} is missing: the checkpoint refers to records that were deleted when a job restored from "
                    "another checkpoint"
                ) from None
            if zlib.crc32(data) != self.checksum:
                raise CassandraError(f"{where} is damaged, and {self.records} records from it cannot be written")
        return codec.decode(data)

    def delete(self) -> None:
        """Delete the file after its records are written."""
        if self.data is None:
            with contextlib.suppress(Exception):  # storages raise anything; the records are written
                file_store(self.directory).delete(self.file)


class LogWriter(SinkWriter):
    """Keeps the records of an epoch for the committer, in a file if they are many."""

    def __init__(self, output: CassandraOutput, context: WriterContext) -> None:
        """Start with an empty log."""
        self._context = context
        self._converter = Converter(output, names_of(context.input_type))
        self._entries: list[tuple[str, tuple[object, ...]]] = []
        self._number = 0
        self._store = None
        # The driver opens the files by name, so it cannot read stores that exist only in this process.
        if context.staging is not None and not isinstance(context.staging, (MemoryFileStore, CustomFileStore)):
            self._store = context.staging.child(hashed_name(context.identity))

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Keep records."""
        statement = self._converter.statement
        self._entries.extend(statement(value) for value in values)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Return the committable of the epoch, if it has any records."""
        entries, self._entries = self._entries, []
        number, self._number = self._number, self._number + 1
        if not entries:
            return ()
        own, data = self._context, codec.encode(entries)
        logged = Logged(own.identity, own.subtask, own.run, number, len(entries), zlib.crc32(data), data)
        if self._store is None or len(data) <= INLINE_BYTES:
            return (logged,)
        file = f"{own.run}/{own.subtask}-{number}-{own.attempt.rpartition('-')[2]}"
        self._store.write(file, data)
        return (logged._replace(data=None, directory=self._store.uri(""), file=file),)

    def snapshot(self) -> object | None:
        """Return the number of epochs in this run."""
        return self._number

    def restore(self, state: object) -> None:
        """Continue counting epochs."""
        self._number = int(str(state))

    def recover(self, states: Sequence[object]) -> None:
        """Delete the files of earlier runs: the part that a checkpoint contains is written by now."""
        if self._store is None:
            return
        own = self._context
        for file in self._store.list(""):
            run, _, name = file.partition("/")
            subtask = name.partition("-")[0]
            if subtask.isdecimal() and int(subtask) % own.parallelism == own.subtask and run != own.run:
                self._store.delete(file)


class LogCommitter(Committer):
    """Writes what a checkpoint contains, and notes in a table what it has written."""

    def __init__(self, output: CassandraOutput, notes: Notes) -> None:
        """Connect with the first committable."""
        limit = AWAY_SECONDS if output.patience_seconds is None else output.patience_seconds
        output = replace(output, patience_seconds=limit)
        self._requests = Requests(output)
        self._notes = self._requests
        if notes.make is not None:
            self._notes = Requests(replace(output, make=notes.make, mapping=type(output.mapping)(), on_failure=None))
        self._table = f"{notes.keyspace}.checkpoints"
        self._keyspace = notes.keyspace
        self._clock = Clock()
        self._known: dict[tuple[str, int], tuple[str, int]] = {}
        """By sink and subtask: run and number of the last epoch that has been written."""
        self._begun = False

    def commit(self, committables: Sequence[Logged]) -> Sequence[Logged]:
        """Write the records of epochs that have not been written; return those for which Cassandra is away."""
        for done, logged in enumerate(committables):
            try:
                self._write(logged)
            except Exception as error:
                if not isinstance(error, AwayError) and not passing(error):
                    raise
                self._requests.discard()
                self._notes.discard()
                self.failure = error
                return committables[done:]
            logged.delete()
        return ()

    def _write(self, logged: Logged) -> None:
        self._begin()
        key = (logged.sink, logged.subtask)
        run, number = self._last(key)
        if run != logged.run or number < logged.number:
            self._requests.send(Entry(*entry, self._clock.tick()) for entry in logged.entries())
            self._requests.flush()
            self._note(key, logged.run, logged.number)

    def close(self) -> None:
        """Disconnect."""
        self._requests.close()
        self._notes.close()

    def _begin(self) -> None:
        """Make the table of notes."""
        if self._begun:
            return
        session = self._notes.connection.session()
        replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        session.execute(f"CREATE KEYSPACE IF NOT EXISTS {self._keyspace} WITH replication = {replication}")
        session.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} (sink_id text, sub_id int, run text, checkpoint_id bigint, "
            "PRIMARY KEY (sink_id, sub_id))"
        )
        self._begun = True

    def _last(self, key: tuple[str, int]) -> tuple[str, int]:
        if key not in self._known:
            connection = self._notes.connection
            query = f"SELECT run, checkpoint_id FROM {self._table} WHERE sink_id = ? AND sub_id = ?"
            rows = list(connection.session().execute(connection.prepare(query), key))
            self._known[key] = (str(rows[0][0]), int(str(rows[0][1]))) if rows else ("", -1)
        return self._known[key]

    def _note(self, key: tuple[str, int], run: str, number: int) -> None:
        query = f"INSERT INTO {self._table} (sink_id, sub_id, run, checkpoint_id) VALUES (?, ?, ?, ?)"
        self._notes.send([Entry(query, (*key, run, number), self._clock.tick())])
        self._notes.flush()
        self._known[key] = (run, number)
