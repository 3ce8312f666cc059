"""Shared by the tests of streams: inline environments, and jobs that move to a new worker after every epoch."""

from __future__ import annotations

from flintstream.common import WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.runtime.task.stage import JobRuntime

SHORT_EPOCHS = {"flintstream.epoch.idle-duration": "20"}
NO_WATERMARKS = WatermarkStrategy.no_watermarks()
MODES = ("STREAMING", "BATCH")


def make_env(mode="STREAMING", parallelism=1, settings=None):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **(settings or {})})
    return env.set_runtime_mode(RuntimeExecutionMode[mode]).set_parallelism(parallelism)


def collect(stream):
    with stream.execute_and_collect() as results:
        return list(results)


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def by_second_field(env, records):
    """Return a stream of tuples whose second field is their event time."""
    return assign_second_field(env.from_collection(records))


def assign_second_field(stream):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    return stream.assign_timestamps_and_watermarks(strategy)


def move_every_epoch(monkeypatch):
    """Run every epoch of every subtask as if in a new worker, which has only the persisted state."""
    run = JobRuntime._run

    def moved(self, instruction, gate):
        self.subtasks.clear()
        return run(self, instruction, gate)

    monkeypatch.setattr(JobRuntime, "_run", moved)
