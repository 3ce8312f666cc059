"""SHOW JOBS, DESCRIBE JOB and STOP JOB."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._unopened import UnopenedEnvironment


@pytest.fixture
def t_env(tmp_path):
    options = {
        "flintstream.engine": "inline",
        "parallelism.default": "1",
        "execution.checkpointing.savepoint-dir": (tmp_path / "savepoints").as_uri(),
    }
    t_env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(options))
    t_env.execute_sql("CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')")
    t_env.execute_sql("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    return t_env


@pytest.fixture
def job(t_env):
    client = t_env.execute_sql("INSERT INTO nowhere SELECT n FROM numbers").get_job_client()
    job_id = str(client.get_job_id())
    while states(t_env)[job_id] != "RUNNING":
        time.sleep(0.02)
    yield job_id
    if states(t_env)[job_id] == "RUNNING":
        client.cancel().result()


def rows(t_env, statement):
    return [tuple(row) for row in t_env.execute_sql(statement).collect()]


def states(t_env):
    return {row[0]: row[2] for row in rows(t_env, "SHOW JOBS")}


def test_a_job_is_shown_with_its_name_state_and_start(t_env, job):
    t_env.get_config().set_local_timezone("Asia/Tokyo")
    result = t_env.execute_sql(f"DESCRIBE JOB '{job}'")
    assert result.get_table_schema().get_field_names() == ["job id", "job name", "status", "start time"]
    ((found, name, state, start),) = (tuple(row) for row in result.collect())
    assert (found, name, state) == (job, "insert-into_default_catalog.default_database.nowhere", "RUNNING")
    assert start.utcoffset().total_seconds() == 9 * 3600
    assert abs(start.timestamp() - time.time()) < 600
    assert (job, name, state, start) in rows(t_env, "SHOW JOBS")


def test_a_job_is_cancelled_without_a_savepoint(t_env, job):
    assert rows(t_env, f"STOP JOB '{job}'") == [("OK",)]
    assert states(t_env)[job] == "CANCELED"
    with pytest.raises(SqlError, match=rf"STOP JOB at line 1, column 10: no job '{job}' is running"):
        t_env.execute_sql(f"STOP JOB '{job}'")


@pytest.mark.parametrize("drain", ["", " WITH DRAIN"])
def test_a_job_stops_with_a_savepoint(t_env, job, tmp_path, drain):
    result = t_env.execute_sql(f"STOP JOB '{job}' WITH SAVEPOINT{drain}")
    assert result.get_table_schema().get_field_names() == ["savepoint path"]
    ((path,),) = (tuple(row) for row in result.collect())
    assert Path(path.removeprefix("file:")).is_relative_to(tmp_path / "savepoints")
    assert states(t_env)[job] == "FINISHED"


def test_what_cannot_be_is_refused(t_env):
    with pytest.raises(SqlError, match=r"WITH DRAIN.* could only be used after WITH SAVEPOINT"):
        t_env.execute_sql("STOP JOB 'x' WITH DRAIN")
    with pytest.raises(SqlError, match="DESCRIBE JOB at line 1, column 14: job 'x' does not exist"):
        t_env.execute_sql("DESCRIBE JOB 'x'")


def test_a_table_may_be_called_job(t_env):
    t_env.execute_sql("CREATE TABLE job (n INT) WITH ('connector' = 'blackhole')")
    assert rows(t_env, "DESCRIBE job")[0][0] == "n"


def test_a_check_of_a_program_stops_no_job(t_env, job):
    UnopenedEnvironment(batch=False).plan(f"STOP JOB '{job}'")
    assert states(t_env)[job] == "RUNNING"
