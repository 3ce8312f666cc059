"""Joins with a side that has ended: rows of the other one meet all of it, and are not kept."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import RowKind, Types
from flintstream.compiled import joined
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream._streams.steps import steps_to_run
from flintstream.table import DataTypes, StreamTableEnvironment
from flintstream.table._operators.joins import regular
from flintstream.table._operators.joins.entries import _Stored
from flintstream.table.udf import udf

ROWS, NAMES = 20_000, 7


@pytest.fixture
def env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(2)
    return env


@pytest.fixture
def t_env(env, tmp_path):
    t_env = StreamTableEnvironment.create(env)
    (tmp_path / "numbers").mkdir()
    for part in range(2):
        lines = (f"{i},{i % 10}\n" for i in range(part, ROWS, 2))
        (tmp_path / "numbers" / f"{part}.csv").write_text("".join(lines))
    (tmp_path / "names.csv").write_text("".join(f"{k},n{k}\n" for k in range(NAMES)))
    for name, columns, path in (("numbers", "i INT, k INT", "numbers"), ("names", "nk INT, name STRING", "names.csv")):
        t_env.execute_sql(
            f"CREATE TABLE {name} ({columns}) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{path}', 'format' = 'csv')"
        )
    return t_env


@pytest.fixture
def blocks(monkeypatch):
    """Record, for each block of a join, the number of its rows, and whether they are kept."""
    seen = []
    join_each = joined.join_each

    def watched(rows, *arguments):
        given = list(rows)
        seen.append((len(given), arguments[4] is not None))
        join_each(iter(given), *arguments)

    monkeypatch.setattr(regular, "join_each", watched)
    return seen


def results(t_env, query):
    with t_env.sql_query(query).execute().collect() as found:
        return sorted(tuple(row) for row in found)


WANTED = sorted((i, f"n{i % 10}") for i in range(ROWS) if i % 10 < NAMES)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, name FROM numbers JOIN names ON k = nk",
        "SELECT i, name FROM names JOIN numbers ON k = nk",
        "SELECT i, name FROM numbers, (SELECT nk + 0 AS nk, name FROM names UNION ALL SELECT 99, 'none') WHERE k = nk",
    ],
)
def test_rows_are_kept_only_as_long_as_the_other_side_may_have_more(t_env, blocks, query):
    assert results(t_env, query) == WANTED
    kept = sum(rows for rows, keeps in blocks if keeps)
    assert sum(rows for rows, _ in blocks) >= ROWS + NAMES
    assert kept < ROWS / 2


def test_backends_without_dictionaries_keep_none_either(t_env, monkeypatch):
    calls = []
    join = regular.RegularJoin.join

    def watched(*arguments, keeps):
        calls.append(keeps)
        join(*arguments, keeps=keeps)

    monkeypatch.setattr(regular.RegularJoin, "join", watched)
    monkeypatch.setattr(regular, "entries_of", _Stored)
    assert results(t_env, "SELECT i, name FROM numbers JOIN names ON k = nk") == WANTED
    assert {*calls} == {True, False}


@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL"])
def test_outer_joins_leave_all_rows(t_env, kind):
    rows: Counter[tuple[object, ...]] = Counter()
    with t_env.sql_query(f"SELECT i, name FROM numbers {kind} JOIN names ON k = nk").execute().collect() as found:
        for row in found:
            rows[tuple(row)] += 1 if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER} else -1
    alone = [] if kind == "RIGHT" else [(i, None) for i in range(ROWS) if i % 10 >= NAMES]
    assert +rows == Counter([*WANTED, *alone])


def test_a_restart_after_the_end_of_a_side_loses_no_pair(t_env, tmp_path):
    failed = tmp_path / "failed"

    @udf(result_type=DataTypes.INT())
    def fail_once(i):
        if i == ROWS - 10 and not failed.exists():
            failed.touch()
            raise RuntimeError("once")
        return i

    t_env.create_temporary_function("fail_once", fail_once)
    t_env.get_config().set("execution.checkpointing.interval", "50 ms")
    t_env.get_config().set("restart-strategy.type", "fixed-delay")
    t_env.get_config().set("restart-strategy.fixed-delay.attempts", "2")
    t_env.get_config().set("restart-strategy.fixed-delay.delay", "0 s")
    found = results(t_env, "SELECT fail_once(i), name FROM numbers JOIN names ON k = nk")
    assert failed.exists()
    assert found == WANTED


def ends_of(env, t_env, query):
    t_env.to_changelog_stream(t_env.sql_query(query))
    found = [getattr(step, "operator", None) for step in steps_to_run(env)]
    return [operator.ends for operator in found if isinstance(operator, regular.JoinOfBlocks)]


def test_only_bounded_sources_of_statements_end(env, t_env):
    kind = Types.ROW_NAMED(["sk", "s"], [Types.INT(), Types.STRING()])
    t_env.create_temporary_view("streamed", env.from_collection([(1, "a")], kind))
    t_env.execute_sql("CREATE TABLE endless (ek INT) WITH ('connector' = 'datagen')")
    cases = {
        "SELECT * FROM numbers JOIN names ON k = nk": (True, True),
        "SELECT * FROM numbers JOIN streamed ON k = sk": (True, False),
        "SELECT * FROM endless JOIN names ON ek = nk": (False, True),
        "SELECT * FROM numbers JOIN (SELECT nk, COUNT(*) AS n FROM names GROUP BY nk) ON k = nk": (True, False),
        "SELECT * FROM numbers JOIN (VALUES (1, 'x')) AS v (vk, w) ON k = vk": (True, True),
    }
    for query, wanted in cases.items():
        assert ends_of(env, t_env, query)[-1] == wanted, query
