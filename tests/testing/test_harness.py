"""Test harnesses of one input: output, time, life cycle, errors."""

from __future__ import annotations

import asyncio
import threading

import pytest

from flintstream.common import Time, Types
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from flintstream.datastream import AsyncDataStream, AsyncFunction, OutputTag
from flintstream.datastream.functions import FlatMapFunction, KeyedProcessFunction, MapFunction, ProcessFunction
from flintstream.errors import PlanError, notes
from flintstream.testing.harness import KeyedHarness, OneInputHarness, StreamRecord, Watermark, WatermarkStatus

BIG = OutputTag("big", Types.INT())


class Classify(ProcessFunction):
    def process_element(self, value, ctx):
        if value > 100:
            yield BIG, value
        else:
            service = ctx.timer_service()
            yield value, ctx.timestamp(), service.current_watermark(), service.current_processing_time()


class Opened(MapFunction):
    def open(self, runtime_context):
        self.bias = runtime_context.get_index_of_this_subtask() + 10
        self.count = runtime_context.get_metrics_group().counter("mapped")

    def map(self, value):
        self.count.inc()
        return value + self.bias

    def close(self):
        print("closed")


def test_records_and_watermarks_come_out_in_order():
    with OneInputHarness(lambda s: s.map(lambda x: x * 2)) as harness:
        harness.process_element(1, 5)
        harness.process_watermark(4)
        harness.process_element(2)
        assert harness.get_output() == [StreamRecord(2, 5), Watermark(4), StreamRecord(4)]
        assert harness.extract_output_values() == [2, 4]
        assert harness.extract_watermarks() == [4]


def test_output_can_be_forgotten():
    with OneInputHarness(lambda s: s.process(Classify()), side_outputs=[BIG]) as harness:
        harness.process_elements([1, 200])
        harness.clear_output()
        assert (harness.get_output(), harness.get_side_output(BIG)) == ([], [])


def test_a_process_function_sees_the_times_that_the_test_sets():
    with OneInputHarness(lambda s: s.process(Classify()), side_outputs=[BIG]) as harness:
        harness.set_processing_time(1_000)
        harness.process_watermark(7)
        harness.process_element(1, 8)
        harness.process_element(101, 9)
        assert harness.extract_output_values() == [(1, 8, 7, 1_000)]
        assert harness.get_side_output(BIG) == [StreamRecord(101, 9)]


def test_a_side_output_that_the_harness_was_not_told_of_is_an_error():
    with (
        OneInputHarness(lambda s: s.process(Classify())) as harness,
        pytest.raises(ValueError, match=r"side_outputs=\[...\] with the tag 'big'"),
    ):
        harness.get_side_output(BIG)


def test_functions_are_opened_and_closed(capsys):
    with OneInputHarness(lambda s: s.map(Opened())) as harness:
        harness.process_elements([1, 2])
        assert harness.extract_output_values() == [11, 12]
        assert harness.get_metrics() == {"mapped": 2, "numRecordsIn": 2, "numRecordsOut": 2}
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == "closed\n"
    harness.close()
    assert capsys.readouterr().out == ""


def test_a_harness_that_was_never_used_opens_and_closes_nothing(capsys):
    with OneInputHarness(lambda s: s.map(Opened())):
        pass
    assert capsys.readouterr().out == ""


def test_the_end_of_the_input_closes_the_functions(capsys):
    with OneInputHarness(lambda s: s.map(Opened())) as harness:
        harness.process_element(1)
        harness.end_input()
        assert capsys.readouterr().out == "closed\n"
        assert harness.extract_output_values() == [11]
        assert harness.extract_watermarks() == [2**63 - 1]
        with pytest.raises(RuntimeError, match="the input of the harness has ended"):
            harness.process_element(1)
    assert capsys.readouterr().out == ""


def test_after_closing_nothing_is_processed():
    harness = OneInputHarness(lambda s: s.map(str))
    harness.close()
    for act in (
        lambda: harness.process_element(1), harness.open, lambda: harness.process_watermark(1), harness.end_input,
        lambda: harness.set_processing_time(1), harness.snapshot, lambda: harness.process_watermark_status(idle=True),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="the harness is closed"):
            act()


def test_time_does_not_go_back():
    with OneInputHarness(lambda s: s.map(str)) as harness:
        harness.process_watermark(10)
        harness.process_watermark(10)
        with pytest.raises(ValueError, match="event time cannot go back: the watermark is 10, but got 9"):
            harness.process_watermark(9)
        harness.set_processing_time(10)
        with pytest.raises(ValueError, match="processing time cannot go back: it is 10, but got 9"):
            harness.set_processing_time(9)
        assert harness.get_processing_time() == 10
        assert harness.extract_watermarks() == [10]


def test_times_that_are_none_are_refused():
    with OneInputHarness(lambda s: s.map(str)) as harness:
        with pytest.raises(TypeError, match=r"a timestamp must be a whole number of milliseconds, but got 1\.5"):
            harness.process_element("a", 1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="64-bit"):
            harness.process_element("a", 2**63)
        with pytest.raises(ValueError, match="end_input"):
            harness.process_watermark(2**63 - 1)
        assert harness.get_output() == []


def test_an_error_of_a_function_names_operator_and_record_and_ends_the_harness():
    with OneInputHarness(lambda s: s.map(lambda x: 1 // x).name("divide")) as harness:
        with pytest.raises(ZeroDivisionError) as caught:
            harness.process_element(0)
        assert notes(caught.value) == ["in operator 'divide', subtask 1 while processing 0"]
        with pytest.raises(RuntimeError, match=r"a function has failed before \(ZeroDivisionError.*initialize_state"):
            harness.process_element(1)


def test_an_error_while_closing_does_not_fail_the_test_as_it_fails_no_job():
    class Sour(MapFunction):
        def map(self, value):
            return value

        def close(self):
            raise OSError("no")

    harness = OneInputHarness(lambda s: s.map(Sour()))
    harness.open()
    harness.process_element(1)
    harness.close()
    assert harness.extract_output_values() == [1]


def test_a_function_that_cannot_be_pickled_is_found_out():
    lock = threading.Lock()
    with pytest.raises(PlanError, match="cannot be pickled"):
        OneInputHarness(lambda s: s.map(lambda x: (x, lock)))


@pytest.mark.parametrize(("build", "said"), [(lambda s: None, "but got None"), (lambda s: s, "returns it unchanged")])
def test_what_builds_nothing_is_refused(build, said):
    with pytest.raises(TypeError, match=said):
        OneInputHarness(build)


def test_what_is_no_tag_is_refused():
    with pytest.raises(TypeError, match="side_outputs needs OutputTags, but got 'big'"):
        OneInputHarness(lambda s: s.map(str), side_outputs=["big"])  # type: ignore[list-item]


def test_a_setting_that_there_is_not_is_refused():
    with pytest.raises(TypeError, match=r"no setting 'paralelism', only \[.*'parallelism'"):
        OneInputHarness(lambda s: s.map(str), paralelism=2)  # type: ignore[call-arg]


def test_types_convert_and_refuse_as_in_a_job():
    with OneInputHarness(lambda s: s.project(1), type_info=Types.TUPLE([Types.INT(), Types.STRING()])) as harness:
        harness.process_element([1, "a"])
        assert harness.extract_output_values() == [("a",)]
        with pytest.raises(TypeError):
            harness.process_element([1, 2, 3])
    with OneInputHarness(lambda s: s.map(lambda x: "a", Types.INT())) as harness, pytest.raises(TypeError):
        harness.process_element(1)


def test_the_objects_of_the_test_stay_its_own():
    class Append(FlatMapFunction):
        def flat_map(self, value):
            value.append(1)
            yield value

    with OneInputHarness(lambda s: s.flat_map(Append())) as harness:
        mine = [0]
        harness.process_element(mine)
        assert harness.extract_output_values() == [[0, 1]]
        assert mine == [0]


def test_several_operators_may_be_tested_together():
    class Count(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.get_current_key(), value

    with KeyedHarness(lambda s: s.filter(bool).key_by(len).process(Count())) as harness:
        harness.process_elements(["", "ab"], 3)
        assert harness.get_output() == [StreamRecord((2, "ab"), 3)]


def test_records_are_dealt_to_all_subtasks():
    with OneInputHarness(lambda s: s.map(Opened()), parallelism=2) as harness:
        harness.process_elements([0, 0, 0, 0])
        harness.process_watermark(1)
        assert sorted(harness.extract_output_values()) == [10, 10, 11, 11]
        assert harness.extract_watermarks() == [1, 1]
        harness.close()


def test_idleness_is_passed_on():
    with OneInputHarness(lambda s: s.map(str)) as harness:
        harness.process_watermark_status(idle=True)
        harness.process_element(1)
        harness.process_watermark_status(idle=False)
        assert harness.get_output() == [WatermarkStatus(True), StreamRecord("1"), WatermarkStatus(False)]


def test_periodic_watermarks_come_when_processing_time_says_so():
    class Own(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Own())
    with OneInputHarness(lambda s: s.assign_timestamps_and_watermarks(strategy).map(str)) as harness:
        harness.process_element(1_000)
        harness.set_processing_time(199)
        assert harness.get_output() == [StreamRecord("1000", 1_000)]
        harness.set_processing_time(200)
        assert harness.extract_watermarks() == [999]


class Meet(AsyncFunction):
    """Wait until all three records of the test have arrived."""

    def open(self, runtime_context):
        self.met = asyncio.Event()
        self.waiting = 0

    async def async_invoke(self, value):
        self.waiting += 1
        if self.waiting == 3:
            self.met.set()
        await self.met.wait()
        return [value * 10]


def test_records_that_come_together_are_worked_on_at_once():
    with OneInputHarness(lambda s: AsyncDataStream.ordered_wait(s, Meet(), Time.seconds(60))) as harness:
        harness.process_elements([1, 2, 3], 7)
        harness.process_element(4)
        assert harness.get_output() == [*(StreamRecord(n * 10, 7) for n in (1, 2, 3)), StreamRecord(40)]


def test_the_timeout_of_an_async_function_is_of_real_time():
    class Never(AsyncFunction):
        async def async_invoke(self, value):
            await asyncio.sleep(10_000)

        def timeout(self, value):
            return [("timeout", value)]

    with OneInputHarness(lambda s: AsyncDataStream.unordered_wait(s, Never(), Time.milliseconds(10))) as harness:
        harness.process_element(1)
        assert harness.extract_output_values() == [("timeout", 1)]
        assert harness.get_processing_time() == 0
