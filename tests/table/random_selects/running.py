"""Runs random statements on flintstream or PyFlink, and on DuckDB."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.table.random_selects.expressions import MOMENT, Code, Table, duck_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

Bag = Counter[tuple[Any, ...]]


def declare(t_env: Any, tables: Sequence[Table], directory: Path) -> None:
    """Write the rows of tables into two files each, and declare them with a column ``event_time``."""
    for table in tables:
        place = directory / table.name
        if not place.exists():
            place.mkdir()
            for number in range(2):
                lines = [json.dumps(values(table, i)) + "\n" for i in range(number, len(table.rows), 2)]
                (place / f"{number}.json").write_text("".join(lines))
        columns = ", ".join(f"{column.name} {column.kind}" for column in table.columns)
        t_env.execute_sql(
            f"CREATE TEMPORARY TABLE {table.name} ({columns}, event_time TIMESTAMP(3), "
            "WATERMARK FOR event_time AS event_time - INTERVAL '1' DAY) "
            f"WITH ('connector' = 'filesystem', 'path' = '{place}', 'format' = 'json')"
        )


def values(table: Table, number: int) -> dict[str, Any]:
    """Return a row as JSON."""
    found = {item.name: text(value) for item, value in zip(table.columns, table.rows[number], strict=True)}
    return {**found, "event_time": text(time_of(number))}


def time_of(number: int) -> dt.datetime:
    """Return the event time of a row."""
    return MOMENT + dt.timedelta(seconds=number * 2)


def text(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "milliseconds")
    if isinstance(value, dt.date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


def database(tables: Sequence[Table]) -> duckdb.DuckDBPyConnection:
    """Return DuckDB with the tables."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    for table in tables:
        columns = ", ".join(f"{column.name} {duck_type(column.kind)}" for column in table.columns)
        connection.execute(f"create table {table.name} ({columns}, event_time timestamp)")
        marks = ", ".join("?" * (len(table.columns) + 1))
        rows = [(*row, time_of(i)) for i, row in enumerate(table.rows)]
        connection.executemany(f"insert into {table.name} values ({marks})", rows)
    return connection


def expected(connection: duckdb.DuckDBPyConnection, statement: Code) -> Bag:
    """Return DuckDB's rows."""
    return Counter(tuple(map(plain, row)) for row in connection.execute(statement.duck).fetchall())


def found(t_env: Any, statement: Code) -> Bag:
    """Return the rows that all changes of a query leave."""
    left: Bag = Counter()
    with t_env.execute_sql(statement.flink).collect() as rows:
        for row in rows:
            left[tuple(map(plain, row))] += 1 if str(row.get_row_kind()) in {"+I", "+U"} else -1
    return Counter({row: count for row, count in left.items() if count})


def plain(value: Any) -> Any:
    """Return a value that is equal for equal values; zero has no sign."""
    return value + 0 if isinstance(value, (float, Decimal)) else value


def difference(statement: Code, theirs: Bag, ours: Bag) -> str:
    """Return what differs; nothing if the rows are equal."""
    if theirs == ours:
        return ""
    order = repr
    more, fewer = sorted((ours - theirs).elements(), key=order), sorted((theirs - ours).elements(), key=order)
    negative = [row for row, count in ours.items() if count < 0]
    return f"{statement.flink}\n{statement.duck}\n only in Flink's: {more} {negative}\n only in DuckDB's: {fewer}"
