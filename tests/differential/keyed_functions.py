# mypy: disable-error-code="import-not-found,import-untyped"
"""The functions of random programs on keyed streams and windows; see ``functions.py``."""

from pyflink.common import Types
from pyflink.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from tests.differential.functions import combine, digest, fold, key_field, least, make, num


class Reduce(ReduceFunction):
    def __init__(self, how, form):
        self.how, self.form = how, form

    def reduce(self, value1, value2):
        ordered = self.how in {"last", "digest"}
        key = value2[0] if ordered else least(value1[0], value2[0])
        time = value2[2] if ordered else max(value1[2], value2[2])
        return make(self.form, key, combine(self.how, value1[1], value2[1]), time)


class Aggregate(AggregateFunction):
    """Accumulate (key, number, time, count)."""

    def __init__(self, how, form):
        self.how, self.form = how, form

    def create_accumulator(self):
        return None, None, None, 0

    def add(self, value, accumulator):
        return self.merge(accumulator, (value[0], value[1], value[2], 1))

    def get_result(self, accumulator):
        key, number, time, count = accumulator
        return make(self.form, key, digest([number, count]), time)

    def merge(self, one, other):
        if one[3] == 0 or other[3] == 0:
            return one if one[3] else other
        number = combine(self.how, one[1], other[1])
        return least(one[0], other[0]), number, max(one[2], other[2]), one[3] + other[3]


def add_up(one, other):
    return (num(one) + num(other)) % 1009


class AddUp(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return add_up(accumulator, value)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return add_up(one, other)


class Memory:
    """Keep numbers in one kind of state; only ``list`` and ``value`` keep the order."""

    def __init__(self, kind, context, name="memory"):
        self.kind = kind
        if kind == "value":
            self.state = context.get_state(ValueStateDescriptor(name, Types.PICKLED_BYTE_ARRAY()))
        elif kind == "list":
            self.state = context.get_list_state(ListStateDescriptor(name, Types.LONG()))
        elif kind == "map":
            self.state = context.get_map_state(MapStateDescriptor(name, Types.LONG(), Types.LONG()))
        elif kind == "reducing":
            self.state = context.get_reducing_state(ReducingStateDescriptor(name, add_up, Types.LONG()))
        else:
            self.state = context.get_aggregating_state(AggregatingStateDescriptor(name, AddUp(), Types.LONG()))

    def add(self, number):
        number = num(number)
        if self.kind == "value":
            self.state.update([*(self.state.value() or []), number])
        elif self.kind == "map":
            self.state.put(number, (self.state.get(number) or 0) + 1)
        else:
            self.state.add(number)

    def numbers(self):
        if self.kind == "value":
            return self.state.value() or []
        if self.kind == "list":
            return list(self.state.get())
        if self.kind == "map":
            return sorted(number * 7 + count for number, count in self.state.items())
        return [self.state.get()]

    def clear(self):
        self.state.clear()


class KeyedMap(MapFunction):
    def __init__(self, memory, form):
        self.kind, self.form = memory, form

    def open(self, runtime_context):
        self.memory = Memory(self.kind, runtime_context)

    def map(self, value):
        self.memory.add(value[1])
        return make(self.form, value[0], digest(self.memory.numbers()), value[2])


class KeyedFlatMap(FlatMapFunction):
    """Emit every second record of a key."""

    def __init__(self, memory, form):
        self.kind, self.form = memory, form

    def open(self, runtime_context):
        self.memory = Memory(self.kind, runtime_context)
        self.second = runtime_context.get_state(ValueStateDescriptor("second", Types.BOOLEAN()))

    def flat_map(self, value):
        self.memory.add(value[1])
        if self.second.value():
            yield make(self.form, value[0], digest(self.memory.numbers()), value[2])
            self.second.clear()
        else:
            self.second.update(True)


class KeyedProcess(KeyedProcessFunction):
    """Keep numbers, register timers, and emit the numbers when they fire.

    Options: ``memory`` (the kind of state), ``ordered``, ``emit`` (also emits a result for each record), ``delay`` (of
    timers behind the time of a record; without, there are none), ``delete`` (each record deletes the timer of the one
    before), ``again`` (a timer registers another one, once), ``clear`` (a timer clears the state).
    """

    def __init__(self, options, tag):
        self.options, self.form, self.tag = options, options["form"], tag

    def open(self, runtime_context):
        self.memory = Memory(self.options["memory"], runtime_context)
        self.until = runtime_context.get_state(ValueStateDescriptor("until", Types.LONG()))
        self.again = runtime_context.get_state(ValueStateDescriptor("again", Types.BOOLEAN()))

    def process_element(self, value, ctx):
        self.memory.add(value[1])
        delay, timers = self.options["delay"], ctx.timer_service()
        if delay is not None:
            if self.options["delete"] and self.until.value() is not None:
                timers.delete_event_time_timer(self.until.value())
            timers.register_event_time_timer(value[2] + delay)
            if self.options["delete"]:
                self.until.update(value[2] + delay)
        if self.options["emit"]:
            told = [value[1], ctx.timestamp(), timers.current_watermark()]
            if self.options["ordered"]:
                told += self.memory.numbers()
            record = make(self.form, value[0], digest(told), value[2])
            if self.tag is not None and num(value[1]) % 2 == 0:
                yield self.tag, record
            else:
                yield record

    def on_timer(self, timestamp, ctx):
        number = fold(self.memory.numbers(), ordered=self.options["ordered"])
        yield make(self.form, key_field(ctx.get_current_key()), digest([number, ctx.timestamp()]), timestamp)
        if self.options["again"] and not self.again.value():
            self.again.update(True)
            ctx.timer_service().register_event_time_timer(timestamp + 1000)
        if self.options["clear"]:
            self.memory.clear()


class CoProcess(KeyedCoProcessFunction):
    """Keep the numbers of both sides; ``shared`` emits them in the order of arrival, on each record."""

    def __init__(self, options):
        self.options, self.form = options, options["form"]

    def open(self, runtime_context):
        self.left = Memory(self.options["memory"], runtime_context, "left")
        self.right = self.left if self.options["shared"] else Memory(self.options["memory"], runtime_context, "right")

    def process_element1(self, value, ctx):
        return self.process(value, ctx, self.left, 1)

    def process_element2(self, value, ctx):
        return self.process(value, ctx, self.right, 2)

    def process(self, value, ctx, memory, side):
        memory.add((num(value[1]) * 2 + side) % 1009)
        ctx.timer_service().register_event_time_timer(value[2] + self.options["delay"])
        if self.options["shared"]:
            yield make(self.form, value[0], digest(memory.numbers()), value[2])

    def on_timer(self, timestamp, ctx):
        ordered = self.options["ordered"]
        sides = [fold(self.left.numbers(), ordered=ordered), fold(self.right.numbers(), ordered=ordered)]
        yield make(self.form, key_field(ctx.get_current_key()), digest(sides), timestamp)
        if self.options["clear"]:
            self.left.clear()
            self.right.clear()


def rules_descriptor():
    # With functions in threads, PyFlink does not find pickled keys again: Java compares arrays by identity.
    return MapStateDescriptor("rules", Types.STRING(), Types.LONG())


def add_rule(value, ctx):
    """Keep the largest number of a key, whatever the order."""
    rules, key = ctx.get_broadcast_state(rules_descriptor()), str(value[0])
    rules.put(key, max(num(value[1]), rules.get(key) if rules.contains(key) else -1))


def rule_of(key, ctx):
    return ctx.get_broadcast_state(rules_descriptor()).get(str(key))


class Broadcast(BroadcastProcessFunction):
    def __init__(self, form):
        self.form = form

    def process_element(self, value, ctx):
        yield make(self.form, value[0], digest([value[1], rule_of(value[0], ctx)]), value[2])

    def process_broadcast_element(self, value, ctx):
        add_rule(value, ctx)
        return ()


class KeyedBroadcast(KeyedBroadcastProcessFunction):
    """Read the rules when a timer fires; with ``emit`` also for each record."""

    def __init__(self, options):
        self.options, self.form = options, options["form"]

    def open(self, runtime_context):
        self.memory = Memory(self.options["memory"], runtime_context)

    def process_element(self, value, ctx):
        self.memory.add(value[1])
        ctx.timer_service().register_event_time_timer(value[2] + self.options["delay"])
        if self.options["emit"]:
            yield make(self.form, value[0], digest([value[1], rule_of(value[0], ctx)]), value[2])

    def process_broadcast_element(self, value, ctx):
        add_rule(value, ctx)
        return ()

    def on_timer(self, timestamp, ctx):
        key = key_field(ctx.get_current_key())
        number = digest([fold(self.memory.numbers(), ordered=False), rule_of(key, ctx)])
        yield make(self.form, key, number, timestamp)


# Window functions


def told_of(window, elements, form, key, *, ordered, timed):
    """Return a record about a window; count windows have no meaningful bounds."""
    numbers = [element[1] for element in elements]
    bounds = [window.start] if timed else []
    time = window.end if timed else max(element[2] for element in elements)
    return make(form, key, digest([fold(numbers, ordered=ordered), len(numbers), *bounds]), time)


class OfWindow(ProcessWindowFunction):
    """Emit a record about a window; ``counting`` counts the windows of a key in its global state."""

    def __init__(self, form, *, ordered, timed, counting):
        self.form, self.ordered, self.timed, self.counting = form, ordered, timed, counting

    def process(self, key, context, elements):
        key = key_field(key)
        record = told_of(context.window(), elements, self.form, key, ordered=self.ordered, timed=self.timed)
        if self.counting:
            # The name "count" is taken by the count trigger.
            count = context.global_state().get_state(ValueStateDescriptor("windows", Types.LONG()))
            count.update((count.value() or 0) + 1)
            record = make(self.form, record[0], digest([record[1], count.value()]), record[2])
        yield record


class OfAllWindow(ProcessAllWindowFunction):
    def __init__(self, form, *, ordered, timed):
        self.form, self.ordered, self.timed = form, ordered, timed

    def process(self, context, elements):
        yield told_of(context.window(), elements, self.form, "all", ordered=self.ordered, timed=self.timed)
