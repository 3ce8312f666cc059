"""Whole programs on both engines, with failures and kills."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.connectors.jdbc.jobs import execution, options, query
from tests.connectors.jdbc.servers import PASSWORD
from tests.engine.conftest import make_env as both_engines
from tests.engine.conftest import make_inline_env as inline_engine
from tests.engine.conftest import make_spark_env as spark_engine
from tests.engine.faults import Faults, FaultyMap
from tests.engine.sources import PacedSource

from flintstream.common import Row, Types
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.jdbc import JdbcError
from flintstream.datastream.connectors.jdbc import JdbcSink
from flintstream.errors import notes

make_env, make_inline_env, make_spark_env = both_engines, inline_engine, spark_engine

COUNTS = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()])
UPSERT = (
    "INSERT INTO counts (word, n) VALUES (?, ?) "
    "ON CONFLICT (word) DO UPDATE SET n = excluded.n, times = counts.times + 1"
)
TABLE = "CREATE TABLE counts (word VARCHAR(20) PRIMARY KEY, n BIGINT, times INT DEFAULT 1)"
NUMBERS = 60
WORDS = 7


def settings(tmp_path):
    return {
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "20",
        "restart-strategy.fixed-delay.delay": "1 ms",
        "flintstream.epoch.idle-duration": "20",
    }


def counting(env, faults, sink):
    """Count the numbers by their remainder, and write each count."""
    stream = env.from_source(PacedSource(NUMBERS, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    words = stream.map(FaultyMap(faults)).map(
        lambda n: Row(f"word {n % WORDS}", 1), Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.LONG()])
    )
    counts = words.key_by(lambda row: row[0], Types.STRING()).reduce(lambda a, b: Row(word=a[0], n=a[1] + b[1]))
    counts.add_sink(sink).name("to the shop")


EXPECTED = {f"word {word}": len(range(word, NUMBERS, WORDS)) for word in range(WORDS)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "shop.db"
    query(path, TABLE)
    return path


def test_an_upsert_is_as_good_as_once_whatever_fails(make_env, tmp_path, path):
    faults = Faults(tmp_path / "faults", [("map", 20), ("map", 45)])
    sink = JdbcSink.sink(UPSERT, COUNTS, options(f"jdbc:sqlite:{path}"), execution(size=4))
    counting(env := make_env(2, settings(tmp_path)), faults, sink)
    env.execute()
    assert faults.happened() == faults.planned()
    assert dict(query(path, "SELECT word, n FROM counts")) == EXPECTED
    assert query(path, "SELECT SUM(times) FROM counts")[0][0] >= NUMBERS


@pytest.mark.kills
@pytest.mark.spark
def test_an_upsert_is_as_good_as_once_although_workers_are_killed(postgresql, make_spark_env, tmp_path):
    postgresql.execute("DROP TABLE IF EXISTS counts")
    postgresql.execute(TABLE)
    faults = Faults(tmp_path / "faults", [("map", 20), ("map", 45)], "kill")
    sink = JdbcSink.sink(UPSERT, COUNTS, options(postgresql.url, "me", PASSWORD), execution(size=4))
    counting(env := make_spark_env(2, settings(tmp_path)), faults, sink)
    env.execute()
    assert faults.happened() == faults.planned()
    assert dict(postgresql.execute("SELECT word, n FROM counts")) == EXPECTED
    assert all(PASSWORD.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


KILLED = """
import sys
from tests.connectors.jdbc.test_engines import *
from tests.datastream.inline import make_env

directory, url, password = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
env = make_env(settings=settings(directory) | {"flintstream.resume": "true"})
faults = Faults(directory / "faults", [("map", 20), ("map", 30), ("map", 45)], "kill")
counting(env, faults, JdbcSink.sink(UPSERT, COUNTS, options(url, "me", password), execution(size=4)))
env.execute("killed")
"""


@pytest.mark.kills
def test_an_upsert_is_as_good_as_once_although_the_whole_process_is_killed(postgresql, tmp_path):
    postgresql.execute("DROP TABLE IF EXISTS counts")
    postgresql.execute(TABLE)
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    command = [sys.executable, str(script), str(tmp_path), postgresql.url, PASSWORD]
    codes = [subprocess.run(command, env=environment, check=False).returncode for _ in range(4)]  # noqa: S603
    assert codes == [-9, -9, -9, 0]
    assert dict(postgresql.execute("SELECT word, n FROM counts")) == EXPECTED


def test_without_checkpoints_all_is_written_in_batch_mode(make_env, path):
    env = make_env(2, {"execution.runtime-mode": "BATCH"})
    rows = [Row(f"word {n}", n) for n in range(1000)]
    sink = JdbcSink.sink(UPSERT, COUNTS, options(f"jdbc:sqlite:{path}"))
    env.from_collection(rows, COUNTS).add_sink(sink)
    env.execute()
    assert query(path, "SELECT COUNT(*), SUM(n), SUM(times) FROM counts") == [(1000, sum(range(1000)), 1000)]


def test_a_failure_names_operator_statement_and_record(make_env, path):
    env = make_env(1, {"restart-strategy.type": "none"})
    sink = JdbcSink.sink("INSERT INTO counts VALUES (?, ?, 1)", COUNTS, options(f"jdbc:sqlite:{path}"), execution())
    env.from_collection([("a", 1), ("b", 2), ("a", 3)]).add_sink(sink).name("to the shop")
    with pytest.raises(JdbcError) as caught:
        env.execute()
    message = str(caught.value)
    assert "in operator 'to the shop', subtask 1" in notes(caught.value)[0]
    assert "INSERT INTO counts VALUES (?, ?, 1)" in message
    assert "the first rejected record is number 3 of 3 in the batch: ('a', 3)" in message


def test_no_password_is_in_plans_logs_failures_or_checkpoints(make_inline_env, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    env = make_inline_env(1, settings(tmp_path) | {"restart-strategy.fixed-delay.attempts": "1"})
    url = "jdbc:postgresql://127.0.0.1:9/shop?connectTimeout=1"
    sink = JdbcSink.sink(UPSERT, COUNTS, options(url, "me", "s/ecret"), execution(retries=0))
    env.from_collection([("a", 1)]).add_sink(sink)
    plan = env.get_execution_plan()
    with pytest.raises(JdbcError, match="cannot connect to jdbc:postgresql://127") as caught:
        env.execute()
    error: BaseException | None = caught.value
    while error is not None:
        assert "s/ecret" not in f"{error} {getattr(error, '__notes__', '')}"
        error = error.__cause__
    assert "s/ecret" not in plan + caplog.text
    assert all(b"s/ecret" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_sink_without_records_leaves_no_connection(postgresql, make_inline_env):
    env = make_inline_env(1)
    sink = JdbcSink.sink(UPSERT, COUNTS, options(postgresql.url + "?ApplicationName=idle", "me", PASSWORD))
    env.from_collection([("a", 1)]).filter(lambda _: False).add_sink(sink)
    env.execute()
    with closing(postgresql.connect("shop")) as connection:
        found = connection.execute("SELECT * FROM pg_stat_activity WHERE application_name = 'idle'").fetchall()
    assert found == []
