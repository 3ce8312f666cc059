# mypy: disable-error-code="import-not-found,import-untyped"
"""Broadcast state."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor
from tests.conformance.registry import program

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Translate(BroadcastProcessFunction):
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def process_element(self, value, ctx):
        words = ctx.get_broadcast_state(self.descriptor)
        yield words.get(value) if words.contains(value) else f"no {value}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.descriptor).put(value[0], value[1])


@program(("BATCH",), parallelism=(1, 2), ordering="multiset")
def broadcast_comes_first_in_batch(env):
    descriptor = MapStateDescriptor("words", Types.STRING(), Types.STRING())
    words = env.from_collection([("one", "uno"), ("two", "due")], Types.TUPLE([Types.STRING(), Types.STRING()]))
    numbers = env.from_collection(["one", "three", "two", "one"], Types.STRING())
    return numbers.connect(words.broadcast(descriptor)).process(Translate(descriptor), Types.STRING())


class AtTheEnd(KeyedBroadcastProcessFunction):
    """Keep the elements in keyed state until the end, when all rules have arrived."""

    def __init__(self, descriptor):
        self.descriptor = descriptor

    def open(self, runtime_context):
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.LONG()))

    def process_element(self, value, ctx):
        self.items.add(value[1])
        ctx.timer_service().register_event_time_timer(1_000_000)

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(self.descriptor)
        state.put(value[0], (state.get(value[0]) or 0) + value[1])

    def on_timer(self, timestamp, ctx):
        rules = sorted(ctx.get_broadcast_state(self.descriptor).items())
        yield ctx.get_current_key(), sorted(self.items), rules


@program(parallelism=(1, 2), ordering="multiset")
def keyed_broadcast_with_timers(env):
    def stamped(records):
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
        return env.from_collection(records, PAIR).assign_timestamps_and_watermarks(strategy)

    descriptor = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
    keyed = stamped([("a", 1), ("b", 2), ("a", 3)]).key_by(lambda t: t[0], Types.STRING())
    rules = stamped([("r", 5), ("s", 6), ("r", 7)]).broadcast(descriptor)
    return keyed.connect(rules).process(AtTheEnd(descriptor))
