"""The clock of the machine is set while a job runs. Durations are measured on another one, which nothing sets."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.engine.tally import Millis, expected, ordered, tally
from tests.faults.rounds import PYTHON
from tests.waiting import numbers_of, wait_for, wait_for_numbers

from flintstream.common import Duration, Types, WatermarkStrategy
from flintstream.common.job_status import JobStatus
from flintstream.common.watermark_strategy import WatermarkGenerator
from flintstream.datastream.functions import KeyedProcessFunction, MapFunction
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

HOUR = 3600


@pytest.fixture
def put(monkeypatch):
    """Return a function that puts the clock this many seconds forward from the true time."""
    real, real_ns, ahead = time.time, time.time_ns, [0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + ahead[0] * 1_000_000_000)

    def put(seconds):
        ahead[0] = seconds

    return put


def with_checkpoints(tmp_path):
    return {
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "flintstream.epoch.idle-duration": "20",
    }


@pytest.mark.parametrize("changelog", ["false", "true"])
def test_checkpoints_go_on(make_inline_env, tmp_path, put, changelog):
    materialize = {"state.changelog.enabled": changelog, "state.changelog.periodic-materialize.interval": "100 ms"}
    env = make_inline_env(1, with_checkpoints(tmp_path) | materialize)
    tally(env, None)
    job = env.execute_async("tally")
    wait_for_numbers(job, numCheckpoints=2)
    for seconds in (-HOUR, HOUR, -2 * HOUR):
        put(seconds)
        wait_for_numbers(job, numCheckpoints=numbers_of(job)["numCheckpoints"] + 3)
    job.cancel().result()


class Once(MapFunction):
    """Fail at number 5 while a file does not exist."""

    def __init__(self, marker):
        self.marker = str(marker)

    def map(self, value):
        if value == 5 and not Path(self.marker).exists():
            Path(self.marker).touch()
            raise ValueError("this time it fails")
        return value


def test_a_restart_is_not_put_off(make_inline_env, tmp_path, put):
    strategy = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "2 s",
    }
    env = make_inline_env(1, with_checkpoints(tmp_path) | strategy)
    sink = tally(env, 10, fail_at=5, marker=tmp_path / "failed")
    job = env.execute_async("tally")
    wait_for(lambda: job.get_job_status().result(), until=lambda status: status is JobStatus.RESTARTING)
    put(-HOUR)
    wait_for(lambda: job.get_job_status().result(), until=lambda status: status is JobStatus.FINISHED)
    assert ordered(sink.get_results(True, False)) == expected(range(10))


class Own(WatermarkGenerator):
    """Watermarks of a user, which are emitted periodically."""

    latest = -1

    def on_event(self, value, timestamp, output):
        self.latest = timestamp

    def on_periodic_emit(self, output):
        output.emit_watermark(self.latest)


class Echo(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)

    def on_timer(self, timestamp, ctx):
        yield timestamp


@pytest.mark.parametrize("own", [False, True])
def test_watermarks_of_a_slow_stream_go_on(make_inline_env, tmp_path, put, own):
    env = make_inline_env(1, with_checkpoints(tmp_path))
    monotonous = WatermarkStrategy.for_monotonous_timestamps()
    strategy = WatermarkStrategy.for_generator(Own) if own else monotonous
    numbers = env.from_source(PacedSource(None, 0.01), WatermarkStrategy.no_watermarks(), "paced")
    numbers = numbers.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Millis()))
    numbers.key_by(lambda n: 0).process(Echo(), Types.LONG()).map(lambda n: n).name("fired").sink_to(CollectSink())
    job = env.execute_async("watermarks")

    def fired():
        return numbers_of(job).get("fired.numRecordsIn", 0)

    wait_for(fired, job, until=lambda count: count > 0)
    for seconds in (-HOUR, HOUR, -2 * HOUR):
        put(seconds)
        wait_for(fired, job, until=(fired() + 30).__lt__)
    job.cancel().result()


class Recorded:
    def __init__(self):
        self.idle = []

    def emit(self, values, timestamps):
        pass

    def emit_watermark(self, timestamp):
        pass

    def emit_idle(self, idle):
        self.idle.append(idle)


def test_a_stream_does_not_become_idle_because_the_clock_is_set_forward(put):
    output = Recorded()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_minutes(30))
    operator = TimestampsAndWatermarksOperator(strategy)
    runtime = StreamingRuntimeContext("watermarks", 0, 1, 128, {}, None)
    context = OperatorContext("watermarks", 0, 1, 128, False, runtime, auto_watermark_interval_ms=1)
    operator.setup(context, output, {})
    operator.process([1], [1])
    put(HOUR)
    for position in range(5):
        time.sleep(0.002)  # the interval of watermarks
        operator.on_processing_time(time.time_ns() // 1_000_000)
        if position == 2:
            operator.restore(operator.snapshot())
            put(2 * HOUR)
    assert output.idle == []


JUMPING = """
import sys
import time
from pathlib import Path

real, real_ns, steady = time.time, time.time_ns, time.monotonic

def ahead():
    return (0, -3600, 3600)[int(steady()) % 3]  # every second

time.time = lambda: real() + ahead()
time.time_ns = lambda: real_ns() + ahead() * 1_000_000_000
"""

PROGRAM = """
import jumping
import sys
from flintstream.common import Encoder, Time, Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSink, RollingPolicy
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import StateTtlConfig, ValueStateDescriptor
from flintstream.datastream.window import TumblingEventTimeWindows
from tests.engine.sources import PacedSource
from tests.engine.tally import Millis

class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        import jumping  # in the worker
        kept = ValueStateDescriptor("kept", Types.LONG())
        kept.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(24)).build())
        self.kept = runtime_context.get_state(kept)

    def process_element(self, value, ctx):
        count = (self.kept.value() or 0) + 1
        self.kept.update(count)
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 10)
        yield f"c {value % 5} {count}"

    def on_timer(self, timestamp, ctx):
        pass

output, checkpoints, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
env = StreamExecutionEnvironment.get_execution_environment({
    "flintstream.master": "local[2]",
    "execution.checkpointing.interval": "200 ms",
    "execution.checkpointing.dir": checkpoints,
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "100",
    "restart-strategy.fixed-delay.delay": "1500 ms",
    "flintstream.epoch.idle-duration": "50",
}).set_parallelism(2)
strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Millis())
numbers = env.from_source(PacedSource(limit, 0.02), WatermarkStrategy.no_watermarks(), "paced")
numbers = numbers.assign_timestamps_and_watermarks(strategy)
counts = numbers.key_by(lambda n: n % 5).process(Count(), Types.STRING())
windows = numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
sums = windows.reduce(lambda a, b: a + b).map(lambda total: f"s {total}", Types.STRING())
sink = FileSink.for_row_format(output, Encoder.simple_string_encoder())
counts.union(sums).sink_to(sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build())
result = env.execute("jumping")
print(result.get_all_accumulator_results()["numCheckpoints"])
"""


@pytest.mark.spark
@pytest.mark.deep
def test_results_are_exact_on_spark_while_the_clock_jumps_every_second(tmp_path):
    (tmp_path / "jumping.py").write_text(JUMPING, encoding="utf-8")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    limit, output = 400, tmp_path / "output"
    path = os.pathsep.join([str(tmp_path), PYTHON["PYTHONPATH"]])
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(script), str(output), (tmp_path / "checkpoints").as_uri(), str(limit)],
        env={**os.environ, **PYTHON, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True, text=True, timeout=580, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3
    files = [path for path in output.rglob("*") if path.is_file() and not path.name.startswith(".")]
    found = sorted(line for path in files for line in path.read_text().splitlines())
    counts = [f"c {key} {count}" for key in range(5) for count in range(1, limit // 5 + 1)]
    sums = [f"s {sum(range(start, start + 10))}" for start in range(0, limit, 10)]
    assert found == sorted(counts + sums)
