"""Enumerators are notified of completed checkpoints, and writers of the run of the job."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.datastream.inline import make_env

from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream.functions import MapFunction

TOLD: list[int] = []
RUNS: list[tuple[str, int]] = []


@dataclass
class Part(SourceSplit):
    position: int


class Slow(Source):
    """Numbers, one per call of ``read``."""

    def __init__(self, numbers):
        self.numbers = numbers

    def create_enumerator(self, parallelism):
        return Enumerator([Part("0", 0)])

    def create_reader(self):
        return Reader(self.numbers)


class Enumerator(StaticEnumerator):
    def checkpoint_completed(self, progress):
        TOLD.append(max(progress))


class Reader(SourceReader):
    def __init__(self, numbers):
        self.numbers = numbers
        self.position = 0

    def read(self, split, fetch):
        while split.position < self.numbers:
            split.position += 1
            self.position = split.position
            yield [split.position]
            return False
        return True

    def progress(self, splits):
        return self.position


class FailOnce(MapFunction):
    def __init__(self, marker):
        self.marker = marker

    def map(self, value):
        if value == 3 and not self.marker.exists():
            self.marker.touch()
            raise ValueError("once")
        return value


class Runs(Sink):
    def create_writer(self, context):
        RUNS.append((context.run, context.subtask))
        return Writer()


class Writer(SinkWriter):
    def write(self, values, timestamps):
        pass


@pytest.fixture
def environment(tmp_path):
    TOLD.clear()
    RUNS.clear()
    settings = {
        "execution.checkpointing.interval": "10 ms",
        "execution.checkpointing.dir": tmp_path.as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "1 ms",
        "flintstream.epoch.idle-duration": "20",
    }
    return make_env(parallelism=2, settings=settings)


def test_an_enumerator_is_told_what_checkpoints_contain_and_at_last_of_the_end(environment):
    environment.from_source(Slow(5), WatermarkStrategy.no_watermarks(), "slow").sink_to(Runs())
    environment.execute()
    assert sorted(TOLD) == TOLD
    assert TOLD[-1] == 5


def test_an_enumerator_is_told_nothing_without_checkpoints():
    TOLD.clear()
    environment = make_env()
    environment.from_source(Slow(5), WatermarkStrategy.no_watermarks(), "slow").sink_to(Runs())
    environment.execute()
    assert TOLD == []


def test_all_writers_of_a_run_know_it_and_another_run_is_another_one(environment, tmp_path):
    stream = environment.from_source(Slow(5), WatermarkStrategy.no_watermarks(), "slow")
    stream.map(FailOnce(tmp_path / "failed")).sink_to(Runs())
    environment.execute()
    runs = {run for run, _ in RUNS}
    assert len(runs) == 2
    assert {subtask for run, subtask in RUNS if run == RUNS[0][0]} == {0, 1}
