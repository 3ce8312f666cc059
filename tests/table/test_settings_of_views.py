"""Views and tables of queries follow the settings that hold when they are run."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment

TEXT = "CAST(TO_TIMESTAMP_LTZ(4001, 3) AS STRING)"
ZONES = {"UTC": "00", "Asia/Shanghai": "08", "America/New_York": "19"}


@pytest.fixture
def t_env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    return StreamTableEnvironment.create(env)


def values(result):
    with result.collect() as rows:
        return [row[0] for row in rows]


def test_the_time_zone_is_read_when_a_view_is_run(t_env):
    t_env.execute_sql(f"CREATE VIEW v (s) AS SELECT {TEXT}")
    t_env.execute_sql("CREATE VIEW of_view AS SELECT s FROM v")
    table = t_env.sql_query(f"SELECT {TEXT} AS s")
    t_env.create_temporary_view("w", table)
    inline = f"SELECT s FROM {table}"
    for zone, hour in ZONES.items():
        t_env.get_config().set("table.local-time-zone", zone)
        found = [values(t_env.execute_sql(f"SELECT s FROM {name}")) for name in ("v", "of_view", "w")]
        found += [values(t_env.execute_sql(inline)), values(table.execute())]
        assert {text[11:13] for (text,) in found} == {hour}


def test_the_mode_is_read_when_a_view_is_run(t_env):
    t_env.execute_sql("CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM (VALUES ('a'), ('a')) AS t (k) GROUP BY k")
    for mode, changes in (("STREAMING", 3), ("BATCH", 1), ("STREAMING", 3)):
        t_env.get_config().set("execution.runtime-mode", mode)
        assert len(values(t_env.execute_sql("SELECT * FROM v"))) == changes


def test_names_in_a_view_mean_what_they_meant(t_env):
    for database, number in (("one_", 1), ("two_", 2)):
        t_env.execute_sql(f"CREATE DATABASE {database}")
        t_env.execute_sql(f"USE {database}")
        t_env.execute_sql(f"CREATE VIEW n AS SELECT {number} AS x")
    t_env.execute_sql("USE one_")
    t_env.execute_sql("CREATE VIEW v AS SELECT x FROM n")
    t_env.execute_sql("USE two_")
    t_env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    assert values(t_env.execute_sql("SELECT x FROM one_.v")) == [1]
    assert values(t_env.execute_sql("SELECT x FROM n")) == [2]
