"""Tables of databases: reading all of one or its ranges, inserting, and writing by key."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, Types
from flintstream.common.types import RowKind
from flintstream.errors import PlanError
from flintstream.table._errors import SqlError

COLUMNS = "id INT, name STRING, price DECIMAL(10, 2), ok BOOLEAN, day DATE, at_ TIMESTAMP(3), clock TIME, weight DOUBLE"


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC, ok INTEGER, day TEXT, at_ TEXT, "
            "clock TEXT, weight REAL)"
        )
        connection.execute("CREATE TABLE sums (item TEXT PRIMARY KEY, n INTEGER)")
    return path


def contents(path, query):
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


def table(t_env, path, name, columns, key="", **options):
    more = "".join(f", '{key_.replace('_', '-')}' = '{value}'" for key_, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE {name} ({columns}{key}) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{path}', "
        f"'table-name' = '{name}'{more})"
    )


def rows(result):
    with result.collect() as found:
        return [tuple(row) for row in found]


def test_what_is_written_is_read_back(t_env, shop):
    table(t_env, shop, "items", COLUMNS)
    t_env.execute_sql(
        "INSERT INTO items VALUES (1, 'pen', 1.50, TRUE, DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05.678', "
        "TIME '12:34:56', 0.5), (2, CAST(NULL AS STRING), 2.25, FALSE, DATE '2020-01-03', "
        "TIMESTAMP '2020-01-03 00:00:00', TIME '00:00:00', 1e0)"
    ).wait()
    assert contents(shop, "SELECT id, name, price, ok FROM items") == [(1, "pen", 1.5, 1), (2, None, 2.25, 0)]
    found = rows(t_env.execute_sql("SELECT id, name, CAST(price AS STRING), ok, CAST(at_ AS STRING), clock FROM items"))
    assert [tuple(map(str, row)) for row in found] == [
        ("1", "pen", "1.50", "True", "2020-01-02 03:04:05.678", "12:34:56"),
        ("2", "None", "2.25", "False", "2020-01-03 00:00:00.000", "00:00:00"),
    ]


def test_ranges_of_a_column_divide_the_table(t_env, shop):
    with sqlite3.connect(shop) as connection:
        connection.executemany("INSERT INTO items (id, name) VALUES (?, 'x')", [(i,) for i in range(1, 12)])
    t_env.execute_sql(
        f"CREATE TABLE items (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{shop}', 'table-name' = 'items',"
        "'scan.partition.column' = 'id', 'scan.partition.num' = '3', 'scan.partition.lower-bound' = '1', "
        "'scan.partition.upper-bound' = '10')"
    )
    assert sorted(row[0] for row in rows(t_env.execute_sql("SELECT id FROM items"))) == list(range(1, 11))


def test_more_keys_than_a_batch_has_are_all_written(env, t_env, shop):
    table(
        t_env,
        shop,
        "sums",
        "item STRING, n INT",
        ", PRIMARY KEY (item) NOT ENFORCED",
        **{"sink.buffer-flush.max-rows": "3"},
    )
    stream = env.from_collection(
        [Row(f"i{i % 50}", i) for i in range(100)], Types.ROW_NAMED(["item", "n"], [Types.STRING(), Types.INT()])
    )
    t_env.from_data_stream(stream).execute_insert("sums").wait()
    assert sorted(contents(shop, "SELECT * FROM sums")) == sorted((f"i{i}", i + 50) for i in range(50))


def test_a_key_makes_upserts_and_deletions(env, t_env, shop):
    table(t_env, shop, "sums", "item STRING, n BIGINT", ", PRIMARY KEY (item) NOT ENFORCED")
    changes = [
        (RowKind.INSERT, "pen", 1),
        (RowKind.INSERT, "ink", 1),
        (RowKind.UPDATE_BEFORE, "pen", 1),
        (RowKind.UPDATE_AFTER, "pen", 2),
        (RowKind.DELETE, "ink", 1),
        (RowKind.INSERT, "cap", 7),
    ]
    made = []
    for kind, *values in changes:
        made.append(Row(*values))
        made[-1].set_row_kind(kind)
    stream = env.from_collection(made, Types.ROW_NAMED(["item", "n"], [Types.STRING(), Types.LONG()]))
    with sqlite3.connect(shop) as connection:
        connection.execute("INSERT INTO sums VALUES ('cap', 1)")
    newest = t_env.from_changelog_stream(stream)
    with pytest.raises(SqlError, match="differs from the primary key of the sink table 'sums', \\[item\\]"):
        newest.execute_insert("sums")
    t_env.get_config().set("table.exec.sink.require-on-conflict", "false")
    t_env.create_statement_set().add_insert("sums", newest).execute().wait()
    assert sorted(contents(shop, "SELECT item, n FROM sums")) == [("cap", 7), ("pen", 2)]


def test_counts_by_key_end_with_the_last_one(t_env, shop):
    table(t_env, shop, "sums", "item STRING, n BIGINT", ", PRIMARY KEY (item) NOT ENFORCED")
    t_env.execute_sql("INSERT INTO sums SELECT w, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS T(w) GROUP BY w").wait()
    assert sorted(contents(shop, "SELECT item, n FROM sums")) == [("a", 2), ("b", 1)]


FILTERED = {
    "HAVING": "SELECT k, COUNT(*) AS n FROM {rows} GROUP BY k HAVING COUNT(*) < 3",
    "WHERE above a group": "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM {rows} GROUP BY k) WHERE n < 3",
    "WHERE below a projection": (
        "SELECT k, n + 1 AS n FROM (SELECT k, MAX(v) AS n FROM {rows} GROUP BY k) WHERE MOD(n, 2) = 0"
    ),
    "a join on what changes": (
        "SELECT a.k, a.n FROM (SELECT k, COUNT(*) AS n FROM {rows} GROUP BY k) a "
        "JOIN (VALUES 1, 2) AS few(n) ON a.n = few.n"
    ),
    "a table function": (
        "SELECT k, n FROM (SELECT k, COUNT(*) AS n, IF(COUNT(*) < 3, ARRAY[1], ARRAY_REMOVE(ARRAY[1], 1)) AS ones "
        "FROM {rows} GROUP BY k) "
        "CROSS JOIN UNNEST(ones) AS one (x)"
    ),
    "the first rows": (
        "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, k) AS r FROM "
        "(SELECT k, COUNT(*) AS n FROM {rows} GROUP BY k)) WHERE r <= 2"
    ),
    "a join of filtered groups": (
        "SELECT a.k, a.n FROM (SELECT k, COUNT(*) AS n FROM {rows} GROUP BY k HAVING COUNT(*) < 3) a "
        "JOIN (SELECT DISTINCT k FROM {rows}) b ON a.k = b.k"
    ),
}


@pytest.mark.parametrize("query", FILTERED.values(), ids=FILTERED)
def test_a_row_that_no_longer_passes_a_filter_leaves_the_table(t_env, shop, query):
    """A group that grows beyond a limit is deleted, as its last change is the row before an update."""
    draw = random.Random(3)
    values = ", ".join(f"('{draw.choice('abcdef')}', {draw.randrange(9)})" for _ in range(14))
    query = query.format(rows=f"(VALUES {values}) AS T(k, v)")
    kept: Counter[tuple[object, ...]] = Counter()
    with t_env.execute_sql(query).collect() as found:
        for row in found:
            added = row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}
            kept[tuple(row)] += 1 if added else -1
    table(t_env, shop, "sums", "item STRING, n BIGINT", ", PRIMARY KEY (item) NOT ENFORCED")
    t_env.get_config().set("table.exec.sink.require-on-conflict", "false")
    t_env.execute_sql(f"INSERT INTO sums {query}").wait()
    assert sorted(contents(shop, "SELECT * FROM sums")) == sorted(+kept)


def test_changes_need_a_key(t_env, shop):
    table(t_env, shop, "sums", "item STRING, n BIGINT")
    with pytest.raises(SqlError, match="table 'sums': please declare primary key"):
        t_env.execute_sql("INSERT INTO sums SELECT w, COUNT(*) FROM (VALUES ('a')) AS T(w) GROUP BY w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scan.partition.num": "3"}, "must be set together"),
        ({"sink.buffer-flush.max-row": "1"}, "did you mean 'sink.buffer-flush.max-rows'"),
        ({"sink.max-retries": "often"}, "'sink.max-retries' must be a number"),
    ],
)
def test_wrong_options_are_named(t_env, shop, options, message):
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{shop}', 'table-name' = 't'{given})"
    )
    with pytest.raises(SqlError, match=f"table 't': .*{message}"):
        t_env.execute_sql("INSERT INTO t SELECT id FROM t")


def test_an_unknown_database_is_refused(t_env):
    t_env.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:no:x', 'table-name' = 't')")
    with pytest.raises(PlanError, match="not a supported JDBC URL"):
        t_env.execute_sql("SELECT * FROM t")
