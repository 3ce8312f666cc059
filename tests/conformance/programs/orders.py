# mypy: disable-error-code="import-not-found,import-untyped"
"""Undefined orders that PyFlink nevertheless keeps in every run."""

import warnings

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    ProcessFunction,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import MapStateDescriptor
from tests.conformance.registry import BOTH, collected, program

LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h"]
EVENTS = [("k", "1"), ("l", "2"), ("m", "3"), ("k", "4")]
NAMES = [("k", "K"), ("l", "L"), ("m", "M")]


def texts():
    return Types.TUPLE([Types.STRING(), Types.STRING()])


def names_state():
    return MapStateDescriptor("names", Types.STRING(), Types.STRING())


@program(BOTH, parallelism=(1, 2, 4))
def collection_at_any_parallelism(env):
    first = env.from_collection(LETTERS).execute_and_collect(limit=3)
    with env.from_collection(LETTERS, Types.STRING()).execute_and_collect() as everything:
        return [collected(first), collected(everything)]


@program(BOTH, parallelism=(1, 2))
def union_of_collections(env):
    first = env.from_collection([f"a{i}" for i in range(6)], Types.STRING())
    second = env.from_collection([f"b{i}" for i in range(6)], Types.STRING())
    with first.union(second).execute_and_collect() as everything:
        return collected(everything)


class Name(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value[0]}{value[1]} {ctx.get_broadcast_state(names_state()).get(value[0])}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(names_state()).put(value[0], value[1])


class KeyedName(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value[0]}{value[1]} {ctx.get_broadcast_state(names_state()).get(value[0])}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(names_state()).put(value[0], value[1])


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def rules_for_mapped_events(env):
    events = env.from_collection(EVENTS, texts()).map(lambda event: event, texts())
    rules = env.from_collection(NAMES, texts()).broadcast(names_state())
    return events.connect(rules).process(Name(), Types.STRING())


@program(BOTH, parallelism=(1, 2), ordering="multiset")
def rules_for_keyed_events(env):
    events = env.from_collection(EVENTS, texts()).key_by(lambda event: event[0])
    rules = env.from_collection(NAMES, texts()).broadcast(names_state())
    return events.connect(rules).process(KeyedName(), Types.STRING())


class Given(TimestampAssigner):
    def __init__(self, kind):
        self.kind = kind

    def extract_timestamp(self, value, record_timestamp):
        import decimal
        import fractions

        if self.kind == "raises":
            raise ValueError("no time")
        times = {
            "float": 5.9,
            "negative float": -5.9,
            "bool": True,
            "decimal": decimal.Decimal("7.9"),
            "fraction": fractions.Fraction(15, 2),
            "mixed": 100 if value == 1 else 5.9,
            "smallest": -(2**63),
            "largest": 2**63 - 1,
            "none": None,
            "text": "5",
            "generator": (i for i in [1]),
        }
        return times[self.kind]


class AnyObject:
    def extract_timestamp(self, value, record_timestamp):
        return 42


class OnlyAClass:
    @staticmethod
    def extract_timestamp(value, record_timestamp):
        return 43


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} at {ctx.timestamp()}"


def strategy(assigner):
    return WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)


@program()
def times_of_many_kinds(env):
    kinds = ["float", "negative float", "bool", "decimal", "fraction", "mixed", "smallest", "largest"]
    assigners = [*map(Given, kinds), AnyObject(), OnlyAClass, None]
    return [
        env.from_collection([1, 2], Types.INT())
        .assign_timestamps_and_watermarks(strategy(assigner))
        .process(Times(), Types.STRING())
        for assigner in assigners
    ]


@program(BOTH)
def sources_with_assigners_that_fail(env):
    assigners = [*map(Given, ["raises", "none", "text", "generator"]), lambda value: 5, 5, "time", None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            env.from_source(NumberSequenceSource(1, 2), strategy(assigner), "numbers", Types.LONG()).process(
                Times(), Types.STRING()
            )
            for assigner in assigners
        ]
