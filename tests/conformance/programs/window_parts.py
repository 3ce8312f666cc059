# mypy: disable-error-code="import-not-found,import-untyped"
"""Windows, assigners and triggers of PyFlink, called directly."""

from io import BytesIO

from pyflink.common import Time
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
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.conformance.registry import collected, program

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
    """The context of a trigger."""

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
    """Return the results of a trigger, and the timers that it sets and deletes, step by step."""
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


# Assigners


class Moment:
    """The context of an assigner."""

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
