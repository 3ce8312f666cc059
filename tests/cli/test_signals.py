"""SIGTERM and SIGHUP end a program on Spark: nothing is left of it, and another start continues its job."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.engine.tally import expected
from tests.faults.processes import below, wait_for_end
from tests.faults.rounds import PYTHON, canonical
from tests.waiting import wait_for

from flintstream.coordinator import registry

pytestmark = [
    pytest.mark.spark,
    pytest.mark.kills,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which processes are left"),
]

PROGRAM = """
import sys
import flintstream.compat.pyflink
flintstream.compat.pyflink.install()
from pyflink.common import Configuration, Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from tests.engine.tally import tally

limit, directory, how = int(sys.argv[1]), sys.argv[2], sys.argv[3]
settings = {
    "flintstream.master": "local[2]",
    "spark.local.dir": directory + "/tmp",
    "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={directory}/tmp -XX:-UsePerfData",
    "flintstream.epoch.idle-duration": "50",
    "flintstream.resume": "true",
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.dir": f"file://{directory}/checkpoints",
    "state.backend.type": sys.argv[4],
}
env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(2)
sink = FileSink.for_row_format(directory + "/output", Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
tally(env, limit if limit >= 0 else None, 0.01, sink=sink)
client = env.execute_async("counting")
print("started", flush=True)
if how == "wait":
    client.get_job_execution_result().result()
elif how == "sleep":
    import time
    time.sleep(3600)
"""


class Job:
    """The starts of one program."""

    def __init__(self, directory, backend="hashmap"):
        self.directory = directory
        self.backend = backend
        self.script = directory / "counting.py"
        self.script.write_text(PROGRAM, encoding="utf-8")
        (directory / "tmp").mkdir()
        self.environment = {
            **os.environ,
            **PYTHON,
            "TMPDIR": str(directory / "tmp"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            registry.DIRECTORY: str(directory / "jobs"),
        }
        self.seen = set()

    def start(self, command, limit=-1, how="wait"):
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, *command, str(self.script), str(limit), str(self.directory), how, self.backend],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def lines(self):
        files = [path for path in (self.directory / "output").rglob("*") if path.is_file()]
        lines = [line for path in files if not path.name.startswith(".") for line in path.read_text().splitlines()]
        return sorted(map(canonical, lines))

    def wait_for_lines(self, count):
        def committed():
            assert self.process.poll() is None, self.process.communicate()
            self.seen.update(below(self.process.pid))
            return len(self.lines())

        wait_for(committed, until=count.__le__)

    def end(self, number):
        self.seen.update(below(self.process.pid))
        if self.process.poll() is None:
            self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=300)
        return self.process.returncode, output

    def left(self):
        """Return the processes and the temporary files that are left."""
        running = wait_for(lambda: [item for item in self.seen if Path(f"/proc/{item.pid}").exists()], until=[].__eq__)
        files = wait_for(lambda: sorted(map(str, (self.directory / "tmp").iterdir())), until=[].__eq__)
        return running, files


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.communicate()
    wait_for_end(made.seen, 10)


RUN = ["-m", "flintstream.cli", "run"]


@pytest.mark.parametrize(
    ("number", "command", "how", "backend"),
    [
        (signal.SIGTERM, RUN, "wait", "rocksdb"),
        pytest.param(signal.SIGTERM, [], "sleep", "hashmap", marks=pytest.mark.deep),
        pytest.param(signal.SIGHUP, RUN, "wait", "hashmap", marks=pytest.mark.deep),
        pytest.param(signal.SIGHUP, [], "wait", "rocksdb", marks=pytest.mark.deep),
    ],
    ids=["run", "python", "run-hup", "python-hup"],
)
def test_a_signal_leaves_nothing_but_checkpoints(job, number, command, how, backend):
    job.backend = backend
    job.start(command, how=how)
    job.wait_for_lines(20)
    code, output = job.end(number)
    assert code == 128 + number, output
    assert "Traceback" not in output
    assert job.left() == ([], [])

    limit = len(job.lines()) + 20
    job.start(command, limit)
    output, _ = job.process.communicate(timeout=300)
    assert job.process.returncode == 0, output
    assert job.lines() == sorted(canonical(str(row)) for row in expected(range(limit)))


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(6))
def test_signals_at_random_moments_neither_lose_nor_repeat_a_record(tmp_path, seed):
    rng = random.Random(seed)
    job = Job(tmp_path, rng.choice(["hashmap", "rocksdb"]))
    command = rng.choice([RUN, []])
    for _ in range(5):
        job.start(command)
        if rng.random() < 0.5:
            job.wait_for_lines(len(job.lines()) + 1)
        time.sleep(rng.uniform(0, 3))
        number = rng.choice([signal.SIGTERM, signal.SIGHUP])
        code, output = job.end(number)
        assert code in {128 + number, -number}, output  # by the signal itself, before there is a job
        assert job.left() == ([], [])
    limit = len(job.lines()) + 20
    job.start(command, limit)
    output, _ = job.process.communicate(timeout=300)
    assert job.process.returncode == 0, output
    assert job.lines() == sorted(canonical(str(row)) for row in expected(range(limit)))
