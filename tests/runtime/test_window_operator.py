"""The window operator, driven directly. Some facts were observed by driving PyFlink's own operator."""

from __future__ import annotations

import collections
import pickle

import cloudpickle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common import Time, Types
from flintstream.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from flintstream.datastream.output_tag import OutputTag
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from flintstream.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.times import MAX_TIMESTAMP, MIN_TIMESTAMP
from flintstream.runtime.windows.operator import WindowOperator
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.tables import restore

MS = Time.milliseconds
LATE = OutputTag("late")


class Sink:
    """Record the output of an operator, including watermarks between records."""

    def __init__(self):
        self.values, self.stamps, self.log = [], [], []

    def emit(self, values, timestamps):
        self.values += values
        self.stamps += timestamps if timestamps is not None else [None] * len(values)
        self.log += values

    def emit_watermark(self, timestamp):
        self.log.append(f"watermark {timestamp}")

    def emit_idle(self, idle):
        pass


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return (value1[0], value1[1] + value2[1])


class Average(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return (accumulator[0] + value[1], accumulator[1] + 1)

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


class Listing(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window, [value for _, value in inputs]


class Summing(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window, sum(value for _, value in inputs))]


class Driver:
    """A window operator with a clock and keyed state; records are (key, number) pairs."""

    def __init__(
        self, assigner, function=None, *, trigger=None, lateness=0, late_tag=None, asked=(), incremental=None,
        batch=False, fast=True, selector=lambda value: value[0], backend=None, timers=None,
    ):  # fmt: skip
        trigger = trigger or assigner.get_default_trigger(None)
        descriptor: StateDescriptor
        if isinstance(incremental, ReduceFunction):
            descriptor = ReducingStateDescriptor("window-contents", incremental, None)
        elif incremental is not None:
            descriptor = AggregatingStateDescriptor("window-contents", incremental, None)
        else:
            descriptor = ListStateDescriptor("window-contents", Types.PICKLED_BYTE_ARRAY())
        made = WindowOperator(selector, assigner, trigger, descriptor, function, lateness, late_tag, incremental)
        self.operator = pickle.loads(cloudpickle.dumps(made))
        self.now = 0
        self.state = backend or HashMapStateBackend()
        self.timers = timers or InternalTimerService()
        self.timers.clock = lambda: self.now
        runtime = StreamingRuntimeContext("window", 0, 1, 128, {}, self.state)
        self.context = OperatorContext("window", 0, 1, 128, batch, runtime, self.state, self.timers)
        self.sink = Sink()
        self.sides = {tag: Sink() for tag in asked}
        self.operator.setup(self.context, self.sink, self.sides)
        if not fast:
            self.operator.fast_path = None
        self.operator.open()

    def add(self, *records):
        """Process records (key, number, timestamp), or (key, number) without timestamp, as one block."""
        values = [record[:2] for record in records]
        stamps = [record[2] for record in records] if len(records[0]) == 3 else None
        self.operator.process(values, stamps)
        return self.take()

    def watermark(self, timestamp):
        self.operator.process_watermark(timestamp)
        return self.take()

    def time(self, now):
        self.now = now
        self.operator.on_processing_time(now)
        return self.take()

    def end_key(self):
        self.operator.end_key(self.state.key)
        return self.take()

    def take(self):
        """Return the output since the last call."""
        values, self.sink.values = self.sink.values, []
        return values

    @property
    def dropped(self):
        return self.context.metrics.get("numLateRecordsDropped", 0)

    def contents(self):
        """Return the content of each state."""
        return {table.info.name: table.values for table in self.state.tables.values() if table.values}

    def is_empty(self):
        """Whether neither state nor timers remain."""
        return not self.contents() and not self.timers.event.registered and not self.timers.processing.registered


def tumbling(size, offset=0):
    return TumblingEventTimeWindows.of(MS(size), MS(offset))


def sliding(size, slide):
    return SlidingEventTimeWindows.of(MS(size), MS(slide))


def sessions(gap):
    return EventTimeSessionWindows.with_gap(MS(gap))


both_paths = pytest.mark.parametrize("fast", [True, False], ids=["fast", "general"])


# -- event-time windows ---------------------------------------------------------------------------------------------


@both_paths
def test_a_window_fires_when_the_watermark_reaches_its_last_timestamp(fast):
    d = Driver(tumbling(10), Listing(), fast=fast)
    assert d.add(("a", 1, 0), ("a", 2, 9), ("a", 3, 10)) == []
    assert d.watermark(8) == []
    assert d.watermark(9) == [("a", TimeWindow(0, 10), [1, 2])]
    assert d.watermark(MAX_TIMESTAMP) == [("a", TimeWindow(10, 20), [3])]
    assert d.is_empty()


@both_paths
def test_results_come_before_the_watermark_that_made_them(fast):
    d = Driver(tumbling(10), incremental=Add(), fast=fast)
    d.add(("a", 1, 0))
    d.watermark(20)
    assert d.sink.log == [("a", 1), "watermark 20"]


@both_paths
def test_results_carry_the_last_timestamp_of_their_window(fast):
    d = Driver(tumbling(10), incremental=Add(), fast=fast)
    d.add(("a", 1, 3), ("b", 1, 14))
    d.watermark(100)
    assert d.sink.stamps == [9, 19]


@both_paths
def test_negative_timestamps_have_windows_too(fast):
    d = Driver(tumbling(10, 3), Listing(), fast=fast)
    d.add(("a", 1, -1), ("a", 2, -8), ("a", 3, -7), ("a", 4, 3))
    assert d.watermark(MAX_TIMESTAMP) == [
        ("a", TimeWindow(-17, -7), [2]), ("a", TimeWindow(-7, 3), [1, 3]), ("a", TimeWindow(3, 13), [4]),
    ]  # fmt: skip


@both_paths
def test_keys_have_windows_of_their_own(fast):
    d = Driver(tumbling(10), incremental=Add(), fast=fast)
    d.add(("a", 1, 0), ("b", 10, 1), ("a", 2, 2), ("b", 20, 3))
    assert sorted(d.watermark(9)) == [("a", 3), ("b", 30)]


@both_paths
def test_sliding_windows_fire_in_the_order_of_their_ends(fast):
    d = Driver(sliding(10, 5), Listing(), fast=fast)
    d.add(("a", 1, 7), ("a", 2, 2))
    assert d.watermark(MAX_TIMESTAMP) == [
        ("a", TimeWindow(-5, 5), [2]), ("a", TimeWindow(0, 10), [1, 2]), ("a", TimeWindow(5, 15), [1]),
    ]  # fmt: skip
    assert d.is_empty()


def test_sliding_windows_need_not_be_whole_slides_long():
    d = Driver(sliding(5, 3), Listing())
    assert d.operator.fast_path is None
    d.add(("a", 1, 4), ("a", 2, 5))
    assert d.watermark(MAX_TIMESTAMP) == [("a", TimeWindow(0, 5), [1]), ("a", TimeWindow(3, 8), [1, 2])]


def test_records_between_windows_are_dropped_without_being_late():
    d = Driver(sliding(5, 10), Listing())
    d.add(("a", 1, 4), ("a", 2, 7))
    assert d.watermark(MAX_TIMESTAMP) == [("a", TimeWindow(0, 5), [1])]
    assert d.dropped == 0


@pytest.mark.parametrize("record", [("a", 1), ("a", 1, MIN_TIMESTAMP)])
@pytest.mark.parametrize("assigner", [tumbling(10), sliding(10, 5)])
def test_event_time_windows_ask_for_timestamps(assigner, record):
    with pytest.raises(OperatorFailure) as caught:
        Driver(assigner, Listing()).add(record)
    assert "assign_timestamps_and_watermarks" in str(caught.value.error)
    assert caught.value.record == "('a', 1)"


def test_sessions_do_not_ask_for_timestamps():
    Driver(sessions(5), Listing()).add(("a", 1))


# -- late records ---------------------------------------------------------------------------------------------------


@both_paths
def test_a_record_is_late_once_the_watermark_passed_its_window_and_the_lateness(fast):
    d = Driver(tumbling(10), Listing(), lateness=5, fast=fast)
    d.add(("a", 1, 1))
    assert d.watermark(13) == [("a", TimeWindow(0, 10), [1])]
    assert d.add(("a", 2, 2)) == [("a", TimeWindow(0, 10), [1, 2])]
    d.watermark(14)
    assert d.add(("a", 3, 3)) == []
    assert d.dropped == 1
    assert d.is_empty()


@both_paths
def test_a_late_but_allowed_record_fires_the_whole_window_again_with_its_own_timestamp(fast):
    d = Driver(tumbling(10), incremental=Add(), lateness=100, fast=fast)
    d.add(("a", 1, 1))
    d.watermark(50)
    assert d.add(("a", 2, 2), ("a", 3, 4)) == [("a", 3), ("a", 6)]
    assert d.sink.stamps == [9, 2, 4]


@both_paths
def test_without_lateness_a_window_is_gone_when_it_has_fired(fast):
    d = Driver(tumbling(10), Listing(), fast=fast)
    d.add(("a", 1, 1))
    d.watermark(9)
    assert d.add(("a", 2, 2)) == []
    assert d.dropped == 1


@both_paths
def test_late_records_go_to_the_side_output_that_was_asked_for(fast):
    d = Driver(tumbling(10), Listing(), late_tag=LATE, asked=["late"], fast=fast)
    d.watermark(20)
    assert d.add(("a", 1, 1), ("a", 2, 25), ("a", 3, 2)) == []
    assert d.sides["late"].values == [("a", 1), ("a", 3)]
    assert d.sides["late"].stamps == [1, 2]
    assert d.dropped == 0


@both_paths
def test_late_records_are_counted_when_nobody_asked_for_the_side_output(fast):
    d = Driver(tumbling(10), Listing(), late_tag=LATE, fast=fast)
    d.watermark(20)
    assert d.add(("a", 1, 1)) == []
    assert d.dropped == 1


@both_paths
def test_a_record_late_for_some_of_its_windows_is_not_late(fast):
    d = Driver(sliding(10, 5), Listing(), late_tag=LATE, asked=["late"], fast=fast)
    d.watermark(9)
    d.add(("a", 1, 7))
    assert d.sides["late"].values == []
    assert d.watermark(MAX_TIMESTAMP) == [("a", TimeWindow(5, 15), [1])]


def test_a_record_whose_windows_are_late_but_which_is_not_itself_late_vanishes():
    class Yesterday(TumblingEventTimeWindows):
        def assign_windows(self, element, timestamp, context):
            return [TimeWindow(0, 10)]

    d = Driver(Yesterday(10, 0), Listing(), late_tag=LATE, asked=["late"])
    d.watermark(20)
    d.add(("a", 1, 21))
    assert (d.sides["late"].values, d.dropped) == ([], 0)
    d.add(("a", 2, 20))
    assert d.sides["late"].values == [("a", 2)]


@both_paths
def test_a_lateness_without_end_keeps_windows_for_ever(fast):
    d = Driver(tumbling(10), incremental=Add(), lateness=MAX_TIMESTAMP, fast=fast)
    d.add(("a", 1, 1))
    assert d.watermark(10**15) == [("a", 1)]
    assert d.add(("a", 2, 2)) == [("a", 3)]


def test_lateness_does_not_matter_to_processing_time_windows():
    d = Driver(TumblingProcessingTimeWindows.of(MS(10)), Listing(), lateness=1000)
    d.add(("a", 1))
    assert d.time(9) == [("a", TimeWindow(0, 10), [1])]
    assert d.is_empty()


# -- sessions -------------------------------------------------------------------------------------------------------


def test_touching_sessions_merge():
    d = Driver(sessions(5), Listing())
    d.add(("a", 1, 0), ("a", 2, 5), ("a", 3, 11))
    assert d.watermark(MAX_TIMESTAMP) == [("a", TimeWindow(0, 10), [1, 2]), ("a", TimeWindow(11, 16), [3])]
    assert d.is_empty()


@pytest.mark.parametrize("incremental", [Add(), None])
def test_a_record_between_two_sessions_joins_them(incremental):
    d = Driver(sessions(5), Summing(), incremental=incremental)
    d.add(("a", 1, 0), ("a", 2, 8), ("b", 5, 3), ("a", 4, 4))
    assert d.watermark(100) == [("b", TimeWindow(3, 8), 5), ("a", TimeWindow(0, 13), 7)]
    assert d.is_empty()


def test_accumulators_of_sessions_merge():
    d = Driver(sessions(5), incremental=Average())
    d.add(("a", 1, 0), ("a", 2, 8), ("a", 6, 4))
    assert d.watermark(100) == [3.0]


def test_a_session_that_grew_does_not_fire_at_its_old_end():
    d = Driver(sessions(5), Listing())
    d.add(("a", 1, 0))
    d.add(("a", 2, 3))
    assert d.watermark(6) == []
    assert d.watermark(7) == [("a", TimeWindow(0, 8), [1, 2])]


def test_a_late_record_may_still_join_a_session_that_is_open():
    d = Driver(sessions(10), Listing())
    d.add(("a", 1, 20))
    d.watermark(25)
    d.add(("a", 2, 12))
    assert d.dropped == 0
    assert d.watermark(100) == [("a", TimeWindow(12, 30), [1, 2])]


def test_a_late_record_without_a_session_is_dropped():
    d = Driver(sessions(10), Listing())
    d.watermark(25)
    assert d.add(("a", 2, 12)) == []
    assert d.dropped == 1
    assert d.is_empty()


def test_a_late_record_fires_an_allowed_session_again():
    d = Driver(sessions(5), Listing(), lateness=20)
    d.add(("a", 1, 0))
    assert d.watermark(10) == [("a", TimeWindow(0, 5), [1])]
    assert d.add(("a", 2, 3)) == [("a", TimeWindow(0, 8), [1, 2])]
    assert d.watermark(100) == []
    assert d.is_empty()


def test_gaps_may_depend_on_the_record():
    class Gap(SessionWindowTimeGapExtractor):
        def extract(self, element):
            return element[1]

    d = Driver(EventTimeSessionWindows.with_dynamic_gap(Gap()), Listing())
    d.add(("a", 100, 0), ("a", 5, 20), ("a", 3, 110))
    assert d.watermark(1000) == [("a", TimeWindow(0, 100), [100, 5]), ("a", TimeWindow(110, 113), [3])]
    assert d.is_empty()


class Shrinking(MergingWindowAssigner):
    """Merge two windows into one that ends before both."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 10)]

    def merge_windows(self, windows, callback):
        if len(windows) > 1:
            callback.merge(windows, TimeWindow(0, 1))

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self):
        raise AssertionError

    def is_event_time(self):
        return True


def test_windows_must_not_merge_into_the_past():
    d = Driver(Shrinking(), Listing())
    d.watermark(5)
    d.add(("a", 1, 10))
    with pytest.raises(OperatorFailure) as caught:
        d.add(("a", 1, 11))
    assert "TimeWindow(start=0, end=1)" in str(caught.value.error)


def test_processing_time_sessions_fire_after_the_gap():
    d = Driver(ProcessingTimeSessionWindows.with_gap(MS(10)), Listing())
    d.add(("a", 1))
    assert d.time(5) == []
    d.add(("a", 2))
    assert d.operator.next_processing_time() == 14
    assert d.time(13) == []
    assert d.time(14) == [("a", TimeWindow(0, 15), [1, 2])]
    assert d.is_empty()


def test_window_state_is_refused_when_windows_merge_but_global_state_is_not():
    class Uses(ProcessWindowFunction):
        def process(self, key, context, elements):
            total = context.global_state().get_state(ValueStateDescriptor("total", Types.LONG()))
            total.update((total.value() or 0) + len(list(elements)))
            yield total.value()
            context.window_state().get_state(ValueStateDescriptor("mine", Types.LONG()))

    d = Driver(sessions(5), Uses())
    d.add(("a", 1, 0))
    with pytest.raises(OperatorFailure) as caught:
        d.watermark(100)
    assert str(caught.value.error).startswith("Per-window state is not allowed when using merging windows.")


# -- count and global windows ---------------------------------------------------------------------------------------


def test_count_windows_fire_only_when_they_are_full():
    d = Driver(CountTumblingWindowAssigner.of(3), Listing())
    got = d.add(*[("a", i) for i in range(1, 8)], ("b", 1))
    assert got == [("a", CountWindow(0), [1, 2, 3]), ("a", CountWindow(1), [4, 5, 6])]
    assert d.watermark(MAX_TIMESTAMP) == []


def test_sliding_count_windows_fire_only_when_they_are_full():
    d = Driver(CountSlidingWindowAssigner.of(3, 1), Summing())
    assert [total for _, _, total in d.add(*[("a", i) for i in range(1, 7)])] == [6, 9, 12, 15]


def test_sliding_count_windows_drop_what_lies_between_them():
    d = Driver(CountSlidingWindowAssigner.of(2, 3), Listing())
    assert [numbers for _, _, numbers in d.add(*[("a", i) for i in range(1, 9)])] == [[1, 2], [4, 5], [7, 8]]


def test_a_count_window_leaves_nothing_behind_when_it_has_fired():
    assigners: list[WindowAssigner] = [CountTumblingWindowAssigner(2), CountSlidingWindowAssigner(2, 3)]
    for assigner in assigners:
        driver = Driver(assigner, Summing())
        driver.add(("a", 1), ("a", 2))
        assert not driver.state.tables["window-contents", True].values
        assert not driver.state.tables["count", True].values


def test_the_count_trigger_keeps_the_contents():
    d = Driver(GlobalWindows.create(), Summing(), trigger=CountTrigger.of(2))
    assert [total for _, _, total in d.add(*[("a", i) for i in range(1, 7)])] == [3, 10, 21]


def test_the_purging_trigger_drops_the_contents():
    d = Driver(GlobalWindows.create(), Summing(), trigger=PurgingTrigger.of(CountTrigger.of(2)))
    assert [total for _, _, total in d.add(*[("a", i) for i in range(1, 7)])] == [3, 7, 11]


def test_global_windows_never_fire_by_themselves():
    d = Driver(GlobalWindows.create(), Summing())
    d.add(("a", 1, 0))
    assert d.watermark(MAX_TIMESTAMP) == []


def test_results_of_records_keep_the_order_and_the_timestamps_of_the_records():
    d = Driver(GlobalWindows.create(), Summing(), trigger=CountTrigger.of(2))
    d.add(("a", 1, 5), ("b", 1, 6), ("b", 2, 7), ("a", 2, 3))
    assert d.sink.stamps == [7, 3]


def test_counts_of_merged_sessions_add_up():
    d = Driver(sessions(5), Listing(), trigger=CountTrigger.of(3))
    assert d.add(("a", 1, 0), ("a", 2, 8)) == []
    assert d.add(("a", 3, 4)) == [("a", TimeWindow(0, 13), [1, 2, 3])]
    assert d.watermark(100) == []
    assert d.is_empty()


def test_the_count_of_a_window_goes_with_the_window():
    d = Driver(tumbling(10), Listing(), trigger=CountTrigger.of(2))
    d.add(("a", 1, 0))
    assert d.watermark(9) == []
    assert d.is_empty()


# -- other triggers -------------------------------------------------------------------------------------------------


def test_a_purging_event_time_trigger_starts_late_windows_anew():
    d = Driver(tumbling(10), Listing(), trigger=PurgingTrigger.of(EventTimeTrigger.create()), lateness=10)
    d.add(("a", 1, 0))
    assert d.watermark(9) == [("a", TimeWindow(0, 10), [1])]
    assert d.add(("a", 2, 1)) == [("a", TimeWindow(0, 10), [2])]


def test_a_continuous_event_time_trigger_fires_every_interval_and_at_the_end():
    d = Driver(tumbling(10), Listing(), trigger=ContinuousEventTimeTrigger.of(MS(4)))
    d.add(("a", 1, 1), ("a", 2, 7))
    assert d.watermark(4) == [("a", TimeWindow(0, 10), [1, 2])]
    d.add(("a", 3, 5))
    assert [numbers for _, _, numbers in d.watermark(8)] == [[1, 2, 3]]
    assert [numbers for _, _, numbers in d.watermark(9)] == [[1, 2, 3]]
    assert d.sink.stamps == [4, 8, 9]
    assert d.is_empty()


def test_a_continuous_event_time_trigger_serves_sessions():
    d = Driver(sessions(5), Listing(), trigger=ContinuousEventTimeTrigger.of(MS(4)))
    d.add(("a", 1, 1), ("a", 2, 5))
    assert d.watermark(4) == [("a", TimeWindow(1, 10), [1, 2])]
    assert [numbers for _, _, numbers in d.watermark(100)] == [[1, 2], [1, 2]]
    assert d.is_empty()


def test_processing_time_windows_fire_by_the_clock():
    d = Driver(TumblingProcessingTimeWindows.of(MS(10)), incremental=Add())
    d.now = 3
    d.add(("a", 1))
    d.now = 12
    d.add(("a", 2))
    assert d.operator.next_processing_time() == 9
    assert d.time(12) == [("a", 1)]
    assert d.time(19) == [("a", 2)]
    assert d.sink.stamps == [9, 19]
    assert d.is_empty()


def test_a_continuous_processing_time_trigger_fires_every_interval():
    d = Driver(TumblingProcessingTimeWindows.of(MS(10)), Listing(), trigger=ContinuousProcessingTimeTrigger.of(MS(4)))
    d.add(("a", 1))
    assert d.time(4) == [("a", TimeWindow(0, 10), [1])]
    assert [len(d.time(8)), len(d.time(9))] == [1, 1]
    assert d.is_empty()


class Custom(Trigger):
    """Fire at half of the window, purge at records of 0."""

    seen = ValueStateDescriptor("seen", Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        seen = ctx.get_partitioned_state(self.seen)
        seen.update((seen.value() or 0) + 1)
        if element[1] == 0:
            ctx.delete_event_time_timer(window.start + 5)
            return TriggerResult.PURGE
        ctx.register_event_time_timer(window.start + 5)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        if time != window.start + 5:
            return TriggerResult.CONTINUE
        ctx.get_metric_group().counter("halves").inc(ctx.get_partitioned_state(self.seen).value())
        return TriggerResult.FIRE_AND_PURGE

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.seen)

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.seen).clear()

    def can_merge(self):
        return True


def test_a_trigger_of_the_users_has_state_and_timers_per_key_and_window():
    d = Driver(tumbling(10), Listing(), trigger=Custom())
    d.add(("a", 1, 1), ("a", 2, 12), ("b", 3, 2), ("b", 0, 3))
    assert d.watermark(5) == [("a", TimeWindow(0, 10), [1])]
    assert d.watermark(30) == [("a", TimeWindow(10, 20), [2])]
    assert d.context.runtime_context.get_metrics_group().counter("halves").get_count() == 2
    assert d.is_empty()


def test_a_trigger_cannot_merge_value_state():
    d = Driver(sessions(5), Listing(), trigger=Custom())
    with pytest.raises(OperatorFailure) as caught:
        d.add(("a", 1, 1), ("a", 2, 2))
    assert "'seen' cannot be merged" in str(caught.value.error)


# -- window functions -----------------------------------------------------------------------------------------------


def test_reduce_and_aggregate_without_a_function_emit_the_value_itself():
    for incremental, result in ((Add(), ("a", 3)), (Average(), 1.5)):
        d = Driver(tumbling(10), incremental=incremental)
        d.add(("a", 1, 0), ("a", 2, 1))
        assert d.watermark(9) == [result]


def test_a_function_after_reduce_or_aggregate_gets_a_list_of_one():
    class Shows(WindowFunction):
        def apply(self, key, window, inputs):
            return [(key, window.start, inputs)]

    for incremental, result in ((Add(), ("a", 3)), (Average(), 1.5)):
        d = Driver(tumbling(10), Shows(), incremental=incremental)
        d.add(("a", 1, 0), ("a", 2, 1))
        assert d.watermark(9) == [("a", 0, [result])]


def test_functions_of_all_kinds_are_called_with_their_arguments():
    class Process(ProcessWindowFunction):
        def process(self, key, context, elements):
            return [(key, context.window(), context.current_watermark(), context.current_processing_time(), elements)]

    class AllApply(AllWindowFunction):
        def apply(self, window, inputs):
            return [(window, inputs)]

    class AllProcess(ProcessAllWindowFunction):
        def process(self, context, elements):
            return [(context.window(), elements)]

    window, contents = TimeWindow(0, 10), [("a", 1)]
    for function, result in (
        (Process(), ("a", window, 9, 77, contents)),
        (AllApply(), (window, contents)),
        (AllProcess(), (window, contents)),
    ):  # fmt: skip
        d = Driver(tumbling(10), function)
        d.now = 77
        d.add(("a", 1, 0))
        assert d.watermark(9) == [result]


def test_a_function_may_return_nothing():
    class Silent(WindowFunction):
        def apply(self, key, window, inputs):
            return None

    d = Driver(tumbling(10), Silent())
    d.add(("a", 1, 0))
    assert d.watermark(9) == []


def test_window_state_belongs_to_the_window_and_global_state_to_the_key():
    class Counts(ProcessWindowFunction):
        mine = ValueStateDescriptor("count", Types.LONG())

        def process(self, key, context, elements):
            counts = [store.get_state(self.mine) for store in (context.window_state(), context.global_state())]
            for count in counts:
                count.update((count.value() or 0) + 1)
            return [(key, context.window().start, *[count.value() for count in counts])]

        def clear(self, context):
            context.window_state().get_state(self.mine).clear()
            cleared.append(context.window())

    cleared: list = []
    d = Driver(tumbling(10), lateness=20, incremental=Add())
    d.operator.function = Counts()
    d.operator.setup(d.context, d.sink, {})
    d.add(("a", 1, 0), ("b", 1, 0), ("a", 1, 11))
    assert sorted(d.watermark(19)) == [("a", 0, 1, 1), ("a", 10, 1, 2), ("b", 0, 1, 1)]
    assert d.add(("a", 1, 1)) == [("a", 0, 2, 3)]
    assert cleared == []
    d.watermark(29)
    assert cleared == [TimeWindow(0, 10), TimeWindow(0, 10)]
    d.watermark(100)
    assert {key for key, _ in d.state.tables["count", False].values.items()} == {"a", "b"}


def test_functions_are_opened_and_closed():
    class Opened(Add):
        def open(self, runtime_context):
            calls.append(("open reduce", runtime_context.get_task_name()))

        def close(self):
            calls.append("close reduce")

    class Function(Listing):
        def open(self, runtime_context):
            calls.append("open function")

        def close(self):
            calls.append("close function")

    calls: list = []
    d = Driver(tumbling(10), Listing(), incremental=Add())
    d.operator.incremental, d.operator.function = Opened(), Function()
    d.operator.open()
    d.operator.close()
    assert calls == [("open reduce", "window"), "open function", "close reduce", "close function"]


def test_a_window_function_may_use_side_outputs():
    tag = OutputTag("odd")

    class Splits(WindowFunction):
        def apply(self, key, window, inputs):
            for _, value in inputs:
                yield (tag, value) if value % 2 else value

    d = Driver(tumbling(10), Splits(), asked=["odd"])
    d.add(("a", 1, 0), ("a", 2, 0), ("a", 3, 0))
    assert d.watermark(9) == [2]
    assert (d.sides["odd"].values, d.sides["odd"].stamps) == ([1, 3], [9, 9])


def test_what_a_function_emits_is_not_changed_by_what_comes_later():
    class Reuses(WindowFunction):
        buffer: list = []  # noqa: RUF012

        def apply(self, key, window, inputs):
            self.buffer.append(len(inputs))
            return [self.buffer]

    d = Driver(tumbling(10), Reuses())
    d.add(("a", 1, 0), ("a", 1, 10))
    assert d.watermark(100) == [[1], [1, 1]]


@both_paths
def test_failures_name_the_record_or_the_timer(fast):
    class Fails(ReduceFunction):
        def reduce(self, value1, value2):
            return 1 / value2[1]

    class FailsToo(WindowFunction):
        def apply(self, key, window, inputs):
            raise ValueError("no")

    d = Driver(tumbling(10), FailsToo(), incremental=Fails(), fast=fast)
    with pytest.raises(OperatorFailure) as caught:
        d.add(("a", 1, 0), ("a", 0, 1), ("a", 2, 2))
    assert caught.value.record == "('a', 0)"
    d.add(("a", 2, 3))
    with pytest.raises(OperatorFailure, match="window") as caught:
        d.watermark(9)
    assert caught.value.record == "the event-time timer 9 of key 'a' and window TimeWindow(start=0, end=10)"


class FailsAtZero(ReduceFunction):
    def reduce(self, value1, value2):
        return (value1[0], 1 / value2[1])


@both_paths
@pytest.mark.parametrize("assigner", [tumbling(10), sliding(10, 5), sessions(5)])
def test_a_failure_names_its_record_wherever_that_is_in_the_block(assigner, fast):
    d = Driver(assigner, incremental=FailsAtZero(), fast=fast)
    with pytest.raises(OperatorFailure) as caught:
        d.add(("a", 1, 10), ("b", 1, 11), ("a", 2, 12), ("b", 0, 13), ("a", 3, 14))
    assert caught.value.record == "('b', 0)"


@both_paths
def test_a_failure_names_the_record_that_joins_two_sessions(fast):
    d = Driver(sessions(5), incremental=FailsAtZero(), fast=fast)
    with pytest.raises(OperatorFailure) as caught:
        d.add(("a", 1, 0), ("a", 2, 8), ("b", 1, 1), ("a", 0, 4), ("a", 3, 5))
    assert caught.value.record == "('a', 0)"


# -- keys, epochs and BATCH -----------------------------------------------------------------------------------------


@both_paths
def test_keys_that_cannot_be_hashed_reach_the_function_as_they_are(fast):
    d = Driver(tumbling(10), Listing(), selector=lambda value: {"k": value[0]}, fast=fast)
    d.operator.freeze_keys()
    d.add(("a", 1, 0), ("a", 2, 1))
    assert d.watermark(9) == [({"k": "a"}, TimeWindow(0, 10), [1, 2])]


class AddInPlace(ReduceFunction):
    def reduce(self, value1, value2):
        value1[1] += value2[1]
        return value1


@both_paths
def test_a_reduce_function_that_works_in_place_changes_one_window_only(fast):
    driver = Driver(sliding(10, 5), incremental=AddInPlace(), fast=fast)
    driver.operator.process([["a", 1], ["a", 10]], [3, 7])
    assert driver.watermark(2**63 - 1) == [["a", 1], ["a", 11], ["a", 10]]


@pytest.mark.parametrize("assigner", [tumbling(10), sliding(10, 5), sessions(5)])
@pytest.mark.parametrize("incremental", [Add(), None])
def test_windows_survive_from_epoch_to_epoch(assigner, incremental):
    records = [("a", 1, 0), ("b", 2, 3), ("a", 3, 4), ("a", 4, 12), ("b", 5, 7), ("c", 6, 1)]
    whole = Driver(assigner, Summing(), incremental=incremental, lateness=3)
    expected = []
    deltas: list = []
    pieces: list = []
    for i, record in enumerate(records):
        expected += whole.add(record)
        expected += whole.watermark(i)
        backend, timers = HashMapStateBackend(), InternalTimerService()
        part = Driver(assigner, Summing(), incremental=incremental, lateness=3, backend=backend, timers=timers)
        restore(backend, None, [pickle.loads(state) for state, _ in deltas])
        restore(timers, None, [pickle.loads(state) for _, state in deltas])
        timers.current_watermark = i - 1 if i else MIN_TIMESTAMP
        backend.tracking = True
        pieces += part.add(record)
        pieces += part.watermark(i)
        deltas.append((pickle.dumps(backend.take_delta()), pickle.dumps(timers.take_delta())))
    rest = whole.watermark(MAX_TIMESTAMP)
    assert pieces == expected
    assert collections.Counter(map(str, part.watermark(MAX_TIMESTAMP))) == collections.Counter(map(str, rest))
    assert part.is_empty()


RECORD = st.tuples(st.sampled_from("ab"), st.integers(1, 9), st.integers(0, 30))
COMMON_WINDOWS = [
    tumbling(10),
    sliding(10, 5),
    sessions(5),
    CountTumblingWindowAssigner.of(3),
    TumblingProcessingTimeWindows.of(MS(10)),
    SlidingProcessingTimeWindows.of(MS(10), MS(5)),
]


@given(
    st.lists(st.tuples(st.booleans(), st.lists(RECORD, max_size=10), st.integers(0, 12)), max_size=8),
    st.sampled_from(COMMON_WINDOWS),
    st.sampled_from([Add(), None]),
    st.sampled_from([0, 4]),
)
def test_the_general_way_can_go_on_with_what_the_fast_way_kept_and_the_other_way_round(
    epochs, assigner, incremental, lateness
):
    def drive(**more):
        return Driver(assigner, Summing(), incremental=incremental, lateness=lateness, **more)

    def passes(driver, now):
        """Advance both kinds of time; events that are due at the same time have no defined order."""
        return collections.Counter(map(str, driver.watermark(now) + driver.time(now)))

    whole = drive(fast=False)
    backend, timers = HashMapStateBackend(), InternalTimerService()
    now = 0
    for fast, records, passed in epochs:
        part = drive(backend=backend, timers=timers, fast=fast)
        part.now = now
        assert (part.operator.fast_path is not None) is fast
        assert (part.add(*records) if records else []) == (whole.add(*records) if records else [])
        now += passed
        assert passes(part, now) == passes(whole, now)
    part = drive(backend=backend, timers=timers, fast=False)
    assert passes(part, MAX_TIMESTAMP) == passes(whole, MAX_TIMESTAMP)
    assert part.contents() == whole.contents()


@given(
    st.lists(st.tuples(st.lists(RECORD, max_size=12), st.integers(0, 12)), max_size=6),
    st.sampled_from([tumbling(10), sliding(10, 5), sliding(9, 3), sessions(5)]),
    st.sampled_from([0, 4]),
)
def test_a_block_gives_what_its_records_give_one_by_one(epochs, assigner, lateness):
    """Windows list their records in order, late records come in order, and so do results of the same time."""
    asked: dict = {"lateness": lateness, "late_tag": LATE, "asked": [LATE.tag_id]}
    together, single = Driver(assigner, Listing(), **asked), Driver(assigner, Listing(), fast=False, **asked)
    now = 0
    for records, passed in epochs:
        assert (together.add(*records) if records else []) == [out for record in records for out in single.add(record)]
        now += passed
        assert sorted(together.watermark(now), key=str) == sorted(single.watermark(now), key=str)
    assert together.contents() == single.contents()
    assert together.sides[LATE.tag_id].values == single.sides[LATE.tag_id].values


class Nothing(ReduceFunction):
    def reduce(self, value1, value2):
        return None


@both_paths
def test_a_count_window_that_is_reduced_to_none_emits_nothing(fast):
    d = Driver(CountTumblingWindowAssigner.of(2), incremental=Nothing(), fast=fast)
    assert d.add(("a", 1, 0), ("a", 2, 1), ("a", 3, 2)) == []


@both_paths
def test_the_log_has_the_new_elements_of_a_window(fast):
    d = Driver(tumbling(10), Listing(), fast=fast, lateness=5)
    d.state.tracking = True
    d.add(("a", 1, 0), ("a", 2, 1))
    d.state.take_delta()
    d.add(("a", 3, 2), ("a", 4, 3), ("b", 5, 4))
    (change,) = d.state.take_delta()
    window = TimeWindow(0, 10)
    assert (change.keys, change.values, change.deleted) == ([("b", window)], [[("b", 5)]], [])
    assert change.appended == [(("a", window), [("a", 3), ("a", 4)])]
    d.watermark(MAX_TIMESTAMP)
    (change,) = d.state.take_delta()
    assert (change.keys, sorted(change.deleted), change.appended) == ([], [("a", window), ("b", window)], [])


def test_the_log_of_sessions_that_merge_has_what_moved():
    d = Driver(sessions(5), Listing())
    d.state.tracking = True
    d.add(("a", 1, 0), ("a", 2, 1), ("a", 3, 10))
    d.state.take_delta()
    d.add(("a", 4, 6))
    changes = {change.table.name: change for change in d.state.take_delta()}
    change = changes["window-contents"]
    assert (change.keys, len(change.deleted), len(change.appended)) == ([], 1, 1)
    assert sorted(value for _, value in change.appended[0][1]) == [3, 4]


def test_in_batch_mode_each_key_fires_by_itself_and_nothing_is_late():
    d = Driver(tumbling(10), Listing(), batch=True)
    d.add(("a", 1, 0), ("a", 2, 15))
    assert d.end_key() == [("a", TimeWindow(0, 10), [1]), ("a", TimeWindow(10, 20), [2])]
    assert d.is_empty()
    assert d.timers.current_watermark == MIN_TIMESTAMP
    d.add(("b", 3, 0))
    assert d.end_key() == [("b", TimeWindow(0, 10), [3])]


def test_in_batch_mode_processing_time_windows_fire_at_the_end_of_the_key():
    d = Driver(TumblingProcessingTimeWindows.of(MS(10)), Listing(), batch=True)
    d.add(("a", 1))
    assert d.operator.next_processing_time() is None
    assert d.end_key() == [("a", TimeWindow(0, 10), [1])]
    assert d.is_empty()


def test_in_batch_mode_timers_of_timers_are_ignored():
    d = Driver(GlobalWindows.create(), Listing(), trigger=ContinuousProcessingTimeTrigger.of(MS(10)), batch=True)
    d.add(("a", 1))
    assert len(d.end_key()) == 1


def test_in_batch_mode_sessions_and_counts_start_anew_with_each_key():
    d = Driver(CountTumblingWindowAssigner.of(2), Listing(), batch=True)
    d.add(("a", 1), ("a", 2), ("a", 3))
    d.end_key()
    assert d.add(("a", 4)) == []
    d = Driver(sessions(5), Listing(), batch=True)
    d.add(("a", 1, 0), ("a", 2, 4))
    assert d.end_key() == [("a", TimeWindow(0, 9), [1, 2])]
    assert d.is_empty()


# -- against brute force --------------------------------------------------------------------------------------------

LATENESS = 20
keyed_records = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-9, 9), st.integers(-50, 50)), max_size=25)


def within_lateness(records):
    """Give every record a watermark after it that is at most LATENESS ahead of the records to come."""
    steps, least = [], MAX_TIMESTAMP
    for record in reversed(records):
        steps.append((record, least - 1 if least != MAX_TIMESTAMP else None))
        least = min(least, record[2])
    return reversed(steps)


def run(driver, records):
    """Return the last result of every key and window; watermarks never make a record late for good."""
    latest = {}
    watermark = MIN_TIMESTAMP
    for record, bound in within_lateness(records):
        for key, window, total in driver.add(record):
            latest[key, window] = total
        if bound is not None and bound + LATENESS > watermark:
            watermark = bound + LATENESS
            for key, window, total in driver.watermark(watermark):
                latest[key, window] = total
    for key, window, total in driver.watermark(MAX_TIMESTAMP):
        latest[key, window] = total
    assert driver.dropped == 0
    assert driver.is_empty()
    return latest


def fixed(records, size, slide, offset=0):
    totals: dict = {}
    for key, number, timestamp in records:
        for start in range(-200, 200):
            if (start - offset) % slide == 0 and start <= timestamp < start + size:
                pane = key, TimeWindow(start, start + size)
                totals[pane] = totals.get(pane, 0) + number
    return totals


@settings(max_examples=60, deadline=None)
@given(keyed_records, st.integers(1, 30), st.booleans(), st.sampled_from([Add(), None]), st.data())
def test_tumbling_windows_agree_with_brute_force(records, size, fast, incremental, data):
    offset = data.draw(st.integers(-size + 1, size - 1))
    d = Driver(tumbling(size, offset), Summing(), incremental=incremental, lateness=LATENESS, fast=fast)
    assert run(d, records) == fixed(records, size, size, offset)


@settings(max_examples=60, deadline=None)
@given(keyed_records, st.integers(1, 20), st.integers(1, 20), st.booleans(), st.sampled_from([Add(), None]))
def test_sliding_windows_agree_with_brute_force(records, size, slide, fast, incremental):
    d = Driver(sliding(size, slide), Summing(), incremental=incremental, lateness=LATENESS, fast=fast)
    assert run(d, records) == fixed(records, size, slide)


def unions(records, gap):
    totals: dict = {}
    for key in {record[0] for record in records}:
        found: list = []
        for _, number, timestamp in sorted((r for r in records if r[0] == key), key=lambda r: r[2]):
            if found and timestamp <= found[-1][1]:
                start, _, total = found.pop()
            else:
                start, total = timestamp, 0
            found.append((start, timestamp + gap, total + number))
        totals |= {(key, TimeWindow(start, end)): total for start, end, total in found}
    return totals


@settings(max_examples=100, deadline=None)
@given(keyed_records, st.integers(1, 20), st.sampled_from([Add(), None]))
def test_sessions_agree_with_unions_of_intervals(records, gap, incremental):
    d = Driver(sessions(gap), Summing(), incremental=incremental, lateness=0)
    for record in records:
        d.add(record)
    got = {(key, window): total for key, window, total in d.watermark(MAX_TIMESTAMP)}
    assert got == unions(records, gap)
    assert d.is_empty()


@settings(max_examples=100, deadline=None)
@given(keyed_records, st.integers(1, 20), st.sampled_from([Add(), None]))
def test_sessions_in_order_fire_as_they_end(records, gap, incremental):
    records = sorted(records, key=lambda record: record[2])
    d = Driver(sessions(gap), Summing(), incremental=incremental)
    fired = []
    for record in records:
        d.add(record)
        fired += d.watermark(record[2] - 2)  # a window that a record may still touch is open
    fired += d.watermark(MAX_TIMESTAMP)
    assert {(key, window): total for key, window, total in fired} == unions(records, gap)
    assert len(fired) == len({(key, window) for key, window, _ in fired})
    assert d.dropped == 0
