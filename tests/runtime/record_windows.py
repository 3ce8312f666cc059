# mypy: ignore-errors
"""Record the results of PyFlink's own window operator for random programs.

    python -m tests.runtime.record_windows     # where PyFlink 2.3 is importable; no job runs, and no Java

The operator is driven directly, with keyed state and timers in dicts. Timers fire by time and then registration, those
registered meanwhile included.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

from pyflink.common import Types
from pyflink.datastream import functions, window
from pyflink.datastream.functions import InternalIterableProcessWindowFunction, InternalSingleValueProcessWindowFunction
from pyflink.datastream.output_tag import OutputTag
from pyflink.datastream.state import AggregatingStateDescriptor, ListStateDescriptor, ReducingStateDescriptor
from pyflink.fn_execution import internal_state
from pyflink.fn_execution.datastream.window.window_operator import WindowOperator
from tests.runtime import window_scenarios
from tests.runtime.window_scenarios import GOLDENS, add, build, invent, listing_function, numbers_function

HOW_MANY = 250


class State:
    def __init__(self, backend, descriptor):
        self.backend, self.descriptor, self.namespace, self.entries = backend, descriptor, None, {}

    def set_current_namespace(self, namespace):
        self.namespace = namespace

    @property
    def at(self):
        return self.backend.key, self.namespace

    def get(self):
        return self.entries.get(self.at)

    def clear(self):
        self.entries.pop(self.at, None)

    def merge_namespaces(self, target, sources):
        for source in sources:
            found = self.entries.pop((self.backend.key, source), None)
            if found is not None:
                place = (self.backend.key, target)
                self.entries[place] = self.merged(self.entries[place], found) if place in self.entries else found


class Value(State, internal_state.InternalValueState):
    value = State.get

    def update(self, value):
        self.entries[self.at] = value


class List(State, internal_state.InternalListState):
    def get(self):
        return list(self.entries.get(self.at, []))

    def add(self, value):
        self.entries.setdefault(self.at, []).append(value)

    def add_all(self, values):
        raise NotImplementedError

    update = add_all

    def merged(self, one, other):
        return one + other


class Reducing(State, internal_state.InternalReducingState):
    def add(self, value):
        self.entries[self.at] = self.merged(self.entries[self.at], value) if self.at in self.entries else value

    def merged(self, one, other):
        return self.descriptor.get_reduce_function().reduce(one, other)


class Aggregating(State, internal_state.InternalAggregatingState):
    def get(self):
        found = self.entries.get(self.at)
        return None if found is None else self.descriptor.get_agg_function().get_result(found)

    def add(self, value):
        function = self.descriptor.get_agg_function()
        accumulator = self.entries[self.at] if self.at in self.entries else function.create_accumulator()
        self.entries[self.at] = function.add(value, accumulator)

    def merged(self, one, other):
        return self.descriptor.get_agg_function().merge(one, other)


class Surroundings:
    """Backend, runtime context, metric group and timer service of one operator in one."""

    def __init__(self):
        self.key, self.states, self.dropped = None, {}, 0
        self.watermark, self.timers, self.registrations = -(2**63), {}, 0

    def get_current_key(self):
        return self.key

    def _state(self, kind):
        return lambda descriptor: self.states.setdefault(descriptor.name, kind(self, descriptor))

    def __getattr__(self, name):
        kinds = {"state": Value, "list_state": List, "reducing_state": Reducing, "aggregating_state": Aggregating}
        return self._state(kinds[name.removeprefix("get_")])

    def get_map_state(self, descriptor):  # the sessions of a key: a plain dict is enough
        sessions = self.states.setdefault((descriptor.name, self.key), {})
        return SimpleNamespace(items=lambda: list(sessions.items()), clear=sessions.clear, put=sessions.__setitem__)

    def get_metrics_group(self):
        return self

    def counter(self, name):
        assert name == "numLateRecordsDropped"
        return self

    def inc(self):
        self.dropped += 1

    def current_watermark(self):
        return self.watermark

    def register_event_time_timer(self, namespace, timestamp):
        self.registrations += 1
        self.timers.setdefault((timestamp, self.key, namespace), self.registrations)

    def delete_event_time_timer(self, namespace, timestamp):
        self.timers.pop((timestamp, self.key, namespace), None)


class PerKey:
    """The map state of sessions is requested once, and is that of the current key at each access."""

    def __init__(self, surroundings):
        self.surroundings = surroundings

    def __getattr__(self, name):
        return getattr(self.surroundings.get_map_state(SimpleNamespace(name="sessions")), name)


def record(scenario):
    around = Surroundings()
    backend = SimpleNamespace(get_current_key=around.get_current_key, get_map_state=lambda _: PerKey(around))
    listing = listing_function(functions)
    single = InternalSingleValueProcessWindowFunction(listing)
    untyped = Types.PICKLED_BYTE_ARRAY()
    descriptor, function = {
        "list": (ListStateDescriptor("contents", untyped), InternalIterableProcessWindowFunction(listing)),
        "reduce": (ReducingStateDescriptor("contents", add, untyped), single),
        "aggregate": (AggregatingStateDescriptor("contents", numbers_function(functions), untyped), single),
    }[scenario["contents"]]
    assigner, trigger = build(window, scenario)
    tag = OutputTag("late") if scenario["late output"] else None
    operator = WindowOperator(
        assigner, backend, lambda key: key, descriptor, function, trigger, scenario["lateness"], tag
    )
    operator.open(around, around)
    results, late = [], []

    def take(produced, timestamp):
        for result in produced or ():
            if isinstance(result, tuple):
                late.append([result[1], timestamp])
            else:
                results.append([*result, timestamp])

    for step in scenario["steps"]:
        if len(step) == 3:
            around.key, number, timestamp = step
            take(operator.process_element((around.key, number), timestamp), timestamp)
            continue
        around.watermark = step[0]
        while due := [(timer[0], count, timer) for timer, count in around.timers.items() if timer[0] <= step[0]]:
            timestamp, _, timer = min(due, key=lambda item: item[:2])
            del around.timers[timer]
            around.key = timer[1]
            take(operator.on_event_time(*timer), timestamp)
    return {**scenario, "results": results, "late": late, "dropped": around.dropped, "cleared": listing.dropped}


if __name__ == "__main__":
    lines = [json.dumps(record(invent(seed))) for seed in range(HOW_MANY)]
    GOLDENS.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} programs of {window_scenarios.__name__} recorded in {GOLDENS.name}")
