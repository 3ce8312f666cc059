"""Types flow through operations on streams, from the collection to the iterator of results."""

from collections.abc import Callable, Iterator
from typing import Any

from typing_extensions import assert_type

from flintstream.common import Row, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import (
    ConnectedStreams,
    DataStream,
    DataStreamSink,
    KeyedStream,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from flintstream.datastream.data_stream import CachedDataStream, CloseableIterator


def half(value: int) -> float:
    return value / 2


def words(line: str) -> Iterator[str]:
    yield from line.split()


class Seconds(TimestampAssigner[int]):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value * 1_000


def twice(stream: DataStream[int]) -> DataStream[int]:
    return stream.map(lambda value: value * 2)


def build(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2, 3])
    assert_type(numbers, DataStream[int])
    assert_type(env.from_collection(["a b"]), DataStream[str])
    pairs = env.from_collection([(1, 2)], Types.TUPLE([Types.INT(), Types.INT()]))
    assert_type(pairs, DataStream[tuple[Any, ...]])
    assert_type(pairs.project(1, 0), DataStream[tuple[Any, ...]])
    assert_type(env.from_collection([(1, 2)], type_info=Types.ROW([Types.INT(), Types.INT()])), DataStream[Row])
    assert_type(env.from_collection([[1]], Types.LIST(Types.INT())), DataStream[list[int]])
    assert_type(env.from_collection([{}], Types.MAP(Types.STRING(), Types.LONG())), DataStream[dict[str, int]])

    texts = numbers.map(lambda value: str(value)).name("texts").uid("texts").set_parallelism(1).start_new_chain()
    assert_type(texts, DataStream[str])
    assert_type(numbers.map(half), DataStream[float])
    assert_type(numbers.map(str), DataStream[str])
    assert_type(numbers.map(lambda value: (value, "a"), Types.PICKLED_BYTE_ARRAY()), DataStream[Any])
    assert_type(numbers.map(half, output_type=Types.DOUBLE()), DataStream[float])
    assert_type(texts.flat_map(words), DataStream[str])
    assert_type(texts.flat_map(lambda text: [len(text)]), DataStream[int])
    assert_type(texts.flat_map(lambda text: text.split(), Types.STRING()), DataStream[str])
    assert_type(texts.filter(lambda text: text.startswith("1")), DataStream[str])
    assert_type(texts.filter(lambda text: text.strip()), DataStream[str])
    assert_type(numbers.union(numbers), DataStream[int])
    assert_type(numbers.union(texts), DataStream[int | str])
    assert_type(twice(numbers).rebalance().shuffle().rescale().forward(), DataStream[int])
    assert_type(twice(numbers.filter(bool)), DataStream[int])
    assert_type(numbers.cache(), CachedDataStream[int])
    assert_type(numbers.connect(texts), ConnectedStreams[int, str])
    assert_type(numbers.broadcast(), DataStream[int])
    assert_type(numbers.partition_custom(lambda key, count: key % count, lambda value: value), DataStream[int])

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    assert_type(strategy, WatermarkStrategy[int])
    assert_type(numbers.assign_timestamps_and_watermarks(strategy), DataStream[int])
    assert_type(numbers.assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks()), DataStream[int])

    keyed = texts.key_by(lambda text: len(text))
    assert_type(keyed, KeyedStream[int, str])
    assert_type(texts.key_by(lambda text: len(text), key_type=Types.LONG()), KeyedStream[int, str])
    assert_type(keyed.key_by(lambda text: text[0]), KeyedStream[str, str])
    assert_type(keyed.map(lambda text: text.encode()), DataStream[bytes])
    assert_type(keyed.flat_map(lambda text: text.encode(), Types.INT()), DataStream[int])
    assert_type(keyed.filter(lambda text: not text), DataStream[str])
    assert_type(keyed.reduce(lambda one, other: one + other), DataStream[str])
    assert_type(numbers.key_by(lambda value: value % 2).sum().name("sums"), DataStream[int])
    totals = texts.map(lambda text: (text, 1)).key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert_type(totals, DataStream[tuple[str, int]])

    assert_type(texts.print().name("out").set_parallelism(1), DataStreamSink)
    operations: list[Callable[[DataStream[int]], DataStream[int]]] = [twice]
    assert_type(operations[0](numbers), DataStream[int])
    assert_type(env.set_parallelism(1).set_runtime_mode(RuntimeExecutionMode.BATCH), StreamExecutionEnvironment)


def run(env: StreamExecutionEnvironment) -> list[str]:
    with env.from_collection([1, 2]).map(lambda value: f"<{value}>").execute_and_collect() as results:
        assert_type(results, CloseableIterator[str])
        found = list(results)
    assert_type(found, list[str])
    assert_type(env.from_collection([1]).execute_and_collect(limit=1), list[int])
    return found


def wrong(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2])
    numbers.map(lambda value: str(value)).name("m").nonsense()  # expect: attr-defined reportAttributeAccessIssue
    numbers.map(lambda value: value.upper())  # expect: attr-defined reportAttributeAccessIssue
    numbers.filter(lambda value: value.upper())  # expect: attr-defined reportAttributeAccessIssue
    numbers.map(words)  # expect: arg-type reportArgumentType
    numbers.map(half).map(words)  # expect: arg-type reportArgumentType
    numbers.map(str, output_type=str)  # expect: call-overload reportArgumentType reportCallIssue
    numbers.map(str).key_by(lambda text: text.real)  # expect: attr-defined reportAttributeAccessIssue
    numbers.key_by(half).reduce(lambda one, other: str(one))  # expect: arg-type return-value reportArgumentType
    numbers.assign_timestamps_and_watermarks(5)  # expect: arg-type reportArgumentType
    texts: DataStream[str] = numbers.set_parallelism(1)  # expect: assignment reportAssignmentType
    twice(texts)  # expect: arg-type reportArgumentType
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Seconds())
    texts.assign_timestamps_and_watermarks(strategy)  # expect: arg-type reportArgumentType
    for result in numbers.execute_and_collect():
        result.upper()  # expect: attr-defined reportAttributeAccessIssue
    numbers.key_by(half).window(5)  # expect: arg-type reportArgumentType
    numbers.connect(5)  # expect: call-overload reportArgumentType reportCallIssue
    numbers.union(5)  # expect: arg-type reportArgumentType
    env.set_parallelism(1).nonsense()  # expect: attr-defined reportAttributeAccessIssue
