"""When checkpoints are taken, for epochs of any length, by a clock that only the epochs move."""

from __future__ import annotations

import itertools

import pytest

from flintstream.common import WatermarkStrategy
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.coordinator.coordinator import Coordinator
from flintstream.coordinator.job import Clock
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.inline.engine import InlineEngine
from flintstream.testing import CollectSink

INTERVAL = 400
EPOCHS = 60


class EpochClock(Clock):
    now = 1_000_000

    def now_ms(self):
        return self.now


class TimedEngine(InlineEngine):
    """Let each epoch last as long as the next of ``lengths`` says."""

    def __init__(self, clock, lengths):
        super().__init__()
        self.clock = clock
        self.lengths = itertools.cycle(lengths)

    def run_epoch(self, items):
        self.clock.now += next(self.lengths)
        return super().run_epoch(items)


class OnePerEpoch(Source):
    """Emit one record in each epoch."""

    def create_enumerator(self, parallelism):
        return StaticEnumerator([SourceSplit("numbers")])

    def create_reader(self):
        return OnePerEpochReader()


class OnePerEpochReader(SourceReader):
    def __init__(self):
        self.emitted = 0

    def read(self, split, fetch):
        self.emitted += 1
        yield [self.emitted]
        return self.emitted == EPOCHS


def checkpoint_times(lengths, **more):
    """Return the ms between the start of the job and the end of each checkpoint, and the length of the job."""
    settings = {"flintstream.engine": "inline", "execution.checkpointing.interval": f"{INTERVAL} ms", **more}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    env.from_source(OnePerEpoch(), WatermarkStrategy.no_watermarks(), "numbers").sink_to(CollectSink())
    clock, times = EpochClock(), []
    started = clock.now

    def note(progress):
        # A listener hears of a checkpoint after the following epoch
        times.append((clock.now - started, progress.checkpoints))

    Coordinator(env._program().compile("timed"), TimedEngine(clock, lengths), [note], clock).run()
    found = [before for (before, count), (_, after) in itertools.pairwise(times) if after > count]
    return found, clock.now - started


@pytest.mark.parametrize(
    "lengths",
    [
        [10],
        [150],
        [210],
        [350],
        [390],
        [400],
        [410],
        [900],
        [300, 20],
        [20, 300],
        [2000, 20, 20, 20],
        [20, 20, 20, 700],
    ],
    ids=str,
)
def test_checkpoints_are_as_many_as_the_interval_allows(lengths):
    times, duration = checkpoint_times(lengths)
    for number, at in enumerate(times, 1):
        assert number <= at / INTERVAL + 1, times
    if max(lengths) <= INTERVAL:
        assert len(times) >= duration // INTERVAL - 2
    else:
        assert len(times) >= duration // (INTERVAL + 2 * max(lengths)) - 2
