# mypy: disable-error-code="import-not-found,import-untyped"
"""Side outputs of every kind of function, and tags that are used more than once."""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import MapStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows
from tests.conformance.registry import BOTH, program


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def stamped(env, records):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    parallelism = env.get_parallelism()
    env.set_parallelism(1)
    stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.LONG()]))
    stream = stream.assign_timestamps_and_watermarks(strategy)
    env.set_parallelism(parallelism)
    return stream


def keyed(env, records):
    return stamped(env, records).key_by(lambda t: t[0], Types.STRING())


ONE, TWO = [("a", 1), ("b", 12)], [("a", 5), ("c", 3)]


class Aside(ProcessFunction):
    def __init__(self, tag):
        self.tag = tag

    def process_element(self, value, ctx):
        yield value
        yield self.tag, value * 10


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def one_tag_on_two_operators(env):
    """Each operator has a separate side output with this tag."""
    tag = OutputTag("aside", Types.INT())
    one = env.from_collection([1, 2], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    two = env.from_collection([3], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    return [one.get_side_output(tag), two.get_side_output(tag), one, two]


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def side_outputs_are_united(env):
    tag = OutputTag("aside", Types.INT())
    one = env.from_collection([1, 2], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    two = env.from_collection([3], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    return one.get_side_output(tag).union(two.get_side_output(tag), one).map(lambda i: i + 1, Types.INT())


@program(BOTH, ordering="multiset")
def one_side_output_has_two_consumers(env):
    main = env.from_collection([1, 2], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    first, second = (main.get_side_output(OutputTag("aside", Types.INT())) for _ in range(2))
    return [first.map(lambda i: i + 1, Types.INT()), second.filter(lambda i: i > 10), main]


@program(BOTH, ordering="multiset")
def a_side_output_of_a_side_output(env):
    inner = OutputTag("aside", Types.INT())
    main = env.from_collection([1, 2], Types.INT()).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    again = main.get_side_output(inner).process(Aside(OutputTag("aside", Types.INT())), Types.INT())
    return [again, again.get_side_output(OutputTag("aside", Types.INT()))]


class CoAside(CoProcessFunction):
    def __init__(self, tag):
        self.tag = tag

    def process_element1(self, value, ctx):
        yield "main 1", value[0]
        yield self.tag, f"side 1 {value[0]}"

    def process_element2(self, value, ctx):
        yield self.tag, f"side 2 {value[0]}"


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def a_side_output_of_a_co_process_function(env):
    main = stamped(env, ONE).connect(stamped(env, TWO)).process(CoAside(OutputTag("side", Types.STRING())))
    return [main, main.get_side_output(OutputTag("side", Types.STRING()))]


class KeyedCoAside(KeyedCoProcessFunction):
    def __init__(self, tag):
        self.tag = tag

    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 100)
        yield value[0], 1
        yield self.tag, value

    def process_element2(self, value, ctx):
        yield self.tag, value

    def on_timer(self, timestamp, ctx):
        yield self.tag, (ctx.get_current_key(), timestamp)
        yield ctx.get_current_key(), timestamp


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def a_side_output_of_a_keyed_co_process_function(env):
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    main = keyed(env, ONE).connect(keyed(env, TWO)).process(KeyedCoAside(OutputTag("side", pair)))
    return [main, main.get_side_output(OutputTag("side", Types.TUPLE([Types.STRING(), Types.LONG()])))]


class BroadcastAside(BroadcastProcessFunction):
    def __init__(self, tag, rules):
        self.tag = tag
        self.rules = rules

    def process_element(self, value, ctx):
        yield value[0], ctx.get_broadcast_state(self.rules).get("c")
        yield self.tag, f"element {value[0]}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(value[0], value[1])
        yield self.tag, f"broadcast {value[0]}"


@program(("BATCH",), parallelism=(1, 2), ordering="multiset")
def a_side_output_of_a_broadcast_process_function(env):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    connected = stamped(env, ONE).connect(stamped(env, TWO).broadcast(rules))
    main = connected.process(BroadcastAside(OutputTag("side", Types.STRING()), rules))
    return [main, main.get_side_output(OutputTag("side", Types.STRING()))]


class KeyedBroadcastAside(KeyedBroadcastProcessFunction):
    def __init__(self, tag, rules):
        self.tag = tag
        self.rules = rules

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 100)
        yield self.tag, f"element {value[0]}"

    def process_broadcast_element(self, value, ctx):
        yield self.tag, f"broadcast {value[0]}"

    def on_timer(self, timestamp, ctx):
        yield self.tag, f"timer {ctx.get_current_key()} {timestamp}"
        yield timestamp


@program(parallelism=(1, 2), ordering="multiset")
def a_side_output_of_a_keyed_broadcast_process_function(env):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    connected = keyed(env, ONE).connect(stamped(env, TWO).broadcast(rules))
    main = connected.process(KeyedBroadcastAside(OutputTag("side", Types.STRING()), rules))
    return [main, main.get_side_output(OutputTag("side", Types.STRING()))]


class WindowAside(ProcessWindowFunction):
    def __init__(self, tag):
        self.tag = tag

    def process(self, key, context, elements):
        yield self.tag, f"{key} {context.window().start}"
        yield key, len(list(elements))


class AllWindowAside(ProcessAllWindowFunction):
    def __init__(self, tag):
        self.tag = tag

    def process(self, context, elements):
        yield self.tag, f"{context.window().start}"
        yield len(list(elements))


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def side_outputs_of_window_functions(env):
    ten = TumblingEventTimeWindows.of(Time.milliseconds(10))
    one = keyed(env, [*ONE, ("a", 25)]).window(ten).process(WindowAside(OutputTag("side", Types.STRING())))
    two = stamped(env, [*ONE, ("a", 25)]).window_all(ten).process(AllWindowAside(OutputTag("side", Types.STRING())))
    side = OutputTag("side", Types.STRING())
    return [one, one.get_side_output(side), two, two.get_side_output(OutputTag("side", Types.STRING()))]


class KeyedAside(KeyedProcessFunction):
    def __init__(self, odd, even):
        self.odd = odd
        self.even = even

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000)
        yield (self.odd if value[1] % 2 else self.even), value

    def on_timer(self, timestamp, ctx):
        yield self.odd, (ctx.get_current_key(), timestamp)


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def two_untyped_side_outputs_of_a_keyed_process_function(env):
    records = [("a", 1), ("b", 12), ("a", 4), ("c", 7)]
    main = keyed(env, records).process(KeyedAside(OutputTag("odd"), OutputTag("even")))
    odd, even = main.get_side_output(OutputTag("odd")), main.get_side_output(OutputTag("even"))
    return [main, odd.map(lambda t: t), even.map(lambda t: t[1])]


@program(("STREAMING",), parallelism=(1, 2), ordering="multiset")
def a_side_output_is_keyed_and_reduced(env):
    """It keeps the timestamps."""
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    records = [("a", 1), ("b", 12), ("a", 4), ("a", 7)]
    main = keyed(env, records).process(KeyedAside(OutputTag("odd", pair), OutputTag("even")))
    odd = main.get_side_output(OutputTag("odd", Types.TUPLE([Types.STRING(), Types.LONG()])))
    main.get_side_output(OutputTag("even")).map(lambda t: t).print()
    windows = odd.key_by(lambda t: t[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.reduce(lambda x, y: (x[0], x[1] + y[1]))
