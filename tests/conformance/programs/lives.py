# mypy: disable-error-code="import-not-found,import-untyped"
"""Programs with slow input: processing-time windows, idle inputs, jobs that are queried and stopped.

As in `paced.py`, the results depend only on the clock.
"""

import time

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessWindowFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import (
    ContinuousProcessingTimeTrigger,
    DynamicProcessingTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.conformance.registry import collected, program

PACED = {"python.fn-execution.bundle.size": "1", "pipeline.auto-watermark-interval": "10 ms"}


def pair():
    return Types.TUPLE([Types.STRING(), Types.LONG()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def paced(env, records, seconds=0.6):
    """Return records with a pause before each: one so long that no epoch has two of them, however busy its process."""

    def pause(index):
        time.sleep(seconds)
        return records[index]

    numbers = env.from_source(
        NumberSequenceSource(0, len(records) - 1), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
    )
    return numbers.map(pause, pair())


class Values(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sorted(e[1] for e in elements), context.current_processing_time() >= context.window().max_timestamp()


class AllValues(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield sorted(e[1] for e in elements), len(list(elements))


class SmallGap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 50


@program(config=PACED)
def windows_of_the_processing_time(env):
    """Each record is in a separate window; whether that of the last one ends before the input does is chance."""
    records = paced(env, [("a", 1), ("a", 2), ("a", 3)])
    keyed = records.key_by(lambda t: t[0], Types.STRING())
    fifty = Time.milliseconds(50)
    windows = [
        keyed.window(TumblingProcessingTimeWindows.of(fifty)).process(Values()),
        keyed.window(SlidingProcessingTimeWindows.of(fifty, fifty)).process(Values()),
        keyed.window(ProcessingTimeSessionWindows.with_gap(fifty)).process(Values()),
        keyed.window(DynamicProcessingTimeSessionWindows.with_dynamic_gap(SmallGap())).process(Values()),
        records.window_all(TumblingProcessingTimeWindows.of(fifty)).process(AllValues()),
    ]
    return [stream.filter(lambda t: 3 not in t[-2]) for stream in windows]


class Global(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sorted(e[1] for e in elements)


@program(config=PACED)
def triggers_of_the_processing_time(env):
    """A continuous trigger with a purge emits each record once, at the end of its interval; the last one by chance."""
    keyed = paced(env, [("a", 1), ("a", 2), ("a", 3)]).key_by(lambda t: t[0], Types.STRING())
    purging = PurgingTrigger.of(ContinuousProcessingTimeTrigger.of(Time.milliseconds(50)))
    trigger = PurgingTrigger.of(ProcessingTimeTrigger.create())
    tumbling = keyed.window(TumblingProcessingTimeWindows.of(Time.milliseconds(50))).trigger(trigger)
    windows = [keyed.window(GlobalWindows.create()).trigger(purging).process(Global()), tumbling.process(Values())]
    return [stream.filter(lambda t: 3 not in t[1]) for stream in windows]


class Alarm(KeyedProcessFunction):
    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 50)
        yield "element", value[1]

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), str(getattr(ctx.time_domain(), "name", ctx.time_domain()))


@program(config=PACED)
def timers_of_the_processing_time(env):
    keyed = paced(env, [("a", 1), ("b", 2), ("c", 3)]).key_by(lambda t: t[0], Types.STRING())
    return keyed.process(Alarm()).filter(lambda t: t[1] != "c")


@program(config=PACED, ordering="multiset")
def late_records_of_all_windows_go_to_the_side_output(env):
    late = OutputTag("late", pair())
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    records = [("a", 1), ("b", 12), ("a", 3), ("b", 16), ("a", 4), ("a", 30)]
    windows = paced(env, records).assign_timestamps_and_watermarks(strategy)
    windows = windows.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    main = windows.allowed_lateness(5).side_output_late_data(late).process(AllValues())
    return [main, main.get_side_output(late)]


class Watermarks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value[1], ctx.timer_service().current_watermark()


@program(config=PACED)
def an_idle_input_holds_no_watermark_back(env):
    """All records of the other input are filtered out before its watermarks."""
    idle = (
        WatermarkStrategy.for_monotonous_timestamps()
        .with_idleness(Duration.of_millis(200))
        .with_timestamp_assigner(SecondField())
    )
    busy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    one = paced(env, [("a", 10), ("a", 20), ("a", 30)], 0.6).assign_timestamps_and_watermarks(busy)
    nothing = paced(env, [("b", i) for i in range(25)], 0.1).filter(lambda t: False)
    other = nothing.assign_timestamps_and_watermarks(idle)
    return one.union(other).key_by(lambda t: 0, Types.INT()).process(Watermarks())


@program(parallelism=(1, 2), ordering="multiset")
def aligned_watermarks_change_no_results(env):
    strategy = (
        WatermarkStrategy.for_monotonous_timestamps()
        .with_watermark_alignment("group", Duration.of_seconds(20), Duration.of_seconds(1))
        .with_timestamp_assigner(SecondField())
    )
    stream = env.from_collection([("a", 1), ("b", 2)], pair()).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda t: t[0]).process(Watermarks())


def running(env, records, seconds):
    paced(env, records, seconds).filter(lambda t: False).print()
    client = env.execute_async("running")
    while client.get_job_status().result().name != "RUNNING":
        time.sleep(0.05)
    return client


@program()
def a_job_that_is_submitted_tells_its_end(env):
    client = running(env, [("a", 1), ("a", 2)], 1)
    status, future = client.get_job_status().result(), client.get_job_execution_result()
    accumulators = client.get_accumulators().result()
    before = future.done()
    result = future.result()
    return collected(
        [
            (status.name, status.is_globally_terminal_state(), status.is_terminal_state(), before),
            (len(str(client.get_job_id())), str(result.get_job_id()) == str(client.get_job_id())),
            (result.get_net_runtime() >= 2000, isinstance(result.get_all_accumulator_results(), dict)),
            (result.get_accumulator_result("none"), isinstance(accumulators, dict)),
            (future.done(), future.cancelled(), future.exception()),
        ]
    )


@program()
def a_running_job_is_cancelled(env):
    client = running(env, [("a", i) for i in range(200)], 0.1)
    end, dropped = client.get_job_execution_result(), client.get_job_execution_result()
    told = [dropped.cancel(), dropped.cancelled(), dropped.done()]
    future = client.cancel()
    future.result()
    told += [future.done(), future.cancelled(), future.exception()]
    try:
        end.result()
    except Exception:  # noqa: BLE001 - what it is called is not compared
        told.append("cancelled")
    return collected([*told, end.done(), end.exception() is not None])
