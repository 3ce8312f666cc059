"""Types flow through windows, their triggers and their functions."""

from collections.abc import Collection, Iterable
from typing import Any

from typing_extensions import assert_type

from flintstream.common import Row, Time, Types
from flintstream.datastream import AggregateFunction, DataStream, OutputTag, StreamExecutionEnvironment
from flintstream.datastream.data_stream import AllWindowedStream, WindowedStream
from flintstream.datastream.functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from flintstream.datastream.state import ReducingState, ReducingStateDescriptor, ValueState, ValueStateDescriptor
from flintstream.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    CountWindow,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    WindowAssigner,
)

COUNT = ValueStateDescriptor("count", Types.LONG())
SMALLEST = ReducingStateDescriptor("smallest", min, Types.LONG())


class Describe(ProcessWindowFunction[int, tuple[str, int], str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[int]
    ) -> list[tuple[str, int]]:
        assert_type(context.window(), TimeWindow)
        assert_type(context.global_state().get_state(COUNT), ValueState[int])
        return [(key, sum(elements))]


class Sum(WindowFunction[int, int, str, CountWindow]):
    def apply(self, key: str, window: CountWindow, inputs: Iterable[int]) -> list[int]:
        return [sum(inputs)]


class Everything(ProcessAllWindowFunction[int, str, TimeWindow]):
    def process(self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[int]) -> list[str]:
        return [str(list(elements))]


class Largest(AllWindowFunction[int, int, TimeWindow]):
    def apply(self, window: TimeWindow, inputs: Iterable[int]) -> list[int]:
        return [max(inputs)]


class Texts(ProcessWindowFunction[float, str, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[float]
    ) -> list[str]:
        return [str(element) for element in elements]


class Mean(AggregateFunction[int, list[int], float]):
    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: int, accumulator: list[int]) -> list[int]:
        return [*accumulator, value]

    def get_result(self, accumulator: list[int]) -> float:
        return sum(accumulator) / len(accumulator)

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return acc_a + acc_b


class Longest(ReduceFunction[str]):
    def reduce(self, value1: str, value2: str) -> str:
        return max(value1, value2, key=len)


class Gap(SessionWindowTimeGapExtractor[int]):
    def extract(self, element: int) -> int:
        return element


class Early(Trigger[int, TimeWindow]):
    def on_element(
        self, element: int, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        assert_type(ctx.get_partitioned_state(SMALLEST), ReducingState[int])
        assert_type(ctx.get_partitioned_state(COUNT), ValueState[int])
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        pass

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        pass


def build(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2, 3])
    keyed = numbers.key_by(lambda value: str(value))
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
    assert_type(tumbling, WindowedStream[str, int, TimeWindow])
    assert_type(keyed.count_window(5), WindowedStream[str, int, CountWindow])
    assert_type(keyed.window(GlobalWindows.create()), WindowedStream[str, int, GlobalWindow])
    assert_type(keyed.window(EventTimeSessionWindows.with_dynamic_gap(Gap())), WindowedStream[str, int, TimeWindow])

    assert_type(tumbling.trigger(EventTimeTrigger.create()).allowed_lateness(5), WindowedStream[str, int, TimeWindow])
    tumbling = tumbling.trigger(PurgingTrigger.of(CountTrigger.of(5))).side_output_late_data(OutputTag("late"))
    tumbling = tumbling.trigger(ContinuousEventTimeTrigger.of(Time.seconds(1))).trigger(Early())
    assert_type(tumbling.process(Describe()).name("described"), DataStream[tuple[str, int]])
    assert_type(tumbling.process(Describe(), Types.ROW([Types.STRING(), Types.INT()])), DataStream[Row])
    assert_type(tumbling.process(Describe(), result_type=Types.PICKLED_BYTE_ARRAY()), DataStream[Any])
    assert_type(keyed.count_window(5).apply(Sum()), DataStream[int])
    assert_type(keyed.count_window(5).apply(Sum(), Types.LONG()), DataStream[int])
    assert_type(tumbling.reduce(lambda one, other: one + other), DataStream[int])
    assert_type(tumbling.reduce(max, Describe()), DataStream[tuple[str, int]])
    assert_type(tumbling.reduce(max, window_function=Describe(), output_type=Types.STRING()), DataStream[str])
    assert_type(tumbling.aggregate(Mean()), DataStream[float])
    assert_type(tumbling.aggregate(Mean(), Texts()), DataStream[str])
    assert_type(tumbling.aggregate(Mean(), accumulator_type=Types.LIST(Types.INT())), DataStream[float])
    assert_type(tumbling.aggregate(Mean(), output_type=Types.DOUBLE()), DataStream[float])
    assert_type(
        tumbling.aggregate(Mean(), Texts(), accumulator_type=Types.LIST(Types.INT()), output_type=Types.STRING()),
        DataStream[str],
    )

    everything = numbers.window_all(TumblingEventTimeWindows.of(Time.seconds(5)))
    assert_type(everything, AllWindowedStream[int, TimeWindow])
    assert_type(everything.process(Everything()), DataStream[str])
    assert_type(everything.apply(Largest()), DataStream[int])
    assert_type(everything.reduce(max), DataStream[int])
    assert_type(everything.aggregate(Mean()), DataStream[float])


def wrong(env: StreamExecutionEnvironment) -> None:
    keyed = env.from_collection([1, 2, 3]).key_by(lambda value: str(value))
    tumbling = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
    tumbling.trigger(EventTimeTrigger.create()).nonsense()  # expect: attr-defined reportAttributeAccessIssue
    tumbling.apply(Sum())  # expect: arg-type reportArgumentType
    tumbling.process(Everything())  # expect: call-overload reportArgumentType
    tumbling.process(Sum())  # expect: call-overload reportArgumentType
    tumbling.reduce(Longest())  # expect: arg-type reportArgumentType
    tumbling.process(Describe()).map(lambda pair: pair[0].real)  # expect: attr-defined reportAttributeAccessIssue
    tumbling.aggregate(Mean()).map(lambda mean: mean.upper())  # expect: attr-defined reportAttributeAccessIssue
    tumbling.aggregate(Mean(), Describe())  # expect: misc reportArgumentType reportCallIssue
    keyed.count_window(5).trigger(Early())  # expect: arg-type reportArgumentType
    keyed.window(EventTimeTrigger.create())  # expect: arg-type reportArgumentType
    texts = env.from_collection([""]).key_by(len)
    texts.window(EventTimeSessionWindows.with_dynamic_gap(Gap()))  # expect: arg-type reportArgumentType


def assigner(windows: Collection[TimeWindow]) -> WindowAssigner[int, TimeWindow]:
    return TumblingEventTimeWindows(len(windows), 0)
