"""Names of tables and columns with all kinds of characters, quoted as each database wants it.

The connector does not write names itself: the statement has them. They must reach the database as they are, whatever
looks like a placeholder, a text, a comment or the end of a statement in them.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.connectors.jdbc.jobs import execution, options, query, sqlite_sink, write
from tests.connectors.jdbc.servers import PASSWORD

from flintstream.common import Row, Types
from flintstream.connectors.jdbc.alchemy import grammar_of
from flintstream.connectors.jdbc.statement import Grammar, Statement
from flintstream.datastream.connectors.jdbc import JdbcSink
from flintstream.errors import PlanError

NAMES = [
    *("two words", "semi;colon", "x; DROP TABLE y; --", "it's", 'say "hi"', "back`tick", "br[ack]et", "back\\slash"),
    *("100%", "%s", "%%", "%(a)s", "{}", "wh?t", "??", "?1", ":p1", "$1", "@a", "$$", "$tag$ ? $tag$", "E'?"),
    *(
        "-- no comment",
        "/* no */",
        "/* open",
        "# no",
        "VALUES (%s)",
        "ON DUPLICATE",
        "é ü 中",
        "\u202e",
        "tab\tand\nline",
    ),
]
"""The name of the table, and those of its columns."""

RECORD = Types.ROW([Types.INT()] * len(NAMES))
ROW = Row(*range(len(NAMES)))


def quoted(name, mark='"'):
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def columns(mark='"'):
    return ", ".join(quoted(name, mark) for name in NAMES)


def create(table, mark='"'):
    return f"CREATE TABLE {table} ({', '.join(f'{quoted(name, mark)} int' for name in NAMES)})"


def insert(table, mark='"'):
    return f"INSERT INTO {table} ({columns(mark)}) VALUES ({', '.join('?' * len(NAMES))})"  # noqa: S608


@pytest.mark.parametrize("table", NAMES)
def test_sqlite_gets_names_as_they_are(tmp_path, table):
    path = tmp_path / "x.db"
    query(path, create(quoted(table)))
    write(sqlite_sink(path, insert(quoted(table)), RECORD), [ROW, ROW])
    assert query(path, f"SELECT {columns()} FROM {quoted(table)}") == [tuple(ROW)] * 2  # noqa: S608
    assert [name for (name,) in query(path, "SELECT name FROM sqlite_schema")] == [table]


@pytest.mark.parametrize("mark", ["`", '"'])
def test_sqlite_gets_names_in_backticks_as_they_are(tmp_path, mark):
    path = tmp_path / "x.db"
    query(path, create("t", mark))
    write(sqlite_sink(path, insert("t", mark), RECORD), [ROW])
    assert query(path, "SELECT * FROM t") == [tuple(ROW)]


@pytest.mark.parametrize("table", ["t", *NAMES])
def test_duckdb_gets_names_as_they_are(table):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    statement = Statement(insert(quoted(table)), grammar_of("duckdb"))
    with closing(duckdb.connect()) as connection:
        connection.execute(create(quoted(table)))
        connection.executemany(statement.render("qmark"), [tuple(ROW)])
        assert connection.execute(f"FROM {quoted(table)}").fetchall() == [tuple(ROW)]


def test_duckdb_has_the_texts_of_postgresql():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    sql = "SELECT E'\\'?', $tag$ ? ' $tag$, ?"
    statement = Statement(sql, grammar_of("duckdb"))
    with closing(duckdb.connect()) as connection:
        assert connection.execute(statement.render("qmark"), [5]).fetchall() == [("'?", " ? ' ", 5)]


def test_postgresql_gets_names_as_they_are(postgresql):
    # PostgreSQL doubles question marks outside of quoted names only.
    for table in ("plain names", *NAMES):
        postgresql.execute(create(quoted(table)))
        sink = JdbcSink.sink(insert(quoted(table)), RECORD, options(postgresql.url, "me", PASSWORD), execution())
        write(sink, [ROW, ROW])
        assert postgresql.execute(f"SELECT * FROM {quoted(table)}") == [tuple(ROW)] * 2  # noqa: S608
        postgresql.execute(f"DROP TABLE {quoted(table)}")


@pytest.mark.parametrize("schema", ['odd "sch;ema', "it's 100% é", "back\\slash ?"])
def test_postgresql_gets_the_name_of_a_schema_as_it_is(postgresql, schema):
    from urllib.parse import quote_plus

    postgresql.execute(f"CREATE SCHEMA {quoted(schema)}")
    postgresql.execute(f"CREATE TABLE {quoted(schema)}.t (a int)")
    url = f"{postgresql.url}?currentSchema={quote_plus(quoted(schema))}"
    write(JdbcSink.sink("INSERT INTO t VALUES (?)", Types.INT(), options(url, "me", PASSWORD), execution()), [5])
    assert postgresql.execute(f"SELECT a FROM {quoted(schema)}.t") == [(5,)]  # noqa: S608
    postgresql.execute(f"DROP SCHEMA {quoted(schema)} CASCADE")


def test_mariadb_gets_names_as_they_are(mariadb):
    for table in ("plain names", *(name for name in NAMES if "\n" not in name)):
        mariadb.execute(create(quoted(table, "`"), "`"))
        changes = ", ".join(f"{quoted(name, '`')} = VALUES({quoted(name, '`')})" for name in NAMES)
        sql = f"{insert(quoted(table, '`'), '`')} ON DUPLICATE KEY UPDATE {changes}"
        write(JdbcSink.sink(sql, RECORD, options(mariadb.url, "me", PASSWORD), execution()), [ROW, ROW])
        assert mariadb.execute(f"SELECT * FROM {quoted(table, '`')}") == [tuple(ROW)] * 2  # noqa: S608
        mariadb.execute(f"DROP TABLE {quoted(table, '`')}")


MARKS = {
    Grammar.STANDARD: ['"'],
    Grammar.SQLITE: ['"', "`"],
    Grammar.MYSQL: ["`"],
    Grammar.POSTGRESQL: ['"'],
    Grammar.SQLSERVER: ['"'],
}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_quoted_name_is_one_name_in_every_grammar(name):
    for grammar, marks in MARKS.items():
        for mark in marks:
            sql = f"UPDATE {quoted(name, mark)} SET a = ?, {quoted(name, mark)} = ?"  # noqa: S608
            statement = Statement(sql, grammar)
            assert statement.arity == 2
            assert statement.render("qmark") == sql
            assert statement.render("format") % ("?", "?") == sql


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_name_is_written_to_sqlite(name):
    statement = Statement(f"INSERT INTO {quoted(name)} ({quoted(name)}) VALUES (?)", Grammar.SQLITE)  # noqa: S608
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"CREATE TABLE {quoted(name)} ({quoted(name)})")
        except sqlite3.OperationalError:
            assert name.lower().startswith("sqlite_")
            return
        connection.execute(statement.render("qmark"), (5,))
        assert connection.execute(f"SELECT * FROM {quoted(name)}").fetchall() == [(5,)]  # noqa: S608


def test_names_in_brackets_of_sql_server():
    assert Statement("INSERT INTO [wh?t]]?] VALUES (?) /* a /* ? */ ? */", grammar_of("mssql")).arity == 1


@pytest.mark.parametrize(
    "sql", ['INSERT INTO "open VALUES (?)', "INSERT INTO `open VALUES (?)", 'UPDATE "a"" SET b = ?']
)
def test_names_that_are_not_closed_are_refused(sql):
    with pytest.raises(PlanError, match="is not closed"):
        Statement(sql, Grammar.MYSQL)


@pytest.mark.parametrize("zone", ["x" * 10_000, "../../etc/passwd", "a\0b", "Nowhere/Land"])
def test_time_zones_that_do_not_exist_are_refused(zone):
    from flintstream.connectors.jdbc.mysql import MysqlDatabase

    with pytest.raises(PlanError, match="is not a valid value of the parameter 'connectionTimeZone'"):
        MysqlDatabase(f"jdbc:mysql://db/shop?connectionTimeZone={zone}")
