"""Sources whose splits have separate event times."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
from tests.datastream.inline import SecondField, make_env, move_every_epoch

from flintstream.common import Duration, Types
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream.functions import ProcessFunction

pytestmark = pytest.mark.slow


@dataclass
class Part(SourceSplit):
    position: int
    end: int
    quiet: bool = False


class Parts(Source):
    """Each split has the times from 0; a quiet one has no records, and does not end before the others."""

    watermarks_per_split = True

    def __init__(self, splits, boundedness=Boundedness.BOUNDED):
        self.splits = splits
        self.boundedness = boundedness

    def create_enumerator(self, parallelism):
        return StaticEnumerator([Part(str(n), 0, end, end == 0) for n, end in enumerate(self.splits)])

    def create_reader(self):
        return Reader()


class Reader(SourceReader):
    calls = 0

    def read(self, split, fetch):
        while split.position < split.end:
            split.position += 1
            yield [(split.split_id, split.position * 1000)]
            if split.position % 7 == 0:
                return False
        self.calls += split.quiet
        return not split.quiet or self.calls > 500


class Late(ProcessFunction):
    """Emit how far a record is behind the watermark, above 0 if it is late, and the highest watermark so far."""

    def process_element(self, value, ctx):
        watermark = ctx.timer_service().current_watermark()
        yield (watermark - ctx.timestamp(), watermark)


def run(source, strategy=None, parallelism=1, **settings):
    strategy = (strategy or WatermarkStrategy.for_monotonous_timestamps()).with_timestamp_assigner(SecondField())
    env = make_env(parallelism=parallelism, settings={"pipeline.auto-watermark-interval": "1 ms", **settings})
    stream = env.from_source(source, strategy, "parts", Types.TUPLE([Types.STRING(), Types.LONG()])).process(Late())
    with stream.execute_and_collect() as found:
        return list(found)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_no_record_is_late_because_another_split_was_read_before(parallelism):
    found = run(Parts([40, 20, 30]), parallelism=parallelism)
    assert len(found) == 90
    assert max(behind for behind, _ in found) < 0


def test_the_same_holds_when_each_epoch_runs_in_another_process(monkeypatch):
    move_every_epoch(monkeypatch)
    found = run(Parts([40, 20, 30]), **{"flintstream.epoch.idle-duration": "1"})
    assert len(found) == 90
    assert max(behind for behind, _ in found) < 0


def test_event_time_passes_when_the_other_splits_have_ended():
    found = run(Parts([3, 2000]))  # enough records for periodic watermarks
    assert max(watermark for _, watermark in found) > 30_000


def test_a_quiet_split_holds_event_time_back():
    found = run(Parts([40, 0], Boundedness.CONTINUOUS_UNBOUNDED))
    assert max(watermark for _, watermark in found) < 0


def test_a_quiet_split_becomes_idle_and_holds_nothing_back():
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(5))
    found = run(Parts([2000, 0], Boundedness.CONTINUOUS_UNBOUNDED), strategy)
    assert max(watermark for _, watermark in found) > 30_000


class Paces(Source):
    """Two splits of 40 records, one of which has much more time between two of them."""

    watermarks_per_split = True
    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism):
        return StaticEnumerator([Part(name, 0, 40) for name in ("fast", "slow")])

    def create_reader(self):
        return PacesReader()


class PacesReader(SourceReader):
    def read(self, split, fetch):
        while split.position < split.end:
            split.position += 1
            time.sleep(0.002)
            yield [(split.split_id, split.position * (10_000 if split.split_id == "fast" else 1000))]
        return True


def lead(*, aligned, parallelism):
    """Return the greatest lead of the fast split while the slow one was active."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    if aligned:
        strategy = strategy.with_watermark_alignment("group", Duration.of_seconds(5), Duration.of_millis(10))
    env = make_env(parallelism=parallelism, settings={"flintstream.epoch.idle-duration": "10"})
    stream = env.from_source(Paces(), strategy, "paces", Types.TUPLE([Types.STRING(), Types.LONG()]))
    with stream.map(lambda value: (*value, time.monotonic())).execute_and_collect() as found:
        rows = sorted(found, key=lambda row: row[2])
    assert sorted(row[:2] for row in rows) == sorted(
        [("fast", n * 10_000) for n in range(1, 41)] + [("slow", n * 1000) for n in range(1, 41)]
    )
    reached, most = {"fast": 0, "slow": 0}, 0
    for name, timestamp, _ in rows:
        reached[name] = timestamp
        if reached["slow"] == 40_000:
            break
        most = max(most, reached["fast"] - reached["slow"])
    return most


def test_of_aligned_splits_of_a_subtask_the_fast_one_waits_for_the_slow_one():
    assert lead(aligned=True, parallelism=1) <= 60_000  # drift, a step, and the first epoch, without other splits
    assert lead(aligned=False, parallelism=1) > 300_000


def test_so_do_those_of_two_subtasks():
    assert lead(aligned=True, parallelism=2) < 200_000
