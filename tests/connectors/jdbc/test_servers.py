"""With real servers of PostgreSQL and MariaDB."""
# ruff: noqa: S608 - the table names are generated here

from __future__ import annotations

import datetime as dt
import logging
import threading
from contextlib import closing
from decimal import Decimal

import pytest
from tests.connectors.jdbc.jobs import PAIR, execution, options, write
from tests.connectors.jdbc.servers import PASSWORD

from flintstream.common import Row, Types
from flintstream.common._text.secrets import HIDDEN
from flintstream.common.time import Instant
from flintstream.connectors.jdbc import JdbcError, writer
from flintstream.datastream.connectors.jdbc import JdbcSink

UTC = dt.timezone.utc
INSTANT = Instant(1_700_000_000, 123_456_789)
DATETIME = dt.datetime(2023, 11, 14, 22, 13, 20, 123_456)
TIMESTAMP = dt.datetime(2024, 2, 29, 1, 2, 3, 4000)


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request):
    return request.getfixturevalue(request.param)


def sink_to(server, sql, type_info=PAIR, parameters="", password=PASSWORD, **executed):
    return JdbcSink.sink(sql, type_info, options(server.url + parameters, "me", password), execution(**executed))


COMMON = [
    (Types.STRING(), "varchar(20)", "ä'?%\\", "ä'?%\\"),
    (Types.CHAR(), "char(1)", "x", "x"),
    (Types.BYTE(), "smallint", -128, -128),
    (Types.SHORT(), "smallint", 5, 5),
    (Types.INT(), "int", -5, -5),
    (Types.INT(), "bigint", 5, 5),
    (Types.LONG(), "bigint", 2**63 - 1, 2**63 - 1),
    (Types.FLOAT(), "real", 0.5, 0.5),
    (Types.DOUBLE(), "double precision", 0.1, 0.1),
    (Types.BIG_INT(), "numeric(30)", 2**70, Decimal(2**70)),
    (Types.BIG_DEC(), "numeric(10,3)", Decimal("1.050"), Decimal("1.050")),
    (Types.SQL_DATE(), "date", dt.date(2024, 2, 29), dt.date(2024, 2, 29)),
]

OF_POSTGRESQL = [
    (Types.BOOLEAN(), "boolean", True, True),
    (Types.SQL_TIME(), "time", dt.time(1, 2, 3, 4000), dt.time(1, 2, 3, 4000)),
    (Types.SQL_TIMESTAMP(), "timestamp", TIMESTAMP, TIMESTAMP),
    (Types.INSTANT(), "timestamptz", INSTANT, DATETIME.replace(tzinfo=UTC)),
    (Types.INSTANT(), "timestamp", INSTANT, DATETIME),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), "bytea", b"\x00\xff'", b"\x00\xff'"),
    (Types.BASIC_ARRAY(Types.STRING()), "text[]", ["a", None], ["a", None]),
    (Types.PRIMITIVE_ARRAY(Types.INT()), "bigint[]", [1, 2], [1, 2]),
    (Types.LIST(Types.INSTANT()), "timestamptz[]", [INSTANT], [DATETIME.replace(tzinfo=UTC)]),
    (Types.DOUBLE(), "double precision", float("inf"), float("inf")),
]

OF_MARIADB = [
    (Types.BOOLEAN(), "boolean", True, 1),
    (Types.SQL_TIME(), "time(3)", dt.time(1, 2, 3, 4000), dt.timedelta(hours=1, minutes=2, seconds=3, milliseconds=4)),
    (Types.SQL_TIMESTAMP(), "datetime(3)", TIMESTAMP, TIMESTAMP),
    (Types.INSTANT(), "timestamp(6)", INSTANT, DATETIME),
    (Types.INSTANT(), "datetime(6)", INSTANT, DATETIME),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), "varbinary(9)", b"\x00\xff'", b"\x00\xff'"),
]


def stored(server, type_info, column, value):
    table = server.table(f"n int, value {column} NULL")
    sink = sink_to(server, f"INSERT INTO {table} VALUES (?, ?)", Types.ROW([Types.INT(), type_info]))
    write(sink, [Row(1, value), Row(2, None)])
    found = [item for (item,) in server.execute(f"SELECT value FROM {table} ORDER BY n")]
    assert found[1] is None
    return found[0]


@pytest.mark.parametrize(("type_info", "column", "value", "expected"), COMMON)
def test_values_are_stored(server, type_info, column, value, expected):
    assert stored(server, type_info, column, value) == expected


@pytest.mark.parametrize(("type_info", "column", "value", "expected"), OF_POSTGRESQL)
def test_values_are_stored_in_postgresql(postgresql, type_info, column, value, expected):
    assert stored(postgresql, type_info, column, value) == expected


def test_texts_are_of_no_type_if_the_url_says_so(postgresql):
    table = postgresql.table("value jsonb")
    insert = f"INSERT INTO {table} VALUES (?)"
    with pytest.raises(JdbcError, match="is of type jsonb but expression is of type character varying"):
        write(sink_to(postgresql, insert, Types.STRING()), ['{"a": 1}'])
    write(sink_to(postgresql, insert, Types.STRING(), "?stringtype=unspecified"), ['{"a": 1}'])
    assert postgresql.execute(f"SELECT value FROM {table}") == [({"a": 1},)]


@pytest.mark.parametrize(("type_info", "column", "value", "expected"), OF_MARIADB)
def test_values_are_stored_in_mariadb(mariadb, type_info, column, value, expected):
    assert stored(mariadb, type_info, column, value) == expected


def test_instants_are_the_time_of_the_zone_in_the_url(mariadb):
    table = mariadb.table("value datetime(6)")
    sink = sink_to(mariadb, f"INSERT INTO {table} VALUES (?)", Types.INSTANT(), "?connectionTimeZone=Asia/Tokyo")
    write(sink, [INSTANT])
    assert mariadb.execute(f"SELECT value FROM {table}") == [(DATETIME + dt.timedelta(hours=9),)]


def test_an_upsert_may_meet_a_key_twice_in_a_batch(server):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    upsert = (
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name"
        if "postgresql" in server.url
        else "ON DUPLICATE KEY UPDATE name = VALUES(name)"
    )
    sink = sink_to(server, f"INSERT INTO {table} VALUES (?, ?) {upsert} -- 100 %?")
    for _ in range(2):
        write(sink, [(1, "a"), (2, "b"), (1, "c")])
    assert server.execute(f"SELECT * FROM {table} ORDER BY id") == [(1, "c"), (2, "b")]


def test_updates_and_deletes_are_statements_too(server):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    write(sink_to(server, f"INSERT INTO {table} VALUES (?, ?)"), [(n, "a") for n in range(4)])
    update = f"UPDATE {table} SET name = CONCAT(?, '?', '%s') WHERE id = ?"
    write(sink_to(server, update, Types.TUPLE([Types.STRING(), Types.INT()])), [("x", 1), ("y", 2)])
    write(sink_to(server, f"DELETE FROM {table} WHERE id = ?", Types.INT()), [0])
    assert server.execute(f"SELECT * FROM {table} ORDER BY id") == [(1, "x?%s"), (2, "y?%s"), (3, "a")]


def test_operators_of_postgresql_with_question_marks(postgresql):
    table = postgresql.table("id int, tags jsonb")
    postgresql.execute(f"INSERT INTO {table} VALUES (1, '[\"a\"]'), (2, '[\"b\"]')")
    sink = sink_to(postgresql, f"DELETE FROM {table} WHERE tags ?? ? AND id = ?::int", Types.ROW([Types.STRING()] * 2))
    write(sink, [("a", "1"), ("a", "2")])
    assert postgresql.execute(f"SELECT id FROM {table}") == [(2,)]


def test_parameters_of_the_url_reach_postgresql(postgresql):
    postgresql.execute('CREATE SCHEMA "my own"')
    postgresql.execute('CREATE TABLE "my own".seen (n int, name text, zone text)')
    insert = "INSERT INTO seen VALUES (?, current_setting('application_name'), current_setting('TimeZone'))"
    write(sink_to(postgresql, insert, Types.INT(), '?currentSchema="my own"&ApplicationName=till+5'), [1])
    assert postgresql.execute('SELECT * FROM "my own".seen') == [(1, "till 5", "UTC")]


def test_parameters_of_the_url_reach_mariadb(mariadb):
    table = mariadb.table("n int, zone text, mode text")
    insert = f"INSERT INTO {table} VALUES (?, @@time_zone, @@sql_mode)"
    write(sink_to(mariadb, insert, Types.INT(), "?sessionVariables=sql_mode='ANSI_QUOTES'&useSSL=false"), [1])
    assert mariadb.execute(f"SELECT * FROM {table}") == [(1, "+00:00", "ANSI_QUOTES")]


def test_the_record_that_is_refused_is_named_and_nothing_of_its_batch_is_written(server):
    table = server.table("id int PRIMARY KEY, name varchar(9) NOT NULL")
    sink = sink_to(server, f"INSERT INTO {table} VALUES (?, ?)", size=3, retries=0)
    with pytest.raises(JdbcError) as caught:
        write(sink, [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, None), (6, "e")])
    assert "the first rejected record is number 2 of 3 in the batch: (5, None)" in str(caught.value)
    assert f"INSERT INTO {table}" in str(caught.value)
    assert server.execute(f"SELECT id FROM {table}") == [(1,), (2,), (3,)]


def test_what_never_passes_is_not_tried_again(server, caplog):
    with pytest.raises(JdbcError, match="missing"):
        write(sink_to(server, "INSERT INTO missing VALUES (?, ?)"), [(1, "a")])
    assert caplog.records == []


def test_no_password_is_told_when_it_is_wrong(server, caplog):
    with pytest.raises(JdbcError, match="cannot connect to jdbc:") as caught:
        write(sink_to(server, "INSERT INTO t VALUES (?, ?)", password="wr/o ng", retries=1))  # noqa: S106
    assert "wr/o ng" not in str(caught.value) + caplog.text


def test_no_password_is_told_by_a_driver_that_tells_it(postgresql, monkeypatch, caplog):
    sink = sink_to(postgresql, "INSERT INTO t VALUES (?, ?)", retries=1)

    def connect(**arguments):
        import psycopg

        raise psycopg.OperationalError(f"cannot connect with {arguments}")

    monkeypatch.setattr("psycopg.connect", connect)
    with caplog.at_level(logging.DEBUG), pytest.raises(JdbcError) as caught:
        write(sink, [(1, "a")])
    assert HIDDEN in str(caught.value)
    assert HIDDEN in caplog.text
    assert PASSWORD not in f"{caught.value} {caught.value.__cause__} {caplog.text}"


def lost_connections(server):
    if "postgresql" in server.url:
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    else:
        own = "SELECT id FROM information_schema.processlist WHERE user = 'me' AND id <> CONNECTION_ID()"
        for (number,) in server.execute(own):
            server.execute(f"KILL {number}")


def test_a_lost_connection_is_made_again(server, caplog):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    with closing(sink_to(server, f"INSERT INTO {table} VALUES (?, ?)", size=1, retries=1).create_writer(None)) as own:
        own.write([(1, "a")], None)
        lost_connections(server)
        own.write([(2, "b")], None)
    assert server.execute(f"SELECT * FROM {table} ORDER BY id") == [(1, "a"), (2, "b")]
    assert [record.name for record in caplog.records if record.name != "psycopg"] == [writer.__name__]


def test_without_retries_a_lost_connection_fails_and_blames_no_record(server):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    with closing(sink_to(server, f"INSERT INTO {table} VALUES (?, ?)", size=1, retries=0).create_writer(None)) as own:
        own.write([(1, "a")], None)
        lost_connections(server)
        with pytest.raises(JdbcError, match="cannot write to jdbc:") as caught:
            own.write([(2, "b")], None)
    assert "refused" not in str(caught.value)


def test_a_server_that_comes_back_is_waited_for(server):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    with closing(sink_to(server, f"INSERT INTO {table} VALUES (?, ?)", size=1, retries=8).create_writer(None)) as own:
        own.write([(1, "a")], None)
        server.kill()
        back = threading.Timer(0.5, server.start)
        back.start()
        own.write([(2, "b")], None)
        back.join()
    assert server.execute(f"SELECT * FROM {table} ORDER BY id") == [(1, "a"), (2, "b")]


def test_many_records_in_batches(server):
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    write(sink_to(server, f"INSERT INTO {table} VALUES (?, ?)"), [(n, f"name {n}"[:9]) for n in range(12_000)])
    assert server.execute(f"SELECT COUNT(*), SUM(id) FROM {table}") == [(12_000, sum(range(12_000)))]


@pytest.mark.parametrize(("database", "dialect"), [("postgresql", "postgresql+psycopg"), ("mariadb", "mysql+pymysql")])
def test_the_same_servers_by_urls_of_sqlalchemy(request, database, dialect):
    server = request.getfixturevalue(database)
    table = server.table("id int PRIMARY KEY, name varchar(9)")
    url = f"{dialect}://me@127.0.0.1:{server.port}/shop"
    sink = JdbcSink.sink(f"INSERT INTO {table} VALUES (?, '?%')", Types.INT(), options(url, None, PASSWORD))
    write(sink, [1, 2])
    assert server.execute(f"SELECT * FROM {table} ORDER BY id") == [(1, "?%"), (2, "?%")]
