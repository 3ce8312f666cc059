"""Steps with the key of the step before leave rows in their subtasks, and have the results that they had without."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import DataTypes, StreamTableEnvironment
from flintstream.table.udf import udf

pytestmark = pytest.mark.slow

RANKED = "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS n FROM ({})) WHERE n <= {}"
INNER = "SELECT ak, av, bk, bv FROM a JOIN b ON ak = bk"
QUERIES = {
    "rank of an inner join": RANKED.format("ak, av, bv, n", "ak", "bv DESC, av", INNER, 2),
    "rank by the other key of it": RANKED.format("bk, av, bv", "bk", "av, bv DESC", INNER, 1),
    "rank of an outer join": RANKED.format(
        "ak, av, bv, n", "ak", "av, bv", "SELECT ak, av, bk, bv FROM a LEFT JOIN b ON ak = bk", 2
    ),
    "group of a rank": "SELECT ak, COUNT(*), SUM(av) FROM ("
    + RANKED.format("ak, av", "ak", "av", "SELECT * FROM a", 2)
    + ") GROUP BY ak",
    "join of groups": """
        SELECT x.k, x.s, y.c FROM (SELECT ak AS k, SUM(av) AS s FROM a GROUP BY ak) AS x
        JOIN (SELECT bk AS k, COUNT(*) AS c FROM b GROUP BY bk) AS y ON x.k = y.k""",
    "group of a join of two columns": """
        SELECT ak, av, COUNT(*) FROM a JOIN b ON ak = bk AND av = bv GROUP BY ak, av""",
}
IN_PLACE = {name: 2 if name == "join of groups" else 1 for name in QUERIES}
OTHERS = {
    "rank by another column": RANKED.format("av, bv", "av", "bv, ak", INNER, 1),
    "rank by the key that is NULL": RANKED.format(
        "bk, av, bv", "bk", "av, bv", "SELECT ak, av, bk, bv FROM a LEFT JOIN b ON ak = bk", 1
    ),
    "rank by a part of the key": RANKED.format(
        "ak, bv", "ak", "bv, av", "SELECT * FROM a JOIN b ON ak = bk AND av = bv", 1
    ),
    "group in another order": "SELECT av, ak, COUNT(*) FROM a JOIN b ON ak = bk AND av = bv GROUP BY av, ak",
}

rows = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.integers(0, 3)), max_size=12)


def environment(a=(), b=()):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(3)
    t_env = StreamTableEnvironment.create(env)
    for name, given_rows in (("a", a), ("b", b)):
        made = [Row(*fields) for fields in given_rows]
        kind = Types.ROW_NAMED([f"{name}k", f"{name}v"], [Types.INT(), Types.INT()])
        stream = env.from_collection(made, kind)
        t_env.create_temporary_view(name, t_env.from_data_stream(stream))
    return t_env


def left(t_env, query):
    found: Counter[tuple[object, ...]] = Counter()
    with t_env.sql_query(query).execute().collect() as changes:
        for row in changes:
            found[tuple(row)] += 1 if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER} else -1
    assert min(found.values(), default=0) >= 0
    return +found


def exchanges(t_env, query):
    return t_env.explain_sql(query).rpartition("==")[2].count("Exchange")


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=8, deadline=None)
@given(a=rows, b=rows)
def test_results_are_those_of_an_exchange(name, a, b):
    found = left(environment(a, b), QUERIES[name])
    nothing = "flintstream.table._plan"
    with (
        patch(f"{nothing}.over.leave_in_place"),
        patch(f"{nothing}.joins.leave_in_place"),
        patch(f"{nothing}.grouping.leave_in_place"),
    ):
        assert found == left(environment(a, b), QUERIES[name])


@pytest.mark.parametrize(("queries", "fewer"), [(QUERIES, IN_PLACE), (OTHERS, dict.fromkeys(OTHERS, 0))])
def test_only_equal_keys_need_no_exchange(queries, fewer):
    t_env = environment()
    for name, query in queries.items():
        steps = query.count("JOIN") * 2 + query.count("PARTITION") + query.count("GROUP BY")
        assert exchanges(t_env, query) == steps - fewer[name], name


def test_a_restart_finds_the_state_of_both_steps(tmp_path):
    failed = tmp_path / "failed"
    count = 3_000

    @udf(result_type=DataTypes.INT())
    def fail_once(v):
        if v == count - 5 and not failed.exists():
            failed.touch()
            raise RuntimeError("once")
        return v

    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("".join(f"{i % 50},{i}\n" for i in range(count if name == "a" else 50)))
    t_env = environment()
    for name in "ab":
        t_env.drop_temporary_view(name)
        t_env.execute_sql(
            f"CREATE TABLE {name} ({name}k INT, {name}v INT) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}.csv', 'format' = 'csv')"
        )
    t_env.create_temporary_function("fail_once", fail_once)
    t_env.get_config().set("execution.checkpointing.interval", "50 ms")
    t_env.get_config().set("restart-strategy.type", "fixed-delay")
    t_env.get_config().set("restart-strategy.fixed-delay.attempts", "2")
    t_env.get_config().set("restart-strategy.fixed-delay.delay", "0 s")
    query = RANKED.format(
        "ak, av, bv", "ak", "av DESC", "SELECT ak, fail_once(av) AS av, bk, bv FROM a JOIN b ON ak = bk", 1
    )
    assert left(t_env, query) == Counter({(k, count - 50 + k, k): 1 for k in range(50)})
    assert failed.exists()
