"""CREATE TABLE ... AS, REPLACE TABLE and views that change, where what they do shows in files and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.catalog import CatalogPartition, CatalogPartitionSpec, ObjectPath

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "(VALUES (1, 'a'), (2, 'b')) AS t (a, b)"


@pytest.fixture
def tables() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def _rows(tables: TableEnvironment, sql: str) -> list[tuple[object, ...]]:
    with tables.execute_sql(sql).collect() as rows:
        return sorted(tuple(row) for row in rows)


def _files(path: Path) -> str:
    return f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}')"


def test_a_table_of_a_query_has_its_rows_with_declared_columns_first(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(f"CREATE TABLE t (x STRING, b STRING) {_files(tmp_path)} AS SELECT a, b FROM {ROWS}").wait()
    assert tables.from_path("t").get_schema().get_field_names() == ["x", "a", "b"]
    assert _rows(tables, "SELECT a, b FROM t") == [(1, "a"), (2, "b")]


def test_names_alone_give_the_columns_of_a_query_another_order(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(f"CREATE TABLE t (b, a) {_files(tmp_path)} AS SELECT a, b FROM {ROWS}").wait()
    assert _rows(tables, "SELECT * FROM t") == [("a", 1), ("b", 2)]


def test_a_table_that_is_replaced_reads_only_what_the_new_query_wrote(tables: TableEnvironment, tmp_path: Path) -> None:
    for name, column in (("one", "a"), ("two", "b")):
        replaced = f"CREATE OR REPLACE TABLE t {_files(tmp_path / name)} AS SELECT {column} FROM {ROWS}"
        tables.execute_sql(replaced).wait()
    assert _rows(tables, "SELECT * FROM t") == [("a",), ("b",)]


def test_a_query_that_does_not_fit_leaves_no_table(tables: TableEnvironment) -> None:
    for declared in ("(x INT NOT NULL)", "(a BOOLEAN)", "(b, x)"):
        with pytest.raises(SqlError):
            tables.execute_sql(f"CREATE TABLE t {declared} WITH ('connector' = 'blackhole') AS SELECT a FROM {ROWS}")
    assert tables.list_tables() == []


def test_a_view_is_shown_with_its_newest_query(tables: TableEnvironment) -> None:
    tables.execute_sql(f"CREATE VIEW v COMMENT 'it''s' AS SELECT a FROM {ROWS}")
    tables.execute_sql(f"ALTER VIEW v AS SELECT b FROM {ROWS};")
    shown = "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `b`\n)\nCOMMENT 'it''s'\nAS SELECT b FROM {}\n"
    assert _rows(tables, "SHOW CREATE VIEW v") == [(shown.format(ROWS),)]
    assert _rows(tables, "SELECT * FROM v") == [("a",), ("b",)]


def test_partitions_that_a_program_has_added_are_shown(tables: TableEnvironment) -> None:
    tables.execute_sql("CREATE TABLE p (a INT, b STRING) PARTITIONED BY (b) WITH ('connector' = 'blackhole')")
    catalog = tables.get_catalog("default_catalog")
    assert catalog is not None
    for value in ("x", "y"):
        catalog.create_partition(
            ObjectPath("default_database", "p"),
            CatalogPartitionSpec({"b": value}),
            CatalogPartition.create_instance({}, ""),
            ignore_if_exists=False,
        )
    assert _rows(tables, "SHOW PARTITIONS p") == [("b=x",), ("b=y",)]
    assert _rows(tables, "SHOW PARTITIONS p PARTITION (b = 'y')") == [("b=y",)]
