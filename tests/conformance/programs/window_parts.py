# mypy: disable-error-code="import-not-found,import-untyped"
"""Windows, assigners and triggers of PyFlink, asked by hand and from those that a program writes around them."""

from io import BytesIO

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
    ContinuousProcessingTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
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


# Windows


@program()
def time_windows_are_compared_and_covered(env):
    one, two, three = TimeWindow(0, 10), TimeWindow(10, 20), TimeWindow(21, 30)
    return collected(
        [
            (one, one.max_timestamp(), one == TimeWindow(0, 10), one < two, one <= two, len({one, TimeWindow(0, 10)})),
            (one.intersects(two), two.intersects(three), one.cover(three)),
            [TimeWindow.get_window_start_with_offset(time, 3, 10) for time in (-8, 0, 2, 3, 12, 13)],
        ]
    )


@program()
def time_windows_that_touch_are_merged(env):
    found = []

    class Callback(MergingWindowAssigner.MergeCallback):
        def merge(self, to_be_merged, merge_result):
            found.append((sorted(to_be_merged), merge_result))

    windows = [TimeWindow(20, 25), TimeWindow(5, 10), TimeWindow(0, 5), TimeWindow(30, 31), TimeWindow(24, 26)]
    TimeWindow.merge_windows(windows, Callback())
    return collected(found)


@program()
def windows_of_counts_and_the_global_window(env):
    return collected(
        [
            (CountWindow(3), CountWindow(3).id, CountWindow(3) == CountWindow(3), CountWindow(3) == CountWindow(4)),
            (CountWindow(3).max_timestamp(), GlobalWindow.get().max_timestamp()),
            (GlobalWindow.get(), GlobalWindow.get() == GlobalWindow(), len({GlobalWindow(), GlobalWindow()})),
        ]
    )


@program()
def windows_are_serialized(env):
    def there_and_back(serializer, window):
        stream = BytesIO()
        serializer.serialize(window, stream)
        stream.seek(0)
        return serializer.deserialize(stream), len(stream.getvalue())

    return collected(
        [
            there_and_back(TimeWindowSerializer(), TimeWindow(-5, 10)),
            there_and_back(CountWindowSerializer(), CountWindow(7)),
            there_and_back(GlobalWindowSerializer(), GlobalWindow()),
            type(CountTumblingWindowAssigner.of(2).get_window_serializer()).__name__,
            type(CountSlidingWindowAssigner.of(2, 1).get_window_serializer()).__name__,
        ]
    )


@program()
def results_of_triggers(env):
    return collected((result.name, result.is_fire(), result.is_purge()) for result in TriggerResult)


# Triggers, driven by hand


class Sums:
    def __init__(self, add):
        self.add_up = add
        self.total = None

    def get(self):
        return self.total

    def add(self, value):
        self.total = value if self.total is None else self.add_up(self.total, value)

    def clear(self):
        self.total = None


class Notes:
    """What a trigger asks of its context."""

    def __init__(self, watermark=0, processing_time=100):
        self.watermark = watermark
        self.processing_time = processing_time
        self.timers = []
        self.states = {}

    def get_current_watermark(self):
        return self.watermark

    def get_current_processing_time(self):
        return self.processing_time

    def register_event_time_timer(self, time):
        self.timers.append(("event", time))

    def register_processing_time_timer(self, time):
        self.timers.append(("processing", time))

    def delete_event_time_timer(self, time):
        self.timers.append(("no event", time))

    def delete_processing_time_timer(self, time):
        self.timers.append(("no processing", time))

    def get_partitioned_state(self, descriptor):
        return self.states.setdefault(descriptor.get_name(), Sums(descriptor.get_reduce_function().reduce))

    def merge_partitioned_state(self, descriptor):
        pass


def driven(trigger, window, watermark=0):
    """Return what a trigger answers, and the timers that it sets and deletes, step by step."""
    notes = Notes(watermark)
    last = window.max_timestamp()
    steps = [
        lambda: trigger.on_element(("a", 3), 3, window, notes),
        lambda: trigger.on_element(("a", 4), 4, window, notes),
        lambda: trigger.on_event_time(last, window, notes),
        lambda: trigger.on_event_time(8, window, notes),
        lambda: trigger.on_processing_time(120, window, notes),
        lambda: trigger.can_merge() and trigger.on_merge(window, notes),
        lambda: trigger.clear(window, notes),
    ]
    told = []
    for step in steps:
        answer = step()
        told.append((getattr(answer, "name", answer), notes.timers))
        notes.timers = []
    return told


@program()
def the_event_time_trigger_by_hand(env):
    trigger = EventTimeTrigger.create()
    return collected(driven(trigger, TimeWindow(0, 10)) + driven(trigger, TimeWindow(0, 10), watermark=9))


@program()
def the_processing_time_trigger_by_hand(env):
    return collected(driven(ProcessingTimeTrigger.create(), TimeWindow(0, 10)))


@program()
def the_count_trigger_by_hand(env):
    return collected(driven(CountTrigger.of(2), TimeWindow(0, 10)))


@program()
def the_never_trigger_by_hand(env):
    trigger = NeverTrigger()
    return collected([*driven(trigger, GlobalWindow()), trigger.can_merge(), trigger.on_merge(GlobalWindow(), Notes())])


@program()
def the_purging_trigger_by_hand(env):
    purging = PurgingTrigger.of(EventTimeTrigger.create())
    both = driven(purging, TimeWindow(0, 10)) + driven(PurgingTrigger.of(CountTrigger.of(1)), TimeWindow(0, 10))
    return collected([*both, driven(PurgingTrigger.of(ProcessingTimeTrigger.create()), TimeWindow(0, 10))])


@program()
def the_continuous_triggers_by_hand(env):
    return collected(
        [
            *driven(ContinuousEventTimeTrigger.of(Time.milliseconds(4)), TimeWindow(0, 10)),
            *driven(ContinuousProcessingTimeTrigger.of(Time.milliseconds(40)), TimeWindow(0, 1000)),
        ]
    )


@program()
def the_next_time_to_fire_by_hand(env):
    """It is never after the end of the window, where that is known."""
    told = []
    for trigger in (
        ContinuousEventTimeTrigger.of(Time.milliseconds(4)),
        ContinuousProcessingTimeTrigger.of(Time.milliseconds(4)),
    ):
        notes, state = Notes(), Sums(min)
        trigger.register_next_fire_timestamp(4, TimeWindow(0, 10), notes, state)
        trigger.register_next_fire_timestamp(8, TimeWindow(0, 10), notes, state)
        told.append((state.get(), notes.timers))
    return collected(told)


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
    """Uses all that a context has; the timers of the processing time are deleted again."""

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


# Assigners


class Moment:
    """What an assigner asks of its context."""

    def get_current_processing_time(self):
        return 1007


class TwiceTheTime(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1] * 2


@program()
def assigners_by_hand(env):
    ten, four = Time.milliseconds(10), Time.milliseconds(4)
    assigners = [
        TumblingEventTimeWindows.of(ten),
        TumblingEventTimeWindows.of(ten, Time.milliseconds(3)),
        SlidingEventTimeWindows.of(ten, four),
        EventTimeSessionWindows.with_gap(four),
        EventTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
        DynamicEventTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
        TumblingProcessingTimeWindows.of(ten),
        SlidingProcessingTimeWindows.of(ten, four),
        ProcessingTimeSessionWindows.with_gap(four),
        ProcessingTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
        DynamicProcessingTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
        GlobalWindows.create(),
    ]
    return collected(
        (
            type(assigner).__name__,
            list(assigner.assign_windows(("a", 6), 17, Moment())),
            type(assigner.get_default_trigger(env)).__name__,
            type(assigner.get_window_serializer()).__name__,
            assigner.is_event_time(),
        )
        for assigner in assigners
    )


@program()
def session_windows_are_merged_by_hand(env):
    found = []

    class Callback(MergingWindowAssigner.MergeCallback):
        def merge(self, to_be_merged, merge_result):
            found.append((sorted(to_be_merged), merge_result))

    gap = Time.milliseconds(4)
    for assigner in (
        EventTimeSessionWindows.with_gap(gap),
        ProcessingTimeSessionWindows.with_gap(gap),
        DynamicEventTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
        DynamicProcessingTimeSessionWindows.with_dynamic_gap(TwiceTheTime()),
    ):
        assigner.merge_windows([TimeWindow(0, 4), TimeWindow(2, 6), TimeWindow(20, 24)], Callback())
    return collected(found)


class Through(WindowAssigner):
    """Assigns as another one does."""

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
    """A window of its own kind."""

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
