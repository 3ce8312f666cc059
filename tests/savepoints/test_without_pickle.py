"""State of declared types needs no pickle, and a job can refuse it."""

from __future__ import annotations

import enum
import json
import pickle
import sys
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
import pytest
from click.testing import CliRunner
from msgpack import ExtType
from tests.engine.sources import PacedSource
from tests.savepoints.everything import GatedSplit, build, sinks
from tests.savepoints.test_matrix import configuration, final, joined, resume, savepoint
from tests.waiting import wait_for_numbers

from flintstream.checkpoint import values
from flintstream.checkpoint.codec import Opaque, decode_one, encode_key, encode_one
from flintstream.checkpoint.pickles import class_in, refuses_pickle, refusing, refusing_in
from flintstream.checkpoint.registry import BY_TYPE, record
from flintstream.checkpoint.values import ENUM, PICKLED, pack
from flintstream.cli import main
from flintstream.common import Types, WatermarkStrategy
from flintstream.connectors.collection import CollectionSplit
from flintstream.connectors.files.arrow import ArrowSplit
from flintstream.connectors.files.compaction import HeldFile, HeldFiles
from flintstream.connectors.files.input_formats import InputPart
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.files.recoverable import OpenFile, PreparedFile
from flintstream.connectors.files.sink import EndOfWriter, WriterState
from flintstream.connectors.function_source import FunctionSplit
from flintstream.connectors.hybrid import HybridSplit
from flintstream.connectors.kafka.dynamic import DynamicSplit, RemovedSplit
from flintstream.connectors.kafka.reader import KafkaSplit
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.number_sequence import NumberSplit
from flintstream.connectors.rabbitmq.source import RabbitSplit
from flintstream.connectors.source import SourceSplit, SourceWatermark, Timestamped
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import CheckpointError, PickleRefusedError
from flintstream.savepoint import Savepoint, SavepointWriter
from flintstream.storage.stores import file_store
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

REFUSE = {"flintstream.security.pickle": "refuse"}

record(GatedSplit)  # as users do with the splits of their own sources

armed: list[bool] = []


def _no_classes(event, arguments):
    if armed and event == "pickle.find_class":
        raise AssertionError(f"something unpickles {arguments}")


sys.addaudithook(_no_classes)  # for good, as a hook cannot be removed


@pytest.fixture
def unpickled(monkeypatch):
    """Make it an error to unpickle state. Functions of the program still are, as they come from the program."""

    def fail(data):
        raise AssertionError(f"state is unpickled: {class_in(data)}")

    monkeypatch.setattr(values, "loads", fail)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    sink = sinks()
    build(configuration(tmp_path_factory.mktemp("whole"), "hashmap"), 2, sink).execute("everything")
    return final({name: item.get_results(True, False) for name, item in sink.items()})


@pytest.mark.parametrize(
    ("writer", "reader"), [("hashmap", "rocksdb with changelog"), ("rocksdb", "rocksdb"), ("rocksdb", "hashmap")]
)
@pytest.mark.usefixtures("unpickled")
def test_state_of_declared_types_is_written_restored_and_read_without_pickle(writer, reader, uninterrupted, tmp_path):
    path, before = savepoint(tmp_path, writer, 2, **REFUSE)
    after = resume(tmp_path, path, reader, 3, **REFUSE)
    assert final(joined(before, after)) == uninterrupted
    armed.append(True)
    try:
        for arguments in (["list"], ["show"], ["show", "--timers"], ["show", "--values"]):
            shown = CliRunner().invoke(main, ["state", *arguments, path, "--format", "json"])
            assert shown.exit_code == 0, shown.output
            assert "pickled" not in shown.output
    finally:
        armed.clear()


def test_the_hook_of_these_tests_notices_pickle():
    armed.append(True)
    try:
        with pytest.raises(AssertionError, match="something unpickles"):
            pickle.loads(pickle.dumps(CollectionSplit("a")))
    finally:
        armed.clear()


@dataclass
class Cart:
    items: int


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.cart = runtime_context.get_state(ValueStateDescriptor("cart", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.cart.update(Cart(value))
        yield value


def carts(backend, last=10**12, **more):
    settings = {"flintstream.engine": "inline", "restart-strategy.type": "none", "state.backend.type": backend, **more}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_max_parallelism(8).set_parallelism(1)
    source = NumberSequenceSource(1, last)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    stream.key_by(lambda n: n % 2).process(Count()).name("count").uid("count").sink_to(CollectSink())
    return env


@pytest.mark.promise("S2")
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_job_that_refuses_pickle_fails_with_the_state_that_needs_it(backend):
    message = r"state 'cart' of the operator 'count' holds Cart\(items=\d+\) of type .*Cart, which needs pickle"
    with pytest.raises(Exception, match=message):
        carts(backend, **REFUSE).execute()


@pytest.mark.promise("S2")
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_savepoint_with_pickled_state_is_refused_before_it_is_unpickled(backend, tmp_path):
    descriptor = ValueStateDescriptor("cart", Types.PICKLED_BYTE_ARRAY())
    path = str(tmp_path / "made")
    SavepointWriter.new(max_parallelism=8).with_state("count", descriptor, [(1, Cart(7))]).write(path)
    start = {"execution.state-recovery.path": path}
    message = r"state 'cart' of the operator 'count' holds an object of .*test_without_pickle.Cart, which needs pickle"
    with pytest.raises(Exception, match=message):
        carts(backend, **start, **REFUSE).execute()
    carts(backend, 2, **start).execute()
    ((entry),) = Savepoint.load(path).read("count", "cart")
    assert isinstance(entry.value, Opaque)


class Numbers(KeyedProcessFunction):
    """Keeps scalars of NumPy and an OrderedDict in state, whose types PyFlink also takes for these declared ones."""

    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.DOUBLE()))
        self.names = runtime_context.get_map_state(MapStateDescriptor("names", Types.STRING(), Types.BOOLEAN()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.MAP(Types.STRING(), Types.INT())))

    def process_element(self, value, ctx):
        total = np.int64(value) + (self.total.value() or np.int64(0))
        self.total.update(total)
        self.seen.update([*list(self.seen.get())[-3:], np.float64(value) / 2])
        time.sleep(0.002)
        self.names.put(np.str_(f"n{value % 3}"), np.bool_(value % 2))
        kinds = {type(total), *map(type, self.seen.get()), *map(type, self.names.values())}
        last = self.last.value() or OrderedDict()
        kinds.add(type(last))
        last["value"] = value
        self.last.update(last)
        yield int(total), sorted(kind.__name__ for kind in kinds)


def numbers(backend, **more):
    settings = {"flintstream.engine": "inline", "restart-strategy.type": "none", "state.backend.type": backend, **more}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_max_parallelism(8).set_parallelism(1)
    source, sink = NumberSequenceSource(0, 10**12), CollectSink()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    stream.key_by(lambda n: n % 2).process(Numbers()).uid("count").sink_to(sink)
    return env.execute_async(), sink


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.usefixtures("unpickled")
def test_scalars_of_numpy_and_ordered_dicts_in_typed_state_come_back_without_pickle(backend, tmp_path):
    results: list[tuple[int, list[str]]] = []
    start: dict[str, str] = {}
    for _ in range(2):
        client, sink = numbers(backend, **REFUSE, **start)
        wait_for_numbers(client, numRecordsOut=6)
        path = client.stop_with_savepoint(False, str(tmp_path)).result()
        results += sink.get_results(True, False)
        start = {"execution.state-recovery.path": path}
    shown = CliRunner().invoke(main, ["state", "show", path, "--format", "json", "--values"])
    assert shown.exit_code == 0, shown.output
    assert "pickled" not in shown.output
    assert {tuple(kinds) for _, kinds in results} == {("OrderedDict", "bool", "float64", "int64")}
    totals = [accumulate(range(first, len(results), 2)) for first in (0, 1)]
    assert sorted(total for total, _ in results) == sorted(chain(*totals))


def test_a_source_whose_splits_need_pickle_is_named(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment(configuration(tmp_path, "hashmap", **REFUSE))
    env.from_source(PacedSource(None, 0.001), WatermarkStrategy.no_watermarks(), "paced").sink_to(CollectSink())
    with pytest.raises(
        CheckpointError,
        match=r"'paced -> Sink.*'operator' of the operator 'paced' holds PacedSplit\(.* which needs pickle",
    ):
        env.execute()


@pytest.mark.promise("S2")
def test_members_of_enums_are_not_imported_for(tmp_path, monkeypatch):
    (tmp_path / "colours_of_an_attacker.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    data = pack(ExtType(ENUM, pack(["colours_of_an_attacker", "Colour", "RED"])))
    assert isinstance(decode_one(data, allow_pickle=False), Opaque)
    with refusing(), pytest.raises(PickleRefusedError, match="the enum Colour of the module colours_of_an_attacker"):
        decode_one(data)


class Lazy(type):
    @property
    def inner(cls):
        raise AssertionError("code of a property runs")


class Holder(metaclass=Lazy):
    class Colour(enum.Enum):
        RED = 1


def test_a_name_of_an_enum_runs_no_code():
    for qualname, found in (("Holder.Colour", Holder.Colour.RED), ("Holder.inner", None)):
        data = pack(ExtType(ENUM, pack([__name__, qualname, "RED"])))
        if found is not None:
            assert decode_one(data, allow_pickle=False) is found
            continue
        with pytest.raises(CheckpointError, match="cannot be decoded"):
            decode_one(data, allow_pickle=False)


PART = PreparedFile("/out/.a", "/out/a", 7, "", ("/out/.b",))
RECORDS = [
    SourceSplit("a"),
    CollectionSplit("a", 3),
    NumberSplit("0", 1, 2**40),
    FileSplit("/in:0", "/in", 0, None, 17, 1),
    InputPart("0", "0", part=(1, "a")),
    ArrowSplit("a:0", file_store("memory://tests/x"), "a", 0, 2, 1),
    KafkaSplit("t-0", "t", 0, 5, None),
    RemovedSplit("removed", frozenset({("east", "t")})),
    DynamicSplit("east/t-0", "east", {"bootstrap.servers": "b:1"}, KafkaSplit("t-0", "t", 0, 5)),
    RabbitSplit("1", [b"message"]),
    HybridSplit("0:/in", 0, FileSplit("/in", "/in")),
    FunctionSplit("0", 0, 1, {"n": 1}, 2, deque([[1], Timestamped([1], [2]), SourceWatermark(3)])),
    PART,
    OpenFile("b", "/out/.c", "/out/c", 5, 1, 2, ((("/out/.c.1", 5),), b"rest")),
    WriterState("uid", 3, (), False, HeldFiles((HeldFile("b", PART),), (("b", 1),))),
    EndOfWriter("uid"),
    Prepared("id-0", "run", 1, "t", 2, 3, 4, b"data", "", ""),
    file_store("/data"),
]


@pytest.mark.parametrize("value", RECORDS, ids=lambda value: type(value).__name__)
@pytest.mark.usefixtures("unpickled")
def test_state_of_connectors_needs_no_pickle(value):
    with refusing():
        found = decode_one(encode_one([value]), allow_pickle=False)
    assert found == [value]
    assert type(found[0]) is type(value)


@pytest.mark.parametrize("value", RECORDS, ids=lambda value: type(value).__name__)
def test_state_of_connectors_that_earlier_releases_pickled_can_be_read(value):
    assert decode_one(pack(ExtType(PICKLED, pickle.dumps(value)))) == value


def test_every_split_of_flintstream_is_a_record():
    def all_below(cls):
        return {cls}.union(*map(all_below, cls.__subclasses__()))

    missing = {item for item in all_below(SourceSplit) if item.__module__.startswith("flintstream.")} - BY_TYPE.keys()
    assert not missing


def test_only_the_thread_and_the_steps_of_a_generator_refuse():
    def steps():
        yield refuses_pickle()
        yield refuses_pickle()

    inside = refusing_in(steps())
    assert next(inside)
    assert not refuses_pickle()
    assert list(inside) == [True]
    with refusing():
        encode_key(Cart(1))  # compared, never read
        with refusing(active=False):
            assert refuses_pickle()
    assert not refuses_pickle()


def test_the_class_in_a_pickle_is_found_without_unpickling():
    for protocol in range(6):
        assert class_in(pickle.dumps(Cart(1), protocol)).endswith(f"{Cart.__qualname__}" if protocol > 1 else "")
    assert class_in(b"damaged") == ""
    assert json.dumps(class_in(pickle.dumps([1]))) == '""'
