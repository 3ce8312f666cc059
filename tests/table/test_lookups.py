"""Lookup joins: the rows that a table has for a key at the moment of processing."""

from __future__ import annotations

import sqlite3
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, Types
from flintstream.common.types import RowKind
from flintstream.connectors.jdbc.database import JdbcError
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._operators import lookups
from flintstream.table._operators.lookups import CachedLookup


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (id INTEGER, name TEXT, price NUMERIC)")
        found = [(1, "pen", 1.5), (2, "ink", 9), (2, "INK", 10), (4, None, 2)]
        connection.executemany("INSERT INTO items VALUES (?, ?, ?)", found)
    return path


def declare(t_env, path, columns="id INT, name STRING, price DECIMAL(10, 2)", **options):
    more = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE items ({columns}) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{path}', "
        f"'table-name' = 'items'{more})"
    )


def orders(env, t_env, rows, kind=Types.INT):
    stream = env.from_collection(rows, Types.ROW_NAMED(["n", "item"], [Types.INT(), kind()]))
    t_env.create_temporary_view("plain", t_env.from_data_stream(stream))
    t_env.execute_sql("CREATE TEMPORARY VIEW orders AS SELECT *, PROCTIME() AS p FROM plain")


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return sorted((tuple(row) for row in found), key=repr)


JOIN = "JOIN items FOR SYSTEM_TIME AS OF o.p AS i ON o.item = i.id"
ORDERS = [Row(1, 1), Row(2, 2), Row(3, 3), Row(4, None), Row(5, 1)]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_rows_are_joined_with_those_of_their_key(env, t_env, shop, mode, parallelism):
    t_env.get_config().set("execution.runtime-mode", mode).set("parallelism.default", str(parallelism))
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    assert rows(t_env, f"SELECT n, name FROM orders AS o {JOIN}") == [(1, "pen"), (2, "INK"), (2, "ink"), (5, "pen")]
    left = rows(t_env, f"SELECT n, i.id, name FROM orders AS o LEFT {JOIN}")
    assert left == [(1, 1, "pen"), (2, 2, "INK"), (2, 2, "ink"), (3, None, None), (4, None, None), (5, 1, "pen")]


def test_the_rest_of_the_condition_decides_about_partners(env, t_env, shop):
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    found = rows(t_env, f"SELECT n, name FROM orders AS o LEFT {JOIN} AND i.price > 5 AND o.n + 7 < i.price")
    assert found == [(1, None), (2, "INK"), (3, None), (4, None), (5, None)]


def test_keys_may_be_texts_wider_integers_and_several_columns(env, t_env, shop):
    declare(t_env, shop)
    orders(env, t_env, [Row(1, "ink"), Row(2, "INK"), Row(2, "ink"), Row(7, "ink")], Types.STRING)
    join = "JOIN items FOR SYSTEM_TIME AS OF o.p AS i ON o.item = i.name AND CAST(o.n AS BIGINT) = i.id"
    assert rows(t_env, f"SELECT o.item, price FROM orders AS o {join}") == [("INK", 10), ("ink", 9)]


def test_a_view_of_the_table_is_filtered_and_projected(env, t_env, shop):
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    t_env.execute_sql("CREATE TEMPORARY VIEW dear AS SELECT UPPER(name) AS shown, id FROM items WHERE price > 9")
    join = "JOIN dear FOR SYSTEM_TIME AS OF o.p AS d ON o.item = d.id"
    assert rows(t_env, f"SELECT n, shown FROM orders AS o {join}") == [(2, "INK")]


def test_changes_keep_their_kind(env, t_env, shop):
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    counts = "(SELECT COUNT(*) AS c, 2 AS item, PROCTIME() AS p FROM orders WHERE item < 2)"
    table = t_env.sql_query(f"SELECT c, name FROM {counts} AS o {JOIN} AND i.price < 10")
    with table.execute().collect() as found:
        changes = [(row.get_row_kind(), *row) for row in found]
    assert changes == [
        (RowKind.INSERT, 1, "ink"),
        (RowKind.UPDATE_BEFORE, 1, "ink"),
        (RowKind.UPDATE_AFTER, 2, "ink"),
    ]


def test_a_block_asks_once_for_its_keys(env, t_env, shop, monkeypatch):
    asked = []
    found = lookups.LookupJoinOperator._find

    def count(self, keys):
        asked.extend(keys)
        return found(self, keys)

    monkeypatch.setattr(lookups.LookupJoinOperator, "_find", count)
    declare(t_env, shop)
    orders(env, t_env, [Row(i, i % 3) for i in range(300)])
    assert len(rows(t_env, f"SELECT n FROM orders AS o {JOIN}")) == 300
    assert len(asked) < 30


def test_a_cache_remembers_keys_until_they_expire(monkeypatch):
    asked: list[Any] = []

    class Known:
        def find(self, keys):
            asked.extend(keys)
            return {key: [(*key, "x")] for key in keys if key[0] != 3}

        def close(self):
            pass

    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    known = Known()
    cached = CachedLookup(known, max_rows=2, after_write_ms=1000)
    assert cached.find([(1,), (3,)]) == {(1,): [(1, "x")]}
    assert cached.find([(3,), (1,)]) == {(1,): [(1, "x")]}
    assert asked == [(1,), (3,)]
    cached.find([(2,)])  # the third: the one used longest ago goes
    cached.find([(1,), (3,)])
    assert asked[2:] == [(2,), (3,)]
    clock[0] = 2.0
    cached.find([(1,)])
    assert asked[4:] == [(1,)]
    missing = CachedLookup(known, keeps_missing=False)
    missing.find([(3,)])
    missing.find([(3,)])
    assert asked[5:] == [(3,), (3,)]


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=8), st.integers(1, 4), st.booleans())
def test_a_cache_never_changes_what_is_found(blocks, size, missing):
    class Squares:
        def find(self, keys):
            return {key: [(key[0] ** 2,)] for key in keys if key[0] % 2}

        def close(self):
            pass

    cached = CachedLookup(Squares(), max_rows=size, keeps_missing=missing)
    for block in blocks:
        keys = list(dict.fromkeys((record,) for record in block))
        assert cached.find(keys) == Squares().find(keys)
        assert len(cached.known) <= size


def test_a_failure_that_may_pass_is_tried_again(env, t_env, shop, monkeypatch):
    from flintstream.connectors.jdbc import lookup

    failures = [sqlite3.OperationalError("database is locked")] * 2
    ask = lookup.JdbcLookup._ask

    def fail(self, keys):
        if failures:
            raise failures.pop()
        return ask(self, keys)

    monkeypatch.setattr(lookup.JdbcLookup, "_ask", fail)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    assert len(rows(t_env, f"SELECT n FROM orders AS o {JOIN}")) == 4


def test_a_table_that_is_not_there_fails_the_job_with_the_query(env, t_env, shop):
    with sqlite3.connect(shop) as connection:
        connection.execute("DROP TABLE items")
    declare(t_env, shop, **{"lookup.max-retries": 0})
    orders(env, t_env, ORDERS)
    with pytest.raises(JdbcError, match=r"cannot look up keys.*no such table.*SELECT"):
        rows(t_env, f"SELECT n FROM orders AS o {JOIN}")


def test_fake_rows_have_the_key_that_is_looked_up(env, t_env):
    pytest.importorskip("faker", reason="the extra 'faker' is not installed: make setup")
    orders(env, t_env, ORDERS)
    t_env.execute_sql(
        "CREATE TABLE names (id INT, name STRING) WITH ('connector' = 'faker', "
        "'fields.id.expression' = '#{number.numberBetween ''0'',''100''}', "
        "'fields.name.expression' = '#{harry_potter.character}')"
    )
    join = "JOIN names FOR SYSTEM_TIME AS OF o.p AS i ON o.item = i.id"
    found = rows(t_env, f"SELECT item, id, name FROM orders AS o {join}")
    assert [(a, b) for a, b, _ in found] == [(1, 1), (1, 1), (2, 2), (3, 3)]
    assert all(name for *_, name in found)


@pytest.mark.spark
def test_workers_of_spark_look_keys_up(shop):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.master": "local[2]"}).set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    declare(t_env, shop, **{"lookup.cache": "PARTIAL"})
    orders(env, t_env, ORDERS)
    assert rows(t_env, f"SELECT n, name FROM orders AS o {JOIN}") == [(1, "pen"), (2, "INK"), (2, "ink"), (5, "pen")]


def test_a_stream_is_joined_as_it_is_at_the_moment(env, t_env):
    rates = env.from_collection([Row("EUR", 2)], Types.ROW_NAMED(["c", "rate"], [Types.STRING(), Types.INT()]))
    t_env.create_temporary_view("rates", t_env.from_data_stream(rates))
    orders(env, t_env, [Row(1, "EUR"), Row(2, "USD"), Row(3, None)], Types.STRING)
    join = "LEFT JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.item = r.c"
    found = rows(t_env, f"SELECT n, rate FROM orders AS o {join}")
    assert found in ([(1, 2), (2, None), (3, None)], [(1, None), (2, None), (3, None)])


@pytest.mark.parametrize(
    ("options", "join", "message"),
    [
        (
            {},
            "JOIN items FOR SYSTEM_TIME AS OF o.p AS i ON i.price > 1",
            "needs an equality of a column of table 'items'",
        ),
        ({}, "RIGHT JOIN items FOR SYSTEM_TIME AS OF o.p AS i ON o.item = i.id", "joins with INNER or LEFT JOIN"),
        ({}, "JOIN items FOR SYSTEM_TIME AS OF o.n AS i ON o.item = i.id", "needs a time attribute"),
        ({"lookup.cache": "PARTIALLY"}, JOIN, "'lookup.cache' does not accept 'PARTIALLY'; did you mean 'PARTIAL'"),
    ],
)
def test_a_wrong_join_is_an_error_of_the_statement(env, t_env, shop, options, join, message):
    declare(t_env, shop, **options)
    orders(env, t_env, ORDERS)
    with pytest.raises(SqlError, match=message):
        t_env.sql_query(f"SELECT n FROM orders AS o {join}")


def test_a_stream_has_no_present_in_batch_mode(env, t_env):
    t_env.get_config().set("execution.runtime-mode", "BATCH")
    orders(env, t_env, ORDERS)
    with pytest.raises(UnsupportedClauseError, match="in BATCH mode"):
        t_env.sql_query("SELECT 1 FROM orders AS o JOIN plain FOR SYSTEM_TIME AS OF o.p AS r ON o.item = r.item")


RETRY = (
    "'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', 'fixed-delay' = '5 s', 'max-attempts' = '3'"
)


@pytest.mark.parametrize(("arrives_after", "expected"), [(1, "cap"), (3, "cap"), (4, None)])
def test_a_hint_has_keys_without_rows_looked_up_again(env, t_env, shop, monkeypatch, arrives_after, expected):
    waits = []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == arrives_after:
            with sqlite3.connect(shop) as connection:
                connection.execute("INSERT INTO items VALUES (3, 'cap', 4)")

    # Not the function itself: other threads of this process may sleep, too.
    clock = SimpleNamespace(sleep=wait, monotonic=time.monotonic)
    monkeypatch.setattr("flintstream.table._operators.lookups.time", clock)
    declare(t_env, shop, **{"lookup.cache": "PARTIAL", "lookup.partial-cache.cache-missing-key": "false"})
    orders(env, t_env, [Row(1, 1), Row(3, 3)])
    found = rows(t_env, f"SELECT /*+ LOOKUP('table' = 'i', {RETRY}) */ n, name FROM orders AS o LEFT {JOIN}")
    assert found == [(1, "pen"), (3, expected)]
    assert waits == [5] * min(arrives_after, 3)


def test_a_hint_about_asynchronous_lookups_changes_no_result(env, t_env, shop):
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    hint = (
        "'async' = 'true', 'output-mode' = 'allow_unordered', 'capacity' = '5', 'timeout' = '1 min', 'shuffle' = 'true'"
    )
    plain, hinted = (
        rows(t_env, f"SELECT {text} n, name FROM orders AS o {JOIN}")
        for text in ("", f"/*+ LOOKUP('table' = 'i', {hint}) */")
    )
    assert hinted == plain
    assert len(plain) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'async' = 'true'", "LOOKUP at line 1, column 8 needs 'table', the name of a table in FROM"),
        ("'table' = 'item'", "LOOKUP at line 1, column 8: FROM has no table or view named 'item'"),
        (
            "'table' = 'i', 'retry-predicate' = 'lookup_miss'",
            "needs 'retry-strategy', 'fixed-delay', 'max-attempts' to retry",
        ),
        (f"'table' = 'i', {RETRY.replace('fixed_delay', 'none')}", "'retry-strategy' must be .*, but is 'none'"),
        (
            f"'table' = 'i', {RETRY.replace('3', '0')}",
            "'max-attempts' must be a whole number of at least 1, but is '0'",
        ),
        ("'table' = 'i', 'asynk' = 'true'", "has no option 'asynk'; did you mean 'async'"),
    ],
)
def test_a_hint_about_lookups_that_cannot_be_is_refused(env, t_env, shop, options, message):
    declare(t_env, shop)
    orders(env, t_env, ORDERS)
    with pytest.raises(SqlError, match=message):
        t_env.sql_query(f"SELECT /*+ LOOKUP({options}) */ n, name FROM orders AS o {JOIN}")
