"""Calls of state objects, and what each leads to."""

from __future__ import annotations

from flintstream.common import Types
from flintstream.common._clock import another_clock
from flintstream.datastream.functions import AggregateFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.state.hash_map import HashMapStateBackend


class Longest(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value]

    def get_result(self, accumulator):
        return len(accumulator), sum(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


LONG = Types.LONG()
DESCRIPTORS = {
    "value": lambda: ValueStateDescriptor("value", LONG),
    "list": lambda: ListStateDescriptor("list", LONG),
    "map": lambda: MapStateDescriptor("map", LONG, LONG),
    "reducing": lambda: ReducingStateDescriptor("reducing", lambda a, b: a + b, LONG),
    "aggregating": lambda: AggregatingStateDescriptor("aggregating", Longest(), LONG),
}


def state_calls(kind, config, steps):
    """Return what each step returns, and the entries and changes after it."""
    found: list = []
    descriptor = DESCRIPTORS[kind]()
    if config is not None:
        descriptor.enable_time_to_live(config)
    backend = HashMapStateBackend()
    state = backend.state(descriptor)
    backend.tracking = True
    now = 1_000
    with another_clock(lambda: now):
        for passed, key, (name, arguments) in steps:
            now += passed
            backend.key = key
            if name == "take delta":
                found.append(repr(backend.take_delta()))
            elif name == "take snapshot":
                found.append(repr(list(backend.take_snapshot())))
            else:
                result = getattr(state, name)(*arguments)
                found.append(list(result) if name == "items" or (kind, name) == ("list", "get") else result)
            [table] = backend.tables.values()
            found.append(repr((table.values, table.dirty, table.noted)))
    return found
