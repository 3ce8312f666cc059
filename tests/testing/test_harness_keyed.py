"""Test harnesses of keyed operators: state, timers, snapshots, windows."""

from __future__ import annotations

import time

import pytest

from flintstream.common import Time, Types
from flintstream.datastream import OutputTag
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, ProcessWindowFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from flintstream.errors import CheckpointError, PlanError
from flintstream.testing.harness import KeyedHarness, OneInputHarness, StreamRecord, Watermark

LATE = OutputTag("late")


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


COUNT = ValueStateDescriptor("count", Types.LONG())
SEEN = ListStateDescriptor("seen", Types.LONG())
BY_PARITY = MapStateDescriptor("by parity", Types.STRING(), Types.LONG())
LARGEST = ReducingStateDescriptor("largest", max, Types.LONG())
MEAN = AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())


class Remember(KeyedProcessFunction):
    """Keep state of every kind, and emit the count a second after the first record, in both kinds of time."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(COUNT)
        self.seen = runtime_context.get_list_state(SEEN)
        self.by_parity = runtime_context.get_map_state(BY_PARITY)
        self.largest = runtime_context.get_reducing_state(LARGEST)
        self.mean = runtime_context.get_aggregating_state(MEAN)

    def process_element(self, value, ctx):
        number = value[1]
        if self.count.value() is None and ctx.timestamp() >= 0:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)
            ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 1_000)
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(number)
        self.by_parity.put("odd" if number % 2 else "even", number)
        self.largest.add(number)
        self.mean.add(number)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), ctx.time_domain().name, self.count.value()


def remember(stream):
    return stream.key_by(lambda value: value[0]).process(Remember())


BACKENDS = [{"state.backend.type": "hashmap"}, {"state.backend.type": "rocksdb"}]


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def test_state_of_every_kind_can_be_read(backend):
    with KeyedHarness(remember, configuration=backend) as harness:
        for number in (3, 4, 8):
            harness.process_element(("a", number))
        harness.process_element(("b", 1))
        assert harness.get_state(COUNT, "a") == 3
        assert harness.get_state(SEEN, "a") == [3, 4, 8]
        assert harness.get_state(BY_PARITY, "a") == {"odd": 3, "even": 8}
        assert harness.get_state(LARGEST, "a") == 8
        assert harness.get_state(MEAN, "a") == 5
        assert (harness.get_state(COUNT, "b"), harness.get_state(COUNT, "c")) == (1, None)
        assert (harness.get_state(SEEN, "c"), harness.get_state(BY_PARITY, "c")) == ([], {})
        assert harness.num_keyed_state_entries() == 2 * 5


def test_a_state_that_was_not_declared_is_an_error():
    with (
        KeyedHarness(remember) as harness,
        pytest.raises(ValueError, match=r"'KEYED PROCESS' has declared no state 'cuont' so far, only .*'count'"),
    ):
        harness.get_state(ValueStateDescriptor("cuont", Types.LONG()), "a")


def test_a_key_may_be_a_list():
    with KeyedHarness(lambda s: s.key_by(lambda value: [value[0]]).process(Remember()), parallelism=3) as harness:
        harness.process_element(("a", 1))
        assert harness.get_state(COUNT, ["a"]) == 1


def test_timers_fire_when_their_time_has_come(backend):
    with KeyedHarness(remember, configuration=backend) as harness:
        harness.process_element(("a", 1), 500)
        harness.set_processing_time(10)
        harness.process_element(("b", 1), 501)
        assert (harness.num_event_time_timers(), harness.num_processing_time_timers()) == (2, 2)
        harness.process_watermark(1_500)
        harness.set_processing_time(1_009)
        assert harness.get_output() == [
            StreamRecord(("a", "EVENT_TIME", 1), 1_500),
            Watermark(1_500),
            StreamRecord(("a", "PROCESSING_TIME", 1), 1_000),
        ]
        assert (harness.num_event_time_timers(), harness.num_processing_time_timers()) == (1, 1)
        harness.end_input()
        assert harness.get_output()[3] == StreamRecord(("b", "EVENT_TIME", 1), 1_501)
        with pytest.raises(RuntimeError, match="its state is gone"):
            harness.num_event_time_timers()


@pytest.mark.parametrize("before", BACKENDS)
@pytest.mark.parametrize("after", BACKENDS)
@pytest.mark.parametrize("parallelism", [(1, 1), (1, 2), (3, 2)])
def test_a_snapshot_is_restored_with_any_backend_and_parallelism(before, after, parallelism):
    keys = [f"key {n}" for n in range(20)]
    with KeyedHarness(remember, configuration=before, parallelism=parallelism[0]) as first:
        first.set_processing_time(100)
        first.process_watermark(5)
        for n, key in enumerate(keys):
            first.process_element((key, n), 1_000)
        snapshot = first.snapshot()
        first.process_element((keys[0], 5))
    with KeyedHarness(remember, configuration=after, parallelism=parallelism[1]) as second:
        second.initialize_state(snapshot)
        assert second.get_processing_time() == 100
        assert [second.get_state(COUNT, key) for key in keys] == [1] * 20
        assert [second.get_state(SEEN, key) for key in keys] == [[n] for n in range(20)]
        assert (second.num_event_time_timers(), second.num_processing_time_timers()) == (20, 20)
        with pytest.raises(ValueError, match="the watermark is 5, but got 4"):
            second.process_watermark(4)
        second.process_element((keys[0], 7), 1_001)
        second.process_watermark(2_000)
        assert sorted(second.extract_output_values()) == sorted((k, "EVENT_TIME", 1 + (k == keys[0])) for k in keys)
        second.set_processing_time(1_100)
        assert len(second.extract_output_values()) == 40


def test_a_harness_goes_on_after_its_own_snapshot():
    with KeyedHarness(remember) as harness:
        harness.process_element(("a", 1))
        snapshot = harness.snapshot()
        harness.process_element(("a", 1))
        assert harness.get_state(COUNT, "a") == 2
    for _ in range(2):
        with KeyedHarness(remember) as harness:
            harness.initialize_state(snapshot)
            harness.process_element(("a", 1))
            assert harness.get_state(COUNT, "a") == 2


def test_state_is_initialized_before_anything_else():
    with KeyedHarness(remember) as harness:
        snapshot = harness.snapshot()
        with pytest.raises(RuntimeError, match=r"initialize_state.* must be called before"):
            harness.initialize_state(snapshot)


def test_state_of_an_operator_that_is_not_here_is_an_error():
    with KeyedHarness(lambda s: remember(s).uid("one")) as harness:
        harness.process_element(("a", 1))
        snapshot = harness.snapshot()
    with (
        KeyedHarness(lambda s: remember(s).uid("other")) as harness,
        pytest.raises(CheckpointError, match=r"state of 'KEYED PROCESS' \(uid one\)"),
    ):
        harness.initialize_state(snapshot)


def test_the_number_of_key_groups_is_that_of_the_snapshot():
    with KeyedHarness(remember, max_parallelism=7) as harness:
        harness.process_element(("a", 1))
        snapshot = harness.snapshot()
    with KeyedHarness(remember, parallelism=5) as harness:
        harness.initialize_state(snapshot)
        assert harness.get_state(COUNT, "a") == 1
    with (
        KeyedHarness(remember, max_parallelism=8) as harness,
        pytest.raises(CheckpointError, match="maximum parallelism 8"),
    ):
        harness.initialize_state(snapshot)


def test_after_a_failure_a_test_goes_on_from_a_snapshot():
    class Picky(Remember):
        def process_element(self, value, ctx):
            super().process_element(value, ctx)
            if value[1] < 0:
                raise ValueError("negative")

    def picky(stream):
        return stream.key_by(lambda value: value[0]).process(Picky())

    with KeyedHarness(picky) as harness:
        harness.process_element(("a", 1))
        snapshot = harness.snapshot()
        with pytest.raises(ValueError, match="negative"):
            harness.process_element(("a", -1))
    with KeyedHarness(picky) as harness:
        harness.initialize_state(snapshot)
        assert harness.get_state(COUNT, "a") == 1


def test_time_to_live_is_of_the_processing_time_that_the_test_sets(backend):
    descriptor = ValueStateDescriptor("short", Types.LONG())
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())

    class Short(KeyedProcessFunction):
        def open(self, runtime_context):
            self.state = runtime_context.get_state(descriptor)

        def process_element(self, value, ctx):
            yield self.state.value()
            self.state.update(value)

    def short(stream):
        return stream.key_by(lambda _: "k").process(Short())

    with KeyedHarness(short, configuration=backend) as harness:
        harness.process_element(1)
        harness.set_processing_time(999)
        assert harness.get_state(descriptor, "k") == 1
        snapshot = harness.snapshot()
        harness.set_processing_time(1_000)
        assert harness.get_state(descriptor, "k") is None
    with KeyedHarness(short) as harness:
        harness.initialize_state(snapshot)
        harness.process_element(2)
        harness.set_processing_time(1_999)
        harness.process_element(3)
        assert harness.extract_output_values() == [1, None]


def test_an_operator_without_keys_is_refused():
    with pytest.raises(PlanError, match=r"KeyedHarness is for .* but 'Map' is not keyed.* use OneInputHarness"):
        KeyedHarness(lambda s: s.map(str))


def test_reduce_and_aggregations_are_tested():
    with KeyedHarness(lambda s: s.key_by(lambda v: v[0]).sum(1)) as harness:
        harness.process_elements([("a", 1), ("b", 5), ("a", 2)])
        assert harness.extract_output_values() == [("a", 1), ("b", 5), ("a", 3)]
        assert harness.num_keyed_state_entries() == 2


# -- windows ---------------------------------------------------------------------------------------------------------

FIRED = ValueStateDescriptor("fired", Types.LONG())


class Fired(ProcessWindowFunction):
    """Emit the contents of a window and the number of its firings."""

    def process(self, key, context, elements):
        state = context.window_state().get_state(FIRED)
        state.update((state.value() or 0) + 1)
        yield key, context.window().start, sorted(n for _, n in elements), state.value()

    def clear(self, context):
        context.window_state().get_state(FIRED).clear()


def windows(assigner, lateness=0, trigger=None):
    def build(stream):
        windowed = stream.key_by(lambda value: value[0]).window(assigner)
        if trigger is not None:
            windowed = windowed.trigger(trigger)
        return windowed.allowed_lateness(lateness).side_output_late_data(LATE).process(Fired())

    return build


def test_windows_fire_take_late_records_and_come_to_an_end(backend):
    tumbling = windows(TumblingEventTimeWindows.of(Time.seconds(1)), lateness=500)
    with KeyedHarness(tumbling, side_outputs=[LATE], configuration=backend) as harness:
        harness.process_element(("a", 1), 10)
        harness.process_element(("a", 2), 990)
        harness.process_watermark(999)
        assert harness.get_output() == [StreamRecord(("a", 0, [1, 2], 1), 999), Watermark(999)]
        assert harness.get_state(FIRED, "a", TimeWindow(0, 1_000)) == 1
        assert harness.get_state(FIRED, "a", TimeWindow(1_000, 2_000)) is None
        harness.clear_output()
        harness.process_element(("a", 3), 20)
        assert harness.extract_output_values() == [("a", 0, [1, 2, 3], 2)]
        harness.process_watermark(1_499)
        assert (harness.num_keyed_state_entries(), harness.num_event_time_timers()) == (0, 0)
        harness.process_element(("a", 4), 30)
        assert harness.get_side_output(LATE) == [StreamRecord(("a", 4), 30)]


def test_late_records_are_counted_where_nobody_takes_them():
    build = windows(TumblingEventTimeWindows.of(Time.seconds(1)))
    with KeyedHarness(build) as harness:
        harness.process_watermark(999)
        harness.process_element(("a", 4), 30)
        assert harness.get_metrics()["numLateRecordsDropped"] == 1


def test_windows_of_processing_time_fire_when_the_test_says_so():
    with KeyedHarness(windows(TumblingProcessingTimeWindows.of(Time.seconds(1)))) as harness:
        harness.set_processing_time(500)
        harness.process_element(("a", 1))
        harness.set_processing_time(998)
        assert harness.get_output() == []
        assert harness.num_processing_time_timers() == 1
        harness.set_processing_time(999)
        assert harness.get_output() == [StreamRecord(("a", 0, [1], 1), 999)]


def test_a_trigger_of_ones_own_decides():
    with KeyedHarness(windows(TumblingEventTimeWindows.of(Time.seconds(1)), trigger=CountTrigger.of(2))) as harness:
        harness.process_element(("a", 1), 1)
        assert harness.get_output() == []
        harness.process_element(("a", 2), 2)
        assert harness.extract_output_values() == [("a", 0, [1, 2], 1)]


@pytest.mark.parametrize("after", BACKENDS)
def test_sessions_merge_across_a_snapshot(after):
    sessions = EventTimeSessionWindows.with_gap(Time.seconds(1))

    def build(stream):
        return stream.key_by(lambda value: value[0]).window(sessions).reduce(lambda a, b: (a[0], a[1] + b[1]))

    with KeyedHarness(build) as harness:
        harness.process_element(("a", 1), 0)
        harness.process_element(("a", 2), 1_500)
        snapshot = harness.snapshot()
    with KeyedHarness(build, configuration=after, parallelism=2) as harness:
        harness.initialize_state(snapshot)
        harness.process_element(("a", 4), 800)
        harness.process_watermark(2_499)
        assert harness.extract_output_values() == [("a", 7)]


def test_windows_of_a_whole_stream_are_tested():
    def build(stream):
        return stream.window_all(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(lambda a, b: a + b)

    with KeyedHarness(build) as keyed, OneInputHarness(build) as plain:
        for harness in (keyed, plain):
            harness.process_elements([1, 2], 5)
            harness.end_input()
            assert harness.extract_output_values() == [3]


def test_slow_functions_get_all_their_input():
    def slow(value):
        time.sleep(0.3)
        return value

    with KeyedHarness(lambda values: values.key_by(lambda _: 0).map(slow)) as harness:
        harness.process_elements(range(3))
        assert harness.extract_output_values() == [0, 1, 2]
