"""Lists that grow from epoch to epoch: the changelog has only the additions, a checkpoint the whole list."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import pytest
from tests.savepoint_api.programs import SEEN, remembered
from tests.savepoints.test_matrix import configuration
from tests.waiting import wait_for_numbers

from flintstream.common import WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.savepoint import Savepoint

EPOCHS = 12
EACH = 50
"""Elements per epoch and key."""
KEYS = ("a", "b", "c")
EVERYTHING = [str(number).zfill(4) for number in range(EPOCHS * EACH)]


@dataclass
class Split(SourceSplit):
    position: int = 0


class Slow(Source):
    """Emit some elements for each key in every epoch, and wait at the end."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism):
        return StaticEnumerator([Split("0")])

    def create_reader(self) -> SourceReader:
        return SlowReader()


class SlowReader(SourceReader):
    def read(self, split, fetch):
        coming = EVERYTHING[split.position : split.position + EACH]
        if coming:
            split.position += EACH
            yield list(itertools.product(KEYS, coming))
        return False


class Remember(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(SEEN)

    def process_element(self, value, ctx):
        self.seen.add(value[1])


@pytest.fixture(scope="module")
def retained(tmp_path_factory):
    """The last checkpoint of a cancelled job, by backend."""

    @functools.cache
    def make(backend):
        more = {
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "execution.checkpointing.data-inline-threshold": "0",
            "state.changelog.periodic-materialize.enabled": "false",
        }
        place = tmp_path_factory.mktemp("growing")
        conf = configuration(place, f"{backend} with changelog", **more)
        env = StreamExecutionEnvironment.get_execution_environment(conf)
        env.set_parallelism(1).set_max_parallelism(32)
        stream = env.from_source(Slow(), WatermarkStrategy.no_watermarks(), "slow").uid("slow")
        stream.key_by(lambda value: value[0]).process(Remember()).uid("remember").print()
        client = env.execute_async("growing")
        numbers = wait_for_numbers(client, numRecordsIn=len(EVERYTHING) * len(KEYS))
        wait_for_numbers(client, numCheckpoints=numbers["numCheckpoints"] + 2)  # one started after all input was read
        client.cancel().result()
        (metadata,) = (place / "checkpoints").glob("*/chk-*/_metadata")
        return str(metadata.parent)

    return make


both_backends = pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])


@both_backends
def test_every_epoch_costs_what_it_adds(backend, retained):
    savepoint = Savepoint.load(retained(backend))
    chain, _ = savepoint.find("remember")
    (files,) = savepoint.subtasks(chain)
    assert files.store is not None
    contents = [files.store.read(piece.path) if piece.path else piece.inline or b"" for piece in files.pieces]
    # A piece may hold several epochs. If each had the whole lists, their sum would be six times as large as the last.
    assert 0 < sum(map(len, contents)) < 2 * len(KEYS) * len(EVERYTHING) * 6


@both_backends
def test_a_checkpoint_shows_all_elements_in_order(backend, retained):
    entries = list(Savepoint.load(retained(backend)).read("remember", "seen"))
    assert {entry.key: entry.value for entry in entries} == dict.fromkeys(KEYS, EVERYTHING)
    assert len(entries) == len(KEYS)


@both_backends
@pytest.mark.parametrize(("reader", "parallelism"), [("hashmap", 1), ("hashmap with changelog", 3), ("rocksdb", 2)])
def test_a_checkpoint_restores_all_elements_in_order(backend, reader, parallelism, retained, tmp_path):
    more = configuration(tmp_path, reader, **{"execution.state-recovery.ignore-unclaimed-state": "true"})
    found = remembered(retained(backend), list(KEYS), parallelism, **more)
    assert {key: seen for key, (_, seen, _) in found.items()} == dict.fromkeys(KEYS, EVERYTHING)
