"""Joins of tables: changes, state, time bounds, and errors."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import EnvironmentSettings, StreamTableEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.expressions import col

KINDS = {RowKind.INSERT: "+I", RowKind.UPDATE_BEFORE: "-U", RowKind.UPDATE_AFTER: "+U", RowKind.DELETE: "-D"}


L = "(VALUES (1, 'a'), (2, 'b'), (CAST(NULL AS INT), 'n')) AS l (i, s)"
R = "(VALUES (1, 'x'), (1, 'y'), (4, 'z'), (CAST(NULL AS INT), 'm')) AS r (j, u)"


def changes(table):
    with table.execute().collect() as found:
        return [(KINDS[row.get_row_kind()], *row) for row in found]


def left_behind(found):
    """Return the rows that changes leave behind."""
    count: Counter[tuple[object, ...]] = Counter()
    for kind, *row in found:
        count[tuple(row)] += 1 if kind in {"+I", "+U"} else -1
        assert count[tuple(row)] >= 0, f"{row} was taken back before it came"
    return sorted(count.elements(), key=repr)


def changing(t_env, name, *rows):
    """Declare a table of changes of (k, v)."""
    stream = t_env._env.from_collection(
        [Row.of_kind(kind, *values) for kind, *values in rows],
        type_info=Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]),
    )
    t_env.create_temporary_view(name, t_env.from_changelog_stream(stream))


def batch():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    return StreamTableEnvironment.create(env, EnvironmentSettings.in_batch_mode())


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        (f"SELECT s, u FROM {L} JOIN {R} ON i = j", [("a", "x"), ("a", "y")]),
        (f"SELECT s, u FROM {L} LEFT JOIN {R} ON i = j", [("a", "x"), ("a", "y"), ("b", None), ("n", None)]),
        (f"SELECT s, u FROM {L} RIGHT JOIN {R} ON i = j", [("a", "x"), ("a", "y"), (None, "m"), (None, "z")]),
        (f"SELECT s, u FROM {L} FULL JOIN {R} ON i = j AND u > 'x'", [("a", "y"), ("b", None), ("n", None), (None, "m"), (None, "x"), (None, "z")]),
        (f"SELECT s, u FROM {L}, {R} WHERE i < j AND s <> 'b'", [("a", "z")]),
        (f"SELECT s FROM {L} WHERE i IN (SELECT j FROM {R})", [("a",)]),
        (f"SELECT s FROM {L} WHERE i NOT IN (SELECT j FROM {R})", []),
        (f"SELECT s FROM {L} WHERE EXISTS (SELECT 1 FROM {R} WHERE j = i AND u = 'y')", [("a",)]),
        (f"SELECT s FROM {L} WHERE NOT EXISTS (SELECT 1 FROM {R} WHERE j = i)", [("b",), ("n",)]),
        (f"SELECT s FROM {L} WHERE i = (SELECT MIN(j) FROM {R})", [("a",)]),
        (f"SELECT i, s, w FROM {L} JOIN (VALUES (1, 'q')) AS o (i, w) USING (i)", [(1, "a", "q")]),
    ],
)  # fmt: skip
def test_joins_leave_the_same_rows_behind_in_both_modes(t_env, join, expected):
    assert left_behind(changes(t_env.sql_query(join))) == sorted(expected, key=repr)
    in_batch = changes(batch().sql_query(join))
    assert {kind for kind, *_ in in_batch} <= {"+I"}, "BATCH has only final rows"
    assert left_behind(in_batch) == sorted(expected, key=repr)


def test_an_inner_join_passes_the_kinds_of_changes_on(t_env):
    changing(t_env, "c", (RowKind.INSERT, "a", 1), (RowKind.UPDATE_BEFORE, "a", 1), (RowKind.UPDATE_AFTER, "a", 2))
    found = changes(t_env.sql_query("SELECT v, w FROM c JOIN (VALUES ('a', 'x')) AS o (k, w) ON c.k = o.k"))
    assert found[-1] in {("+U", 2, "x"), ("+I", 2, "x")}
    assert left_behind(found) == [(2, "x")]


def test_a_retraction_of_the_last_partner_brings_the_row_without_one_back(t_env):
    changing(t_env, "l", (RowKind.INSERT, "a", 1))
    changing(t_env, "r", (RowKind.INSERT, "a", 7), (RowKind.INSERT, "a", 8), (RowKind.DELETE, "a", 7), (RowKind.DELETE, "a", 8))  # fmt: skip
    for side in ("LEFT", "FULL"):
        found = changes(t_env.sql_query(f"SELECT l.v, r.v AS w FROM l {side} JOIN r ON l.k = r.k"))
        assert left_behind(found) == [(1, None)]
    found = changes(t_env.sql_query("SELECT v FROM l WHERE k NOT IN (SELECT k FROM r)"))
    assert left_behind(found) == [(1,)]


def test_equal_rows_have_as_many_pairs_as_there_are(t_env):
    changing(t_env, "l", (RowKind.INSERT, "a", 1), (RowKind.INSERT, "a", 1))
    changing(t_env, "r", (RowKind.INSERT, "a", 7), (RowKind.INSERT, "a", 7), (RowKind.DELETE, "a", 7))
    assert left_behind(changes(t_env.sql_query("SELECT l.v, r.v AS w FROM l FULL JOIN r ON l.k = r.k"))) == [(1, 7)] * 2


def test_tables_join_with_conditions(t_env):
    a = t_env.from_elements([(1, "a"), (2, "b")], ["i", "s"])
    b = t_env.from_elements([(1, "x")], ["j", "u"])
    assert left_behind(changes(a.join(b).where(col("i") == col("j")).select(col("s"), col("u")))) == [("a", "x")]
    assert left_behind(changes(a.left_outer_join(b, col("i") == col("j")).select(col("s"), col("u")))) == [
        ("a", "x"),
        ("b", None),
    ]
    with pytest.raises(SqlError, match="Ambiguous column name: i"):
        a.join(t_env.from_elements([(1,)], ["i"]))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"SELECT s FROM {L} JOIN {R} ON i", "ON at line 1, column .* needs a BOOLEAN"),
        (f"SELECT s FROM {L} JOIN {R} ON i = q", "Column 'q' not found at line 1"),
        (f"SELECT s FROM {L} WHERE (i, s) IN (SELECT j FROM {R})", "compares 2 values with a subquery of 1 columns"),
        (f"SELECT s FROM {L} JOIN (SELECT * FROM {R}) FOR SYSTEM_TIME AS OF l.i AS v ON i = v.j", "line 1"),
        (f"SELECT s, (SELECT j, u FROM {R}) AS q FROM {L}", "needs one column, but has 2"),
    ],
)
def test_what_cannot_be_joined_is_refused_at_planning_with_its_place(t_env, sql, message):
    with pytest.raises((SqlError, UnsupportedClauseError), match=message):
        t_env.sql_query(sql)


@pytest.mark.parametrize("setting", [("table.exec.state.ttl", "1 h"), ("state.backend.type", "rocksdb")])
def test_state_that_expires_or_is_on_disk_gives_the_same_rows(setting):
    key, value = setting
    config = {"flintstream.engine": "inline", **({key: value} if key.startswith("state") else {})}
    env = StreamExecutionEnvironment.get_execution_environment(config).set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set(key, value)
    changing(
        t_env,
        "a",
        (RowKind.INSERT, "x", 1),
        (RowKind.INSERT, "x", 1),
        (RowKind.INSERT, "y", 2),
        (RowKind.DELETE, "x", 1),
    )
    changing(
        t_env,
        "b",
        (RowKind.INSERT, "x", 5),
        (RowKind.INSERT, "z", 6),
        (RowKind.DELETE, "z", 6),
        (RowKind.INSERT, "z", 7),
    )
    joined = "SELECT a.k, a.v, b.k, b.v FROM a FULL JOIN b ON a.k = b.k"
    assert left_behind(changes(t_env.sql_query(joined))) == [
        ("x", 1, "x", 5),
        ("y", 2, None, None),
        (None, None, "z", 7),
    ]
    alone = "SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)"
    assert left_behind(changes(t_env.sql_query(alone))) == [("y",)]
    grouped = "SELECT k, COUNT(*), SUM(v) FROM (SELECT * FROM a UNION ALL SELECT * FROM b) GROUP BY k"
    assert left_behind(changes(t_env.sql_query(grouped))) == [("x", 2, 6), ("y", 1, 2), ("z", 1, 7)]
