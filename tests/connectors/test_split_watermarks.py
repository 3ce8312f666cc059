"""Sources whose splits have event times of their own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.datastream.inline import SecondField, make_env, move_every_epoch

from flintstream.common import Duration, Types
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream.functions import ProcessFunction


@dataclass
class Part(SourceSplit):
    position: int
    end: int
    quiet: bool = False


class Parts(Source):
    """Each split has the times from 0 on; a quiet one has nothing, and does not end before the others."""

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
    """Tells how far behind the watermark a record is, above 0 if it is late, and the highest watermark so far."""

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
    found = run(Parts([3, 2000]))  # so many that watermarks, which come with time, do come
    assert max(watermark for _, watermark in found) > 30_000


def test_a_quiet_split_holds_event_time_back():
    found = run(Parts([40, 0], Boundedness.CONTINUOUS_UNBOUNDED))
    assert max(watermark for _, watermark in found) < 0


def test_a_quiet_split_becomes_idle_and_holds_nothing_back():
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(5))
    found = run(Parts([2000, 0], Boundedness.CONTINUOUS_UNBOUNDED), strategy)
    assert max(watermark for _, watermark in found) > 30_000
