"""A program that was written for PyFlink."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.connectors.jdbc.jobs import query

PROGRAM = """
import sys
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors import JdbcSink
from pyflink.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions

env = StreamExecutionEnvironment.get_execution_environment()
env.add_jars("file:///jars/flink-connector-jdbc.jar", "file:///jars/sqlite-jdbc.jar")
type_info = Types.ROW([Types.INT(), Types.STRING(), Types.STRING(), Types.INT()])
env.from_collection(
    [(101, "Stream Processing with Apache Flink", "Fabian Hueske", 2019), (102, "Streaming Systems", "Akidau", 2018)],
    type_info=type_info,
).add_sink(
    JdbcSink.sink(
        "insert into books (id, title, authors, year) values (?, ?, ?, ?)",
        type_info,
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        .with_url("jdbc:sqlite:" + sys.argv[1])
        .with_driver_name("org.sqlite.JDBC")
        .with_user_name("nobody")
        .with_password("nothing")
        .build(),
        JdbcExecutionOptions.builder().with_batch_interval_ms(1000).with_batch_size(200).with_max_retries(5).build(),
    )
)
env.execute()
"""


def test_a_program_for_pyflink_runs_as_it_is(tmp_path):
    script, path = tmp_path / "books.py", tmp_path / "books.db"
    script.write_text(PROGRAM, encoding="utf-8")
    query(path, "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, authors TEXT, year INTEGER)")
    command = [sys.executable, "-m", "flintstream.cli", "run", "-Dflintstream.engine=inline", str(script), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert query(path, "SELECT id, year FROM books ORDER BY id") == [(101, 2019), (102, 2018)]
