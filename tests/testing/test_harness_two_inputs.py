"""Test harnesses of two inputs: connected and broadcast streams."""

from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.datastream import OutputTag
from flintstream.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import PlanError
from flintstream.testing.harness import (
    BroadcastHarness,
    KeyedBroadcastHarness,
    KeyedTwoInputHarness,
    StreamRecord,
    TwoInputHarness,
    Watermark,
)

ORDER = ValueStateDescriptor("order", Types.PICKLED_BYTE_ARRAY())
UNPAID = OutputTag("unpaid")
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
TOTAL = ValueStateDescriptor("total", Types.LONG())
BACKENDS = [{"state.backend.type": "hashmap"}, {"state.backend.type": "rocksdb"}]


class Both(CoFlatMapFunction):
    def flat_map1(self, value):
        yield value

    def flat_map2(self, value):
        yield from [value, value]


class Times(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield "first", value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        yield "second", value, ctx.timestamp(), ctx.timer_service().current_processing_time()


class Pay(KeyedCoProcessFunction):
    """Join an order with its payment, and report a payment that does not arrive in time."""

    def open(self, runtime_context):
        self.order = runtime_context.get_state(ORDER)

    def process_element1(self, value, ctx):
        self.order.update(value)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)

    def process_element2(self, value, ctx):
        order = self.order.value()
        if order is not None:
            self.order.clear()
            yield order, value

    def on_timer(self, timestamp, ctx):
        if self.order.value() is not None:
            yield UNPAID, ctx.get_current_key()


def pay(orders, payments):
    return orders.key_by(lambda o: o[0]).connect(payments.key_by(lambda p: p[0])).process(Pay())


def test_both_inputs_are_driven():
    with TwoInputHarness(lambda a, b: a.connect(b).flat_map(Both())) as harness:
        harness.process_element1(1, 10)
        harness.process_element2(2)
        assert harness.get_output() == [StreamRecord(1, 10), StreamRecord(2), StreamRecord(2)]


def test_event_time_is_that_of_the_slower_input():
    with TwoInputHarness(lambda a, b: a.connect(b).process(Times())) as harness:
        harness.set_processing_time(7)
        harness.process_watermark1(50)
        harness.process_watermark2(20)
        harness.process_element1("a", 60)
        harness.process_element2("b", 61)
        harness.process_both_watermarks(60)
        assert harness.extract_output_values() == [("first", "a", 60, 20), ("second", "b", 61, 7)]
        assert harness.extract_watermarks() == [20, 60]
        with pytest.raises(ValueError, match="the watermark is 60, but got 30"):
            harness.process_watermark2(30)


def test_an_idle_input_holds_nobody_back():
    with TwoInputHarness(lambda a, b: a.connect(b).flat_map(Both())) as harness:
        harness.process_watermark_status2(idle=True)
        harness.process_watermark1(50)
        assert harness.get_output() == [Watermark(50)]
        harness.process_watermark_status2(idle=False)
        harness.process_watermark_status1(idle=True)
        harness.process_watermark2(70)
        assert harness.extract_watermarks() == [50, 70]


def test_a_time_that_is_wrong_for_one_input_moves_neither():
    with TwoInputHarness(lambda a, b: a.connect(b).flat_map(Both())) as harness:
        harness.process_watermark2(50)
        with pytest.raises(ValueError, match="cannot go back"):
            harness.process_both_watermarks(40)
        harness.process_watermark1(10)
        assert harness.extract_watermarks() == [10]


def test_both_inputs_of_a_key_share_state_and_timers():
    with KeyedTwoInputHarness(pay, side_outputs=[UNPAID]) as harness:
        harness.process_element1(("o1", "book"), 0)
        harness.process_element1(("o2", "pen"), 10)
        harness.process_element2(("o1", 12), 20)
        assert harness.get_output() == [StreamRecord((("o1", "book"), ("o1", 12)), 20)]
        assert (harness.get_state(ORDER, "o1"), harness.get_state(ORDER, "o2")) == (None, ("o2", "pen"))
        assert harness.num_event_time_timers() == 2
        harness.process_both_watermarks(110)
        assert harness.get_side_output(UNPAID) == [StreamRecord("o2", 110)]


@pytest.mark.parametrize("after", BACKENDS)
def test_the_state_of_both_inputs_is_restored(after):
    with KeyedTwoInputHarness(pay, parallelism=2) as harness:
        for n in range(10):
            harness.process_element1((n, "book"), n)
        harness.process_watermark1(5)
        snapshot = harness.snapshot()
    with KeyedTwoInputHarness(pay, configuration=after, parallelism=3, side_outputs=[UNPAID]) as harness:
        harness.initialize_state(snapshot)
        for n in range(9):
            harness.process_element2((n, 12), 20)
        assert len(harness.extract_output_values()) == 9
        harness.process_both_watermarks(200)
        assert harness.get_side_output(UNPAID) == [StreamRecord(9, 109)]


def test_two_inputs_without_keys_have_no_state():
    with pytest.raises(PlanError, match="KeyedTwoInputHarness is for operations on keyed streams"):
        KeyedTwoInputHarness(lambda a, b: a.connect(b).flat_map(Both()))


def test_two_inputs_without_a_broadcast_stream_are_refused():
    with pytest.raises(
        PlanError, match=r"BroadcastHarness is for .* but 'Co-Flat Map' is not one.* or use TwoInputHarness"
    ):
        BroadcastHarness(lambda a, b: a.connect(b).flat_map(Both()))


# -- broadcast -------------------------------------------------------------------------------------------------------


class Check(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        limit = ctx.get_broadcast_state(RULES).get("limit")
        yield value, limit is None or value <= limit, ctx.timestamp(), ctx.current_watermark()

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)
        yield "rule", value


def check(values, rules):
    return values.connect(rules.broadcast(RULES)).process(Check())


class Sum(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(TOTAL)

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value[1])
        ctx.timer_service().register_processing_time_timer(1_000)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)
        ctx.apply_to_keyed_state(TOTAL, lambda key, state: state.update(state.value() * value[1]))

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.total.value(), ctx.get_broadcast_state(RULES).get("times")


def sums(values, rules):
    return values.key_by(lambda value: value[0]).connect(rules.broadcast(RULES)).process(Sum())


def test_broadcast_state_is_seen_by_all_records():
    with BroadcastHarness(check) as harness:
        harness.process_element(5, 1)
        harness.process_broadcast_element(("limit", 4))
        harness.process_watermark(10)
        harness.process_element(5, 11)
        assert harness.get_output() == [
            StreamRecord((5, True, 1, -(2**63)), 1),
            StreamRecord(("rule", ("limit", 4))),
            Watermark(10),
            StreamRecord((5, False, 11, 10), 11),
        ]
        assert harness.get_broadcast_state(RULES) == {"limit": 4}


def test_a_broadcast_state_that_there_is_not_is_an_error():
    other = MapStateDescriptor("other", Types.STRING(), Types.INT())
    with BroadcastHarness(check) as harness, pytest.raises(ValueError, match="no broadcast state 'other'"):
        harness.get_broadcast_state(other)


def test_broadcast_records_reach_every_subtask_and_their_state_every_new_one():
    with BroadcastHarness(check, parallelism=2) as harness:
        harness.process_broadcast_element(("limit", 4))
        assert harness.extract_output_values() == [("rule", ("limit", 4))] * 2
        assert harness.get_broadcast_state(RULES) == {"limit": 4}
        snapshot = harness.snapshot()
    with BroadcastHarness(check, parallelism=3) as harness:
        harness.initialize_state(snapshot)
        for _ in range(3):
            harness.process_element(5)
        assert [passed for _, passed, *_ in harness.extract_output_values()] == [False] * 3


def test_subtasks_that_do_not_agree_are_found_out():
    class Own(Check):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put("limit", self.subtask)

    def own(values, rules):
        return values.connect(rules.broadcast(RULES)).process(Own())

    with BroadcastHarness(own, parallelism=2) as harness:
        harness.process_broadcast_element(1)
        with pytest.raises(ValueError, match=r"subtasks 1 and 2 differ .* 'rules', \{'limit': 0\} and \{'limit': 1\}"):
            harness.get_broadcast_state(RULES)


@pytest.mark.parametrize("after", BACKENDS)
def test_a_keyed_broadcast_function_has_both_kinds_of_state(after):
    with KeyedBroadcastHarness(sums) as harness:
        for key in "aab":
            harness.process_element((key, 1))
        harness.process_broadcast_element(("times", 10))
        assert (harness.get_state(TOTAL, "a"), harness.get_state(TOTAL, "b")) == (20, 10)
        assert harness.num_processing_time_timers() == 2
        snapshot = harness.snapshot()
    with KeyedBroadcastHarness(sums, configuration=after, parallelism=2) as harness:
        harness.initialize_state(snapshot)
        assert harness.get_broadcast_state(RULES) == {"times": 10}
        harness.set_processing_time(1_000)
        assert sorted(harness.get_output(), key=repr) == [
            StreamRecord(("a", 20, 10), 1_000),
            StreamRecord(("b", 10, 10), 1_000),
        ]
