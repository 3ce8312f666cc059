"""A HybridSource: its records, their order, and the position at which it continues."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from tests.connectors.kafka.broker import committed, send
from tests.connectors.kafka.conftest import broker  # noqa: F401 - a fixture
from tests.connectors.kafka.jobs import checkpointed
from tests.connectors.kafka.jobs import source as kafka
from tests.datastream.inline import MODES, make_env
from tests.engine.faults import Faults, FaultyMap, Ledger, ledger_numbers
from tests.waiting import wait_for

from flintstream.common import Types
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from flintstream.connectors.hybrid import HybridSplit
from flintstream.connectors.source import Boundedness, Fetch, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream.connectors.file_system import FileSource, StreamFormat
from flintstream.datastream.connectors.hybrid_source import HybridSource
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import PlanError

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def numbers(*bounds):
    """Return a source for each pair of neighbours: up to the second, without it."""
    first, *later = [NumberSequenceSource(start, end - 1) for start, end in pairwise(bounds)]
    builder = HybridSource.builder(first)
    for item in later:
        builder.add_source(item)
    return builder.build()


def read(env, built, strategy=NO_WATERMARKS):
    with env.from_source(built, strategy, "hybrid").execute_and_collect() as found:
        return list(found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_all_sources_are_read(mode, parallelism):
    assert sorted(read(make_env(mode, parallelism), numbers(0, 10, 30, 31, 5000))) == list(range(5000))


def test_a_source_begins_when_the_one_before_has_been_read_by_all():
    found = read(make_env(parallelism=3), numbers(0, 1000, 2000, 2100))
    for first, end in ((0, 1000), (1000, 2000), (2000, 2100)):
        assert sorted(found[first:end]) == list(range(first, end))


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_or_repeated_whatever_fails(tmp_path, seed):
    rng = random.Random(seed)
    faults = Faults(tmp_path / "faults", [("map", rng.randrange(6000)) for _ in range(4)])
    env = checkpointed(tmp_path, 2)
    stream = env.from_source(numbers(0, 1000, 3000, 6000), NO_WATERMARKS, "hybrid").map(FaultyMap(faults))
    stream.sink_to(Ledger(tmp_path / "ledger", Faults(tmp_path / "none")))
    env.execute()
    assert faults.happened() == {(point, str(number)) for point, number in faults.plan}
    assert ledger_numbers(tmp_path / "ledger") == list(range(6000))


@dataclass
class Part(SourceSplit):
    position: int = 0


class Endless(Source):
    """Count slowly, without end."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, first):
        self.first = first

    def create_enumerator(self, parallelism):
        return StaticEnumerator([Part("0", self.first)])

    def create_reader(self):
        return EndlessReader()


class EndlessReader(SourceReader):
    def read(self, split, fetch):
        split.position += 1
        yield [split.position - 1]
        return False


def test_a_savepoint_knows_which_source_is_being_read(tmp_path):
    savepoint = None
    for round_ in (1, 2):
        settings: dict[str, str] = {"execution.state-recovery.path": savepoint} if savepoint else {}
        env = checkpointed(tmp_path, 2, **settings)
        hybrid = HybridSource.builder(NumberSequenceSource(0, 9)).add_source(Endless(10)).build()
        stream = env.from_source(hybrid, NO_WATERMARKS, "hybrid").uid("hybrid")
        stream.sink_to(Ledger(tmp_path / "ledger", Faults(tmp_path / "none"))).uid("ledger")
        client = env.execute_async()
        wait_for((tmp_path / "ledger").exists, client)
        wait_for(lambda: len(ledger_numbers(tmp_path / "ledger")), client, (30 * round_).__le__)
        savepoint = client.stop_with_savepoint(False, str(tmp_path / "savepoint")).result()
        found = ledger_numbers(tmp_path / "ledger")
        assert found == list(range(len(found)))


def test_all_sources_but_the_last_must_have_an_end():
    hybrid = HybridSource.builder(NumberSequenceSource(0, 9)).add_source(Endless(10))
    assert hybrid.build().get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    with pytest.raises(
        PlanError, match="NumberSequenceSource would never be read, because Endless before it is unbounded"
    ):
        hybrid.add_source(NumberSequenceSource(0, 9))
    with pytest.raises(TypeError, match="a HybridSource needs sources, got str"):
        hybrid.add_source("files")  # type: ignore[arg-type]


def test_the_type_is_that_of_the_sources_if_they_agree():
    assert numbers(0, 5, 9).produced_type == Types.LONG()
    assert HybridSource.builder(NumberSequenceSource(0, 9)).add_source(Endless(10)).build().produced_type is None


def test_splits_of_a_source_without_watermarks_per_split_have_one_in_common():
    class PerSplit(Endless):
        watermarks_per_split = True

    hybrid = HybridSource.builder(NumberSequenceSource(0, 9)).add_source(PerSplit(10)).build()
    assert hybrid.watermarks_per_split
    enumerator = hybrid.create_enumerator(2)
    enumerator.start(checkpoints=False, batch=False)
    first = enumerator.discover()
    assert [split.split_id for split in first] == ["0", "0"]
    assert enumerator.discover() == []
    enumerator.epoch_ended(all_read=True)
    assert [split.split_id for split in enumerator.discover()] == ["1:0"]
    reader: Any = hybrid.create_reader()
    reader.open(None)
    assert list(reader.read(first[1], Fetch())) == [[5, 6, 7, 8, 9]]
    assert isinstance(first[1], HybridSplit)


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value)


class Late(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp() <= ctx.timer_service().current_watermark()


@pytest.mark.parametrize("parallelism", [1, 2])
def test_from_files_to_kafka(broker, tmp_path, parallelism):  # noqa: F811 - a fixture
    topic = broker.topic(partitions=2)
    (tmp_path / "history").mkdir()
    for number in range(4):
        lines = "".join(f"{n}\n" for n in range(100 * number, 100 * number + 100))
        (tmp_path / "history" / str(number)).write_text(lines)
    for partition in (0, 1):
        send(broker, topic, [str(n) for n in range(400 + partition, 600, 2)], partition)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "history")).build()
    hybrid = HybridSource.builder(files).add_source(kafka(broker, topic).set_group_id(topic).build()).build()
    assert hybrid.produced_type == Types.STRING()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    stream = checkpointed(tmp_path, parallelism).from_source(hybrid, strategy, "hybrid").process(Late())
    with stream.execute_and_collect() as iterator:
        found = list(iterator)
    assert sorted(int(text) for text, _ in found) == list(range(600))
    assert {int(text) for text, _ in found[:400]} == set(range(400))
    # Each partition has a separate watermark, so that none of its records is late.
    assert not any(late for _, late in found[400:])
    assert [committed(broker, topic, topic, partition) for partition in (0, 1)] == [100, 100]
