# mypy: disable-error-code="import-not-found,import-untyped"
"""Triggers, assigners and windows of a program, around those of PyFlink or with separate state."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.serializer import TypeSerializer
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.functions import (
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
)
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    Window,
    WindowAssigner,
)
from tests.conformance.registry import BOTH, collected, program

RECORDS = [("a", 1), ("b", 3), ("a", 6), ("a", 4), ("b", 12), ("a", 30)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(env, records=RECORDS):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream = stream.assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


def keyed(env, records=RECORDS):
    return stamped(env, records).key_by(lambda t: t[0], Types.STRING())


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, repr(context.window()), sorted(e[1] for e in elements)


# Triggers, in one that passes everything on


class Around(Trigger):
    def __init__(self, inner):
        self.inner = inner

    def on_element(self, element, timestamp, window, ctx):
        return self.inner.on_element(element, timestamp, window, ctx)

    def on_event_time(self, time, window, ctx):
        return self.inner.on_event_time(time, window, ctx)

    def on_processing_time(self, time, window, ctx):
        return self.inner.on_processing_time(time, window, ctx)

    def can_merge(self):
        return self.inner.can_merge()

    def on_merge(self, window, ctx):
        self.inner.on_merge(window, ctx)

    def clear(self, window, ctx):
        self.inner.clear(window, ctx)


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def an_event_time_trigger_inside_another(env):
    sessions = keyed(env).window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    return sessions.trigger(Around(EventTimeTrigger.create())).process(Contents())


@program(parallelism=(1, 2), ordering="per_key")
def a_count_trigger_inside_another(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.trigger(Around(PurgingTrigger.of(CountTrigger.of(2)))).process(Contents())


@program(ordering="per_key")
def a_continuous_trigger_that_fires_at_the_end_only(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.trigger(Around(ContinuousEventTimeTrigger.of(Time.milliseconds(50)))).process(Contents())


class Asking(Trigger):
    """Use all methods of a context; the processing-time timers are deleted again."""

    def __init__(self):
        self.count = ReducingStateDescriptor("count", lambda x, y: x + y, Types.LONG())
        self.first = ValueStateDescriptor("first", Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.get_metric_group().counter("elements").inc()
        now = ctx.get_current_processing_time()
        ctx.register_processing_time_timer(now + 3_600_000)
        ctx.delete_processing_time_timer(now + 3_600_000)
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.register_event_time_timer(window.start + 2)
        ctx.delete_event_time_timer(window.start + 2)
        first = ctx.get_partitioned_state(self.first)
        if first.value() is None:
            first.update(timestamp)
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        early = ctx.get_current_watermark() < timestamp and now > 10**12
        return TriggerResult.FIRE if early and count.get() == 2 and first.value() == 1 else TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.first).clear()
        ctx.get_partitioned_state(self.count).clear()


@program(ordering="per_key")
def a_trigger_that_uses_its_whole_context(env):
    windows = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return windows.trigger(Asking()).process(Contents())


class Through(WindowAssigner):
    """Delegate to another assigner."""

    def __init__(self, inner):
        self.inner = inner

    def assign_windows(self, element, timestamp, context):
        return self.inner.assign_windows(element, timestamp, context)

    def get_default_trigger(self, env):
        return self.inner.get_default_trigger(env)

    def get_window_serializer(self):
        return self.inner.get_window_serializer()

    def is_event_time(self):
        return self.inner.is_event_time()


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def count_assigners_inside_others(env):
    tumbling = keyed(env).window(Through(CountTumblingWindowAssigner.of(2)))
    sliding = keyed(env).window(Through(CountSlidingWindowAssigner.of(3, 1)))
    return [tumbling.process(Contents()), sliding.process(Contents())]


@program(BOTH, ordering="per_key")
def an_assigner_with_a_state_of_its_own(env):
    """Its context knows the state of the key: every second record of a key opens the next window."""

    class Pairs(WindowAssigner):
        def assign_windows(self, element, timestamp, context):
            seen = context.get_runtime_context().get_state(ValueStateDescriptor("seen", Types.INT()))
            number = seen.value() or 0
            seen.update(number + 1)
            return [TimeWindow(100 * (number // 2), 100 * (number // 2) + (context.get_current_processing_time() > 0))]

        def get_default_trigger(self, env):
            return EventTimeTrigger.create()

        def get_window_serializer(self):
            return TimeWindowSerializer()

        def is_event_time(self):
            return True

    return keyed(env).window(Pairs()).process(Contents())


class Tens(MergingWindowAssigner):
    """Windows of ten; those of neighbours are merged."""

    def assign_windows(self, element, timestamp, context):
        start = timestamp - timestamp % 10
        return [TimeWindow(start, start + 10)]

    def merge_windows(self, windows, callback):
        TimeWindow.merge_windows(windows, callback)

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


@program(BOTH, parallelism=(1, 2), ordering="per_key")
def a_merging_assigner_of_the_program(env):
    return keyed(env).window(Tens()).process(Contents())


class Parity(Window):
    """A user-defined window."""

    def __init__(self, odd):
        super().__init__()
        self.odd = odd

    def max_timestamp(self):
        return 1000 + self.odd

    def __hash__(self):
        return self.odd

    def __eq__(self, other):
        return type(self) is type(other) and self.odd == other.odd

    def __repr__(self):
        return f"Parity({self.odd})"


class ParitySerializer(TypeSerializer):
    def serialize(self, element, stream):
        stream.write(bytes([element.odd]))

    def deserialize(self, stream):
        return Parity(stream.read(1)[0])


class Parities(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [Parity(timestamp % 2)]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return ParitySerializer()

    def is_event_time(self):
        return True


@program(("BATCH",), parallelism=(1, 2), ordering="per_key")
def windows_of_a_class_of_the_program(env):
    """In a worker process, PyFlink fails at the serializer."""
    return keyed(env).window(Parities()).process(Contents())


# Windowed streams, and functions of windows


@program(BOTH, ordering="multiset")
def all_windows_with_trigger_lateness_and_side_output(env):
    from pyflink.datastream import OutputTag

    class Everything(ProcessAllWindowFunction):
        def process(self, context, elements):
            own = context.window_state().get_state(ValueStateDescriptor("own", Types.INT()))
            shared = context.global_state().get_state(ValueStateDescriptor("shared", Types.INT()))
            own.update((own.value() or 0) + 1)
            shared.update((shared.value() or 0) + 1)
            yield context.window().start, sorted(e[1] for e in elements), own.value(), shared.value()

        def clear(self, context):
            context.window_state().get_state(ValueStateDescriptor("own", Types.INT())).clear()

    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))
    windows = stamped(env).window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    windows = windows.trigger(EventTimeTrigger.create()).allowed_lateness(3).side_output_late_data(late)
    main = windows.process(Everything())
    return [main, main.get_side_output(late)]


@program()
def windowed_streams_know_where_they_come_from(env):
    one = keyed(env).window(GlobalWindows.create())
    other = stamped(env).window_all(GlobalWindows.create())
    return collected(
        [
            type(one.get_execution_environment()).__name__,
            type(other.get_execution_environment()).__name__,
            one.get_input_type() == Types.TUPLE([Types.STRING(), Types.LONG()]),
            other.get_input_type() == Types.TUPLE([Types.STRING(), Types.LONG()]),
        ]
    )


@program()
def functions_that_pass_windows_on(env):
    return collected(
        [
            list(PassThroughWindowFunction().apply("a", TimeWindow(0, 1), [1, 2])),
            list(PassThroughAllWindowFunction().apply(TimeWindow(0, 1), [1, 2])),
        ]
    )


@program(BOTH, ordering="per_key")
def functions_that_pass_windows_on_in_a_job(env):
    ten = TumblingEventTimeWindows.of(Time.milliseconds(10))
    return keyed(env).window(ten).apply(PassThroughWindowFunction())


@program(("BATCH",), ordering="per_key")
def processing_time_windows_end_with_the_input_in_batch(env):
    year = Time.days(36500)
    return [
        keyed(env).window(TumblingProcessingTimeWindows.of(year)).reduce(lambda x, y: (x[0], x[1] + y[1])),
        keyed(env).window(ProcessingTimeSessionWindows.with_gap(year)).reduce(lambda x, y: (x[0], x[1] + y[1])),
    ]
