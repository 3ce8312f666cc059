# mypy: disable-error-code="import-not-found,import-untyped"
"""Asynchronous functions."""

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, async_retry_predicates
from tests.conformance.registry import program


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep((5 - value) / 50)
        return [value, value * 10]

    def timeout(self, value):
        return [-value]


@program(parallelism=(1, 2), ordering="multiset")
def async_unordered(env):
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return AsyncDataStream.unordered_wait(numbers, Slow(), Time.seconds(60), 10, Types.INT())


@program()
def async_ordered(env):
    """The results keep the order of the input although the first one takes longest."""
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    return AsyncDataStream.ordered_wait(numbers, Slow(), Time.seconds(60), 10, Types.INT())


class TooSlow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(30 if value == 2 else 0)
        return [value]

    def timeout(self, value):
        return [-value]


@program()
def async_timeout(env):
    numbers = env.from_collection([1, 2, 3], Types.INT())
    return AsyncDataStream.ordered_wait(numbers, TooSlow(), Time.seconds(1), 10, Types.INT())


class Stubborn(AsyncFunction):
    def __init__(self):
        self.attempts = {}

    async def async_invoke(self, value):
        self.attempts[value] = self.attempts.get(value, 0) + 1
        return [] if self.attempts[value] < value else [(value, self.attempts[value])]

    def timeout(self, value):
        return [(value, "timeout")]


@program(ordering="multiset")
def async_retry_of_empty_results(env):
    """After three retries the empty result is taken."""
    strategy = AsyncRetryStrategy.fixed_delay(3, 10, async_retry_predicates.empty_result_predicate, None)
    numbers = env.from_collection([1, 2, 3, 6], Types.INT())
    return AsyncDataStream.unordered_wait_with_retry(numbers, Stubborn(), Time.seconds(60), strategy, 10)
