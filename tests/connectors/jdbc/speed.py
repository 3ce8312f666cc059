"""``python -m tests.connectors.jdbc.speed [RECORDS]``: records per second of the sink alone, beside the bare drivers.

PyFlink cannot be measured beside it: the connector for Flink 2 lacks a method that PyFlink 2.3 looks for.
"""

# ruff: noqa: S608 - tables have names of their own

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.connectors.jdbc.jobs import PAIR, execution, options, query
from tests.connectors.jdbc.servers import PASSWORD, Mariadb, NoServerError, Postgresql

from flintstream.datastream.connectors.jdbc import JdbcSink

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 4096
BATCH = 5000
ROUNDS = 3
COLUMNS = "id int PRIMARY KEY, name varchar(30)"


def through_the_sink(url: str, table: str, rows: list[Any]) -> None:
    user, password = ("me", PASSWORD) if "://" in url else (None, None)
    sink: Any = JdbcSink.sink(
        f"INSERT INTO {table} VALUES (?, ?)", PAIR, options(url, user, password), execution(BATCH)
    )
    with closing(sink.create_writer(None)) as writer:
        for start in range(0, len(rows), BLOCK):
            writer.write(rows[start : start + BLOCK], None)
        writer.prepare_commit(end_of_input=True)


def by_the_driver(connection: Any, table: str, mark: str, rows: list[Any]) -> None:
    with closing(connection), closing(connection.cursor()) as cursor:
        for start in range(0, len(rows), BATCH):
            cursor.executemany(f"INSERT INTO {table} VALUES ({mark}, {mark})", rows[start : start + BATCH])
            connection.commit()


def measure(name: str, records: int, run: Callable[[], None]) -> None:
    rates, times = [], []
    for _ in range(ROUNDS):
        began, used = time.perf_counter(), time.process_time()
        run()
        rates.append(records / (time.perf_counter() - began))
        times.append((time.process_time() - used) / records * 1e6)
    print(f"{name:24}{max(rates):12,.0f} records/s{min(times):8.1f} us of processor time per record", flush=True)


def measure_sqlite(rows: list[Any]) -> None:
    import sqlite3

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "shop.db")

        def table() -> str:
            query(path, "DROP TABLE IF EXISTS t")
            query(path, f"CREATE TABLE t ({COLUMNS})")
            return "t"

        measure("sqlite3 alone", len(rows), lambda: by_the_driver(sqlite3.connect(path), table(), "?", rows))
        measure("sink, SQLite", len(rows), lambda: through_the_sink(f"jdbc:sqlite:{path}", table(), rows))


def measure_server(server: Any, driver: str, rows: list[Any]) -> None:
    def alone() -> None:
        connection = server.connect("shop")
        if callable(connection.autocommit):
            connection.autocommit(False)
        else:
            connection.autocommit = False
        by_the_driver(connection, server.table(COLUMNS), "%s", rows)

    measure(f"{driver} alone", len(rows), alone)
    name = f"sink, {type(server).__name__}"
    measure(name, len(rows), lambda: through_the_sink(server.url, server.table(COLUMNS), rows))


def main(records: int) -> None:
    rows = [(number, f"name {number}") for number in range(records)]
    measure_sqlite(rows)
    for kind, driver in ((Postgresql, "psycopg"), (Mariadb, "PyMySQL")):
        try:
            server: Any = kind()
        except NoServerError as error:
            print(f"no {kind.__name__}: {error}")
            continue
        with closing(server):
            measure_server(server, driver, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
