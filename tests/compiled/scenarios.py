"""What records lead to, told in plain words: the same with and without the compiled modules.

``python -m tests.compiled.scenarios`` answers with what a scenario of :data:`SCENARIOS` leads to in its process.
"""

from __future__ import annotations

import enum
import pickle
import sys
import tempfile
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.compiled.state_calls import state_calls
from tests.state.test_appends import new_backend

from flintstream.common import Row, Time, Types
from flintstream.common._clock import another_clock
from flintstream.common._types.conversion import convert_block
from flintstream.datastream.functions import AggregateFunction, KeyedProcessFunction, ReduceFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from flintstream.runtime.exchange.blocks import pack, unpack
from flintstream.runtime.exchange.sending import exchange_output
from flintstream.runtime.failure import FailureReport, OperatorFailure
from flintstream.runtime.operators.adapters import PlainFunction
from flintstream.runtime.operators.base import OperatorContext
from flintstream.runtime.operators.contexts import StreamingRuntimeContext
from flintstream.runtime.operators.keyed import KeyedProcessOperator
from flintstream.runtime.operators.reduce import ReduceOperator
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.partitioners import KeyGroupPartitioner
from flintstream.runtime.plan import ExchangeEdge
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.runtime.windows.operator import WindowOperator
from flintstream.state import hash_map
from flintstream.state.hash_map import HashMapStateBackend

MS = Time.milliseconds


class Level(enum.IntEnum):
    LOW, HIGH = 1, 2


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Pair(NamedTuple):
    first: Any
    second: Any


class Quarrelsome:
    """Refuses to be compared."""

    def __hash__(self):
        return hash(1)

    def __eq__(self, other):
        raise ArithmeticError("not comparable")

    def __repr__(self):
        return "Quarrelsome()"


class Undecided:
    """Is neither true nor false."""

    def __bool__(self):
        raise ArithmeticError("neither true nor false")

    def __repr__(self):
        return "Undecided()"


def told(value: Any) -> Any:
    """Return a description of a value that tells apart what Python considers equal."""
    if type(value) in {tuple, list}:
        return (type(value).__name__, *map(told, value))
    if type(value) is dict:
        return ("dict", *((told(key), told(item)) for key, item in value.items()))
    if type(value) is Row:
        return ("Row", value._field_names, value.get_row_kind().name, *map(told, value))
    return type(value).__name__, repr(value)


class Sink:
    def __init__(self):
        self.log: list[Any] = []

    def emit(self, values, timestamps):
        self.log.append((values, timestamps))

    def emit_watermark(self, timestamp):
        self.log.append(timestamp)

    def emit_idle(self, idle):
        pass


class Driven:
    """An operator, and what it has led to."""

    def __init__(self, operator, now=lambda: 0, state: Any = None):
        self.state: Any = state or HashMapStateBackend()
        self.timers = InternalTimerService()
        self.timers.clock = now
        runtime = StreamingRuntimeContext("an operator", 0, 1, 128, {}, self.state)
        context = OperatorContext("an operator", 0, 1, 128, False, runtime, self.state, self.timers)
        self.sink = Sink()
        self.operator = operator
        operator.setup(context, self.sink, {})
        self.state.tracking = True
        operator.open()

    def outcome(self):
        """Return the output and the changes of state since the last call."""
        log, self.sink.log = self.sink.log, []
        changes = [
            (c.table.name, told(c.keys), told(c.values), told(c.deleted), told(c.appended))
            for c in self.state.take_delta()
        ]
        return told(log), changes, told(self.state.key)


@contextmanager
def backend(kind):
    """Make a backend of one of ``tests.state.test_appends.KINDS``."""
    with tempfile.TemporaryDirectory() as directory:
        made = new_backend(kind, f"{directory}/own")
        try:
            yield made
        finally:
            made.close()


@contextmanager
def failures(outcomes):
    """Append a failure to the outcomes, which end with it."""
    try:
        yield
    except OperatorFailure as failure:
        report = FailureReport.of(failure)
        users = report.user_traceback if __file__ in report.user_traceback else ""  # without any, it has our frames
        outcomes.append((report.summary, report.record, users, report.operator_name))
    except Exception as error:  # noqa: BLE001 - any, to be compared
        outcomes.append((type(error).__name__, str(error)))


# -- state -----------------------------------------------------------------------------------------------------------


class Acting(KeyedProcessFunction):
    """Does to its state what records say."""

    def __init__(self, ttl, clock):
        self.ttl = ttl
        self.clock = clock

    def open(self, runtime_context):
        anything = Types.PICKLED_BYTE_ARRAY()
        descriptors = [
            ValueStateDescriptor("value", anything),
            ListStateDescriptor("list", anything),
            MapStateDescriptor("map", anything, anything),
            ReducingStateDescriptor("reducing", lambda one, other: (one, other), anything),
        ]
        if self.ttl:
            update, visibility = self.ttl
            config = (
                StateTtlConfig.new_builder(MS(10))
                .set_update_type(StateTtlConfig.UpdateType[update])
                .set_state_visibility(StateTtlConfig.StateVisibility[visibility])
                .build()
            )
            for descriptor in descriptors:
                descriptor.enable_time_to_live(config)
        self.value = runtime_context.get_state(descriptors[0])
        self.list = runtime_context.get_list_state(descriptors[1])
        self.map = runtime_context.get_map_state(descriptors[2])
        self.reducing = runtime_context.get_reducing_state(descriptors[3])

    def process_element(self, record, ctx):
        actions = record[1]
        if actions and actions[0][0] == "return":
            return actions[0][1]
        return self.acts(actions, ctx)

    def acts(self, actions, ctx):
        for name, *arguments in actions:
            if name == "fail":
                raise LookupError(*arguments)
            if name == "emit":
                yield from arguments
                for argument in arguments:
                    if isinstance(argument, list):
                        argument.append("changed later")
                continue
            try:
                yield name, self.act(name, arguments, ctx)
            except Exception as error:  # noqa: BLE001 - any
                yield name, type(error).__name__, str(error)

    def act(self, name, arguments, ctx):
        if name == "context":
            return ctx.timestamp(), ctx.get_current_key()
        if name == "wait":
            self.clock[0] += arguments[0]
            return None
        if name == "change":
            held = self.value.value()
            if isinstance(held, list):
                held.append(arguments[0])
            return None
        if name == "put in a loop":
            for key in self.map:
                self.map.put(key, arguments[0])
            return None
        if name == "remove in a loop":
            entries = self.map.items()
            for key, _ in entries:
                if key == arguments[0]:
                    entries.remove()
            return None
        state, _, method = name.partition(".")
        result = getattr(getattr(self, state), method)(*arguments)
        return list(result) if method in {"keys", "values", "items"} or name == "list.get" else result


def state(kind, ttl, blocks):
    """Process blocks of records (key, actions), each with timestamps or None."""
    clock = [1_000_000]
    outcomes: list[Any] = []
    always_ahead = patch.object(hash_map, "LARGE", 0)  # keys are looked up ahead in dicts of any size
    with always_ahead, another_clock(lambda: clock[0]), backend(kind) as made, failures(outcomes):
        driven = Driven(KeyedProcessOperator(Acting(ttl, clock), lambda record: record[0]), state=made)
        try:
            for values, timestamps in blocks:
                driven.operator.process(values, timestamps)
                outcomes.append(driven.outcome())
        finally:
            outcomes.append(driven.outcome())
    return outcomes


def wheeled(one, other):
    """Reduce, fail, or drop what there is."""
    if isinstance(other[1], str):
        raise LookupError(other[1])  # noqa: TRY004 - the user's
    return None if other[1] is None else (one[0], [one[1], other[1]])


def running(kind, blocks):
    """Reduce blocks of records."""
    return _running(kind, wheeled, blocks, lambda operator, *block: operator.process(*block))


def running_behind_exchange(kind, contents, blocks):
    """Do the same with blocks that an exchange has packed, in pieces, and functions whose results may be computed."""
    return _running(kind, FOLDS[contents], blocks, from_exchange)


def _running(kind, function, blocks, feed):
    outcomes: list[Any] = []
    with backend(kind) as made, failures(outcomes):
        driven = Driven(ReduceOperator(PlainFunction("reduce", function), lambda record: record[0]), state=made)
        try:
            for block in blocks:
                feed(driven.operator, *block)
                outcomes.append(driven.outcome())
        finally:
            outcomes.append(driven.outcome())
    return outcomes


def from_exchange(operator, values, timestamps, pieces):
    """Process a block as it comes from an exchange, in pieces of these sizes."""
    if any(not isinstance(value, tuple) for value in values):
        return
    block = unpack(pack(values, timestamps, [], plain_keys=True), as_columns=operator.takes_columns)
    for size in [*pieces, len(values)]:
        piece, rest = block.cut(size)
        operator.process(piece.values, piece.timestamps)
        if rest is None:
            return
        block = rest


# -- windows ---------------------------------------------------------------------------------------------------------


class Reducing(ReduceFunction):
    def reduce(self, value1, value2):
        return wheeled(value1, value2)


class Gathering(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        if isinstance(value, tuple) and isinstance(value[-1], str):
            raise LookupError(value[-1])  # noqa: TRY004
        return [*accumulator, value]

    def get_result(self, accumulator):
        return tuple(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Folding(AggregateFunction):
    add: Any = None

    def __init__(self, start, add):
        self.start, self.add = start, add

    def create_accumulator(self):
        return self.start

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a, acc_b


FOLDS: dict[str, Any] = {
    "sum": lambda a, b: (a[0], a[1] + b[1]),
    "sum, other way round": lambda a, b: (b[0], b[1] + a[1]),
    "last": lambda a, b: b,
    "first": lambda a, b: a,
    "number": lambda a, b: (a[-2], a[-1] + 1),
    "half": lambda a, b: (a[0], a[1] + 0.5),
    "text": lambda a, b: (a[0], a[1] + "!"),
    "wrong field": lambda a, b: (a[1], a[0] + b[1]),
    "missing field": lambda a, b: (a[0], a[1] + b[7]),
    "count and sum": Folding((0, 0), lambda value, acc: (acc[0] + 1, acc[1] + value[1])),
    "plain sum": Folding(0, lambda value, acc: acc + value[1]),
    "real sum": Folding(0.0, lambda value, acc: acc + value[-1]),
    "joined": Folding("", lambda value, acc: value[1] + acc),
    "near the end": Folding((2**63 - 9,), lambda value, acc: (value[1] + acc[0],)),
    "last and record": Folding((None, 1), lambda value, acc: (value[1], value)),
    "longer": Folding((0,), lambda value, acc: (acc[0] + 1, value[1])),
    "record": Folding(0, lambda value, acc: acc + value),
}


def windows_behind_exchange(assigner, contents, lateness, steps):
    """Do the same with blocks that an exchange has packed, in pieces, and functions whose results may be computed."""

    return _windows("hashmap", assigner, contents, lateness, steps, from_exchange)


def windows(kind, assigner, contents, lateness, steps):
    """Add blocks of records to windows, and advance the watermark."""
    return _windows(kind, assigner, contents, lateness, steps, lambda operator, *block: operator.process(*block))


def _windows(kind, assigner, contents, lateness, steps, feed):
    name, *sizes = assigner
    made: Any = {
        "tumbling": TumblingEventTimeWindows, "sliding": SlidingEventTimeWindows, "sessions": EventTimeSessionWindows,
    }[name]  # fmt: skip
    outcomes: list[Any] = []
    with backend(kind) as keeping, failures(outcomes):
        windowed = made(*sizes)
        incremental: Any
        descriptor: Any
        if contents == "list":
            incremental, descriptor = None, ListStateDescriptor("contents", Types.PICKLED_BYTE_ARRAY())
        elif contents == "reduce":
            incremental = Reducing()
            descriptor = ReducingStateDescriptor("contents", incremental, None)
        elif contents in FOLDS and not isinstance(FOLDS[contents], Folding):
            incremental = FOLDS[contents]
            descriptor = ReducingStateDescriptor("contents", incremental, None)
        else:
            incremental = FOLDS[contents] if contents in FOLDS else Gathering()
            descriptor = AggregatingStateDescriptor("contents", incremental, None)
        trigger = windowed.get_default_trigger(None)
        operator = WindowOperator(
            lambda record: record[0], windowed, trigger, descriptor, None, lateness, None, incremental
        )
        driven = Driven(operator, state=keeping)
        try:
            for step in steps:
                if isinstance(step, int):
                    operator.process_watermark(step)
                else:
                    feed(operator, *step)
                outcomes.append(driven.outcome())
        finally:
            outcomes.append(driven.outcome())
    return outcomes


# -- exchange --------------------------------------------------------------------------------------------------------


def _received(outbox):
    """Return the records and marks of each bucket. Where a block ends depends on which keys the sender remembers."""
    received: dict[Any, Any] = {}
    for item in outbox:
        records, marks = received.setdefault((item.subtask, item.bucket), ([], {}))
        values, timestamps, block_marks, _ = unpack(item.payload)
        marks.update((len(records) + position, mark) for position, mark in block_marks)
        records += zip(values, timestamps or [MIN_TIMESTAMP] * len(values), strict=True)
    return {target: (told(records), marks) for target, (records, marks) in received.items()}


def routes(key_type, batch, blocks):
    """Route blocks of records to subtasks."""
    outcomes: list[Any] = []
    with failures(outcomes):
        convert = None if key_type is None else getattr(Types, key_type)().converter()
        partitioner = KeyGroupPartitioner(lambda record: record[0], convert)
        outbox: list[Any] = []
        edge = ExchangeEdge(0, 1, 2, 0, partitioner, 1, 3, 1, 128, 5)
        output = exchange_output(edge, 0, outbox, "sender", batch=batch)
        for values, timestamps in blocks:
            output.emit(values, timestamps)
            output.emit_watermark(len(values))
        output.flush()
        outcomes.append(_received(outbox))
    return outcomes


def conversion(names, values):
    """Convert values to a declared type: a single one, or a tuple of several."""
    types = [getattr(Types, name)() for name in names[1:]]
    declared = Types.TUPLE(types) if names[0] == "tuple" else types[0]
    cursor = iter(values)
    outcomes: list[Any] = []
    with failures(outcomes):
        convert = declared.converter()
        assert convert is not None
        converted = convert_block(convert, values, cursor)
        outcomes.append((told(converted), converted is values))
    outcomes.append(cursor.__length_hint__())
    return outcomes


SCENARIOS: dict[str, Any] = {
    element.__name__: element
    for element in (
        state,
        state_calls,
        running,
        running_behind_exchange,
        windows,
        windows_behind_exchange,
        routes,
        conversion,
    )
}


def main() -> None:
    for line in sys.stdin.buffer:
        name, arguments = pickle.loads(bytes.fromhex(line.decode()))
        sys.stdout.write(pickle.dumps(SCENARIOS[name](*arguments)).hex() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    from tests.compiled import scenarios  # the module whose classes the records have

    scenarios.main()
