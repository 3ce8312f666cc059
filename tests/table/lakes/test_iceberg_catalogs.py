"""Catalogs of type ``iceberg``: tables that others made, and those that statements create."""

from __future__ import annotations

import datetime as dt
import threading
from decimal import Decimal

import pytest

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed: make setup")

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException, NotInstalledError
from pyiceberg.transforms import BucketTransform, DayTransform
from tests.connectors.lakes.tables import Iceberg

from flintstream.connectors.lakes.hadoop import HadoopCatalog
from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._connectors.lakes import catalog
from flintstream.table._errors import SqlError

KINDS = ["hadoop", "jdbc"]


def make_env(engine="inline", mode=EnvironmentSettings.in_streaming_mode):
    found = TableEnvironment.create(mode())
    found.get_config().set("flintstream.engine", engine)
    return found


@pytest.fixture
def t_env():
    return make_env()


def properties(kind, directory):
    if kind == "hadoop":
        return {"py-catalog-impl": "flintstream.connectors.lakes.hadoop.HadoopCatalog", "warehouse": str(directory)}
    return {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}"}


def declare(t_env, kind, directory, **more):
    options = {"type": "iceberg", "catalog-type": kind, "warehouse": str(directory), "property-version": "1", **more}
    if kind == "jdbc":
        options |= {"uri": f"jdbc:sqlite:{directory}/catalog.db", "warehouse": f"file://{directory}"}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE CATALOG lake WITH ({given})")
    t_env.execute_sql("USE CATALOG lake")


def rows(t_env, statement):
    with t_env.execute_sql(statement).collect() as found:
        return sorted((tuple(row) for row in found), key=str)


@pytest.mark.parametrize("kind", KINDS)
def test_statements_create_fill_change_and_drop_tables(t_env, tmp_path, kind):
    declare(t_env, kind, tmp_path)
    t_env.execute_sql("CREATE DATABASE shop")
    t_env.execute_sql("USE shop")
    assert rows(t_env, "SHOW DATABASES") == [("default",), ("shop",)]
    t_env.execute_sql(
        "CREATE TABLE orders (id BIGINT NOT NULL COMMENT 'a number', item STRING, day STRING, price DECIMAL(10, 2), "
        "parts ARRAY<INT NOT NULL>, tags MAP<STRING, INT>, box ROW<w INT NOT NULL, h INT>, at TIMESTAMP(3), "
        "seen TIMESTAMP_LTZ(3), small TINYINT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (day) "
        "WITH ('format-version' = '2', 'a' = 'b')"
    )
    t_env.execute_sql(
        "INSERT INTO orders VALUES (1, 'tea', 'mon', 2.50, ARRAY[1, 2], MAP['k', 1], ROW(1, 2), "
        "TIMESTAMP '2024-05-01 12:30:00.123', TO_TIMESTAMP_LTZ(1700000000123, 3), CAST(3 AS TINYINT)), "
        "(2, CAST(NULL AS STRING), 'tue', NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    ).wait()
    at, seen = dt.datetime(2024, 5, 1, 12, 30, 0, 123000), dt.datetime(2023, 11, 14, 22, 13, 20, 123000)
    first, second = rows(t_env, "SELECT * FROM orders")
    assert first[:6] == (1, "tea", "mon", Decimal("2.50"), [1, 2], {"k": 1})
    assert (tuple(first[6]), first[7], first[8].replace(tzinfo=None), first[9]) == ((1, 2), at, seen, 3)
    assert second == (2, None, "tue", *[None] * 7)
    assert rows(t_env, "SELECT item FROM orders WHERE id = 1") == [("tea",)]
    columns = [(row[0], row[1], row[2]) for row in t_env.execute_sql("DESCRIBE orders").collect()]
    assert columns[0] == ("id", "BIGINT", False)
    assert columns[4] == ("parts", "ARRAY<INT>", True)
    assert columns[9] == ("small", "INT", True)
    table = load_catalog("lake", **properties(kind, tmp_path)).load_table("shop.orders")
    assert table.properties["a"] == "b"
    assert (table.schema().identifier_field_names(), table.format_version) == ({"id"}, 2)
    t_env.execute_sql("ALTER TABLE orders SET ('c' = 'd')")
    t_env.execute_sql("ALTER TABLE orders RESET ('a')")
    assert "'c' = 'd'" in rows(t_env, "SHOW CREATE TABLE orders")[0][0]
    t_env.execute_sql("ALTER TABLE orders ADD more INT")
    t_env.execute_sql("ALTER TABLE orders DROP small")
    assert table.refresh().properties["c"] == "d"
    assert "a" not in table.properties
    t_env.execute_sql("CREATE TABLE same LIKE orders")
    assert rows(t_env, "SELECT * FROM same") == []
    t_env.execute_sql("DROP TABLE same")
    assert rows(t_env, "SELECT id, more FROM orders") == [(1, None), (2, None)]
    assert rows(t_env, "SHOW TABLES") == [("orders",)]
    t_env.execute_sql("DROP TABLE orders")
    assert rows(t_env, "SHOW TABLES") == []
    t_env.execute_sql("USE `default`")
    t_env.execute_sql("DROP DATABASE shop")
    assert rows(t_env, "SHOW DATABASES") == [("default",)]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_others_are_read_and_appended_to(t_env, tmp_path, kind):
    catalog = load_catalog("lake", **properties(kind, tmp_path))
    catalog.create_namespace("shop")
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
    table = catalog.create_table("shop.t", schema)
    table.append(pa.table({"id": [1, 2], "name": ["a", None]}, schema))
    declare(t_env, kind, tmp_path, **{"default-database": "shop"})
    assert rows(t_env, "SELECT * FROM t") == [(1, "a"), (2, None)]
    t_env.execute_sql("INSERT INTO t VALUES (CAST(3 AS BIGINT), 'c')").wait()
    table.refresh().delete("id = 1")
    assert rows(t_env, "SELECT * FROM lake.shop.t") == [(2, None), (3, "c")]
    with table.refresh().update_schema() as update:
        update.rename_column("name", "title")
    assert rows(t_env, "SELECT title FROM t") == [("c",), (None,)]


def test_a_second_implementation_reads_the_tables_of_a_directory(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (n BIGINT, day STRING) PARTITIONED BY (day)")
    for day in ("mon", "tue"):
        t_env.execute_sql(f"INSERT INTO t VALUES (CAST(1 AS BIGINT), '{day}')").wait()
    assert Iceberg(tmp_path, "default.t").rows("n, day") == [(1, "mon"), (1, "tue")]
    assert (tmp_path / "default" / "t" / "metadata" / "version-hint.text").read_text() == "3"


def test_tables_of_others_with_transforms_are_appended_to(t_env, tmp_path):
    catalog = load_catalog("lake", **properties("hadoop", tmp_path))
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.t", pa.schema([("id", pa.int64()), ("at", pa.timestamp("us"))]))
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(2))
        update.add_field("at", DayTransform())
    declare(t_env, "hadoop", tmp_path, **{"default-database": "shop"})
    values = ", ".join(f"({n}, TIMESTAMP '2024-05-0{n} 12:00:00')" for n in range(1, 5))
    t_env.execute_sql(f"INSERT INTO t SELECT CAST(n AS BIGINT), a FROM (VALUES {values}) AS T(n, a)").wait()
    assert [row[0] for row in rows(t_env, "SELECT * FROM t")] == [1, 2, 3, 4]
    files = [*catalog.load_table("shop.t").scan().plan_files()]
    assert len({str(task.file.partition) for task in files}) == len(files) == 4
    later = table.refresh().scan(row_filter="at >= '2024-05-03T00:00:00'")
    assert len([*later.plan_files()]) == 2


@pytest.mark.spark
def test_tables_are_read_and_written_on_spark(tmp_path):
    t_env = make_env("spark")
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (n BIGINT, day STRING) PARTITIONED BY (day)")
    t_env.execute_sql("INSERT INTO t SELECT n, IF(MOD(n, 2) = 0, 'even', 'odd') FROM (VALUES 1, 2, 3) AS T(n)").wait()
    assert rows(t_env, "SELECT day, COUNT(*) FROM t /*+ OPTIONS('scan.parallelism' = '2') */ GROUP BY day")[-1] == (
        "odd", 2,
    )  # fmt: skip


def test_versions_and_ranges_of_commits_are_chosen_by_hints(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (n INT)")
    for n in (1, 2, 3):
        t_env.execute_sql(f"INSERT INTO t VALUES ({n})").wait()
    table = load_catalog("lake", **properties("hadoop", tmp_path)).load_table("default.t")
    first, second, third = table.snapshots()
    with table.manage_snapshots() as manage:
        manage.create_tag(first.snapshot_id, "start")

    def read(hints):
        given = ", ".join(f"'{key}' = '{value}'" for key, value in hints.items())
        return rows(t_env, f"SELECT n FROM t /*+ OPTIONS({given}) */")

    with table.manage_snapshots() as manage:
        manage.create_branch(second.snapshot_id, "other")
    assert read({"snapshot-id": second.snapshot_id}) == [(1,), (2,)]
    assert read({"as-of-timestamp": first.timestamp_ms}) == [(1,)]
    assert read({"tag": "start"}) == [(1,)]
    assert read({"branch": "other"}) == [(1,), (2,)]
    assert read({"start-snapshot-id": first.snapshot_id}) == [(2,), (3,)]
    assert read({"start-snapshot-id": first.snapshot_id, "end-snapshot-id": second.snapshot_id}) == [(2,)]
    assert third.parent_snapshot_id == second.snapshot_id
    with pytest.raises(SqlError, match="'snapshot-id' cannot be set in a stream"):
        read({"streaming": "true", "snapshot-id": 1})
    with pytest.raises(SqlError, match="did you mean 'INCREMENTAL_FROM_SNAPSHOT_ID'"):
        read({"streaming": "true", "starting-strategy": "INCREMENTAL_FROM_SNAPSHOTID"})


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("TABLE_SCAN_THEN_INCREMENTAL", [1, 2, 3, 4]),
        ("INCREMENTAL_FROM_LATEST_SNAPSHOT", [2, 3, 4]),
        ("INCREMENTAL_FROM_EARLIEST_SNAPSHOT", [1, 2, 3, 4]),
        ("INCREMENTAL_FROM_SNAPSHOT_ID", [2, 3, 4]),
        ("INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP", [2, 3, 4]),
    ],
)
def test_a_stream_gives_what_commits_append(t_env, tmp_path, strategy, expected):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (n INT)")
    for n in (1, 2):
        t_env.execute_sql(f"INSERT INTO t VALUES ({n})").wait()
    table = load_catalog("lake", **properties("hadoop", tmp_path)).load_table("default.t")
    newest = table.snapshots()[-1]
    hints = (
        f"'streaming' = 'true', 'monitor-interval' = '10ms', 'starting-strategy' = '{strategy}', "
        f"'start-snapshot-id' = '{newest.snapshot_id}', 'start-snapshot-timestamp' = '{newest.timestamp_ms}'"
    )
    found = []
    with t_env.execute_sql(f"SELECT n FROM t /*+ OPTIONS({hints}) */").collect() as stream:
        for row in stream:
            found.append(row[0])
            if sorted(found) == expected[:-2]:
                table.refresh().append(pa.table({"n": pa.array([3], pa.int32())}))
            if sorted(found) == expected[:-1]:
                table.refresh().append(pa.table({"n": pa.array([4], pa.int32())}))
            if sorted(found) == expected:
                break
    assert sorted(found) == expected


def test_an_empty_table_gives_the_commits_to_come(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (n INT)")
    table = load_catalog("lake", **properties("hadoop", tmp_path)).load_table("default.t")
    hints = "'streaming' = 'true', 'monitor-interval' = '10ms'"
    with t_env.execute_sql(f"SELECT n FROM t /*+ OPTIONS({hints}) */").collect() as stream:
        timer = threading.Timer(0.3, table.append, [pa.table({"n": pa.array([7], pa.int32())})])
        timer.start()
        assert next(iter(stream))[0] == 7
        timer.join()


def test_of_two_writers_of_one_version_the_second_fails(tmp_path):
    catalog = HadoopCatalog("lake", warehouse=str(tmp_path))
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.t", pa.schema([("n", pa.int32())]), properties={"commit.retry.num-retries": "0"})
    stale = catalog.load_table("shop.t")
    table.append(pa.table({"n": pa.array([1], pa.int32())}))
    with pytest.raises(CommitFailedException):
        stale.append(pa.table({"n": pa.array([2], pa.int32())}))
    assert catalog.load_table("shop.t").scan().to_arrow().to_pylist() == [{"n": 1}]


def test_writers_at_the_same_time_lose_no_commit(tmp_path):
    catalog = HadoopCatalog("lake", warehouse=str(tmp_path))
    catalog.create_namespace("shop")
    catalog.create_table("shop.t", pa.schema([("n", pa.int32())]))

    def write(start):
        for n in range(start, start + 10):
            while True:
                try:
                    catalog.load_table("shop.t").append(pa.table({"n": pa.array([n], pa.int32())}))
                    break
                except CommitFailedException:
                    continue

    writers = [threading.Thread(target=write, args=(start,)) for start in (0, 10, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = catalog.load_table("shop.t").scan().to_arrow().column("n").to_pylist()
    assert sorted(found) == list(range(30))


def test_small_files_are_merged_where_the_table_or_a_hint_says_so(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    rule = "'flink-maintenance.rewrite.schedule.commit-count' = '1', 'flink-maintenance.rewrite.min-input-files' = '2'"
    t_env.execute_sql(f"CREATE TABLE t (n INT) WITH ({rule})")
    for n, expected in ((1, 1), (2, 2), (3, 1)):
        hint = "/*+ OPTIONS('compaction-enabled' = 'true') */" if n == 3 else ""
        t_env.execute_sql(f"INSERT INTO t {hint} VALUES ({n})").wait()
        assert len(Iceberg(tmp_path, "default.t").files()) == expected
    assert rows(t_env, "SELECT n FROM t") == [(1,), (2,), (3,)]
    t_env.execute_sql("ALTER TABLE t SET ('flink-maintenance.rewrite.enabled' = 'true')")
    t_env.execute_sql("INSERT INTO t VALUES (4)").wait()
    assert Iceberg(tmp_path, "default.t").rows() == [(1,), (2,), (3,), (4,)]
    assert len(Iceberg(tmp_path, "default.t").files()) == 1


def test_what_iceberg_cannot_do_is_refused(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    for columns, message in (
        ("n INT, m AS n + 1", "no computed or metadata columns such as 'm'"),
        ("at TIMESTAMP(3), WATERMARK FOR at AS at", "keeps no watermark"),
        ("n MULTISET<INT>", "no type for column 'n'"),
    ):
        with pytest.raises(SqlError, match=message):
            t_env.execute_sql(f"CREATE TABLE t ({columns})")
    t_env.execute_sql("CREATE TABLE t (n INT)")
    with pytest.raises(SqlError, match="cannot rename a table"):
        t_env.execute_sql("ALTER TABLE t RENAME TO u")
    with pytest.raises(SqlError, match="cannot change the type of column 'n'"):
        t_env.execute_sql("ALTER TABLE t MODIFY n STRING")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'catalog-type' = 'paimon'", "'catalog-type' must be one of dynamodb, glue, hadoop, hive"),
        ("'catalog-type' = 'hadoop'", "needs the option 'warehouse'"),
        ("'catalog-impl' = 'org.apache.iceberg.rest.RESTCatalog'", "a catalog of type 'rest' needs the option 'uri'"),
        ("'catalog-type' = 'rest', 'uri' = 'http://127.0.0.1:1'", "catalog 'lake': "),
    ],
)
def test_options_that_cannot_work_are_refused(t_env, options, message):
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'iceberg', {options})")


def test_rows_of_a_key_replace_each_other_where_the_table_says_so(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql(
        "CREATE TABLE t (id INT NOT NULL, day STRING NOT NULL, name STRING, PRIMARY KEY (id, day) NOT ENFORCED) "
        "PARTITIONED BY (day) WITH ('write.upsert.enabled' = 'true')"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1, 'mon', 'a'), (1, 'tue', 'b'), (1, 'mon', 'c')").wait()
    t_env.execute_sql(
        "INSERT INTO t /*+ OPTIONS('sink.parallelism' = '2') */ VALUES (1, 'tue', 'd'), (2, 'tue', 'e')"
    ).wait()
    assert rows(t_env, "SELECT * FROM t") == [(1, "mon", "c"), (1, "tue", "d"), (2, "tue", "e")]
    assert Iceberg(tmp_path, "default.t").rows("id, name") == [(1, "c"), (1, "d"), (2, "e")]
    assert not list(tmp_path.rglob("keys-*"))


def test_without_upserts_rows_are_appended_and_a_hint_turns_them_on(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (id INT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED)")
    for name, hint in (("a", "false"), ("b", "false"), ("c", "true")):
        t_env.execute_sql(f"INSERT INTO t /*+ OPTIONS('upsert-enabled' = '{hint}') */ VALUES (1, '{name}')").wait()
        expected = [(1, "a"), (1, "b")] if name == "b" else [(1, name)]
        assert rows(t_env, "SELECT * FROM t") == expected
    t_env.execute_sql("CREATE TABLE u (id INT)")
    with pytest.raises(SqlError, match="upserts need a PRIMARY KEY"):
        t_env.execute_sql("INSERT INTO u /*+ OPTIONS('upsert-enabled' = 'true') */ VALUES (1)")


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_changelog_leaves_what_it_leads_to(tmp_path, engine):
    t_env = make_env(engine)
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t (k STRING NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (k) NOT ENFORCED)")
    for values in ("'a', 'b', 'a', 'c'", "'b', 'b', 'b'"):
        items = ", ".join(f"({value.strip()})" for value in values.split(","))
        t_env.execute_sql(
            f"INSERT INTO t SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM (VALUES {items}) AS T(k) GROUP BY k) WHERE n < 3"
        ).wait()
    assert rows(t_env, "SELECT * FROM t") == [("a", 2), ("c", 1)]


def test_counting_needs_no_column(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS T(n, name)").wait()
    assert rows(t_env, "SELECT COUNT(*) FROM t")[-1] == (2,)


def test_a_catalog_that_needs_another_package_says_so(monkeypatch):
    def load(name, **properties):
        raise NotInstalledError("Apache Hive support not installed: pip install 'pyiceberg[hive]'")

    monkeypatch.setattr(catalog, "load_catalog", load)
    with pytest.raises(SqlError, match=r"catalog 'c': .*pip install 'pyiceberg\[hive\]'"):
        catalog.open_iceberg("c", {"type": "iceberg", "catalog-type": "hive", "uri": "thrift://127.0.0.1:1"})


def test_a_query_replaces_a_table_with_its_columns_and_rows(t_env, tmp_path):
    declare(t_env, "hadoop", tmp_path)
    t_env.execute_sql("CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a')) AS T(n, name)").wait()
    t_env.execute_sql("CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES ('b', 2.50)) AS T(name, price)").wait()
    assert rows(t_env, "SELECT * FROM t") == [("b", Decimal("2.50"))]
