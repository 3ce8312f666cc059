"""ON CONFLICT: when PyFlink demands it, when it refuses it, and what it does."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import RowKind
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._operators.upserts import SinkConflicts, SinkMaterializer
from flintstream.testing.harness import KeyedHarness

RECORDED = json.loads((Path(__file__).parent / "on_conflict.json").read_text())
"""What real PyFlink 2.3 says about statements: tables, and for each sink and query ok, demands or refuses.

Not among them: with ``WHERE k = 'a'``, PyFlink forgets that k is a key, and demands the clause.
"""


@pytest.fixture(scope="module")
def t_env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    for statement in RECORDED["tables"]:
        t_env.execute_sql(statement)
    return t_env


def verdict(t_env, statement):
    inserts = t_env.create_statement_set().add_insert_sql(statement)
    try:
        inserts.attach_as_datastream()
    except SqlError as error:
        return "demands" if "Add ON CONFLICT DO DEDUPLICATE" in str(error) else "refuses"
    return "ok"


@pytest.mark.parametrize(("sink", "query", "expected"), RECORDED["statements"])
def test_the_clause_is_demanded_and_refused_as_in_flink(t_env, sink, query, expected):
    assert verdict(t_env, f"INSERT INTO {sink} {query}") == expected


def test_an_option_makes_the_clause_optional(t_env):
    query = "SELECT k, COUNT(*) FROM e GROUP BY id, k"
    for key, value in (
        ("table.exec.sink.require-on-conflict", "false"),
        ("table.exec.sink.upsert-materialize", "NONE"),
        ("table.exec.sink.upsert-materialize", "FORCE"),
    ):
        assert verdict(t_env, f"INSERT INTO s {query}") == "demands"
        t_env.get_config().set(key, value)
        assert verdict(t_env, f"INSERT INTO s {query}") == "ok"
        t_env.get_config().set(key, {"false": "true"}.get(value, "AUTO"))


def test_sources_need_watermarks_to_say_which_changes_are_final(t_env):
    for strategy in ("NOTHING", "ERROR"):
        with pytest.raises(
            SqlError, match=rf"ON CONFLICT DO {strategy} requires all source tables .*: e\. Add WATERMARK"
        ):
            t_env.create_statement_set().add_insert_sql(
                f"INSERT INTO s SELECT k, COUNT(*) FROM e GROUP BY id, k ON CONFLICT DO {strategy}"
            ).attach_as_datastream()
        verdict(t_env, f"INSERT INTO s SELECT k, COUNT(*) FROM ts GROUP BY id, k ON CONFLICT DO {strategy}")


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("ON CONFLICT DO UPDATE", "ON CONFLICT DO UPDATE at line 1, column 71: use DO DEDUPLICATE"),
        ("ON CONFLICT (k) DO NOTHING", r"expected DO but found '\('"),
        ("ON CONFLICT", r"expected DO but found the end"),
        ("ON CONFLICT DO NOTHING AT ALL", "unexpected 'AT'"),
    ],
)
def test_a_wrong_clause_is_named(t_env, clause, message):
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql(f"INSERT INTO s SELECT k, COUNT(*) FROM e GROUP BY id, k {clause}")


SWAP = [(1, "a", 1), (2, "b", 1), (1, "b", 1), (2, "a", 5), (3, "c", 1)]
CONFLICT = [(1, "a", 1), (2, "a", 7), (1, "c", 3), (3, "a", 9), (2, "d", 1)]
SAME = [(1, "a", 1), (2, "a", 1), (3, "b", 1)]
VIOLATION = "violation"
OUTPUTS = [
    (SWAP, "DEDUPLICATE", ["+I[a, 1]", "+I[b, 1]", "-D[a, 1]", "+U[b, 1]", "+I[a, 5]", "+I[c, 1]"]),
    (SWAP, "NOTHING", ["+I[a, 1]", "+I[b, 1]", "-D[a, 1]", "-D[b, 1]", "+I[a, 5]", "+I[c, 1]"]),
    (SWAP, "ERROR", ["+I[a, 1]", "+I[b, 1]", "-D[a, 1]", VIOLATION]),
    (CONFLICT, "DEDUPLICATE", ["+I[a, 1]", "+U[a, 7]", "+I[c, 3]", "+U[a, 9]", "+I[d, 1]"]),
    (CONFLICT, "NOTHING", ["+I[a, 1]", "-D[a, 1]", "+I[c, 3]", "+I[a, 9]", "+I[d, 1]"]),
    (CONFLICT, "ERROR", ["+I[a, 1]", VIOLATION]),
    (SAME, "DEDUPLICATE", ["+I[a, 1]", "+U[a, 1]", "+I[b, 1]"]),
    (SAME, "NOTHING", ["+I[a, 1]", "+I[b, 1]"]),
    (SAME, "ERROR", ["+I[a, 1]", VIOLATION]),
]
"""Rows (id, key, value) with rising times, and what the changes of the last values of each id are in PyFlink 2.3."""


def changes(rows):
    last: dict[int, tuple[str, int]] = {}
    for number, key, value in rows:
        before = last.get(number)
        found = [] if before is None else [(*before, RowKind.UPDATE_BEFORE)]
        last[number] = (key, value)
        yield [*found, (key, value, RowKind.INSERT if before is None else RowKind.UPDATE_AFTER)]


@pytest.mark.parametrize(("rows", "strategy", "expected"), OUTPUTS)
def test_conflicts_are_solved_as_in_flink(rows, strategy, expected):
    function = (
        SinkMaterializer(0) if strategy == "DEDUPLICATE" else SinkConflicts("s", {"k": 0}, fails=strategy == "ERROR")
    )
    violates = expected[-1] == VIOLATION
    failing = (
        pytest.raises(Exception, match="table 's': Primary key constraint violation") if violates else nullcontext()
    )
    with KeyedHarness(lambda s: s.key_by(lambda r: r[0]).process(function)) as harness:
        with failing:
            for time, step in enumerate(changes(rows)):
                for key, value, kind in step:
                    harness.process_element((key, value, kind.value), time)
                harness.process_watermark(time)
        found = [
            f"{['+I', '-U', '+U', '-D'][kind]}[{key}, {value}]" for key, value, kind in harness.extract_output_values()
        ]
    assert found == (expected[: len(found)] if violates else expected)


@pytest.mark.parametrize(("rows", "strategy", "expected"), [case for case in OUTPUTS if VIOLATION not in case[2]])
def test_statements_solve_conflicts(t_env, tmp_path, capsys, rows, strategy, expected):
    (tmp_path / "rows.csv").write_text(
        "".join(f"{i},{k},{v},2020-01-01 0{at}:00:00\n" for at, (i, k, v) in enumerate(rows))
    )
    t_env.execute_sql(
        "CREATE TEMPORARY TABLE timed (id INT, k STRING, v BIGINT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    try:
        query = "SELECT LAST_VALUE(k), LAST_VALUE(v) FROM timed GROUP BY id"
        t_env.execute_sql(f"INSERT INTO s {query} ON CONFLICT DO {strategy}").wait()
    finally:
        t_env.execute_sql("DROP TEMPORARY TABLE timed")
    assert capsys.readouterr().out.split("\n")[:-1] == expected
