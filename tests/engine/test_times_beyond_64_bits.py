"""A time that Java's ``long`` does not hold fails the job with the operator and the record; none gets lost."""

from __future__ import annotations

from typing import Any

import pytest

from flintstream.common import Duration, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from flintstream.connectors.source import (
    Source,
    SourceReader,
    SourceSplit,
    SourceWatermark,
    StaticEnumerator,
    Timestamped,
)
from flintstream.datastream import RuntimeExecutionMode
from flintstream.datastream.functions import (
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    SourceFunction,
)
from flintstream.datastream.state import MapStateDescriptor, StateTtlConfig
from flintstream.datastream.window import (
    EventTimeSessionWindows,
    EventTimeTrigger,
    ProcessingTimeSessionWindows,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from flintstream.errors import notes
from flintstream.testing import CollectSink

LAST, FIRST = 2**63 - 1, -(2**63)
TIMES = {"above": LAST + 1, "below": FIRST - 1, "far": 10**30}
MS = Time.milliseconds
PLACES: dict[str, Any] = {}
"""Name -> a program that uses a time, and the texts about the place that the error must contain."""


def place(*texts, times=tuple(TIMES)):
    def note(build):
        PLACES.update({f"{build.__name__}-{name}": (build, TIMES[name], texts) for name in times})
        return build

    return note


def keyed(env):
    return env.from_collection([("a", 1)]).key_by(lambda row: row[0])


RECORD = "operator 'here', subtask 1 while processing ('a', 1)"


class Registering(KeyedProcessFunction):
    def __init__(self, name, time):
        self.name = name
        self.time = time

    def process_element(self, value, ctx):
        getattr(ctx.timer_service(), self.name)(self.time)
        return ()


@place(RECORD, "the time of a timer must be a time in ms that fits in 64 bits, but got ")
def event_timer(env, time):
    keyed(env).process(Registering("register_event_time_timer", time)).name("here").print()


@place(RECORD)
def processing_timer(env, time):
    keyed(env).process(Registering("register_processing_time_timer", time)).name("here").print()


@place(RECORD, times=["above"])
def timer_of_two_inputs(env, time):
    class Function(KeyedCoProcessFunction):
        def process_element1(self, value, ctx):
            ctx.timer_service().register_event_time_timer(time)
            return ()

        process_element2 = process_element1

    keyed(env).connect(keyed(env)).process(Function()).name("here").print()


@place(RECORD, times=["above"])
def timer_of_a_broadcast(env, time):
    class Function(KeyedBroadcastProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(time)
            return ()

        def process_broadcast_element(self, value, ctx):
            return ()

    rules = env.from_collection([1]).broadcast(MapStateDescriptor("rules", Types.INT(), Types.INT()))
    keyed(env).connect(rules).process(Function()).name("here").print()


class OfOnTimer(KeyedProcessFunction):
    def __init__(self, time):
        self.time = time

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(7)
        return ()

    def on_timer(self, timestamp, ctx):
        ctx.timer_service().register_event_time_timer(self.time)
        return ()


@place("operator 'here', subtask 1 while processing the event-time timer 7 of key 'a'", times=["above"])
def timer_of_a_timer(env, time):
    keyed(env).process(OfOnTimer(time)).name("here").print()


# -- windows -----------------------------------------------------------------------------------------------------------


class Stamp(TimestampAssigner):
    def __init__(self, time):
        self.time = time

    def extract_timestamp(self, value, record_timestamp):
        return self.time


def windows(env, assigner, time=LAST - 3):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(time))
    timed = env.from_collection([("a", 1)]).assign_timestamps_and_watermarks(strategy)
    return timed.key_by(lambda row: row[0]).window(assigner)


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 100


class Elements(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield len(list(elements))


def late(stream):
    return stream.allowed_lateness(5)


WINDOWS = {
    "tumbling": lambda env: windows(env, TumblingEventTimeWindows.of(MS(1000))),
    "tumbling-late": lambda env: late(windows(env, TumblingEventTimeWindows.of(MS(1000)))),
    "sliding": lambda env: windows(env, SlidingEventTimeWindows.of(MS(1000), MS(500))),
    "sliding-unevenly": lambda env: windows(env, SlidingEventTimeWindows.of(MS(1000), MS(300))),
    "session": lambda env: windows(env, EventTimeSessionWindows.with_gap(MS(1000))),
    "session-late": lambda env: late(windows(env, EventTimeSessionWindows.with_gap(MS(1000)))),
    "session-dynamic": lambda env: windows(env, EventTimeSessionWindows.with_dynamic_gap(Gap())),
    "long": lambda env: windows(env, TumblingEventTimeWindows.of(MS(LAST)), LAST),
    "processing": lambda env: windows(env, ProcessingTimeSessionWindows.with_gap(MS(LAST))),
}


def window(name):
    PLACES[f"window-{name}"] = (
        lambda env, _: WINDOWS[name](env).process(Elements()).name("here").print(),
        None,
        (RECORD, "TimeWindow(", "fits in 64 bits"),
    )


for item in WINDOWS:
    window(item)


@place(RECORD)
def timer_of_a_trigger(env, time):
    class Own(EventTimeTrigger):
        def on_element(self, element, timestamp, window, ctx):
            ctx.register_event_time_timer(time)
            return super().on_element(element, timestamp, window, ctx)

    windows(env, TumblingEventTimeWindows.of(MS(10)), 5).trigger(Own()).process(Elements()).name("here").print()


# -- timestamps and watermarks -----------------------------------------------------------------------------------------


@place("subtask 1 while processing ('a', 1)", "the result of a TimestampAssigner must be a time in ms")
def assigner(env, time):
    windows(env, TumblingEventTimeWindows.of(MS(10)), time).process(Elements()).name("here").print()


class Pushing(SourceFunction):
    def __init__(self, times, watermark=None):
        self.times = times
        self.watermark = watermark

    def run(self, ctx):
        for number, time in enumerate(self.times):
            ctx.collect_with_timestamp(("record", number), time)
        if self.watermark is not None:
            ctx.emit_watermark(self.watermark)

    def cancel(self):
        pass


@place("operator 'here', subtask 1 while processing ('record', 2)", "the timestamp of a record must be a time in ms")
def timestamp_of_a_source_function(env, time):
    env.add_source(Pushing([5, 6, time, LAST]), "here").print()


@place("operator 'here', subtask 1", "a watermark must be a time in ms that fits")
def watermark_of_a_source_function(env, time):
    env.add_source(Pushing([5], time), "here").print()


class Batches(Source, SourceReader):
    """Yield something from one split."""

    def __init__(self, *batches):
        self.batches = batches

    def create_enumerator(self, parallelism):
        return StaticEnumerator([SourceSplit("one")])

    def create_reader(self):
        return self

    def read(self, split, fetch):
        yield from self.batches
        return True


@place("operator 'here', subtask 1 while processing 'second'")
def timestamp_of_a_source(env, time):
    source = Batches(Timestamped(["first", "second", "third"], [LAST, time, 5]))
    env.from_source(source, WatermarkStrategy.no_watermarks(), "here").print()


@place("operator 'here', subtask 1", "a watermark must be a time in ms that fits")
def watermark_of_a_source(env, time):
    source = Batches(["first"], SourceWatermark(time))
    env.from_source(source, WatermarkStrategy.no_watermarks(), "here").print()


class Generator(WatermarkGenerator):
    def __init__(self, time):
        self.time = time

    def on_event(self, value, timestamp, output):
        output.emit_watermark(self.time)

    def on_periodic_emit(self, output):
        pass


@place("subtask 1 while processing ('a', 1)", "a watermark must be a time in ms that fits")
def watermark_of_a_generator(env, time):
    strategy = WatermarkStrategy.for_generator(lambda *_: Generator(time))
    env.from_collection([("a", 1)]).assign_timestamps_and_watermarks(strategy).print()


ON_SPARK = ["event_timer-above", "window-session", "timestamp_of_a_source-below", "watermark_of_a_generator-far"]


def failure(env):
    """Run a program that fails, and return what the user reads: the error and the place."""
    with pytest.raises(OverflowError, match="fits in 64 bits") as failed:
        env.execute("times")
    return "\n".join([str(failed.value), *notes(failed.value)])


@pytest.mark.on_spark(*ON_SPARK)
@pytest.mark.parametrize("name", PLACES)
def test_a_time_that_does_not_fit_fails_the_job(name, make_env):
    build, time, texts = PLACES[name]
    env = make_env(1)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    build(env, time)
    shown = failure(env)
    for text in texts:
        assert text in shown
    if time is not None:
        assert str(time) in shown


@pytest.mark.parametrize(
    "name", ["window-tumbling", "window-session", "event_timer-above", "timestamp_of_a_source-above"]
)
def test_it_also_fails_in_batch_mode(name, make_inline_env):
    build, time, texts = PLACES[name]
    env = make_inline_env(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    build(env, time)
    assert texts[0] in failure(env)


class OwnTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


@pytest.mark.parametrize("lateness", [0, 5])
def test_a_session_that_grows_beyond_all_time_fails_the_job(make_inline_env, lateness):
    env = make_inline_env(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(OwnTime())
    rows = env.from_collection([("a", LAST - 1600), ("a", LAST - 800)]).assign_timestamps_and_watermarks(strategy)
    sessions = rows.key_by(lambda row: row[0]).window(EventTimeSessionWindows.with_gap(MS(1000)))
    sessions.allowed_lateness(lateness).process(Elements()).name("here").print()
    assert f"TimeWindow(start={LAST - 1600}, end={LAST + 200})" in failure(env)


# -- times that fit ----------------------------------------------------------------------------------------------------


class Recording(KeyedProcessFunction):
    def __init__(self, times):
        self.times = times

    def process_element(self, value, ctx):
        for time in self.times:
            ctx.timer_service().register_event_time_timer(time)
        return ()

    def on_timer(self, timestamp, ctx):
        yield timestamp


def results(stream, env):
    sink = CollectSink()
    stream.sink_to(sink)
    env.execute("times")
    return sorted(sink.get_results(True, False))


@pytest.mark.on_spark
def test_the_first_and_the_last_times_fire(make_env):
    env = make_env(1)
    assert results(keyed(env).process(Recording([LAST, FIRST, 5])), env) == [FIRST, 5, LAST]


def test_times_of_timers_are_whole_numbers_whatever_their_type(make_inline_env):
    env = make_inline_env(1)
    fired = results(keyed(env).process(Recording([True, 12.9, 12, 12.0, float(FIRST)])), env)
    assert fired == [FIRST, 1, 12]
    assert {type(time) for time in fired} == {int}


@pytest.mark.parametrize("lateness", [LAST, 100])
def test_windows_whose_lateness_ends_after_all_time_stay_until_the_end(make_inline_env, lateness):
    env = make_inline_env(1)
    stream = windows(env, TumblingEventTimeWindows.of(MS(10)), LAST - 50).allowed_lateness(lateness)
    assert results(stream.process(Elements()), env) == [1]


def test_a_window_may_end_with_the_last_time(make_inline_env):
    env = make_inline_env(1)
    size = 8  # the last time of a window is LAST, as its end is a multiple of 8
    assert results(windows(env, TumblingEventTimeWindows.of(MS(size)), LAST).process(Elements()), env) == [1]


@pytest.mark.parametrize("delay", [0, 1000])
def test_watermarks_of_the_lowest_timestamps_are_held_back(make_inline_env, delay):
    env = make_inline_env(1, {"pipeline.auto-watermark-interval": "1 ms"})
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay))
    strategy = bounded.with_timestamp_assigner(Stamp(FIRST + 5))
    assert results(env.from_collection([1, 2]).assign_timestamps_and_watermarks(strategy), env) == [1, 2]


# -- lengths of time, when the program is built ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda: TumblingEventTimeWindows.of(MS(LAST + 1)),
        lambda: TumblingProcessingTimeWindows.of(MS(10), MS(LAST + 1)),
        lambda: SlidingEventTimeWindows.of(MS(10), MS(LAST + 1)),
        lambda: EventTimeSessionWindows.with_gap(MS(LAST + 1)),
        lambda: StateTtlConfig.new_builder(MS(LAST + 1)).build(),
        lambda: WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(LAST + 1)),
        lambda: WatermarkStrategy.no_watermarks().with_idleness(Duration.of_days(LAST)),
    ],
)
def test_lengths_of_time_that_do_not_fit_are_refused(use):
    with pytest.raises(OverflowError, match="must fit in 64 bits of milliseconds"):
        use()


def test_a_lateness_that_does_not_fit_is_refused(make_inline_env):
    stream = windows(make_inline_env(1), TumblingEventTimeWindows.of(MS(10)))
    with pytest.raises(OverflowError, match=f"fits in 64 bits, but got {LAST + 1}"):
        stream.allowed_lateness(LAST + 1)
