"""The disk of the state log and of RocksDB is full: the job restarts until there is room, and its output is exact."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.faults.apart import ALONE, refusal
from tests.faults.rounds import PYTHON

pytestmark = [
    pytest.mark.spark,
    pytest.mark.deep,
    pytest.mark.skipif(bool(refusal()), reason=refusal()),
]

PROGRAM = """
import sys
from collections import Counter
from pathlib import Path
from tests.engine.sources import PacedSource
from tests.waiting import numbers_of, wait_for, wait_for_numbers
from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.testing import CollectSink

disk, checkpoints, backend, temporary = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "temporary"

class Heavy(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.weight = runtime_context.get_state(ValueStateDescriptor("weight", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.weight.update(bytes([value % 256]) * 50_000)
        yield value, count

env = StreamExecutionEnvironment.get_execution_environment({
    "flintstream.master": "local[2]",
    "flintstream.state.dir": f"{disk}/log",
    "state.backend.type": backend,
    "state.backend.rocksdb.localdir": f"{disk}/rocksdb",
    "execution.checkpointing.interval": "200 ms",
    "execution.checkpointing.dir": checkpoints,
    "flintstream.epoch.idle-duration": "50",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "100000" if temporary else "1",
    "restart-strategy.fixed-delay.delay": "200 ms",
}).set_parallelism(2)
sink = CollectSink()
numbers = env.from_source(PacedSource(None, 0.01), WatermarkStrategy.no_watermarks(), "paced").uid("numbers")
numbers.key_by(lambda n: n % 20).process(Heavy()).uid("heavy").sink_to(sink).uid("sink")
job = env.execute_async("heavy")
wait_for_numbers(job, numCheckpoints=2)
ballast = disk / "ballast"
with ballast.open("wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(1 << 12))
    except OSError as error:
        print("full:", error)
if not temporary:
    job.get_job_execution_result().result()
wait_for_numbers(job, numRestarts=2)
ballast.unlink()
wait_for_numbers(job, numCheckpoints=numbers_of(job)["numCheckpoints"] + 2)
job.stop_with_savepoint(False, checkpoints + "/savepoints").result()
rows = sorted(sink.get_results(True, False))
assert rows == [(n, n // 20 + 1) for n in range(len(rows))], rows
print("exact:", len(rows), "restarts:", numbers_of(job)["numRestarts"])
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the program where its state is on a small disk."""
    (tmp_path / "disk").mkdir()
    script = tmp_path / "heavy.py"
    script.write_text(PROGRAM, encoding="utf-8")
    small = ["sh", "-c", 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"', str(tmp_path / "disk")]
    unshared = ALONE[: ALONE.index("sh")]

    def run(backend, how):
        arguments = [str(tmp_path / "disk"), (tmp_path / "checkpoints").as_uri(), backend, how]
        return subprocess.run(  # noqa: S603 - our own program
            [*unshared, *small, sys.executable, str(script), *arguments],
            env={**os.environ, **PYTHON, "SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True, text=True, timeout=580, check=False,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_results_are_exact_after_there_is_room_again(run, backend):
    done = run(backend, "temporary")
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "exact:" in done.stdout


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_job_that_gives_up_names_the_file_and_the_reason(run, backend):
    done = run(backend, "for good")
    assert done.returncode == 1, done.stdout
    *_, error, last = done.stderr.rstrip().splitlines()
    reason = error if last.startswith("in operator ") else last  # a note names the operator whose own call failed
    assert "No space left on device" in reason, done.stderr[-3000:]
    assert "/disk/" in reason
