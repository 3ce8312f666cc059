"""SQL appends to tables of Delta Lake and Iceberg."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError


@pytest.fixture(params=["delta", "iceberg"])
def table(request, tmp_path):
    pytest.importorskip({"delta": "deltalake", "iceberg": "pyiceberg"}[request.param])
    from tests.connectors.lakes.tables import Delta, Iceberg

    (tmp_path / "table").mkdir()
    return (Delta if request.param == "delta" else Iceberg)(tmp_path / "table")


def options(table):
    if not hasattr(table, "catalog"):
        return {"connector": "delta", "table-path": table.location, "delta.appendOnly": "true"}
    catalog = {
        "catalog-type": "jdbc",
        "catalog-name": "default",
        "uri": f"jdbc:{table.catalog['uri']}",
        "warehouse": table.catalog["warehouse"],
    }
    return {"connector": "iceberg", "catalog-database": "shop", "catalog-table": "t", **catalog}


def declare(t_env, table, columns, tail="", **more):
    given = ", ".join(f"'{key}' = '{value}'" for key, value in {**options(table), **more}.items())
    t_env.execute_sql(f"CREATE TABLE t ({columns}) {tail} WITH ({given})")


@pytest.fixture
def t_env():
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set("flintstream.engine", "inline")
    return found


def test_insert_appends(t_env, table):
    columns = "day STRING, n INT, price DECIMAL(10, 2), at TIMESTAMP(6), seen TIMESTAMP_LTZ(3)"
    declare(t_env, table, columns, "PARTITIONED BY (day)")
    values = "('mon', 1, 2.50, TIMESTAMP '2024-05-01 12:30:00', TO_TIMESTAMP_LTZ(1700000000123, 3))"
    for day in ("mon", "tue"):
        t_env.execute_sql(f"INSERT INTO t VALUES {values.replace('mon', day)}").wait()
    at = dt.datetime(2024, 5, 1, 12, 30)
    expected = [(day, 1, Decimal("2.50"), at, 1_700_000_000_123) for day in ("mon", "tue")]
    assert table.rows('day, n, price, "at", epoch_ms(seen)') == expected
    assert table.commits() == 2


def test_changes_are_refused(t_env, table):
    declare(t_env, table, "n BIGINT")
    t_env.execute_sql("CREATE TEMPORARY VIEW one AS SELECT CAST(1 AS BIGINT) AS n")
    with pytest.raises(SqlError, match="only takes insertions"):
        t_env.execute_sql("INSERT INTO t SELECT COUNT(*) FROM one")


def test_catalogs_that_are_not_there_are_refused(t_env, tmp_path):
    pytest.importorskip("pyiceberg")
    given = f"'connector' = 'iceberg', 'catalog-type' = 'nessie', 'warehouse' = '{tmp_path}'"
    t_env.execute_sql(f"CREATE TABLE t (n BIGINT) WITH ({given})")
    with pytest.raises(SqlError, match="'catalog-type' must be one of dynamodb, glue, hadoop, hive, jdbc, rest, sql"):
        t_env.execute_sql("INSERT INTO t VALUES (1)")
