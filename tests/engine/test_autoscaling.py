"""A job changes its parallelism itself, and every record counts once."""

from __future__ import annotations

import time

import pytest
from tests.engine.sources import PacedSplit
from tests.waiting import wait_for, wait_for_numbers

from flintstream.common import Types, WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, StaticEnumerator
from flintstream.coordinator import asking, registry
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.testing import CollectSink

pytestmark = [pytest.mark.slow]

NUMBERS, MORE, KEYS = 3000, 100, 10
SETTINGS = {
    "flintstream.epoch.max-duration": "200 ms",
    "flintstream.autoscaler.enabled": "true",
    "flintstream.autoscaler.metrics.window": "1 s",
    "flintstream.autoscaler.stabilization.interval": "1 s",
    "flintstream.autoscaler.scale-down.interval": "2 s",
    "flintstream.autoscaler.vertex.max-parallelism": "2",
}


class Wanted(Source):
    """Emit as many numbers as a file says, and wait until it says more."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, path):
        self.path = path

    def create_enumerator(self, parallelism):
        return StaticEnumerator([PacedSplit("wanted")])

    def create_reader(self):
        return WantedReader(self.path)


class WantedReader(SourceReader):
    def __init__(self, path):
        self.path = path

    def read(self, split, fetch):
        wanted = int(self.path.read_text())
        while split.position < wanted:
            split.position += 1
            yield [split.position - 1]
        return False


class SlowCount(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        time.sleep(0.002)
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


@pytest.mark.on_spark
def test_a_job_gets_more_while_it_works_and_less_when_it_rests(make_env, tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    wanted, more = tmp_path / "wanted", tmp_path / "more"
    wanted.write_text(str(NUMBERS))
    more.write_text(str(NUMBERS + MORE))
    env = make_env(1, SETTINGS)
    numbers = env.from_source(Wanted(wanted), WatermarkStrategy.no_watermarks(), "wanted")
    sink = CollectSink()
    numbers.key_by(lambda n: n % KEYS).process(SlowCount()).sink_to(sink)
    client = env.execute_async("scales itself")

    def parallelisms():
        record = asking.ask(registry.find(str(client.get_job_id())), "record")
        return {vertex["parallelism"] for vertex in record["plan"]["vertices"]}

    wait_for(parallelisms, client, {2}.__eq__)
    wait_for(parallelisms, client, {1}.__eq__)
    more.rename(wanted)
    wait_for_numbers(client, numRecordsOut=NUMBERS + MORE)
    client.cancel().result()
    found = sorted(sink.get_results(True, False))
    assert found == sorted((n % KEYS, n // KEYS + 1) for n in range(NUMBERS + MORE))
