"""``python -m tests.connectors.jdbc.speed [RECORDS]``: records per second of the sink alone.

For comparison: the bare drivers, and SQLAlchemy Core with a pool, once with the driver's own SQL, once with ``text()``.
PyFlink cannot be measured: the connector for Flink 2 lacks a method that PyFlink 2.3 looks for.
"""

# ruff: noqa: S608 - the table names are generated here

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy
from tests.connectors.jdbc.jobs import PAIR, execution, options, query
from tests.connectors.jdbc.servers import PASSWORD, Mariadb, NoServerError, Postgresql

from flintstream.datastream.connectors.jdbc import JdbcSink

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 4096
BATCH = 5000
ROUNDS = 5
COLUMNS = "id int PRIMARY KEY, name varchar(30)"
UPSERT = "ON CONFLICT (id) DO UPDATE SET name = excluded.name"


@dataclass(frozen=True)
class Target:
    """A database in which tables can be created."""

    name: str
    url: str
    alchemy: sqlalchemy.URL
    mark: str
    connect: Callable[[], Any]
    """Return a connection of the driver without autocommit."""
    table: Callable[[], str]
    """Create a table and return its name."""
    upsert: str = UPSERT

    def statement(self, table: str, mark: str, *, upserts: bool) -> str:
        return f"INSERT INTO {table} VALUES ({mark}, {mark}) {self.upsert if upserts else ''}"


def batches(rows: list[Any]) -> list[list[Any]]:
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]


def through_the_sink(target: Target, table: str, rows: list[Any], *, upserts: bool) -> None:
    user, password = ("me", PASSWORD) if "://" in target.url else (None, None)
    sql = target.statement(table, "?", upserts=upserts)
    sink: Any = JdbcSink.sink(sql, PAIR, options(target.url, user, password), execution(BATCH))
    with closing(sink.create_writer(None)) as writer:
        for start in range(0, len(rows), BLOCK):
            writer.write(rows[start : start + BLOCK], None)
        writer.prepare_commit(end_of_input=True)


def by_the_driver(target: Target, table: str, rows: list[Any], *, upserts: bool) -> None:
    sql = target.statement(table, target.mark, upserts=upserts)
    with closing(target.connect()) as connection, closing(connection.cursor()) as cursor:
        for batch in batches(rows):
            cursor.executemany(sql, batch)
            connection.commit()


def by_sqlalchemy(target: Target, table: str, rows: list[Any], *, upserts: bool) -> None:
    sql = target.statement(table, target.mark, upserts=upserts)
    engine = sqlalchemy.create_engine(target.alchemy)
    for batch in batches(rows):
        with engine.begin() as connection:
            connection.exec_driver_sql(sql, batch)
    engine.dispose()


def by_sqlalchemy_text(target: Target, table: str, rows: list[Any], *, upserts: bool) -> None:
    sql = sqlalchemy.text(f"INSERT INTO {table} VALUES (:p1, :p2) {target.upsert if upserts else ''}")
    engine = sqlalchemy.create_engine(target.alchemy)
    for batch in batches(rows):
        with engine.begin() as connection:
            connection.execute(sql, [{"p1": number, "p2": name} for number, name in batch])
    engine.dispose()


WAYS: dict[str, Callable[..., None]] = {
    "driver alone": by_the_driver,
    "sink": through_the_sink,
    "SQLAlchemy, driver's SQL": by_sqlalchemy,
    "SQLAlchemy, text()": by_sqlalchemy_text,
}


def measure(target: Target, rows: list[Any]) -> None:
    """Print the best of several rounds, in which the methods take turns; upserts update existing rows."""
    for upserts in (False, True):
        rates: dict[str, list[float]] = {name: [] for name in WAYS}
        times: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(ROUNDS):
            for name, write in WAYS.items():
                table = target.table()
                if upserts:
                    by_the_driver(target, table, rows, upserts=False)
                began, used = time.perf_counter(), time.process_time()
                write(target, table, rows, upserts=upserts)
                rates[name].append(len(rows) / (time.perf_counter() - began))
                times[name].append((time.process_time() - used) / len(rows) * 1e6)
        for name in WAYS:
            what = f"{target.name}, {'upserts' if upserts else 'inserts'}, {name}"
            rate, used = max(rates[name]), min(times[name])
            print(f"{what:50}{rate:10,.0f} records/s{used:8.1f} us of processor time per record", flush=True)


def measure_sqlite(rows: list[Any]) -> None:
    import sqlite3

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "shop.db")

        def table() -> str:
            query(path, "DROP TABLE IF EXISTS t")
            query(path, f"CREATE TABLE t ({COLUMNS})")
            return "t"

        url = sqlalchemy.URL.create("sqlite", database=str(path))
        measure(Target("SQLite", f"jdbc:sqlite:{path}", url, "?", lambda: sqlite3.connect(path), table), rows)


def measure_server(server: Any, dialect: str, upsert: str, rows: list[Any]) -> None:
    def connect() -> Any:
        connection = server.connect("shop")
        if callable(connection.autocommit):
            connection.autocommit(False)
        else:
            connection.autocommit = False
        return connection

    url = sqlalchemy.URL.create(dialect, "me", PASSWORD, "127.0.0.1", server.port, "shop")
    name = type(server).__name__
    measure(Target(name, server.url, url, "%s", connect, lambda: server.table(COLUMNS), upsert), rows)


def main(records: int) -> None:
    rows = [(number, f"name {number}") for number in range(records)]
    measure_sqlite(rows)
    for kind, dialect, upsert in (
        (Postgresql, "postgresql+psycopg", UPSERT),
        (Mariadb, "mysql+pymysql", "ON DUPLICATE KEY UPDATE name = VALUES(name)"),
    ):
        try:
            server: Any = kind()
        except NoServerError as error:
            print(f"no {kind.__name__}: {error}")
            continue
        with closing(server):
            measure_server(server, dialect, upsert, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
