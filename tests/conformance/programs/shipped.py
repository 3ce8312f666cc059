# mypy: disable-error-code="import-not-found,import-untyped"
"""The topics of PyFlink's examples, in our own programs."""

import json

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessWindowFunction, WindowFunction
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.conformance.registry import program

VERSE = """The rain came down on the old grey town
and the river rose by the wall
The bells in the tower struck hour by hour
and the rain came down on all"""


@program(("BATCH",), ordering="multiset", directory=True)
def count_words_of_a_file(env, directory):
    path = directory / "verse.txt"
    path.write_text(VERSE)
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path))
    lines = env.from_source(
        source.process_static_file_set().build(), WatermarkStrategy.for_monotonous_timestamps(), "verse"
    )

    def words(line):
        yield from line.split()

    counted = lines.flat_map(words).map(lambda w: (w, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    return counted.key_by(lambda t: t[0]).reduce(lambda x, y: (x[0], x[1] + y[1]))


SHIPMENTS = [
    (1, '{"item": "anvil", "weight": 90, "to": {"country": "Norway", "city": "Bergen"}}'),
    (2, '{"item": "feather", "weight": 1, "to": {"country": "Chile", "city": "Arica"}}'),
    (3, '{"item": "piano", "weight": 300, "to": {"country": "Norway", "city": "Oslo"}}'),
    (4, '{"item": "stone", "weight": 7, "to": {"country": "Peru", "city": "Cusco"}}'),
]


@program(ordering="per_key")
def basic_operations_on_json(env):
    stream = env.from_collection(SHIPMENTS, type_info=Types.ROW_NAMED(["id", "details"], [Types.INT(), Types.STRING()]))

    def heavier(record):
        details = json.loads(record.details)
        details["weight"] += 1
        return record.id, json.dumps(details)

    def weight_by_country(record):
        details = json.loads(record.details)
        return details["to"]["country"], details["weight"]

    return [
        stream.map(heavier),
        stream.filter(lambda record: record.id == 1).map(lambda record: (record.id, record.details)),
        stream.map(weight_by_country).key_by(lambda t: t[0]).sum(1),
    ]


@program(parallelism=(1, 2), ordering="multiset")
def nested_json_changed_and_filtered(env):
    def parsed(record):
        details = json.loads(record[1])
        details["weight"] *= 2
        return record[0], details

    return env.from_collection(SHIPMENTS).map(parsed).filter(lambda record: record[1]["to"]["country"] == "Norway")


class RunningTotal(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("total", Types.FLOAT())
        ttl = (
            StateTtlConfig.new_builder(Time.minutes(10))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .disable_cleanup_in_background()
            .build()
        )
        descriptor.enable_time_to_live(ttl)
        self.total = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        self.after_update(value[0], total, ctx)
        yield from self.results(value[0], total)

    def after_update(self, key, total, ctx):
        pass

    def results(self, key, total):
        return [(key, total)]


PAYMENTS = [("Ada", 110.1), ("Max", 30.2), ("Ada", 20.0), ("Max", 53.1), ("Ada", 13.1), ("Max", 3.1)]


@program(parallelism=(1, 2), ordering="per_key")
def running_totals_in_state(env):
    stream = env.from_collection(PAYMENTS, type_info=Types.TUPLE([Types.STRING(), Types.FLOAT()]))
    return stream.key_by(lambda t: t[0]).process(RunningTotal())


class TotalLater(RunningTotal):
    def after_update(self, key, total, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 2000)

    def results(self, key, total):
        return []

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.total.value()


class Milliseconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value[0])


@program(ordering="per_key")
def totals_by_event_time_timers(env):
    class SecondKey(TotalLater):
        def process_element(self, value, ctx):
            return super().process_element((value[1], value[2]), ctx)

    records = [(1000, "Ada", 110.1), (4000, "Max", 30.2), (3000, "Ada", 20.0), (2000, "Max", 53.1), (5000, "Ada", 13.1)]
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.LONG(), Types.STRING(), Types.FLOAT()]))
    stream = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Milliseconds()))
    return stream.key_by(lambda t: t[1]).process(SecondKey())


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value[1])


class HowMany(ProcessWindowFunction):
    def process(self, key, context, elements):
        return [(key, context.window().start, context.window().end, len(list(elements)))]


COUNTS = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT(), Types.INT()])


def clicks(env, times):
    records = [("click", time) for time in times]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    return stream.assign_timestamps_and_watermarks(strategy).key_by(lambda t: t[0], key_type=Types.STRING())


@program()
def clicks_in_tumbling_windows(env):
    windows = clicks(env, [1, 2, 3, 4, 5, 8, 9, 15]).window(TumblingEventTimeWindows.of(Time.milliseconds(5)))
    return windows.process(HowMany(), COUNTS)


@program()
def clicks_in_sliding_windows(env):
    assigner = SlidingEventTimeWindows.of(Time.milliseconds(5), Time.milliseconds(2))
    return clicks(env, [1, 2, 3, 4, 5, 8, 9, 15]).window(assigner).process(HowMany(), COUNTS)


@program()
def clicks_in_sessions(env):
    windows = clicks(env, [1, 2, 3, 4, 8, 9, 15]).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))
    return windows.process(HowMany(), COUNTS)


class AsLongAsItsTime(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1]


@program()
def clicks_in_sessions_of_dynamic_gap(env):
    windows = clicks(env, [1, 2, 3, 4, 8, 9, 15]).window(EventTimeSessionWindows.with_dynamic_gap(AsLongAsItsTime()))
    return windows.process(HowMany(), COUNTS)


class SumOfNumbers(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, sum(number for number, _ in inputs))]


@program(ordering="per_key")
def sums_of_two(env):
    records = [(1, "hi"), (2, "ho"), (3, "hi"), (4, "ho"), (5, "hi"), (8, "ho"), (4, "ho")]
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.INT(), Types.STRING()]))
    windows = stream.key_by(lambda t: t[1], key_type=Types.STRING()).count_window(2)
    return windows.apply(SumOfNumbers(), Types.TUPLE([Types.STRING(), Types.INT()]))
