"""Jobs on Spark Connect whose server is killed and started again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack

import pyspark
import pytest
from tests.connect_server import TOKEN, NoServerError, running_server

from flintstream.common import Encoder, Types
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSink
from flintstream.datastream.state import ValueStateDescriptor

pytest.importorskip("grpc", reason="the extra 'connect' is not installed")
KILLS = 3
RECORDS = 3000


class SlowCount(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        time.sleep(0.02)
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()} {self.count.value()}"


def checkpoints(directory):
    return len(list(directory.rglob("_metadata")))


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_a_server_that_is_killed_and_started_again_loses_and_repeats_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", None)  # of another test in this process
    settings = {
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "100",
        "restart-strategy.fixed-delay.delay": "1 s",
    }
    with ExitStack() as servers:
        try:
            server = servers.enter_context(running_server())
        except NoServerError as error:
            pytest.skip(str(error))
        monkeypatch.setenv(TOKEN, server.token)
        env = StreamExecutionEnvironment.get_execution_environment({"flintstream.master": server.address, **settings})
        env.set_parallelism(2)
        counts = env.from_collection(list(range(RECORDS))).key_by(lambda number: number % 2)
        sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build()
        counts.process(SlowCount(), Types.STRING()).sink_to(sink)
        job = env.execute_async("kills")
        for kill in range(KILLS):
            until = time.monotonic() + 120
            while not checkpoints(tmp_path / "checkpoints") and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(3 + kill)
            assert job.get_job_status().result().name == "RUNNING", "the job ended before it was disturbed"
            os.killpg(server.process.pid, signal.SIGKILL)
            server = servers.enter_context(running_server(like=server))
        job.get_job_execution_result().result()

    lines = [line for file in (tmp_path / "out").rglob("part-*") for line in file.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{key} {n}" for key in (0, 1) for n in range(1, RECORDS // 2 + 1))
