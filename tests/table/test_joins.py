"""Joins of tables: what they leave behind is the join of what is left of both sides."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError

pytestmark = pytest.mark.slow

KINDS = {"JOIN": (False, False), "LEFT JOIN": (True, False), "RIGHT JOIN": (False, True), "FULL JOIN": (True, True)}


def environment(engine="inline", parallelism=2):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": engine})
    env.set_parallelism(parallelism)
    return env, StreamTableEnvironment.create(env)


def changes(table):
    with table.execute().collect() as found:
        return [(row.get_row_kind(), tuple(row)) for row in found]


def left_of(found):
    rows: Counter[tuple[object, ...]] = Counter()
    for kind, values in found:
        rows[values] += 1 if kind in {RowKind.INSERT, RowKind.UPDATE_AFTER} else -1
    assert min(rows.values(), default=0) >= 0
    return +rows


def view(env, t_env, name, rows):
    """Declare a table of changes: pairs, and whether each is added or taken back."""
    made = []
    for added, *fields in rows:
        row = Row(*fields)
        row.set_row_kind(RowKind.INSERT if added else RowKind.DELETE)
        made.append(row)
    kind = Types.ROW_NAMED([f"{name}k", f"{name}v"], [Types.INT(), Types.INT()])
    t_env.create_temporary_view(name, t_env.from_changelog_stream(env.from_collection(made, kind)))


def expected(left, right, outer, fits):
    rows: Counter[tuple[object, ...]] = Counter()
    for a in left:
        partners = [b for b in right if a[0] is not None and a[0] == b[0] and fits(a, b)]
        rows.update((*a, *b) for b in partners)
        if not partners and outer[0]:
            rows.update([(*a, None, None)])
    for b in right:
        if outer[1] and not any(a[0] is not None and a[0] == b[0] and fits(a, b) for a in left):
            rows.update([(None, None, *b)])
    return rows


PAIRS = st.tuples(st.none() | st.integers(0, 2), st.integers(0, 2))


@st.composite
def histories(draw):
    """Return changes in which only what is there is taken back, and what is left."""
    there: list[tuple[object, ...]] = []
    found = []
    for _ in range(draw(st.integers(1, 6))):
        if there and draw(st.booleans()):
            gone = draw(st.sampled_from(there))
            there.remove(gone)
            found.append((False, *gone))
        else:
            there.append(draw(PAIRS))
            found.append((True, *there[-1]))
    return found, there


@settings(max_examples=25)
@given(histories(), histories(), st.sampled_from(sorted(KINDS)), st.booleans())
def test_changes_of_both_sides_leave_the_join_of_what_is_left(left, right, kind, more):
    env, t_env = environment(parallelism=1)  # or changes of a row might overtake each other
    view(env, t_env, "a", left[0])
    view(env, t_env, "b", right[0])
    condition = "ak = bk AND av <= bv" if more else "ak = bk"
    found = changes(t_env.sql_query(f"SELECT * FROM a {kind} b ON {condition}"))
    assert left_of(found) == expected(left[1], right[1], KINDS[kind], lambda a, b: not more or a[1] <= b[1])


@pytest.mark.parametrize(
    ("engine", "kind"),
    [*(("inline", kind) for kind in KINDS), pytest.param("spark", "FULL JOIN", marks=pytest.mark.spark)],
)
def test_in_batch_mode_only_what_is_left_is_there(engine, kind):
    left = [(1, 1), (1, 1), (2, 5), (None, 0), (4, 4)]
    right = [(1, 7), (2, 1), (2, 9), (None, 0), (5, 5)]
    env, t_env = environment(engine)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    for name, rows in (("a", left), ("b", right)):
        types = Types.ROW_NAMED([f"{name}k", f"{name}v"], [Types.INT(), Types.INT()])
        t_env.create_temporary_view(name, env.from_collection([Row(*row) for row in rows], types))
    found = changes(t_env.sql_query(f"SELECT * FROM a {kind} b ON ak = bk AND av < bv"))
    assert {kind for kind, _ in found} == {RowKind.INSERT}
    assert left_of(found) == expected(left, right, KINDS[kind], lambda a, b: a[1] < b[1])


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([None, 1, 2, 3]), st.integers(0, 3)), max_size=15),
    st.lists(st.tuples(st.sampled_from([None, 1, 2, 4]), st.integers(0, 3)), max_size=15),
    st.sampled_from([*KINDS]),
    st.booleans(),
)
def test_in_batch_mode_many_rows_are_joined_by_block(left, right, kind, united):
    env, t_env = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    for name, rows in (("a", left), ("b", right)):
        types = Types.ROW_NAMED([f"{name}k", f"{name}v"], [Types.INT(), Types.INT()])
        t_env.create_temporary_view(name, env.from_collection([Row(*row) for row in rows], types))
    table = "(SELECT * FROM a UNION ALL SELECT ak, av FROM a)" if united else "a"
    with patch("flintstream.runtime.task.batch_input.BYTES_IN_ORDER", 0):
        found = changes(t_env.sql_query(f"SELECT * FROM {table} AS a {kind} b ON ak = bk AND av <= bv"))
    assert {kind for kind, _ in found} <= {RowKind.INSERT}
    assert left_of(found) == expected(left * (1 + united), right, KINDS[kind], lambda a, b: a[1] <= b[1])


@pytest.mark.parametrize(("what", "keeps"), [("IN", True), ("NOT IN", False)])
def test_in_batch_mode_rows_with_partners_are_found_by_block(what, keeps):
    env, t_env = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    types = Types.ROW_NAMED(["k"], [Types.INT()])
    t_env.create_temporary_view("a", env.from_collection([Row(i % 9) for i in range(50)], types))
    t_env.create_temporary_view("b", env.from_collection([Row(i) for i in range(5)], types))
    with patch("flintstream.runtime.task.batch_input.BYTES_IN_ORDER", 0):
        found = changes(t_env.sql_query(f"SELECT k FROM a WHERE k {what} (SELECT k FROM b)"))
    assert left_of(found) == Counter((i % 9,) for i in range(50) if (i % 9 < 5) == keeps)


def test_the_keys_of_a_comma_join_are_those_of_where():
    _, t_env = environment()
    query = "SELECT s, t FROM (VALUES (1, 'a'), (2, 'b')) AS x (i, s), (VALUES (1, 'c'), (3, 'd')) AS y (j, t) WHERE i = j AND s < t"
    table = t_env.sql_query(query)
    assert "where=[(i = j) AND " in table.explain()
    assert left_of(changes(table)) == Counter([("a", "c")])


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT 1 FROM a JOIN b ON ak", SqlError, "ON at line 1, column 27 needs a BOOLEAN, but got INT"),
        (
            "SELECT 1 FROM a JOIN b ON ak = bx",
            SqlError,
            "Column 'bx' not found at line 1, column 32; available: ak, av, bk, bv",
        ),
    ],
)
def test_a_wrong_join_is_named(query, error, message):
    env, t_env = environment()
    for name in "ab":
        view(env, t_env, name, [(True, 1, 1)])
    with pytest.raises(error, match=message):
        t_env.sql_query(query)
