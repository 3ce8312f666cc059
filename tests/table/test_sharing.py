"""Equal parts of the plans of a job run once, as in Flink."""

from collections import Counter
from types import MappingProxyType

import pytest

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import DataTypes, ExplainDetail, StreamTableEnvironment
from flintstream.table.udf import udf, udtf

WINDOWS = "TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
COUNTS = f"(SELECT k, window_start, window_end, COUNT(*) AS n FROM {WINDOWS} GROUP BY k, window_start, window_end)"
MOST = f"(SELECT window_end, MAX(n) AS n FROM {COUNTS} GROUP BY window_start, window_end)"


@pytest.fixture
def make_t_env(tmp_path):
    (tmp_path / "readings.csv").write_text("a,1,0\nb,2,100\na,3,200\nb,4,1500\nb,5,1600\nc,6,1700\n")

    def make(options=MappingProxyType({})):
        settings = {"flintstream.engine": "inline", **options}
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(1)
        t_env = StreamTableEnvironment.create(env)
        t_env.execute_sql(
            "CREATE TABLE readings (k STRING, v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/readings.csv', 'format' = 'csv')"
        )
        return t_env

    return make


def steps(t_env, query):
    """Return how many steps of each name a query has."""
    plan = t_env._session.describe_plan(lambda: t_env._executor.stream_of(t_env.sql_query(query)._node))
    return Counter(line.partition('"type": "')[2].partition('"')[0] for line in plan.splitlines() if '"type"' in line)


def sources(t_env, query):
    return sum(count for name, count in steps(t_env, query).items() if name.startswith("Source"))


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return sorted(map(str, found))


JOIN = f"SELECT c.k, c.n FROM {COUNTS} AS c JOIN {MOST} AS m ON c.window_end = m.window_end AND c.n >= m.n"


def test_a_group_that_two_sides_of_a_join_need_is_computed_once(make_t_env):
    shared, apart = make_t_env(), make_t_env({"table.optimizer.reuse-sub-plan-enabled": "false"})
    assert sources(shared, JOIN) == 1
    assert sources(apart, JOIN) == 2
    windows = [
        sum(n for name, n in steps(t_env, JOIN).items() if "WindowAggregate" in name) for t_env in (shared, apart)
    ]
    assert windows == [2, 3]
    assert rows(shared, JOIN) == rows(apart, JOIN) == ["<Row('a', 2)>", "<Row('b', 2)>"]


def test_sources_stay_apart_if_an_option_says_so(make_t_env):
    query = "SELECT k, v FROM readings WHERE v < 3 UNION ALL SELECT k, v + 1 FROM readings"
    assert sources(make_t_env(), query) == 1
    t_env = make_t_env({"table.optimizer.reuse-source-enabled": "false"})
    assert sources(t_env, query) == 2
    assert rows(t_env, query) == rows(make_t_env(), query)


def test_a_table_united_with_itself_has_each_row_twice(make_t_env):
    found = rows(make_t_env(), "SELECT k, v FROM readings UNION ALL SELECT k, v FROM readings")
    assert set(Counter(found).values()) == {2}


def test_a_table_joined_with_itself_meets_itself(make_t_env):
    query = "SELECT l.k, l.v, r.v AS w FROM readings l JOIN readings r ON l.k = r.k"
    assert rows(make_t_env(), query) == rows(make_t_env({"table.optimizer.reuse-sub-plan-enabled": "false"}), query)


@pytest.mark.parametrize("value", ["RAND()", "UUID()", "f(v)"])
def test_values_that_may_differ_each_time_are_computed_for_each_query(make_t_env, value):
    t_env = make_t_env()
    t_env.create_temporary_function("f", udf(lambda n: n, result_type=DataTypes.INT(), deterministic=False))
    one = f"(SELECT k, {value} AS x FROM readings)"
    query = f"SELECT l.k, l.x, r.x AS y FROM {one} l JOIN {one} r ON l.k = r.k"
    found = steps(t_env, query)
    assert found["Calc"] + found["PythonCalc"] >= 2
    assert sources(t_env, query) == 1


@pytest.mark.parametrize(("deterministic", "runs"), [(True, 1), (False, 2)])
def test_a_table_function_runs_once_unless_its_results_may_differ(make_t_env, deterministic, runs):
    t_env = make_t_env()
    split = udtf(lambda n: [(n,), (n + 1,)], result_types=[DataTypes.INT()], deterministic=deterministic)
    t_env.create_temporary_function("split", split)
    one = "(SELECT k, x FROM readings, LATERAL TABLE(split(v)) AS s(x))"
    query = f"SELECT l.k, l.x, r.x AS y FROM {one} l JOIN {one} r ON l.k = r.k"
    assert steps(t_env, query)["Correlate"] == runs


def test_expressions_that_differ_in_a_constant_stay_apart(make_t_env):
    query = "SELECT v + 1 AS v FROM readings UNION ALL SELECT v + 2 AS v FROM readings"
    assert rows(make_t_env(), query) == sorted(f"<Row({v + n})>" for v in range(1, 7) for n in (1, 2))


def test_inserts_of_one_job_read_a_table_once(make_t_env, capsys):
    t_env = make_t_env()
    for name in ("one", "two"):
        t_env.execute_sql(f"CREATE TABLE {name} (k STRING, v INT) WITH ('connector' = 'print')")
    inserts = t_env.create_statement_set()
    inserts.add_insert_sql("INSERT INTO one SELECT k, v FROM readings WHERE v > 5")
    inserts.add_insert_sql("INSERT INTO two SELECT k, v FROM readings WHERE v < 2")
    assert inserts.explain(ExplainDetail.JSON_EXECUTION_PLAN).count('"type": "Source') == 1
    inserts.execute().wait()
    assert sorted(capsys.readouterr().out.split("\n")[:2]) == ["+I[a, 1]", "+I[c, 6]"]


def test_inserts_that_need_other_columns_read_a_table_once(make_t_env, capsys):
    t_env = make_t_env()
    t_env.execute_sql("CREATE TABLE one (k STRING) WITH ('connector' = 'print')")
    t_env.execute_sql("CREATE TABLE two (v INT) WITH ('connector' = 'print')")
    inserts = t_env.create_statement_set()
    inserts.add_insert_sql("INSERT INTO one SELECT k FROM readings WHERE ms > 1600")
    inserts.add_insert_sql("INSERT INTO two SELECT v FROM readings WHERE k = 'c'")
    assert inserts.explain(ExplainDetail.JSON_EXECUTION_PLAN).count('"type": "Source') == 1
    inserts.execute().wait()
    assert sorted(capsys.readouterr().out.split("\n")[:2]) == ["+I[6]", "+I[c]"]


def test_jobs_do_not_share_streams(make_t_env):
    t_env = make_t_env()
    assert rows(t_env, "SELECT k FROM readings") == rows(t_env, "SELECT k FROM readings")
