"""``table.optimizer.non-deterministic-update.strategy``: which queries it refuses, beside those recorded from PyFlink."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import DataTypes, StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.udf import udf

KEY = "table.optimizer.non-deterministic-update.strategy"


@pytest.fixture
def t_env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", KEY: "TRY_RESOLVE"})
    t_env = StreamTableEnvironment.create(env.set_parallelism(1))
    t_env.create_temporary_view("t", t_env.from_elements([(1, "a"), (2, "b"), (2, "c")], ["k", "v"]))
    t_env.create_temporary_function("chance", udf(chance, result_type=DataTypes.BIGINT(), deterministic=False))
    t_env.create_temporary_function("sure", udf(chance, result_type=DataTypes.BIGINT()))
    return t_env


def chance(k):
    return k


GROUPS = "SELECT k, COUNT(*) AS c, {} AS x FROM t GROUP BY k"


@pytest.mark.parametrize("call", ["UUID()", "NOW()", "RAND()", "UNIX_TIMESTAMP()", "chance(k)", "1 + chance(k)"])
def test_results_that_differ_from_call_to_call_do_not_follow_updates(t_env, call):
    with pytest.raises(SqlError, match=rf"the column 'x' has results .*{call.partition('(')[0].rpartition(' ')[2]}"):
        t_env.execute_sql(GROUPS.format(call))


@pytest.mark.parametrize("call", ["'x'", "UNIX_TIMESTAMP('2020-01-01 00:00:00')", "sure(k)", "UPPER('x')"])
def test_results_that_are_always_the_same_do(t_env, call):
    assert len(list(t_env.execute_sql(GROUPS.format(call)).collect())) == 4


def test_a_condition_is_checked_as_well(t_env):
    with pytest.raises(SqlError, match="a condition has results of the non-deterministic function RAND"):
        t_env.execute_sql("SELECT k FROM (SELECT k, COUNT(*) AS c FROM t GROUP BY k) AS q WHERE c > RAND()")


def test_columns_that_nothing_needs_are_not_checked(t_env):
    rows = t_env.execute_sql(f"SELECT k, c FROM ({GROUPS.format('UUID()')}) AS q").collect()
    assert len(list(rows)) == 4


def test_rows_that_never_change_may_have_any_results(t_env):
    assert len(list(t_env.execute_sql("SELECT k, UUID() AS u, chance(k) AS c FROM t").collect())) == 3


def test_a_sink_with_the_key_of_the_query_finds_its_rows_by_it(t_env):
    columns = "k BIGINT, c BIGINT, x STRING"
    t_env.execute_sql(f"CREATE TABLE keyed ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole')")
    t_env.execute_sql(f"CREATE TABLE whole ({columns}) WITH ('connector' = 'blackhole')")
    t_env.execute_sql(f"INSERT INTO keyed {GROUPS.format('UUID()')}").wait()
    with pytest.raises(SqlError, match="write to a table whose PRIMARY KEY"):
        t_env.execute_sql(f"INSERT INTO whole {GROUPS.format('UUID()')}")


def test_without_the_option_queries_run_as_they_are(t_env):
    t_env.get_config().set(KEY, "IGNORE")
    assert len(list(t_env.execute_sql(GROUPS.format("UUID()")).collect())) == 4


def test_a_wrong_value_of_the_option_is_refused(t_env):
    t_env.get_config().set(KEY, "RESOLVE")
    with pytest.raises(ValueError, match=re.escape(KEY)):
        t_env.execute_sql(GROUPS.format("1"))
