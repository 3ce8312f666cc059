"""Faults at given records, once each, in any process; and sinks in which they occur."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from pathlib import Path
from typing import ClassVar

from flintstream.common.serialization import BulkWriter, BulkWriterFactory, Encoder
from flintstream.connectors.sink import (
    CommitRetry,
    Outcome,
    Sink,
    SinkWriter,
    TwoPhaseCommitter,
    TwoPhaseCommittingSink,
    TwoPhaseWriter,
)
from flintstream.datastream.connectors.file_system import BucketAssigner, FileSink
from flintstream.datastream.functions import MapFunction

POINTS = ("map", "write", "precommit", "before commit", "after commit")


class Faults:
    """Fail at given points for given numbers; files record the failures that have happened.

    ``how`` is ``raise``, or ``kill`` for the end of the process by signal 9.
    """

    def __init__(self, directory, plan=(), how="raise"):
        self.directory = str(directory)
        self.plan = frozenset(plan)
        self.how = how
        Path(directory).mkdir(exist_ok=True)

    @classmethod
    def at_random(cls, directory, seed, numbers, count, points=POINTS, how="raise"):
        rng = random.Random(seed)
        return cls(directory, [(rng.choice(points), rng.randrange(numbers)) for _ in range(count)], how)

    def at(self, point, numbers):
        for number in numbers:
            marker = Path(self.directory, f"{point}-{number}")
            if (point, number) in self.plan and not marker.exists():
                marker.touch()
                if self.how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise ValueError(f"{point} of {number} fails, this time")

    def happened(self):
        return {tuple(path.name.rsplit("-", 1)) for path in Path(self.directory).iterdir()}

    def planned(self):
        return {(point, str(number)) for point, number in self.plan}


class FaultyMap(MapFunction):
    def __init__(self, faults):
        self.faults = faults

    def map(self, value):
        self.faults.at("map", [value])
        return value


class Ledger(TwoPhaseCommittingSink):
    """A SQLite table, and a second one with the transactions it contains."""

    def __init__(self, path, faults):
        self.path = str(path)
        self.faults = faults
        self.broken = "never"
        """While this file exists, nothing is committed."""

    def create_writer(self, context):
        return LedgerWriter(context.attempt, self.faults)

    def create_committer(self):
        return LedgerCommitter(self)


class LedgerWriter(TwoPhaseWriter):
    def __init__(self, attempt, faults):
        self.attempt = attempt
        self.count = 0
        self.rows = []
        self.faults = faults

    def write(self, values, timestamps):
        self.rows += values
        self.faults.at("write", values)

    def precommit(self):
        if not self.rows:
            return []
        self.count += 1
        prepared = [(f"{self.attempt}-{self.count}", self.rows)]
        self.rows = []
        self.faults.at("precommit", prepared[0][1])
        return prepared


class LedgerCommitter(TwoPhaseCommitter):
    retry = CommitRetry(attempts=2, delay_ms=1)

    def __init__(self, ledger):
        self.ledger = ledger
        self.connection = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)
        self.connection.execute("CREATE TABLE IF NOT EXISTS transactions (id TEXT PRIMARY KEY)")
        self.connection.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)")

    def commit_one(self, transaction):
        name, rows = transaction
        faults = self.ledger.faults
        if Path(self.ledger.broken).exists():
            raise sqlite3.OperationalError("the clerk is on strike")
        faults.at("before commit", rows)
        try:
            faults.at("later", rows)
        except ValueError:
            return Outcome.RETRY_LATER
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self.connection.execute("INSERT INTO transactions VALUES (?)", (name,))
        except sqlite3.IntegrityError:
            self.connection.execute("ROLLBACK")
            return Outcome.ALREADY_COMMITTED
        self.connection.executemany("INSERT INTO numbers VALUES (?)", [(row,) for row in rows])
        self.connection.execute("COMMIT")
        faults.at("after commit", rows)
        return Outcome.COMMITTED

    def close(self):
        self.connection.close()


def ledger_numbers(path):
    connection = sqlite3.connect(path)
    try:
        return sorted(n for (n,) in connection.execute("SELECT n FROM numbers"))
    finally:
        connection.close()


class SyncingSink(Sink):
    """Record when the writer was asked to flush its data to disk."""

    calls: ClassVar[list[str]] = []

    def create_writer(self, context):
        return SyncingWriter()


class SyncingWriter(SinkWriter):
    def write(self, values, timestamps):
        pass

    def prepare_commit(self, **_):
        SyncingSink.calls.append("prepare")
        return ()

    def sync(self):
        assert SyncingSink.calls[-1] == "prepare"
        SyncingSink.calls.append("sync")


class Lines(Encoder):
    def encode(self, value, type_info):
        return f"{value}\n".encode()


def files(base, policy):
    made = FileSink.for_row_format(str(base), Lines()).with_rolling_policy(policy)
    return made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


class BulkLines(BulkWriterFactory):
    """Lines that appear in the file once it is finished."""

    class Writer(BulkWriter):
        def __init__(self, stream):
            self.stream = stream
            self.lines = []

        def add_element(self, element):
            self.lines.append(b"%d\n" % element)

        def flush(self):
            pass

        def finish(self):
            self.stream.write(b"".join(self.lines))

    def create(self, stream):
        return BulkLines.Writer(stream)


def bulk_files(base):
    made = FileSink.for_bulk_format(str(base), BulkLines())
    return made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


def finished(base):
    """Return name -> numbers of the files that a reader may look at."""
    found = {}
    for path in Path(base).glob("*") if Path(base).exists() else ():
        if not path.name.startswith("."):
            found[path.name] = list(map(int, path.read_text().split()))
    return found


def unfinished(base):
    return sorted(path.name for path in Path(base).glob(".*"))
