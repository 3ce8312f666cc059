"""A program with every kind of state, timer and window, which stops at a gate in the middle of its input."""

from __future__ import annotations

from dataclasses import dataclass

from tests.engine.tally import Millis, Tally

from flintstream.common import Duration, Time, Types, WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from flintstream.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.datastream.window import (
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from flintstream.testing import CollectSink

NUMBERS = 48
GATE = 23
RULES = MapStateDescriptor("rules", Types.INT(), Types.STRING())


@dataclass
class GatedSplit(SourceSplit):
    position: int = 0


class GatedSource(Source):
    """Emit numbers in several splits; stop and wait at the gate, if there is one."""

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(self, gate=None, splits=3, limit=NUMBERS):
        self.gate = gate
        self.splits = splits
        self.limit = limit

    def create_enumerator(self, parallelism):
        return StaticEnumerator([GatedSplit(f"{n}", n) for n in range(self.splits)])

    def create_reader(self) -> SourceReader:
        return GatedReader(self)


class GatedReader(SourceReader):
    def __init__(self, source):
        self.source = source

    def read(self, split, fetch):
        while split.position < self.source.limit:
            if self.source.gate is not None and split.position >= self.source.gate:
                return False
            split.position += self.source.splits
            yield [split.position - self.source.splits]
        return True


class Forgetful(KeyedProcessFunction):
    """Keep state with a time-to-live, of all kinds that PyFlink supports."""

    def open(self, runtime_context):
        # so late that state of an earlier release is still there when a future release restores it
        ttl = StateTtlConfig.new_builder(Time.days(100 * 365)).build()
        value = ValueStateDescriptor("value with ttl", Types.TUPLE([Types.INT(), Types.STRING()]))
        elements = ListStateDescriptor("list with ttl", Types.INT())
        entries = MapStateDescriptor("map with ttl", Types.INT(), Types.ROW_NAMED(["n"], [Types.INT()]))
        for descriptor in (value, elements, entries):
            descriptor.enable_time_to_live(ttl)
        self.value = runtime_context.get_state(value)
        self.elements = runtime_context.get_list_state(elements)
        self.entries = runtime_context.get_map_state(entries)

    def process_element(self, value, ctx):
        seen = self.value.value() or (0, "")
        self.value.update((seen[0] + 1, f"{seen[1]}{value},"))
        self.elements.add(value)
        self.entries.put(value % 2, value)
        counts = self.value.value()[0], len(list(self.elements.get())), len(list(self.entries.keys()))
        yield f"ttl {ctx.get_current_key()} {counts}"


class Waits(KeyedProcessFunction):
    """Set processing-time timers that are due long after the test; the state shows that they were restored."""

    def open(self, runtime_context):
        self.timer = runtime_context.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element(self, value, ctx):
        before = self.timer.value()
        if before is not None:
            ctx.timer_service().delete_processing_time_timer(before)
        later = 4_000_000_000_000 + value
        ctx.timer_service().register_processing_time_timer(later)
        self.timer.update(later)
        yield f"waits {ctx.get_current_key()} {before}"


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return (value1[0], value1[1] + value2[1])


class SumOf(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Describe(ProcessWindowFunction):
    """Count in the state of the window and in that of the key."""

    def __init__(self, name):
        self.name = name

    def process(self, key, context, elements):
        count = context.global_state().get_state(ValueStateDescriptor("fired", Types.INT()))
        count.update((count.value() or 0) + 1)
        window = context.window()
        yield f"{self.name} {key} {window.start}-{window.end} {sorted(elements, key=repr)} {count.value()}"


class Rules(KeyedBroadcastProcessFunction):
    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value, f"rule {value}")

    def process_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        if value >= GATE:  # all rules have arrived by then
            yield f"rules {value} {sorted(key for key, _ in rules.items())}"


def build(configuration, parallelism, sink, gate=None):
    """Return an environment with the program in it."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism).set_max_parallelism(16)
    none = WatermarkStrategy.no_watermarks()
    # So late that windows fire only at the end: splits are not read in step, and no record may be late.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1000)).with_timestamp_assigner(
        Millis()
    )
    numbers = env.from_source(GatedSource(gate), none, "numbers").uid("numbers")
    numbers = numbers.assign_timestamps_and_watermarks(strategy).uid("watermarks")
    rules = env.from_source(GatedSource(gate, 1, 3), none, "rules").uid("rules")
    keyed = numbers.key_by(lambda n: n % 5)
    pairs = numbers.map(lambda n: (f"k{n % 3}", n)).uid("pairs").key_by(lambda pair: pair[0])
    add = lambda name, stream: stream.map(str).uid(f"{name} text").sink_to(sink[name]).uid(f"{name} sink")  # noqa: E731
    add("tally", keyed.process(Tally()).uid("tally"))
    add("ttl", keyed.process(Forgetful()).uid("ttl"))
    add("waits", keyed.process(Waits()).uid("waits"))
    tumbling = pairs.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    add("tumbling", tumbling.aggregate(SumOf(), Describe("tumbling")).uid("tumbling"))
    sliding = pairs.window(SlidingEventTimeWindows.of(Time.milliseconds(12), Time.milliseconds(6)))
    add("sliding", sliding.reduce(Add(), Describe("sliding")).uid("sliding"))
    bursts = pairs.filter(lambda pair: pair[1] % 12 < 7).uid("bursts").key_by(lambda pair: pair[0])
    sessions = bursts.window(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
    add("sessions", sessions.process(Describe("sessions")).uid("sessions"))
    counted = pairs.window(CountTumblingWindowAssigner.of(3)).reduce(Add())
    add("counted", counted.uid("counted"))
    add("rules", keyed.connect(rules.broadcast(RULES)).process(Rules()).uid("rule"))
    return env


def sinks():
    names = ("tally", "ttl", "waits", "tumbling", "sliding", "sessions", "counted", "rules")
    return {name: CollectSink() for name in names}


def collected(sink):
    """Return the records of the sinks since the last call, by sink; subtasks of sources have no common order."""
    return {name: item.get_results(True, False) for name, item in sink.items()}
