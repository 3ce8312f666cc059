"""Tables of Delta Lake: what queries read, and the catalogs that keep their columns in their logs."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="the extra 'delta' is not installed: make setup")

import deltalake
import pyarrow as pa
from tests.connectors.lakes.tables import Delta

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError


@pytest.fixture
def t_env():
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set("flintstream.engine", "inline")
    return found


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return sorted((tuple(row) for row in found), key=str)


@pytest.fixture
def place(tmp_path):
    """A table of three versions, each of which adds its number."""
    found = str(tmp_path / "numbers")
    for n in range(3):
        deltalake.write_deltalake(found, pa.table({"n": [n], "day": ["mon"]}), mode="append", partition_by=["day"])
    return found


@pytest.fixture
def numbers(t_env, place):
    t_env.execute_sql(f"CREATE TABLE t (n BIGINT, day STRING) WITH ('connector' = 'delta', 'table-path' = '{place}')")
    return place


def test_a_query_reads_a_version(t_env, numbers):
    def read(hints, what="n"):
        return rows(t_env, f"SELECT {what} FROM t /*+ OPTIONS({hints}) */")

    assert read("'mode' = 'batch'") == [(0,), (1,), (2,)]
    assert read("'versionAsOf' = '1'") == [(0,), (1,)]
    assert read("'timestampAsOf' = '2100-01-01 00:00:00'", "COUNT(*)")[-1] == (3,)
    assert rows(t_env, "SELECT day FROM t WHERE n = 2") == [("mon",)]


def test_a_query_reads_what_versions_add(t_env, numbers):
    hints = "'mode' = 'streaming', 'startingVersion' = '1', 'updateCheckIntervalMillis' = '10'"
    found = []
    with t_env.execute_sql(f"SELECT n FROM t /*+ OPTIONS({hints}) */").collect() as stream:
        for row in stream:
            found.append(row[0])
            if sorted(found) == [1, 2]:
                t_env.execute_sql("CREATE TABLE s PARTITIONED BY (day) LIKE t").wait()
                t_env.execute_sql("INSERT INTO s VALUES (CAST(3 AS BIGINT), 'tue')").wait()
            if sorted(found) == [1, 2, 3]:
                break
    assert sorted(found) == [1, 2, 3]
    assert Delta(numbers).rows("n") == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ("'mode' = 'stream'", "'mode' must be batch or streaming, got 'stream'"),
        ("'startingVersion' = '1'", "the option 'startingVersion' cannot be set with 'mode' = 'batch'"),
        ("'ignoreDeletes' = 'true'", "the option 'ignoreDeletes' cannot be set with 'mode' = 'batch'"),
        ("'mode' = 'streaming', 'versionAsOf' = '1'", "'versionAsOf' cannot be set with 'mode' = 'streaming'"),
        ("'versionAsOf' = '1', 'timestampAsOf' = '2024-05-01'", "set either 'versionAsOf' or 'timestampAsOf'"),
        ("'versionAsOf' = 'latest'", "'versionAsOf' must be a number, got 'latest'"),
        ("'mode' = 'streaming', 'startingTimestamp' = 'now'", "'startingTimestamp' must be written as '2024-05-01"),
        ("'mode' = 'streaming', 'ignoreChange' = 'true'", "did you mean 'ignoreChanges'"),
    ],
)
def test_options_that_cannot_work_are_refused(t_env, numbers, hints, message):
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql(f"SELECT n FROM t /*+ OPTIONS({hints}) */")


def test_a_column_that_the_table_lacks_is_named(t_env, numbers):
    t_env.execute_sql(f"CREATE TABLE u (no INT) WITH ('connector' = 'delta', 'table-path' = '{numbers}')")
    with pytest.raises(Exception, match="has no column 'no': it has n, day"):
        rows(t_env, "SELECT no FROM u")


@pytest.fixture
def lake(t_env):
    t_env.execute_sql("CREATE CATALOG lake WITH ('type' = 'delta-catalog', 'catalog-type' = 'in-memory')")
    t_env.execute_sql("USE CATALOG lake")
    return t_env


def log_of(place, version=0):
    lines = Path(place, "_delta_log", f"{version:020d}.json").read_text().splitlines()
    return {key: value for line in lines for key, value in json.loads(line).items()}


def test_statements_create_fill_change_and_drop_tables(lake, tmp_path):
    place = tmp_path / "orders"
    lake.execute_sql("CREATE DATABASE shop")
    lake.execute_sql("USE shop")
    lake.execute_sql(
        "CREATE TABLE orders (id BIGINT NOT NULL, item STRING, at TIMESTAMP(3), seen TIMESTAMP_LTZ(3), day STRING) "
        f"PARTITIONED BY (day) WITH ('connector' = 'delta', 'table-path' = '{place}', 'owner' = 'ann', "
        "'delta.logRetentionDuration' = 'interval 60 days')"
    )
    metadata = deltalake.DeltaTable(place).metadata()
    assert metadata.partition_columns == ["day"]
    assert metadata.configuration == {"delta.logRetentionDuration": "interval 60 days", "owner": "ann"}
    lake.execute_sql(
        "INSERT INTO orders VALUES (1, 'tea', TIMESTAMP '2024-05-01 12:30:00', TO_TIMESTAMP_LTZ(1700000000123, 3), 'mon')"
    ).wait()
    lake.execute_sql("INSERT INTO orders PARTITION (day = 'tue') VALUES (2, CAST(NULL AS STRING), NULL, NULL)").wait()
    first, second = rows(lake, "SELECT * FROM lake.shop.orders")
    assert first[:3] == (1, "tea", dt.datetime(2024, 5, 1, 12, 30))
    assert second == (2, None, None, None, "tue")
    assert rows(lake, "SELECT item FROM orders WHERE day = 'mon'") == [("tea",)]
    columns = [(row[0], row[1], row[2]) for row in lake.execute_sql("DESCRIBE orders").collect()]
    assert columns[:3] == [("id", "BIGINT", False), ("item", "STRING", True), ("at", "TIMESTAMP(3)", True)]
    lake.execute_sql("ALTER TABLE orders SET ('owner' = 'bob')")
    assert deltalake.DeltaTable(place).metadata().configuration["owner"] == "bob"
    lake.execute_sql("ALTER TABLE orders RENAME TO sales")
    assert rows(lake, "SHOW TABLES") == [("sales",)]
    lake.execute_sql("CREATE VIEW few AS SELECT id FROM sales WHERE id < 2")
    assert rows(lake, "SELECT * FROM few") == [(1,)]
    lake.execute_sql("DROP TABLE sales")
    assert rows(lake, "SHOW TABLES") == [("few",)]
    assert len(Delta(place).rows()) == 2


def test_tables_of_others_show_their_newest_columns(lake, tmp_path):
    place = tmp_path / "t"
    deltalake.write_deltalake(
        place, pa.table({"n": pa.array([1], pa.int32()), "at": pa.array([0], pa.timestamp("us", "UTC"))})
    )
    lake.execute_sql(f"CREATE TABLE t (n INT, at TIMESTAMP) WITH ('connector' = 'delta', 'table-path' = '{place}')")
    assert rows(lake, "SELECT * FROM t") == [(1, dt.datetime(1970, 1, 1))]
    deltalake.write_deltalake(place, pa.table({"name": ["b"]}), mode="append", schema_mode="merge")
    assert rows(lake, "SELECT n, name FROM t") == [(1, None), (None, "b")]
    other = str(tmp_path / "u")
    lake.execute_sql(f"CREATE TABLE u WITH ('connector' = 'delta', 'table-path' = '{other}') LIKE t")
    assert [column[0] for column in rows(lake, "DESCRIBE u")] == ["at", "n", "name"]


def test_tables_of_other_connectors_are_kept_as_they_are(lake):
    lake.execute_sql("CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '2')")
    assert len(rows(lake, "SELECT * FROM g")) == 2
    lake.execute_sql("ALTER TABLE g SET ('number-of-rows' = '3')")
    assert len(rows(lake, "SELECT * FROM g")) == 3


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("n STRING", "", "has other columns: n int64, day string"),
        ("n BIGINT, day STRING", "", "is partitioned by day"),
        ("n BIGINT, m AS n + 1", "", "Delta Lake has no computed or metadata columns such as 'm'"),
        ("at TIMESTAMP(3), WATERMARK FOR at AS at", "", "Delta Lake has no watermarks and keys"),
        (
            "n BIGINT, day STRING",
            ", 'versionAsOf' = '1'",
            "'versionAsOf' is not a property of a table: give it as a hint",
        ),
    ],
)
def test_declarations_that_do_not_fit_are_refused(lake, place, columns, options, message):
    with pytest.raises(SqlError, match=message):
        lake.execute_sql(f"CREATE TABLE u ({columns}) WITH ('connector' = 'delta', 'table-path' = '{place}'{options})")


def test_a_catalog_needs_a_type_and_its_tables_a_place(lake, place):
    with pytest.raises(SqlError, match="catalog 'c': 'catalog-type' must be 'in-memory', got 'hive'"):
        lake.execute_sql("CREATE CATALOG c WITH ('type' = 'delta-catalog', 'catalog-type' = 'hive')")
    with pytest.raises(SqlError, match="the option 'table-path' is missing"):
        lake.execute_sql("CREATE TABLE u (n INT) WITH ('connector' = 'delta')")
    deltalake.DeltaTable(place).alter.set_table_properties({"owner": "ann"}, raise_if_not_exists=False)
    declared = f"'connector' = 'delta', 'table-path' = '{place}', 'owner' = 'bob'"
    with pytest.raises(SqlError, match="has 'owner' = 'ann'"):
        lake.execute_sql(f"CREATE TABLE u (n BIGINT, day STRING) PARTITIONED BY (day) WITH ({declared})")
