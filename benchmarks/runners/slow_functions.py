"""Slow functions in PyFlink's API, for PyFlink and flintstream. Each result has the time at which it was returned."""

# ruff: noqa: ANN001, ANN201, ANN204, D101, D102, D103 - as a user of that engine would write it

import asyncio
import sys
import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, KeyedProcessFunction, StreamExecutionEnvironment

RECORDS = 300
SECONDS = 0.05


def slow(value):
    time.sleep(SECONDS)
    return value, time.time()


def busy(value):
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        pass
    return value, time.time()


def pausing(value):
    if value % 50 == 49:
        time.sleep(1)
    return value, time.time()


def slow_at_last(value):
    if value >= 20_000:
        time.sleep(SECONDS)
    return value, time.time()


class Keyed(KeyedProcessFunction):
    def __init__(self, function):
        self.function = function

    def process_element(self, value, ctx):
        yield self.function(value)


class Waiting(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(20 * SECONDS)
        return [(value, time.time())]


def keyed(stream, function):
    return stream.key_by(lambda value: value % 7, Types.INT()).process(Keyed(function), PAIR)


PAIR = Types.TUPLE([Types.INT(), Types.DOUBLE()])
CASES = {
    "map": (RECORDS, lambda stream: stream.map(slow, PAIR)),
    "map, computing": (RECORDS, lambda stream: stream.map(busy, PAIR)),
    "map after rebalance": (RECORDS, lambda stream: stream.rebalance().map(slow, PAIR)),
    "map, a pause of 1 s": (RECORDS, lambda stream: stream.map(pausing, PAIR)),
    "map, slow after 20,000 records": (20_000 + RECORDS, lambda stream: stream.map(slow_at_last, PAIR)),
    "keyed process": (RECORDS, lambda stream: keyed(stream, slow)),
    "keyed process, a pause of 1 s": (RECORDS, lambda stream: keyed(stream, pausing)),
    "keyed process, slow after 20,000 records": (20_000 + RECORDS, lambda stream: keyed(stream, slow_at_last)),
    "async, 1 s each, 20 at a time": (
        RECORDS,
        lambda stream: AsyncDataStream.unordered_wait(stream, Waiting(), Time.seconds(10), 20, PAIR),
    ),
}


def main():
    records, build = CASES[sys.argv[1]]
    configuration = Configuration()
    if sys.argv[3:]:
        configuration.set_string("python.execution-mode", sys.argv[3])
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(int(sys.argv[2]))
    build(env.from_collection(list(range(records)), Types.INT())).print()
    env.execute("slow functions")


if __name__ == "__main__":
    main()
