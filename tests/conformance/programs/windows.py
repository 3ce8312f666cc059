# mypy: disable-error-code="import-not-found,import-untyped"
"""Windows and triggers. A record is (key, timestamp) or (key, timestamp, amount)."""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from tests.conformance.registry import BOTH, program

RECORDS = [("a", 1, 10), ("b", 2, 20), ("a", 4, 30), ("a", 5, 40), ("b", 9, 50), ("a", 12, 60), ("b", 23, 70)]


def triple():
    """Return the type of the records; PyFlink cannot pickle a tag whose type has been used before."""
    return Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(env, records=RECORDS):
    """Return records with timestamps, in their order: two subtasks would mix them up on the way."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(list(records), triple()).assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


def keyed(env, records=RECORDS):
    return stamped(env, records).key_by(lambda t: t[0], key_type=Types.STRING())


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, window.max_timestamp(), sorted(e[2] for e in elements)


class Amounts(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window.start, sum(e[2] for e in inputs))]


class Total(ReduceFunction):
    def reduce(self, value1, value2):
        return value1[0], max(value1[1], value2[1]), value1[2] + value2[2]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[2], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


# Time windows


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def tumbling_process(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5))).process(Bounds())


@program(BOTH, ordering="per_key")
def tumbling_process_typed(env):
    class Count(ProcessWindowFunction):
        def process(self, key, context, elements):
            return [(key, context.window().start, context.window().end, len(list(elements)))]

    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.process(Count(), Types.TUPLE([Types.STRING(), Types.INT(), Types.INT(), Types.INT()]))


@program(BOTH, ordering="per_key")
def tumbling_with_offset_and_negative_timestamps(env):
    records = [("a", -7, 1), ("a", -5, 2), ("a", -1, 3), ("a", 0, 4), ("a", 3, 5), ("a", 5, 6)]
    windows = keyed(env, records).window(TumblingEventTimeWindows.of(Time.milliseconds(5), Time.milliseconds(3)))
    return windows.process(Bounds())


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def tumbling_reduce(env):
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5))).reduce(Total())


@program(BOTH, ordering="multiset")
def tumbling_aggregate(env):
    """Without an output type the result is the return value of the function, without the key."""
    return (
        keyed(env)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
        .aggregate(Mean(), accumulator_type=Types.TUPLE([Types.INT(), Types.INT()]), output_type=Types.DOUBLE())
        .map(lambda mean: ("mean", mean))
    )


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def tumbling_apply(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.apply(Amounts(), Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()]))


class Labelled(ProcessWindowFunction):
    def process(self, key, context, elements):
        items = list(elements)
        yield key, context.window().start, len(items), items[0]


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def reduce_with_process_window_function(env):
    """The window function gets the one reduced value."""
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.reduce(lambda x, y: (x[0], y[1], x[2] + y[2]), Labelled())


class LabelledApply(WindowFunction):
    def apply(self, key, window, inputs):
        for item in inputs:
            yield key, window.start, item


@program(BOTH, ordering="per_key")
def reduce_with_window_function(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.reduce(Total(), LabelledApply())


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def aggregate_with_process_window_function(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.aggregate(Mean(), Labelled())


@program(BOTH, ordering="per_key")
def aggregate_with_window_function(env):
    windows = keyed(env).window(SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)))
    return windows.aggregate(
        Mean(),
        LabelledApply(),
        accumulator_type=Types.TUPLE([Types.INT(), Types.INT()]),
        output_type=Types.TUPLE([Types.STRING(), Types.LONG(), Types.DOUBLE()]),
    )


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def sliding_process(env):
    return keyed(env).window(SlidingEventTimeWindows.of(Time.milliseconds(6), Time.milliseconds(2))).process(Bounds())


@program(BOTH, ordering="per_key")
def sliding_reduce_with_offset(env):
    assigner = SlidingEventTimeWindows.of(Time.milliseconds(8), Time.milliseconds(4), Time.milliseconds(1))
    return keyed(env).window(assigner).reduce(Total(), LabelledApply())


@program(BOTH, ordering="per_key")
def sliding_with_gaps_between_windows(env):
    """With a slide above the size some records are in no window."""
    return keyed(env).window(SlidingEventTimeWindows.of(Time.milliseconds(3), Time.milliseconds(5))).process(Bounds())


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def session_process(env):
    return keyed(env).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))).process(Bounds())


@program(BOTH, ordering="per_key")
def sessions_that_touch_are_merged(env):
    records = [("a", 0, 1), ("a", 5, 2), ("a", 11, 3)]
    return keyed(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).process(Bounds())


@program(ordering="per_key")
def sessions_merged_by_a_late_bridge(env):
    """The record between two sessions joins them. PyFlink loses the reduced value of one of the two: not 7 but 5.

    With functions in threads it is 6.
    """
    records = [("a", 10, 1), ("a", 16, 2), ("a", 13, 4), ("b", 1, 8)]
    return (
        keyed(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))).reduce(Total(), Labelled())
    )


@program(ordering="per_key")
def sessions_merged_by_a_late_bridge_process(env):
    """Contents that are kept as a list are merged without a loss."""
    records = [("a", 10, 1), ("a", 16, 2), ("a", 13, 4), ("b", 1, 8)]
    return keyed(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))).process(Bounds())


@program(ordering="per_key")
def sessions_merged_by_a_late_bridge_aggregate(env):
    """The mean of 1, 2 and 4 is not 2.5; with functions in threads PyFlink fails."""
    records = [("a", 10, 1), ("a", 16, 2), ("a", 13, 4), ("b", 1, 8)]
    windows = keyed(env, records).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    return windows.aggregate(Mean(), Labelled())


class GapOfRecord(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2] // 10


@program(BOTH, ordering="per_key")
def session_with_dynamic_gap(env):
    return keyed(env).window(EventTimeSessionWindows.with_dynamic_gap(GapOfRecord())).process(Bounds())


@program(BOTH, ordering="per_key")
def session_aggregate(env):
    windows = keyed(env).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    return windows.aggregate(Mean(), Labelled())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def windows_after_windows(env):
    """The result of a window carries the last timestamp of the window, so it is in the right window again."""
    small = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(5))).reduce(Total())
    large = small.key_by(lambda t: "all").window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return large.process(Bounds())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def window_all_process(env):
    class Everything(ProcessAllWindowFunction):
        def process(self, context, elements):
            yield context.window().start, sorted(e[2] for e in elements)

    return stamped(env).window_all(TumblingEventTimeWindows.of(Time.milliseconds(5))).process(Everything())


@program(BOTH, ordering="multiset")
def window_all_apply_reduce_aggregate(env):
    class Amount(AllWindowFunction):
        def apply(self, window, inputs):
            return [(window.start, sum(e[2] for e in inputs))]

    class Start(ProcessAllWindowFunction):
        def process(self, context, elements):
            return [(context.window().start, *list(elements))]

    def windows():
        return stamped(env).window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))

    return [
        windows().apply(Amount(), Types.TUPLE([Types.LONG(), Types.INT()])),
        windows().reduce(lambda x, y: ("*", y[1], x[2] + y[2])),
        windows().reduce(lambda x, y: ("*", y[1], x[2] + y[2]), Start()),
        windows().aggregate(Mean()),
        windows().aggregate(Mean(), Start()),
    ]


# Count and global windows


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def count_window_tumbling(env):
    """The rest that does not fill a window never fires."""
    return keyed(env).count_window(2).apply(CountAmounts())


class CountAmounts(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, [e[2] for e in inputs])]


@program(BOTH, ordering="per_key")
def count_window_sliding(env):
    return keyed(env).count_window(3, 1).apply(CountAmounts())


@program(BOTH, ordering="per_key")
def count_window_reduce(env):
    return keyed(env).count_window(3).reduce(Total())


@program(ordering="per_key")
def count_window_process(env):
    class WithId(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield key, context.window().id, [e[2] for e in elements]

    return keyed(env).count_window(2).process(WithId())


@program(ordering="per_key")
def global_window_with_count_trigger_accumulates(env):
    windows = keyed(env).window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    return windows.apply(CountAmounts())


@program(ordering="per_key")
def global_window_with_purging_count_trigger(env):
    windows = keyed(env).window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2)))
    return windows.apply(CountAmounts())


@program()
def global_window_never_fires(env):
    return keyed(env).window(GlobalWindows.create()).apply(CountAmounts())


# Triggers


@program(ordering="per_key")
def count_trigger_in_time_windows(env):
    """The count replaces the end of the window: a window that does not reach it never fires."""
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(CountTrigger.of(2))
    return windows.process(Bounds())


@program(BOTH, ordering="per_key")
def event_time_trigger_given(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(EventTimeTrigger.create())
    return windows.process(Bounds())


@program(ordering="per_key")
def purging_event_time_trigger(env):
    trigger = PurgingTrigger.of(EventTimeTrigger.create())
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(trigger).process(Bounds())


@program(ordering="per_key")
def continuous_event_time_trigger(env):
    """All timers below the last watermark are collected before the first one sets another: the window ends before 8.

    With functions in threads it does not, and the windows fire once more.
    """
    trigger = ContinuousEventTimeTrigger.of(Time.milliseconds(4))
    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(trigger).process(Bounds())


class EveryThirdAndAtTheEnd(Trigger):
    """Fire at every third record of a window and, with a purge, at its end."""

    def __init__(self):
        self.descriptor = ReducingStateDescriptor("third", lambda x, y: x + y, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        count = ctx.get_partitioned_state(self.descriptor)
        count.add(1)
        return TriggerResult.FIRE if count.get() % 3 == 0 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.descriptor)
        ctx.register_event_time_timer(window.max_timestamp())

    def can_merge(self):
        return True

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.descriptor).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


@program(parallelism=(1, 2), ordering="per_key")
def custom_trigger(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(EveryThirdAndAtTheEnd())
    return windows.process(Bounds())


@program(ordering="per_key")
def custom_trigger_on_sessions(env):
    windows = keyed(env).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    return windows.trigger(EveryThirdAndAtTheEnd()).process(Bounds())


class FireOnBigAmounts(Trigger):
    def on_element(self, element, timestamp, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if element[2] >= 40 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


@program(ordering="per_key")
def custom_trigger_on_global_windows(env):
    return keyed(env).window(GlobalWindows.create()).trigger(FireOnBigAmounts()).apply(CountAmounts())


class TensAndElevens(WindowAssigner):
    """Every record is in a window of 10 and in one of 11 milliseconds."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp - timestamp % size, timestamp - timestamp % size + size) for size in (10, 11)]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def custom_window_assigner(env):
    return keyed(env).window(TensAndElevens()).process(Bounds())


# State of windows, lateness


class Numbered(ProcessWindowFunction):
    def process(self, key, context, elements):
        own = context.window_state().get_state(ValueStateDescriptor("own", Types.INT()))
        shared = context.global_state().get_state(ValueStateDescriptor("shared", Types.INT()))
        own.update((own.value() or 0) + 1)
        shared.update((shared.value() or 0) + 1)
        yield key, context.window().start, own.value(), shared.value()

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("own", Types.INT())).clear()


@program(parallelism=(1, 2), ordering="per_key")
def window_state_and_global_state(env):
    """The trigger fires in a window more than once, so its own state counts too."""
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).trigger(EveryThirdAndAtTheEnd())
    return windows.process(Numbered())


@program(ordering="multiset")
def nothing_is_late(env):
    """All records come before the first watermark: the side output stays empty, disorder or not."""
    late = OutputTag("late", triple())
    records = [("a", 50, 1), ("a", 3, 2), ("b", 20, 3), ("a", 1, 4)]
    windows = keyed(env, records).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    main = windows.allowed_lateness(5).side_output_late_data(late).process(Bounds())
    return [main, main.get_side_output(late)]


@program(("BATCH",), ordering="multiset")
def nothing_is_late_in_batch(env):
    late = OutputTag("late", triple())
    records = [("a", 50, 1), ("a", 3, 2), ("b", 20, 3), ("a", 1, 4)]
    windows = keyed(env, records).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    main = windows.allowed_lateness(5).side_output_late_data(late).process(Bounds())
    return [main, main.get_side_output(late)]


@program(ordering="multiset")
def bounded_out_of_orderness(env):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(20)).with_timestamp_assigner(
        SecondField()
    )
    records = [("a", 30, 1), ("a", 12, 2), ("b", 5, 3), ("a", 18, 4)]
    stream = env.from_collection(records, triple()).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda t: t[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Bounds())


@program(ordering="multiset")
def union_of_streams_with_timestamps(env):
    one = stamped(env, [("a", 1, 1), ("a", 12, 2)])
    two = stamped(env, [("a", 3, 4), ("b", 14, 8)])
    windows = one.union(two).key_by(lambda t: t[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.process(Bounds())


@program(ordering="per_key")
def context_of_a_process_window_function(env):
    class Watermark(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield key, context.window().end, context.current_watermark(), context.current_processing_time() > 10**12

    return keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(Watermark())


@program()
def processing_time_sessions_pending_at_the_end(env):
    """Timers that are due after the end of the input never fire in STREAMING."""

    class Gap(SessionWindowTimeGapExtractor):
        def extract(self, element):
            return 3_600_000

    return keyed(env).window(DynamicProcessingTimeSessionWindows.with_dynamic_gap(Gap())).process(Bounds())
