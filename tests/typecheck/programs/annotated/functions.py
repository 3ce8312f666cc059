"""Types flow through function objects, whose classes declare their input and output types."""

from collections.abc import Iterable, Iterator
from typing import Any

from typing_extensions import assert_type

from flintstream.common import Time, Types
from flintstream.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    BroadcastStream,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeyedStream,
    KeySelector,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
    SinkFunction,
    StreamExecutionEnvironment,
)
from flintstream.datastream.data_stream import BroadcastConnectedStream
from flintstream.datastream.functions import SourceFunction
from flintstream.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)

LATE = OutputTag("late", Types.LONG())
ANYTHING = OutputTag("anything")
NAMES = MapStateDescriptor("names", Types.INT(), Types.STRING())


class Text(MapFunction[int, str]):
    def map(self, value: int) -> str:
        return str(value)


class Words(FlatMapFunction[str, str]):
    def flat_map(self, value: str) -> Iterator[str]:
        yield from value.split()


class Even(FilterFunction[int]):
    def filter(self, value: int) -> bool:
        return value % 2 == 0


class Add(ReduceFunction[int]):
    def reduce(self, value1: int, value2: int) -> int:
        return value1 + value2


class Length(KeySelector[str, int]):
    def get_key(self, value: str) -> int:
        return len(value)


class Modulo(Partitioner[int]):
    def partition(self, key: int, num_partitions: int) -> int:
        return key % num_partitions


class Mean(AggregateFunction[int, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Split(ProcessFunction[int, str]):
    def process_element(self, value: int, ctx: ProcessFunction.Context) -> Iterator[str | tuple[OutputTag[int], int]]:
        assert_type(ctx.timestamp(), int)
        yield str(value)
        yield LATE, value


class States(KeyedProcessFunction[str, int, float]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.LONG()))
        assert_type(self.value, ValueState[int])
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.STRING()))
        assert_type(self.list, ListState[str])
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.DOUBLE()))
        assert_type(self.map, MapState[str, float])
        self.reducing = runtime_context.get_reducing_state(ReducingStateDescriptor("r", Add(), Types.LONG()))
        assert_type(self.reducing, ReducingState[int])
        mean = AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        self.mean = runtime_context.get_aggregating_state(mean)
        assert_type(self.mean, AggregatingState[int, float])

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context[str]) -> Iterator[float]:
        assert_type(ctx.get_current_key(), str)
        count = self.value.value() or 0
        self.value.update(count + value)
        self.map.put(ctx.get_current_key(), value / 2)
        self.list.add("a")
        for text in self.list.get():
            assert_type(text, str)
        for name, half in self.map.items():
            assert_type((name, half), tuple[str, float])
        self.reducing.add(value)
        self.mean.add(value)
        yield self.mean.get()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterable[float] | None:
        assert_type(ctx.get_current_key(), str)
        return None


class WrongStates(KeyedProcessFunction[str, int, float]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.LONG()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.DOUBLE()))
        runtime_context.get_list_state(ValueStateDescriptor("v", Types.LONG()))  # expect: arg-type reportArgumentType

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context[str]) -> Iterator[float]:
        self.value.update("a")  # expect: arg-type reportArgumentType
        self.map.put(1, 1.5)  # expect: arg-type reportArgumentType
        self.value.value().upper()  # expect: union-attr reportAttributeAccessIssue
        ctx.get_current_key().bit_length()  # expect: attr-defined reportAttributeAccessIssue
        yield "a"  # expect: misc reportReturnType


class WrongMap(MapFunction[int, str]):
    def map(self, value: str) -> str:  # expect: override reportIncompatibleMethodOverride
        return value


class WrongResult(MapFunction[int, str]):
    def map(self, value: int) -> int:  # expect: override reportIncompatibleMethodOverride
        return value


class Both(CoMapFunction[int, str, bytes]):
    def map1(self, value: int) -> bytes:
        return bytes(value)

    def map2(self, value: str) -> bytes | None:
        return value.encode() or None


class BothFlat(CoFlatMapFunction[int, str, bytes]):
    def flat_map1(self, value: int) -> Iterator[bytes]:
        yield bytes(value)

    def flat_map2(self, value: str) -> None:
        pass


class CoProcess(CoProcessFunction[int, str, float]):
    def process_element1(self, value: int, ctx: CoProcessFunction.Context) -> Iterator[float]:
        yield value / 2

    def process_element2(self, value: str, ctx: CoProcessFunction.Context) -> None:
        pass


class KeyedCoProcess(KeyedCoProcessFunction[bool, int, str, float]):
    def process_element1(self, value: int, ctx: KeyedCoProcessFunction.Context[bool]) -> Iterator[float]:
        assert_type(ctx.get_current_key(), bool)
        yield value / 2

    def process_element2(self, value: str, ctx: KeyedCoProcessFunction.Context[bool]) -> None:
        pass


class Name(BroadcastProcessFunction[int, tuple[int, str], str]):
    def process_element(self, value: int, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterator[str]:
        names = ctx.get_broadcast_state(NAMES)
        assert_type(names, ReadOnlyBroadcastState[int, str])
        yield names.get(value) or "?"

    def process_broadcast_element(self, value: tuple[int, str], ctx: BroadcastProcessFunction.Context) -> None:
        names = ctx.get_broadcast_state(NAMES)
        assert_type(names, BroadcastState[int, str])
        names.put(*value)


class KeyedName(KeyedBroadcastProcessFunction[bool, int, tuple[int, str], str]):
    def process_element(self, value: int, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[bool]) -> Iterator[str]:
        assert_type(ctx.get_current_key(), bool)
        yield "?"

    def process_broadcast_element(self, value: tuple[int, str], ctx: KeyedBroadcastProcessFunction.Context) -> None:
        pass


class Lookup(AsyncFunction[int, str]):
    async def async_invoke(self, value: int) -> list[str]:
        return [str(value)]


class Count(SourceFunction[int]):
    def run(self, ctx: Any) -> None:
        ctx.collect(1)


class Shout(SinkFunction[str]):
    def invoke(self, value: str, context: Any) -> None:
        print(value.upper())


def build(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2, 3])
    assert_type(numbers.map(Text()), DataStream[str])
    assert_type(numbers.map(Text(), Types.STRING()).uid("t"), DataStream[str])
    texts = numbers.map(Text())
    assert_type(texts.flat_map(Words()), DataStream[str])
    assert_type(numbers.filter(Even()), DataStream[int])
    assert_type(texts.key_by(Length()), KeyedStream[int, str])
    assert_type(numbers.partition_custom(Modulo(), lambda value: value), DataStream[int])
    keyed = numbers.key_by(lambda value: str(value))
    assert_type(keyed.reduce(Add()), DataStream[int])
    assert_type(keyed.process(States()), DataStream[float])
    assert_type(keyed.process(States(), Types.DOUBLE()), DataStream[float])

    split = numbers.process(Split())
    assert_type(split, DataStream[str])
    assert_type(LATE, OutputTag[int])
    assert_type(split.get_side_output(LATE), DataStream[int])
    assert_type(split.get_side_output(OutputTag[str]("texts")), DataStream[str])
    assert_type(split.get_side_output(ANYTHING), DataStream[Any])

    connected = numbers.connect(texts)
    assert_type(connected.map(Both()), DataStream[bytes])
    assert_type(connected.flat_map(BothFlat()), DataStream[bytes])
    assert_type(connected.process(CoProcess()), DataStream[float])
    both_keyed = connected.key_by(lambda value: value > 1, lambda text: text > "1", Types.BOOLEAN())
    assert_type(both_keyed.process(KeyedCoProcess(), Types.DOUBLE()), DataStream[float])

    pairs = env.from_collection([(1, "one")])
    assert_type(pairs.broadcast(NAMES), BroadcastStream[tuple[int, str]])
    with_names = numbers.connect(pairs.broadcast(NAMES))
    assert_type(with_names, BroadcastConnectedStream[int, tuple[int, str]])
    assert_type(with_names.process(Name()), DataStream[str])
    keyed_with_names = numbers.key_by(lambda value: value > 1).connect(pairs.broadcast(NAMES))
    assert_type(keyed_with_names.process(KeyedName(), output_type=Types.STRING()), DataStream[str])

    assert_type(AsyncDataStream.unordered_wait(numbers, Lookup(), Time.seconds(1)), DataStream[str])
    assert_type(AsyncDataStream.ordered_wait(numbers, Lookup(), Time.seconds(1), 10, Types.STRING()), DataStream[str])
    retry: AsyncRetryStrategy[str] = AsyncRetryStrategy.fixed_delay(3, 100, lambda results: not results)
    assert_type(
        AsyncDataStream.ordered_wait_with_retry(numbers, Lookup(), Time.seconds(1), retry, output_type=Types.STRING()),
        DataStream[str],
    )
    assert_type(env.add_source(Count()), DataStream[int])
    texts.add_sink(Shout())


def wrong(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2, 3])
    texts = numbers.map(Text())
    texts.map(Text())  # expect: arg-type reportArgumentType
    numbers.flat_map(Words())  # expect: arg-type reportArgumentType
    numbers.map(Words())  # expect: call-overload reportArgumentType
    texts.filter(Even())  # expect: arg-type reportArgumentType
    numbers.key_by(Length())  # expect: arg-type reportArgumentType
    texts.key_by(len).reduce(Add())  # expect: arg-type reportArgumentType
    texts.key_by(len).process(States())  # expect: arg-type reportArgumentType
    numbers.key_by(lambda value: value).process(States())  # expect: arg-type reportArgumentType
    numbers.process(Text())  # expect: call-overload reportArgumentType
    texts.connect(numbers).map(Both())  # expect: arg-type reportArgumentType
    numbers.connect(texts.broadcast(NAMES)).process(Name())  # expect: arg-type reportArgumentType
    numbers.broadcast().process_element()  # expect: attr-defined reportAttributeAccessIssue
    numbers.process(Split()).get_side_output(LATE).map(Words())  # expect: call-overload reportArgumentType
    numbers.add_sink(Shout())  # expect: arg-type reportArgumentType
    AsyncDataStream.unordered_wait(texts, Lookup(), Time.seconds(1))  # expect: misc reportArgumentType reportCallIssue
