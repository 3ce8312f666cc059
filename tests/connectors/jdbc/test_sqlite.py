"""A writer, record by record and batch by batch, with a database that is always available."""

from __future__ import annotations

import datetime as dt
import pickle
import sqlite3
import threading
import time
from contextlib import closing
from decimal import Decimal
from types import SimpleNamespace

import pytest
from tests.connectors.jdbc.jobs import PAIR, execution, options, query, sqlite_sink, write

from flintstream.common import Row, Types
from flintstream.common.time import Instant
from flintstream.common.typeinfo import ExternalTypeInfo
from flintstream.connectors.jdbc import JdbcError, writer
from flintstream.connectors.jdbc.writer import JdbcOutput, JdbcWriter
from flintstream.datastream.connectors.jdbc import JdbcSink

INSERT = "INSERT INTO t (id, name) VALUES (?, ?)"
INT = Types.INT()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "shop.db"
    query(path, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'refused'))")
    return path


@pytest.fixture
def batches(monkeypatch):
    """Return a list that gets the sizes of the written batches."""
    sizes = []
    own = JdbcWriter._execute

    def execute(self, rows):
        sizes.append(len(rows))
        own(self, rows)

    monkeypatch.setattr(JdbcWriter, "_execute", execute)
    return sizes


@pytest.fixture
def slept(monkeypatch):
    """Return a list that gets the waiting times in seconds."""
    seconds: list[float] = []
    monkeypatch.setattr(writer, "time", SimpleNamespace(sleep=seconds.append, monotonic=time.monotonic))
    return seconds


def rows(path):
    return query(path, "SELECT * FROM t ORDER BY 1")


@pytest.mark.parametrize(
    ("type_info", "record"),
    [
        (PAIR, Row(1, "a")),
        (PAIR, Row(id=1, name="a")),
        (PAIR, Row(name="a", id=1)),
        (PAIR, (1, "a")),
        (PAIR, {"id": 1, "name": "a"}),
        (ExternalTypeInfo(PAIR), Row(name="a", id=1)),
        (Types.ROW([INT, Types.STRING()]), Row(1, "a")),
        (Types.TUPLE([INT, Types.STRING()]), (1, "a")),
        (Types.TUPLE([INT, Types.STRING()]), Row(1, "a")),
        (Types.TUPLE([INT, Types.STRING()]), Row(x=1, y="a")),
    ],
)
def test_fields_are_the_values_in_the_order_of_the_type(path, type_info, record):
    write(sqlite_sink(path, INSERT, type_info), [record])
    assert rows(path) == [(1, "a")]


def test_a_record_may_be_a_single_value(path):
    write(sqlite_sink(path, "INSERT INTO t (id) VALUES (?)", INT), [1, 2], [3])
    assert rows(path) == [(1, None), (2, None), (3, None)]


def test_a_record_that_changes_afterwards_is_written_as_it_was(path):
    row = Row(1, "a")
    with closing(sqlite_sink(path, INSERT, PAIR).create_writer(None)) as own:
        own.write([row], None)
        row[1] = "b"
        own.prepare_commit(end_of_input=False)
    assert rows(path) == [(1, "a")]


INSTANT = Instant(1_700_000_000, 123_456_789)
LARGE = 2**70


@pytest.mark.parametrize(
    ("type_info", "value", "stored"),
    [
        (Types.STRING(), "ä'?%", "ä'?%"),
        (Types.CHAR(), "x", "x"),
        (Types.BOOLEAN(), True, 1),
        (Types.BYTE(), -128, -128),
        (Types.SHORT(), 5, 5),
        (Types.LONG(), 2**63 - 1, 2**63 - 1),
        (Types.FLOAT(), 0.5, 0.5),
        (Types.DOUBLE(), 0.1, 0.1),
        (Types.BIG_INT(), 5, 5),
        (Types.BIG_INT(), LARGE, str(LARGE)),
        (Types.BIG_DEC(), Decimal("1E+3"), "1000"),
        (Types.BIG_DEC(), Decimal("0.10"), "0.10"),
        (Types.SQL_DATE(), dt.date(2024, 2, 29), "2024-02-29"),
        (Types.SQL_TIME(), dt.time(1, 2, 3), "01:02:03.000"),
        (Types.SQL_TIMESTAMP(), dt.datetime(2024, 2, 29, 1, 2, 3, 4000), "2024-02-29 01:02:03.004"),
        (Types.INSTANT(), INSTANT, "2023-11-14 22:13:20.123456Z"),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff", b"\x00\xff"),
        (Types.PICKLED_BYTE_ARRAY(), "anything", "anything"),
    ],
)
def test_values_of_all_types_are_stored(tmp_path, type_info, value, stored):
    path = tmp_path / "a.db"
    query(path, "CREATE TABLE v (value)")
    write(sqlite_sink(path, "INSERT INTO v VALUES (?)", Types.ROW([type_info])), [Row(value), Row(None)])
    assert query(path, "SELECT value FROM v") == [(stored,), (None,)]


@pytest.mark.promise("S20")
@pytest.mark.parametrize(
    "value",
    ["'); DROP TABLE t; --", "x' OR '1'='1", 'a"; DELETE FROM t; --', "?", ":id", "%s", "\\'; DROP TABLE t; --"],
)
def test_a_value_that_looks_like_sql_is_written_as_it_is(path, value):
    write(sqlite_sink(path, INSERT, PAIR), [Row(1, "first")], [Row(2, value)], [Row(3, "last")])
    assert rows(path) == [(1, "first"), (2, value), (3, "last")]


def test_dates_and_times_are_what_sqlites_functions_read(tmp_path):
    path = tmp_path / "a.db"
    query(path, "CREATE TABLE v (d, t, n NUMERIC)")
    sink = sqlite_sink(
        path, "INSERT INTO v VALUES (?, ?, ?)", Types.ROW([Types.SQL_DATE(), Types.INSTANT(), Types.BIG_DEC()])
    )
    write(sink, [(dt.date(2024, 2, 28), INSTANT, Decimal("1.5"))])
    assert query(path, "SELECT date(d, '+1 day'), strftime('%s', t), n + 1 FROM v") == [
        ("2024-02-29", "1700000000", 2.5)
    ]


def test_a_batch_is_written_when_it_is_full(path, batches):
    with closing(sqlite_sink(path, INSERT, PAIR, size=3).create_writer(None)) as own:
        own.write([(n, "a") for n in range(2)], None)
        assert (batches, rows(path)) == ([], [])
        own.write([(n, "a") for n in range(2, 8)], None)
        assert (batches, len(rows(path))) == ([3, 3], 6)
        own.prepare_commit(end_of_input=False)
        assert (batches, len(rows(path))) == ([3, 3, 2], 8)


@pytest.mark.parametrize("size", [0, -1])
def test_without_a_size_the_end_of_the_epoch_writes_all(path, batches, size):
    write(sqlite_sink(path, INSERT, PAIR, size=size), [(n, "a") for n in range(6000)], [])
    assert batches == [6000]


def test_a_batch_is_written_when_it_is_old(path, batches, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("flintstream.connectors.jdbc.writer.time", SimpleNamespace(monotonic=lambda: now))
    with closing(sqlite_sink(path, INSERT, PAIR, interval_ms=50).create_writer(None)) as own:
        own.write([(1, "a")], None)
        own.write([(2, "a")], None)
        assert batches == []
        now += 0.06
        own.write([(3, "a")], None)
        assert batches == [3]
        own.write([(4, "a")], None)
        assert batches == [3]


def test_a_batch_is_one_transaction_and_what_refuses_a_record_names_it(path, batches):
    sink = sqlite_sink(path, INSERT, PAIR, retries=0)
    with pytest.raises(JdbcError) as caught:
        write(sink, [(1, "a"), (2, "refused"), (3, "b")])
    assert "IntegrityError: CHECK constraint failed" in str(caught.value)
    assert "the first rejected record is number 2 of 3 in the batch: (2, 'refused')" in str(caught.value)
    assert INSERT in str(caught.value)
    assert rows(path) == []
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), JdbcError)


def test_a_record_that_does_not_fit_its_type_is_named(path):
    with pytest.raises(JdbcError, match=r"the record \(2, 5\) cannot be written: TypeError.*INSERT INTO t"):
        write(sqlite_sink(path, INSERT, PAIR), [(1, "a"), (2, 5)])


def test_what_may_pass_is_tried_again_as_often_as_the_options_say(path, slept, caplog):
    sink = sqlite_sink(path, "INSERT INTO missing VALUES (?, ?)", PAIR, retries=3)
    with pytest.raises(JdbcError, match="no such table"):
        write(sink, [(1, "a")])
    assert slept == [0, 1, 2]
    assert [record.getMessage().partition(": attempt ")[2] for record in caplog.records] == [
        f"{attempt} of 4 failed: no such table: missing" for attempt in (1, 2, 3)
    ]


def test_a_table_that_comes_in_time_is_written_to(path, monkeypatch):
    def sleep(seconds):
        if seconds:  # the second wait
            query(path, "CREATE TABLE late (id, name)")

    monkeypatch.setattr(writer, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    write(sqlite_sink(path, "INSERT INTO late VALUES (?, ?)", PAIR, retries=2), [(1, "a")])
    assert query(path, "SELECT * FROM late") == [(1, "a")]


def test_without_retries_the_first_failure_counts(path, slept):
    with pytest.raises(JdbcError, match="no such table"):
        write(sqlite_sink(path, "INSERT INTO missing VALUES (?, ?)", PAIR, retries=0), [(1, "a")])
    assert slept == []


def test_what_another_program_locks_is_waited_for(path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    write(sqlite_sink(path, INSERT, PAIR, retries=0), [(1, "a")])
    timer.join()
    other.close()
    assert rows(path) == [(1, "a")]


def test_pragmas_of_the_url_are_set(path):
    sink = JdbcSink.sink(INSERT, PAIR, options(f"jdbc:sqlite:{path}?journal_mode=WAL&foreign_keys=true"))
    with closing(JdbcWriter(sink._output)) as own:
        pragmas = [own.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "foreign_keys")]
    assert pragmas == ["wal", 1]


@pytest.mark.parametrize("paramstyle", ["qmark", "named"])
def test_a_url_of_sqlalchemy_works_with_each_style_of_parameters(path, paramstyle):
    sink = JdbcSink.sink(INSERT, PAIR, options(f"sqlite:///{path}"), execution(size=2))
    sink._output.database.paramstyle = paramstyle
    write(sink, [(n, "50 %") for n in range(3)])
    assert rows(path) == [(n, "50 %") for n in range(3)]


def test_sqlalchemy_names_the_record_that_is_refused_too(path):
    sink = JdbcSink.sink(INSERT, PAIR, options(f"sqlite:///{path}"), execution(retries=0))
    with pytest.raises(JdbcError, match=r"the first rejected record is number 2 of 2 in the batch: \(1, 'b'\)"):
        write(sink, [(1, "a"), (1, "b")])
    assert rows(path) == []


def test_the_output_can_be_asked_for_what_it_writes(path):
    output = JdbcOutput(INSERT, PAIR, options(f"jdbc:sqlite:{path}")._database)
    assert (output.statement.arity, output.to_row()(Row(name="a", id=1))) == (2, (1, "a"))
