"""User code may raise anything anywhere: the job fails, never a Spark task or the driver."""

from __future__ import annotations

import asyncio
import copy
import gc
import sys
from pathlib import Path
from typing import Any

import pytest

from flintstream.common import Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.connectors.source import (
    Boundedness,
    Source,
    SourceReader,
    SourceSplit,
    SplitEnumerator,
)
from flintstream.datastream import AsyncDataStream, RuntimeExecutionMode
from flintstream.datastream.functions import (
    AggregateFunction,
    AsyncFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    SourceFunction,
)
from flintstream.datastream.state import MapStateDescriptor, ReducingStateDescriptor
from flintstream.datastream.window import (
    EventTimeTrigger,
    GlobalWindows,
    TumblingEventTimeWindows,
)
from flintstream.errors import UserCodeError
from flintstream.testing.harness import OneInputHarness

pytestmark = pytest.mark.slow


class Own(BaseException):
    pass


KINDS = [
    asyncio.CancelledError("stop it"),
    KeyboardInterrupt(),
    GeneratorExit(),
    SystemExit(3),
    Own("mine"),
    ValueError("wrong"),
    OSError("no such thing"),
]
if sys.version_info >= (3, 11):
    KINDS.append(BaseExceptionGroup("several", [Own("one")]))  # noqa: F821


class Bomb:
    """Raise an error on the first ``times`` calls; a file counts the calls."""

    def __init__(self, error, path, times=99):
        self.error = error
        self.path = str(path)
        self.times = times

    def __call__(self, *_, **__):
        with Path(self.path).open("a") as file:
            file.write("x")
        if self.calls() <= self.times:
            raise copy.copy(self.error)

    def calls(self):
        return len(Path(self.path).read_text())


PLACES: dict[str, Any] = {}


def place(where):
    """Register a program that calls the bomb in one place, and the expected message about that place."""

    def note(build):
        PLACES[build.__name__] = (build, where)
        return build

    return note


# -- functions ---------------------------------------------------------------------------------------------------------


def function(base, bomb, **methods):
    """Return an object of a function class with the given methods; the named ones call the bomb."""

    def call(self, *arguments):
        bomb()
        return []

    return type("Function", (base,), {name: method or call for name, method in methods.items()})()


def nothing(self, *_):
    return ()


def numbers(env):
    return env.from_collection([1, 2, 3])


def timed(env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    return numbers(env).assign_timestamps_and_watermarks(strategy)


class Stamp(TimestampAssigner):
    def __init__(self, bomb=None):
        self.bomb = bomb

    def extract_timestamp(self, value, record_timestamp):
        if self.bomb:
            self.bomb()
        return value


@place("operator 'here', subtask 1 while processing 1")
def a_map(env, bomb):
    numbers(env).map(bomb).name("here").print()


@place("operator 'here', subtask 1 while processing 2")
def a_map_behind_a_map(env, bomb):
    numbers(env).map(lambda n: n + 1).map(bomb).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def a_filter(env, bomb):
    numbers(env).filter(bomb).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def a_generator(env, bomb):
    def generate(n):
        yield n
        yield bomb()

    numbers(env).flat_map(generate).name("here").print()


@place("operator 'here', subtask 1")
def open_(env, bomb):
    numbers(env).map(function(MapFunction, bomb, open=None, map=nothing)).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def process_element(env, bomb):
    numbers(env).process(function(ProcessFunction, bomb, process_element=None)).name("here").print()


@place("operator 'here', subtask 1 while processing ")
def keyed_process_element(env, bomb):
    keyed = numbers(env).key_by(lambda n: n)
    keyed.process(function(KeyedProcessFunction, bomb, process_element=None)).name("here").print()


class OnTimer(KeyedProcessFunction):
    def __init__(self, bomb):
        self.bomb = bomb

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(7)
        return ()

    def on_timer(self, timestamp, ctx):
        yield self.bomb()


@place("operator 'here', subtask 1 while processing the event-time timer 7 of key 1")
def on_timer(env, bomb):
    numbers(env).key_by(lambda n: 1).process(OnTimer(bomb)).name("here").print()


@place("operator 'Collection Source -> key_by', subtask 1 while processing 1")
def key_selector(env, bomb):
    numbers(env).key_by(bomb).map(str).print()


@place("operator 'here', subtask 1 while processing 2")
def reduce(env, bomb):
    numbers(env).key_by(lambda n: 1).reduce(bomb).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def partitioner(env, bomb):
    numbers(env).map(lambda n: n).name("here").partition_custom(bomb, lambda n: n).map(str).print()


@place("operator 'here', subtask 1 while processing 1")
def co_map(env, bomb):
    function_ = function(CoProcessFunction, bomb, process_element1=None, process_element2=nothing)
    numbers(env).connect(numbers(env)).process(function_).name("here").print()


@place("operator 'here', subtask 1 while processing ")
def keyed_co_process(env, bomb):
    function_ = function(KeyedCoProcessFunction, bomb, process_element1=nothing, process_element2=None)
    both = numbers(env).connect(numbers(env)).key_by(lambda n: n, lambda n: n)
    both.process(function_).name("here").print()


RULES = MapStateDescriptor("rules", Types.INT(), Types.INT())


@place("operator 'here', subtask 1 while processing 1")
def broadcast_side(env, bomb):
    function_ = function(BroadcastProcessFunction, bomb, process_element=nothing, process_broadcast_element=None)
    numbers(env).connect(numbers(env).broadcast(RULES)).process(function_).name("here").print()


@place("operator 'here', subtask 1 while processing ")
def keyed_side_of_a_broadcast(env, bomb):
    function_ = function(KeyedBroadcastProcessFunction, bomb, process_element=None, process_broadcast_element=nothing)
    keyed = numbers(env).key_by(lambda n: n)
    keyed.connect(numbers(env).broadcast(RULES)).process(function_).name("here").print()


class Reducing(KeyedProcessFunction):
    def __init__(self, bomb):
        self.bomb = bomb

    def open(self, runtime_context):
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", self.bomb, Types.INT()))

    def process_element(self, value, ctx):
        self.sum.add(value)


@place("operator 'here', subtask 1 while processing 2")
def function_of_a_state(env, bomb):
    numbers(env).key_by(lambda n: 1).process(Reducing(bomb)).name("here").print()


# -- windows -----------------------------------------------------------------------------------------------------------


def windows(env, assigner=None):
    return timed(env).key_by(lambda n: 1).window(assigner or TumblingEventTimeWindows.of(Time.seconds(1)))


@place("operator 'here', subtask 1 while processing the event-time timer 999 of key 1 and window ")
def window_function(env, bomb):
    windows(env).process(function(ProcessWindowFunction, bomb, process=None)).name("here").print()


@place("operator 'here', subtask 1 while processing ")
def reduce_of_a_window(env, bomb):
    windows(env).reduce(bomb).name("here").print()


@place("operator 'here', subtask 1 while processing ")
def aggregate_of_a_window(env, bomb):
    methods = {"create_accumulator": nothing, "add": None, "get_result": nothing, "merge": nothing}
    windows(env).aggregate(function(AggregateFunction, bomb, **methods)).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def window_assigner(env, bomb):
    class Assigner(GlobalWindows):
        def assign_windows(self, element, timestamp, context):
            bomb()

    windows(env, Assigner()).trigger(EventTimeTrigger()).reduce(max).name("here").print()


@place("operator 'here', subtask 1 while processing 1")
def trigger(env, bomb):
    class Trigger(EventTimeTrigger):
        def on_element(self, element, timestamp, window, ctx):
            bomb()

    windows(env).trigger(Trigger()).reduce(max).name("here").print()


# -- async functions ---------------------------------------------------------------------------------------------------


class Asking(AsyncFunction):
    def __init__(self, ask):
        self.ask = ask

    async def async_invoke(self, value):
        return await self.ask(value)

    def timeout(self, value):
        return []


def ask(env, question, timeout=10_000):
    stream = AsyncDataStream.unordered_wait(numbers(env), Asking(question), Time.milliseconds(timeout))
    stream.name("here").print()


@place("operator 'here', subtask 1 while processing ")
def async_function(env, bomb):
    async def question(value):
        bomb()

    ask(env, question)


@place("operator 'here', subtask 1 while processing ")
def async_function_that_waits(env, bomb):
    async def question(value):
        await asyncio.sleep(0.001)
        bomb()

    ask(env, question)


# -- time --------------------------------------------------------------------------------------------------------------


@place("operator 'Timestamps/Watermarks', subtask 1 while processing 1")
def timestamp_assigner(env, bomb):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(bomb))
    numbers(env).assign_timestamps_and_watermarks(strategy).print()


def generated(env, generator):
    strategy = WatermarkStrategy.for_generator(lambda *_: generator)
    numbers(env).assign_timestamps_and_watermarks(strategy).print()


def for_streaming(build):
    build.streaming = True
    return build


@for_streaming
@place("operator 'Timestamps/Watermarks', subtask 1 while processing 1")
def watermark_of_an_event(env, bomb):
    generated(env, function(WatermarkGenerator, bomb, on_event=None, on_periodic_emit=nothing))


# -- sources and sinks -------------------------------------------------------------------------------------------------


class Enumerator(SplitEnumerator):
    def __init__(self, source):
        self.source = source
        self.left = [SourceSplit("one")]

    def start(self, *, checkpoints, batch):
        self.source.at("start")

    def discover(self):
        self.source.at("discover")
        left, self.left = self.left, []
        return left

    def is_finished(self):
        self.source.at("is_finished")
        return True

    def epoch_ended(self, *, all_read):
        self.source.at("epoch_ended")

    def close(self):
        self.source.at("close")


class Reader(SourceReader):
    def __init__(self, source):
        self.source = source

    def open(self, runtime_context):
        self.source.at("open")

    def read(self, split, fetch):
        self.source.at("read")
        yield [1]
        self.source.at("read on")
        return True

    def progress(self, splits):
        self.source.at("progress")

    def close(self):
        self.source.at("close of the reader")


class Exploding(Source):
    def __init__(self, bomb, where):
        self.bomb = bomb
        self.where = where

    def at(self, where):
        if where == self.where:
            self.bomb()

    def get_boundedness(self):
        return Boundedness.BOUNDED

    def create_enumerator(self, parallelism):
        self.at("create_enumerator")
        return Enumerator(self)

    def create_reader(self):
        self.at("create_reader")
        return Reader(self)


def source_that_fails(at, where):
    def build(env, bomb):
        env.from_source(Exploding(bomb, at), WatermarkStrategy.no_watermarks(), "here").print()

    PLACES[f"source, {at}"] = (build, where)


for name in ("create_enumerator", "start", "discover", "is_finished", "epoch_ended", "close"):
    source_that_fails(name, "the split enumerator of operator 'here'")
for name in ("create_reader", "open", "read", "read on", "progress", "close of the reader"):
    source_that_fails(name, "operator 'here', subtask 1")


@for_streaming
@place("operator 'here', subtask 1")
def source_function(env, bomb):
    class Function(SourceFunction):
        def run(self, ctx):
            bomb()

        def cancel(self):
            pass

    env.add_source(Function(), "here").print()


class Writer(SinkWriter):
    def __init__(self, sink):
        self.sink = sink

    def write(self, values, timestamps):
        self.sink.at("write")

    def on_watermark(self, timestamp):
        self.sink.at("on_watermark")

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        self.sink.at("prepare_commit")
        return [1]

    def close(self):
        self.sink.at("close")


class Commit(Committer):
    def __init__(self, sink):
        self.sink = sink

    def commit(self, committables):
        self.sink.at("commit")


class Full(Sink):
    def __init__(self, bomb, where):
        self.bomb = bomb
        self.where = where

    def at(self, where):
        if where == self.where:
            self.bomb()

    def create_writer(self, context):
        self.at("create_writer")
        return Writer(self)

    def create_committer(self):
        return Commit(self)


def sink_that_fails(at, where):
    def build(env, bomb):
        numbers(env).sink_to(Full(bomb, at)).name("here")

    PLACES[f"sink, {at}"] = (build, where)


for name in ("create_writer", "write", "on_watermark", "prepare_commit", "close"):
    sink_that_fails(name, "operator 'here', subtask 1")
sink_that_fails("commit", "the committer of operator 'here'")


# -- objects -----------------------------------------------------------------------------------------------------------


@place("operator 'here', subtask 1 while processing ")
def a_record_that_cannot_be_sent(env, bomb):
    class Record:
        def __reduce__(self):
            bomb()

    numbers(env).map(lambda n: Record()).name("here").rebalance().map(str).print()


def explode(bomb):
    bomb()


@place("operator 'here', subtask 1")
def a_record_that_cannot_be_received(env, bomb):
    class Record:
        def __reduce__(self):
            return explode, (bomb,)

    numbers(env).map(lambda n: Record()).rebalance().map(str).name("here").print()


@place("operator 'here', subtask 1")
def a_function_that_cannot_be_received(env, bomb):
    class Function(MapFunction):
        def map(self, value):
            return value

        def __reduce__(self):
            return explode, (bomb,)

    numbers(env).map(Function()).name("here").print()


@place("operator 'Collection Source -> key_by', subtask 1 while processing 1")
def hash_of_a_key(env, bomb):
    class Key:
        def __hash__(self):
            bomb()
            return 0

    numbers(env).key_by(lambda n: Key()).map(str).print()


# -- what comes of it --------------------------------------------------------------------------------------------------


def told(error):
    """Return the text that the user sees."""
    if isinstance(error, SystemExit):
        return "the function called sys.exit(3)"
    if isinstance(error, Exception):
        return str(error)
    return f"the function raised {type(error).__name__}{f': {error}' if str(error) else ''}"


def kind(error):
    return type(error) if isinstance(error, Exception) else RuntimeError


def failure(env, bomb, name):
    """Run a program that fails, and check the message."""
    build, where = PLACES[name]
    build(env, bomb)
    seen: list[BaseException] = []
    try:
        env.execute()
    except BaseException as error:  # noqa: BLE001 - the test is about that
        seen.append(error)
    problem = f"{name}, {bomb.error!r}"
    assert seen, problem
    failed = seen[0]
    notes = "\n".join(getattr(failed, "__notes__", ()))
    problem = f"{problem}: {failed!r} {notes}"
    assert type(failed) is kind(bomb.error), problem
    assert str(failed) == told(bomb.error), problem
    assert f"in {where}" in notes, problem
    if "enumerator" not in where and "committer" not in where:
        assert isinstance(failed.__cause__, UserCodeError), problem
        assert where in str(failed.__cause__), problem


@pytest.mark.parametrize("mode", ["STREAMING", pytest.param("BATCH", marks=pytest.mark.slow)])
@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
def test_whatever_user_code_raises_is_a_failure_of_the_job(make_inline_env, tmp_path, mode, error):
    for number, (name, (build, _)) in enumerate(PLACES.items()):
        if mode == "STREAMING" or not hasattr(build, "streaming"):
            env = make_inline_env().set_runtime_mode(RuntimeExecutionMode[mode])
            failure(env, Bomb(error, tmp_path / str(number)), name)


@pytest.mark.spark
def test_on_spark_such_a_failure_repeats_no_side_effects_and_shows_nothing_of_java(make_spark_env, tmp_path):
    for number, name in enumerate(PLACES):
        bomb = Bomb(KINDS[number % len(KINDS)], tmp_path / str(number))
        failure(make_spark_env(), bomb, name)
        # A failed function is closed as well, a record pickled again; async functions work on three records at once.
        assert (
            bomb.calls() == 1
            or name in ("close", "sink, close", "a_record_that_cannot_be_sent")
            or name.startswith("async")
        ), name


@pytest.mark.parametrize(
    "name", ["a_map", "on_timer", "async_function", "source, discover", "source, read", "sink, commit"]
)
def test_the_restart_strategy_decides(make_env, tmp_path, name):
    """The second attempt succeeds."""
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1"}
    settings["restart-strategy.fixed-delay.delay"] = "0 s"
    env = make_env(settings=settings)
    bomb = Bomb(Own("once"), tmp_path / "calls", times=1)
    build, _ = PLACES[name]
    build(env, bomb)
    if name == "async_function":
        with pytest.raises(RuntimeError, match="must be a list, but got None"):
            env.execute()
    else:
        env.execute()
    assert bomb.calls() > 1


def in_background(error):
    async def fail():
        raise error

    async def question(value):
        # Retrieve the exception, or Python would log it later.
        asyncio.ensure_future(fail()).add_done_callback(lambda task: task.exception())
        await asyncio.sleep(10_000)
        return [value]

    return question


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=["SystemExit", "KeyboardInterrupt"])
def test_a_task_of_an_async_function_that_ends_the_event_loop_fails_the_job(make_inline_env, error, caplog):
    env = make_inline_env()
    ask(env, in_background(error))
    with pytest.raises(RuntimeError) as failed:
        env.execute()
    assert str(failed.value) == told(error)
    assert "operator 'here', subtask 1" in str(failed.value.__cause__)
    gc.collect()
    assert "Task was destroyed but it is pending" not in caplog.text


def test_a_record_that_was_cancelled_by_the_function_itself_fails_the_job(make_inline_env):
    async def question(value):
        task = asyncio.ensure_future(asyncio.sleep(10_000))
        task.cancel()
        await task

    env = make_inline_env()
    ask(env, question)
    with pytest.raises(RuntimeError, match="the function raised CancelledError"):
        env.execute()


def test_ctrl_c_while_a_function_runs_in_the_main_thread_is_no_failure_of_it():
    def slow(value):
        raise KeyboardInterrupt  # as Python does where Ctrl-C finds it

    with OneInputHarness(lambda stream: stream.map(slow)) as harness, pytest.raises(KeyboardInterrupt):
        harness.process_element(1)
