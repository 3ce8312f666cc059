"""Shared by the tests of streams: inline environments, and what the machine does to their jobs.

A job may move to a new worker after every epoch, and it may have a clock of its own.
"""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

from flintstream.common import WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.runtime.operators import source
from flintstream.runtime.task import streaming_input, subtask
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

    def moved(self, instruction, gate, *, waits):
        self.subtasks.clear()
        return run(self, instruction, gate, waits=waits)

    monkeypatch.setattr(JobRuntime, "_run", moved)


def stop_the_clock(monkeypatch):
    """Let no time pass for sources and functions, so that no epoch ends because time is up.

    On a machine that gives the process no CPU, any epoch may end early: the runtime cannot tell that from waiting.
    A test of what happens within one epoch must not depend on that.
    """
    _set_clock(monkeypatch, itertools.repeat(0.0))


def rush_the_clock(monkeypatch):
    """Let an hour pass whenever a source or a function looks at the clock, so that every epoch ends after a block."""
    _set_clock(monkeypatch, itertools.count(0.0, 3600.0))


def _set_clock(monkeypatch, seconds):
    clock = SimpleNamespace(monotonic=seconds.__next__, process_time=lambda: 0.0, sleep=time.sleep)
    for module in (source, streaming_input, subtask):
        monkeypatch.setattr(module, "time", clock)
