"""Asynchronous functions: order, capacity, timeouts, retries, watermarks, failures."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

import pytest
from tests.datastream.inline import (
    MODES,
    NO_WATERMARKS,
    SHORT_EPOCHS,
    assign_second_field,
    by_second_field,
    collect,
    make_env,
    move_every_epoch,
    stop_the_clock,
)
from tests.engine.sources import PacedSource

from flintstream.common import Duration, Time, Types
from flintstream.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, ProcessFunction
from flintstream.datastream.async_retry_predicates import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)
from flintstream.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy, FixedDelayRetryStrategy
from flintstream.errors import notes

pytestmark = pytest.mark.slow

anywhere = pytest.mark.parametrize(("mode", "parallelism"), [(mode, p) for mode in MODES for p in (1, 2)])
MINUTE = Time.minutes(1)


class LastFirst(AsyncFunction):
    """The higher the number, the sooner its result."""

    def __init__(self, unit=0.005):
        self.unit = unit

    async def async_invoke(self, value):
        await asyncio.sleep((10 - value) * self.unit)
        return [value, -value]


@anywhere
@pytest.mark.parametrize("wait", [AsyncDataStream.ordered_wait, AsyncDataStream.unordered_wait])
def test_every_record_gets_all_its_results(mode, parallelism, wait):
    env = make_env(mode, parallelism)
    stream = wait(env.from_collection(range(1, 9)), LastFirst(), MINUTE, 3, Types.INT())
    assert sorted(collect(stream)) == [*range(-8, 0), *range(1, 9)]


def test_ordered_results_keep_the_order_of_their_records():
    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection([1, 5, 9]), LastFirst(), MINUTE)
    assert collect(stream) == [1, -1, 5, -5, 9, -9]


class AfterTheNext(AsyncFunction):
    """The results of a number are ready once those of the next one have passed on; the last one does not wait."""

    def __init__(self, passed, last):
        self.passed = passed
        self.last = last

    async def async_invoke(self, value):
        while value != self.last and not (self.passed / str(value + 1)).exists():  # noqa: ASYNC110 - of another thread
            await asyncio.sleep(0.001)
        return [value, -value]


def in_the_order_of_results(numbers, last, passed):
    """Return the unordered results of numbers, of which each waits for the next one. ``passed`` is a directory."""

    def note(result):
        (passed / str(abs(result))).touch()
        return result

    return collect(AsyncDataStream.unordered_wait(numbers, AfterTheNext(passed, last), MINUTE).map(note))


def test_unordered_results_come_as_they_are_ready(monkeypatch, tmp_path):
    stop_the_clock(monkeypatch)  # the end of an epoch would wait for the results of its records
    numbers = make_env().from_collection([1, 2, 3])
    assert in_the_order_of_results(numbers, 3, tmp_path) == [3, -3, 2, -2, 1, -1]


class Concurrency(AsyncFunction):
    def open(self, runtime_context):
        self.running = 0

    async def async_invoke(self, value):
        self.running += 1
        running = self.running
        await asyncio.sleep(0.02)
        self.running -= 1
        return [running]


@pytest.mark.parametrize("capacity", [1, 3])
def test_as_many_records_as_the_capacity_says_are_worked_on_at_once(capacity):
    env = make_env()
    stream = AsyncDataStream.unordered_wait(env.from_collection(range(12)), Concurrency(), MINUTE, capacity)
    assert max(collect(stream)) == capacity


def test_records_of_different_blocks_are_worked_on_at_once(monkeypatch, tmp_path):
    stop_the_clock(monkeypatch)  # as above
    numbers = make_env().from_source(PacedSource(3, 0.005), NO_WATERMARKS, "one per block")
    assert in_the_order_of_results(numbers, 2, tmp_path) == [2, -2, 1, -1, 0, 0]


class Stamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


class Letter(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.01 if value[0] == "a" else 0)
        return [value[0], value[0].upper()]


@anywhere
def test_results_carry_the_timestamp_of_their_record(mode, parallelism):
    env = make_env(mode, parallelism)
    stream = AsyncDataStream.unordered_wait(by_second_field(env, [("a", 5), ("b", 3)]), Letter(), MINUTE)
    assert sorted(collect(stream.process(Stamp()))) == [("A", 5), ("B", 3), ("a", 5), ("b", 3)]


class Watermarks(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp() > ctx.timer_service().current_watermark()


def test_no_watermark_overtakes_a_result():
    env = make_env("STREAMING", 1, {"pipeline.auto-watermark-interval": "1 ms"})
    numbers = env.from_source(PacedSource(30, 0.003), NO_WATERMARKS, "numbers").map(lambda n: (n, n))
    stream = AsyncDataStream.unordered_wait(assign_second_field(numbers), Pairs(), MINUTE).process(Watermarks())
    results = collect(stream)
    assert sorted(n for n, _ in results) == [*range(30)]
    assert all(on_time for _, on_time in results)


class Pairs(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.01 if value[0] % 3 == 0 else 0)
        return [value[0]]


class Hangs(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(10_000 if value == 2 else 0)
        return [value]


class HangsAndSays(Hangs):
    def timeout(self, value):
        return [("late", value)]


def test_a_record_that_takes_too_long_gets_what_timeout_returns():
    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection([1, 2, 3]), HangsAndSays(), Time.milliseconds(50))
    assert collect(stream) == [1, ("late", 2), 3]


def test_without_a_timeout_method_a_record_that_takes_too_long_fails_the_job():
    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection([1, 2, 3]), Hangs(), Duration.of_millis(50))
    with pytest.raises(TimeoutError) as failure:
        collect(stream)
    assert notes(failure.value) == ["in operator 'async wait operator', subtask 1 while processing 2"]


def test_a_timeout_of_the_functions_own_is_an_error_like_any_other():
    class Own(HangsAndSays):
        async def async_invoke(self, value):
            raise TimeoutError("the service gave up")

    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection([1]), Own(), MINUTE)
    with pytest.raises(TimeoutError, match="the service gave up"):
        collect(stream)


def test_a_timeout_of_zero_stands_for_none():
    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection([1, 3]), LastFirst(), Time.seconds(0))
    assert collect(stream) == [1, -1, 3, -3]


class Stubborn(AsyncFunction):
    """Succeed at the attempt given by the value; before that, fail or return nothing."""

    def __init__(self, error=None):
        self.error = error
        self.attempts = {}

    async def async_invoke(self, value):
        self.attempts[value] = attempt = self.attempts.get(value, 0) + 1
        if attempt >= value:
            return [(value, attempt)]
        if self.error is not None:
            raise self.error
        return []

    def timeout(self, value):
        return [(value, "timeout")]


@pytest.mark.parametrize("wait", [AsyncDataStream.ordered_wait_with_retry, AsyncDataStream.unordered_wait_with_retry])
def test_empty_results_are_tried_again_as_often_as_the_strategy_says(wait):
    env = make_env()
    strategy = AsyncRetryStrategy.fixed_delay(3, 1, empty_result_predicate)
    # four attempts in all; the last one's empty result is taken
    assert sorted(collect(wait(env.from_collection([1, 2, 4, 5]), Stubborn(), MINUTE, strategy))) == [
        (1, 1), (2, 2), (4, 4)
    ]  # fmt: skip


def test_exceptions_are_tried_again_and_the_last_one_fails_the_job():
    env = make_env()
    strategy = AsyncRetryStrategy.exponential_backoff(2, 1, 10, 2.0, None, has_exception_predicate)
    function = Stubborn(ConnectionError("down"))
    assert collect(wait_with(env, [3], function, strategy)) == [(3, 3)]
    with pytest.raises(ConnectionError, match="down") as failure:
        collect(wait_with(env, [4], function, strategy))
    assert notes(failure.value)[0].endswith("while processing 4")


def test_only_exceptions_that_the_predicate_names_are_tried_again():
    env = make_env()
    lookup = functools.partial(exception_type_predicate, expected_error_type=LookupError)
    strategy = AsyncRetryStrategy.fixed_delay(5, 1, None, lookup)
    assert collect(wait_with(env, [3], Stubborn(KeyError("k")), strategy)) == [(3, 3)]
    with pytest.raises(ConnectionError):
        collect(wait_with(env, [3], Stubborn(ConnectionError("down")), strategy))


def test_the_timeout_is_for_all_attempts_together():
    env = make_env()
    strategy = AsyncRetryStrategy.fixed_delay(1000, 20, empty_result_predicate)
    stream = AsyncDataStream.ordered_wait_with_retry(
        env.from_collection([1, 500]), Stubborn(), Time.milliseconds(100), strategy
    )
    assert collect(stream) == [(1, 1), (500, "timeout")]


def test_pauses_grow_for_each_record_by_itself():
    strategy: AsyncRetryStrategy[Any] = ExponentialBackoffDelayRetryStrategy(9, 3, 20, 1.5)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4, 5, 6, 7, 1, 2)] == [3, 4, 6, 9, 13, 19, 20, 3, 4]
    assert [strategy.can_retry(n) for n in (1, 9, 10)] == [True, True, False]


@pytest.mark.parametrize(("produced", "shown"), [(None, "None"), (7, "7")])
def test_a_result_that_is_no_list_fails_the_job_and_names_the_record(produced, shown):
    class Wrong(AsyncFunction):
        async def async_invoke(self, value):
            return produced

    env = make_env()
    stream = AsyncDataStream.ordered_wait(env.from_collection(["record"]), Wrong(), MINUTE)
    with pytest.raises(RuntimeError, match=f"must be a list, but got {shown}: .*'async_invoke'.*'Wrong'") as failure:
        collect(stream)
    assert notes(failure.value)[0].endswith("while processing 'record'")


def test_after_a_failure_nothing_keeps_running():
    class Fails(AsyncFunction):
        async def async_invoke(self, value):
            await asyncio.sleep(10_000 if value else 0.01)
            raise ValueError(value)

    env = make_env()
    with pytest.raises(ValueError, match="0"):
        collect(AsyncDataStream.unordered_wait(env.from_collection([0, 1]), Fails(), MINUTE).name("failing"))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("failing")]


def test_one_event_loop_serves_all_records_and_ends_with_the_job():
    class Loop(AsyncFunction):
        async def async_invoke(self, value):
            return [id(asyncio.get_running_loop())]

    env = make_env("STREAMING", 1, SHORT_EPOCHS)
    numbers = env.from_source(PacedSource(10, 0.01), NO_WATERMARKS, "numbers")
    results = collect(AsyncDataStream.ordered_wait(numbers, Loop(), MINUTE).name("looping"))
    assert len(results) == 10
    assert len(set(results)) == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("looping")]


@pytest.mark.parametrize("moving", [False, True], ids=["same worker", "new workers"])
def test_an_epoch_leaves_nothing_in_flight(moving, monkeypatch):
    if moving:
        move_every_epoch(monkeypatch)
    env = make_env("STREAMING", 2, SHORT_EPOCHS)
    numbers = env.from_source(PacedSource(20, 0.01), NO_WATERMARKS, "numbers").map(lambda n: (n, n)).rebalance()
    assert sorted(collect(AsyncDataStream.unordered_wait(numbers, Pairs(), MINUTE))) == [*range(20)]


def test_the_function_is_opened_before_the_records_and_closed_after_them(capsys):
    class Records(AsyncFunction):
        def open(self, runtime_context):
            self.name = runtime_context.get_task_name()

        async def async_invoke(self, value):
            print(self.name, value)
            return []

        def close(self):
            print("closed")

    env = make_env()
    collect(AsyncDataStream.ordered_wait(env.from_collection([1]), Records(), MINUTE).name("lookup"))
    assert capsys.readouterr().out == "Collection Source -> lookup -> Collect 1\nclosed\n"


class NotAsync(AsyncFunction):
    def async_invoke(self, value):
        return [value]


class NoPredicate(FixedDelayRetryStrategy):
    def get_retry_predicate(self):
        return None


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((LastFirst(), MINUTE, AsyncRetryStrategy.no_restart(), 0), ValueError, "'LastFirst' must be at least 1"),
        ((len, MINUTE, AsyncRetryStrategy.no_restart()), TypeError, "must be an AsyncFunction, but got .*len"),
        ((NotAsync(), MINUTE, AsyncRetryStrategy.no_restart()), Exception, "'NotAsync' should be declared as 'async"),
        ((LastFirst(), 5, AsyncRetryStrategy.no_restart()), TypeError, "must be a Time .* but got 5"),
        ((LastFirst(), MINUTE, None), Exception, "should be an AsyncRetryStrategy, but got None"),
        ((LastFirst(), MINUTE, NoPredicate(1, 1)), Exception, "'NoPredicate' is None"),
        ((LastFirst(), Time.seconds(0), FixedDelayRetryStrategy(1, 1)), Exception, "Timeout should be configured"),
    ],
)
def test_wrong_arguments_say_what_was_given(arguments, error, message):
    env = make_env()
    with pytest.raises(error, match=message):
        AsyncDataStream.ordered_wait_with_retry(env.from_collection([1]), *arguments)


@pytest.mark.parametrize("arguments", [(0, 5), (3, 0)])
def test_retry_strategies_need_positive_numbers(arguments):
    with pytest.raises(ValueError, match="should be greater than zero, but got 0"):
        AsyncRetryStrategy.fixed_delay(*arguments)


def wait_with(env, records, function, strategy):
    return AsyncDataStream.ordered_wait_with_retry(env.from_collection(records), function, MINUTE, strategy)
