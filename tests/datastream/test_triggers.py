from __future__ import annotations

import pickle

import pytest

from flintstream.common import Time
from flintstream.datastream.functions import ProcessWindowFunction
from flintstream.datastream.state import ReducingStateDescriptor
from flintstream.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    TimeWindow,
    Trigger,
    TriggerResult,
)
from flintstream.testing.harness import KeyedHarness

CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE
FIRE_AND_PURGE, PURGE = TriggerResult.FIRE_AND_PURGE, TriggerResult.PURGE
WINDOW = TimeWindow(0, 100)


class Reducing:
    def __init__(self, reduce):
        self.reduce, self.content = reduce, None

    def get(self):
        return self.content

    def add(self, value):
        self.content = value if self.content is None else self.reduce(self.content, value)

    def clear(self):
        self.content = None


class Context(Trigger.OnMergeContext):
    """One key and window: timers as sets, reducing state by name."""

    def __init__(self, watermark=-1, now=0):
        self.watermark, self.now = watermark, now
        self.event, self.processing = set(), set()
        self.states = {}
        self.merged = []

    def get_current_processing_time(self):
        return self.now

    def get_current_watermark(self):
        return self.watermark

    def get_metric_group(self):
        raise NotImplementedError

    def register_processing_time_timer(self, time):
        self.processing.add(time)

    def register_event_time_timer(self, time):
        self.event.add(time)

    def delete_processing_time_timer(self, time):
        self.processing.discard(time)

    def delete_event_time_timer(self, time):
        self.event.discard(time)

    def get_partitioned_state(self, state_descriptor):
        assert isinstance(state_descriptor, ReducingStateDescriptor)
        reduce = state_descriptor.get_reduce_function().reduce
        return self.states.setdefault(state_descriptor.name, Reducing(reduce))

    def merge_partitioned_state(self, state_descriptor):
        state = self.get_partitioned_state(state_descriptor)
        for other in self.merged:
            if state_descriptor.name in other.states:
                state.add(other.states[state_descriptor.name].get())


def new(make, *arguments):
    """Create a trigger for records of any type."""
    return make(*arguments)


def element(trigger, ctx, timestamp=0, window=WINDOW):
    return trigger.on_element("x", timestamp, window, ctx)


@pytest.mark.parametrize(
    ("result", "fires", "purges"),
    [(CONTINUE, False, False), (FIRE, True, False), (PURGE, False, True), (FIRE_AND_PURGE, True, True)],
)
def test_a_result_says_whether_to_fire_and_to_purge(result, fires, purges):
    assert (result.is_fire(), result.is_purge()) == result.value == (fires, purges)


# -- event time ------------------------------------------------------------------------------------------------------


def test_the_event_time_trigger_waits_for_the_end_of_the_window():
    trigger, ctx = new(EventTimeTrigger.create), Context(watermark=98)
    assert element(trigger, ctx) is CONTINUE
    assert ctx.event == {99}
    assert trigger.on_event_time(98, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(99, WINDOW, ctx) is FIRE


def test_the_event_time_trigger_fires_at_once_when_the_window_has_ended():
    ctx = Context(watermark=99)
    assert element(new(EventTimeTrigger), ctx) is FIRE
    assert not ctx.event


def test_the_event_time_trigger_ignores_processing_time():
    assert EventTimeTrigger().on_processing_time(99, WINDOW, Context()) is CONTINUE


def test_the_event_time_trigger_deletes_its_timer():
    trigger, ctx = new(EventTimeTrigger), Context()
    element(trigger, ctx)
    trigger.clear(WINDOW, ctx)
    assert not ctx.event


@pytest.mark.parametrize(("watermark", "timers"), [(98, {99}), (99, set())])
def test_the_event_time_trigger_waits_for_the_end_of_a_merged_window_unless_that_has_passed(watermark, timers):
    ctx = Context(watermark)
    EventTimeTrigger().on_merge(WINDOW, ctx)
    assert ctx.event == timers


# -- processing time -------------------------------------------------------------------------------------------------


def test_the_processing_time_trigger_waits_for_the_end_of_the_window():
    trigger, ctx = new(ProcessingTimeTrigger.create), Context(watermark=10**6)
    assert element(trigger, ctx) is CONTINUE
    assert ctx.processing == {99}
    assert trigger.on_processing_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_event_time(99, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    assert not ctx.processing


@pytest.mark.parametrize(("now", "timers"), [(98, {99}), (99, set())])
def test_the_processing_time_trigger_waits_for_the_end_of_a_merged_window_unless_that_has_passed(now, timers):
    ctx = Context(now=now)
    ProcessingTimeTrigger().on_merge(WINDOW, ctx)
    assert ctx.processing == timers


# -- continuous ------------------------------------------------------------------------------------------------------


def test_the_continuous_event_time_trigger_fires_every_interval_and_at_the_end():
    trigger, ctx = new(ContinuousEventTimeTrigger.of, Time.milliseconds(30)), Context()
    assert element(trigger, ctx, timestamp=35) is CONTINUE
    fired: list[int] = []
    while ctx.event:
        time = min(ctx.event)
        ctx.event.remove(time)
        assert trigger.on_event_time(time, WINDOW, ctx) is FIRE
        fired.append(time)
    assert fired == [60, 90, 99]


def test_the_continuous_event_time_trigger_keeps_its_next_firing_when_more_records_come():
    trigger, ctx = new(ContinuousEventTimeTrigger, 30), Context()
    element(trigger, ctx, timestamp=35)
    element(trigger, ctx, timestamp=1)
    assert ctx.event == {60, 99}


def test_the_continuous_event_time_trigger_fires_at_once_when_the_window_has_ended():
    assert element(new(ContinuousEventTimeTrigger, 30), Context(watermark=99)) is FIRE


def test_the_continuous_event_time_trigger_ignores_timers_that_are_not_its_own():
    trigger, ctx = new(ContinuousEventTimeTrigger, 30), Context()
    assert trigger.on_event_time(60, WINDOW, ctx) is CONTINUE
    element(trigger, ctx)
    assert trigger.on_event_time(42, WINDOW, ctx) is CONTINUE
    assert trigger.on_processing_time(30, WINDOW, ctx) is CONTINUE


def test_the_continuous_processing_time_trigger_fires_every_interval_and_at_the_end():
    trigger, ctx = new(ContinuousProcessingTimeTrigger.of, Time.milliseconds(30)), Context(now=35)
    assert element(trigger, ctx, timestamp=0) is CONTINUE
    fired: list[int] = []
    while ctx.processing and len(fired) < 4:
        time = min(ctx.processing)
        ctx.processing.remove(time)
        assert trigger.on_processing_time(time, WINDOW, ctx) is FIRE
        fired.append(time)
    assert fired[:3] == [60, 90, 99]


def test_the_continuous_processing_time_trigger_ignores_event_time_and_timers_that_are_not_its_own():
    trigger, ctx = new(ContinuousProcessingTimeTrigger, 30), Context(now=35)
    element(trigger, ctx)
    assert trigger.on_event_time(60, WINDOW, ctx) is CONTINUE
    assert trigger.on_processing_time(59, WINDOW, ctx) is CONTINUE


@pytest.mark.parametrize("kind", [ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger])
def test_a_continuous_trigger_goes_on_with_the_earliest_firing_of_merged_windows(kind):
    trigger, first, second, merged = kind(30), Context(now=35), Context(now=5), Context()
    element(trigger, first, timestamp=35)
    element(trigger, second, timestamp=5)
    merged.merged = [first, second]
    trigger.on_merge(WINDOW, merged)
    assert min(merged.event | merged.processing) == 30


@pytest.mark.parametrize("kind", [ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger])
def test_a_continuous_trigger_forgets_its_next_firing(kind):
    trigger, ctx = kind(30), Context(now=35)
    element(trigger, ctx, timestamp=35)
    trigger.clear(WINDOW, ctx)
    assert 60 not in ctx.event | ctx.processing
    assert ctx.get_partitioned_state(trigger.state_desc).get() is None
    trigger.clear(WINDOW, ctx)


@pytest.mark.parametrize("kind", [ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger])
def test_an_interval_must_be_positive(kind):
    with pytest.raises(ValueError, match=f"interval of a {kind.__name__}"):
        kind(0)


# -- counting, purging, never ----------------------------------------------------------------------------------------


def test_the_count_trigger_fires_whenever_so_many_records_have_come():
    trigger, ctx = new(CountTrigger.of, 3), Context()
    assert [element(trigger, ctx) for _ in range(7)] == [CONTINUE, CONTINUE, FIRE, CONTINUE, CONTINUE, FIRE, CONTINUE]


def test_the_count_trigger_ignores_time():
    trigger, ctx = new(CountTrigger, 1), Context()
    assert trigger.on_event_time(99, WINDOW, ctx) is CONTINUE
    assert trigger.on_processing_time(99, WINDOW, ctx) is CONTINUE


def test_the_count_trigger_adds_up_the_counts_of_merged_windows():
    trigger, first, second, merged = new(CountTrigger, 5), Context(), Context(), Context()
    element(trigger, first)
    for _ in range(3):
        element(trigger, second)
    merged.merged = [first, second]
    trigger.on_merge(WINDOW, merged)
    assert element(trigger, merged) is FIRE


def test_the_count_trigger_forgets_its_count():
    trigger, ctx = new(CountTrigger, 2), Context()
    element(trigger, ctx)
    trigger.clear(WINDOW, ctx)
    assert element(trigger, ctx) is CONTINUE


@pytest.mark.parametrize("size", [0, -2])
def test_a_count_below_one_fires_for_each_record_as_in_pyflink(size):
    trigger, ctx = new(CountTrigger, size), Context()
    assert [element(trigger, ctx) for _ in range(3)] == [FIRE] * 3


class Says(Trigger):
    """Return the same result from all methods, and record the calls."""

    def __init__(self, result):
        self.result, self.asked = result, []

    def on_element(self, element, timestamp, window, ctx):
        self.asked.append("element")
        return self.result

    def on_processing_time(self, time, window, ctx):
        self.asked.append("processing")
        return self.result

    def on_event_time(self, time, window, ctx):
        self.asked.append("event")
        return self.result

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        self.asked.append("merge")

    def clear(self, window, ctx):
        self.asked.append("clear")


@pytest.mark.parametrize(
    ("nested", "result"),
    [(CONTINUE, CONTINUE), (FIRE, FIRE_AND_PURGE), (PURGE, PURGE), (FIRE_AND_PURGE, FIRE_AND_PURGE)],
)
def test_the_purging_trigger_purges_when_another_fires(nested, result):
    says = Says(nested)
    trigger, ctx = new(PurgingTrigger.of, says), Context()
    assert element(trigger, ctx) is result
    assert trigger.on_event_time(0, WINDOW, ctx) is result
    assert trigger.on_processing_time(0, WINDOW, ctx) is result
    trigger.on_merge(WINDOW, ctx)
    trigger.clear(WINDOW, ctx)
    assert says.asked == ["element", "event", "processing", "merge", "clear"]


def test_the_purging_trigger_merges_if_the_other_does():
    assert PurgingTrigger(EventTimeTrigger()).can_merge()
    assert not PurgingTrigger(NeverTrigger()).can_merge()


def test_the_never_trigger_never_fires():
    trigger, ctx, window = new(NeverTrigger), Context(watermark=2**63 - 1), GlobalWindow.get()
    assert trigger.on_element("x", 0, window, ctx) is CONTINUE
    assert trigger.on_event_time(0, window, ctx) is CONTINUE
    assert trigger.on_processing_time(0, window, ctx) is CONTINUE
    trigger.on_merge(window, ctx)
    trigger.clear(window, ctx)
    assert not ctx.event | ctx.processing


@pytest.mark.parametrize(
    ("trigger", "merges"),
    [
        (EventTimeTrigger(), True),
        (ProcessingTimeTrigger(), True),
        (ContinuousEventTimeTrigger(1), True),
        (ContinuousProcessingTimeTrigger(1), True),
        (CountTrigger(1), True),
        (NeverTrigger(), False),
    ],
)
def test_triggers_know_whether_they_can_merge_and_can_be_pickled(trigger, merges):
    assert trigger.can_merge() is merges
    assert pickle.loads(pickle.dumps(trigger)).can_merge() is merges


def test_a_trigger_of_the_users_cannot_merge_unless_it_says_so():
    class Plain(Says):
        can_merge = Trigger.can_merge

    assert not Plain(FIRE).can_merge()


def test_a_trigger_must_implement_what_it_is_asked():
    assert Trigger.__abstractmethods__ == {"on_element", "on_processing_time", "on_event_time", "on_merge", "clear"}


class FireEach(Trigger):
    """Fires for each record, and does not say that it can merge."""

    def on_element(self, element, timestamp, window, ctx):
        return FIRE

    def on_processing_time(self, time, window, ctx):
        return CONTINUE

    def on_event_time(self, time, window, ctx):
        return CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class Contents(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, [time for _, time in elements]


def test_keyed_sessions_take_a_trigger_that_does_not_say_whether_it_merges():
    """PyFlink asks only triggers of windows of all records, see `tests/conformance/errors`; it gave these windows."""

    def fired(records):
        sessions = records.key_by(lambda record: record[0]).window(
            EventTimeSessionWindows.with_gap(Time.milliseconds(5))
        )
        return sessions.trigger(FireEach()).process(Contents())

    with KeyedHarness(fired) as harness:
        for record in [("a", 1), ("b", 5), ("a", 12), ("a", 3), ("a", 11)]:
            harness.process_element(record, record[1])
        assert harness.extract_output_values() == [
            *(("a", 1, 6, [1]), ("b", 5, 10, [5]), ("a", 12, 17, [12]), ("a", 1, 8, [1, 3]), ("a", 11, 17, [12, 11])),
        ]
