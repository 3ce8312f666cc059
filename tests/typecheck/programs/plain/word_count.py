"""A typical PyFlink program: no annotations, lambdas, one main function."""

import sys

from flintstream.common import Duration, Encoder, Row, SimpleStringSchema, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSink, FileSource, OutputFileConfig, StreamFormat
from flintstream.datastream.functions import (
    AggregateFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows

rejected = OutputTag("rejected", Types.STRING())
untyped = OutputTag("untyped")


class FirstField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value[1])


class Plus(MapFunction):
    def __init__(self, more):
        self.more = more

    def map(self, value):
        return value[0], value[1] + self.more


class Second(KeySelector):
    def get_key(self, value):
        return value[1]


class Larger(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if value1[1] > value2[1] else value2


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Reject(ProcessFunction):
    def process_element(self, value, ctx):
        if len(value) > 10:
            yield rejected, value
        else:
            yield value.lower()


class Counts(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("count", Types.LONG())
        self.count = runtime_context.get_state(descriptor)
        self.recent = runtime_context.get_list_state(ListStateDescriptor("recent", Types.STRING()))
        self.sums = runtime_context.get_map_state(MapStateDescriptor("sums", Types.STRING(), Types.LONG()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        current = self.count.value()
        if current is None:
            current = 0
        self.count.update(current + value[1])
        self.recent.add(value[0])
        if self.sums.contains("all"):
            self.sums.put("all", self.sums.get("all") + 1)
            self.sums["all"] = self.sums["all"] + 1
        self.last.update((value, ctx.timestamp()))
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60000)
        yield ctx.get_current_key(), self.count.value()

    def on_timer(self, timestamp, ctx):
        result = self.last.value()
        if timestamp == result[1] + 60000:
            yield result[0], result[1]
        for word in self.recent:
            yield word.upper(), self.count.value() - 1
        self.count.clear()


class Lines(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "{} {} {}".format(elements[0], context.window().start, sum(count for _, count in elements))

    def clear(self, context):
        pass


def split(line):
    yield from line.split()


def word_count(input_path, output_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)

    if input_path is not None:
        ds = env.from_source(
            source=FileSource.for_record_stream_format(StreamFormat.text_line_format(), input_path)
            .process_static_file_set()
            .build(),
            watermark_strategy=WatermarkStrategy.for_monotonous_timestamps(),
            source_name="file_source",
        )
    else:
        ds = env.from_collection(["to be", "or not"])

    ds = ds.flat_map(split).map(lambda i: (i, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
    ds = ds.key_by(lambda i: i[0]).reduce(lambda i, j: (i[0], i[1] + j[1]))

    if output_path is not None:
        ds.sink_to(
            sink=FileSink.for_row_format(base_path=output_path, encoder=Encoder.simple_string_encoder())
            .with_output_file_config(
                OutputFileConfig.builder().with_part_prefix("prefix").with_part_suffix(".ext").build()
            )
            .build()
        )
    else:
        ds.print()

    ds = ds.map(Plus(5)).key_by(Second()).map(lambda pair: pair[0] + "!")
    checked = ds.process(Reject())
    checked.get_side_output(rejected).print()
    checked.get_side_output(untyped).map(lambda anything: anything.whatever()).print()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).with_timestamp_assigner(
        FirstField()
    )
    pairs = checked.map(lambda word: (word, 1)).assign_timestamps_and_watermarks(strategy)
    keyed = pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())
    keyed.process(Counts()).print()
    keyed.reduce(Larger()).sink_to(FileSink.for_row_format("/tmp/x", Encoder.simple_string_encoder()).build())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
    windows.aggregate(Average(), accumulator_type=Types.TUPLE([Types.LONG(), Types.LONG()])).print()
    windows.reduce(lambda a, b: (a[0], a[1] + b[1]), Lines(), Types.STRING()).print()
    windows.process(Lines(), Types.STRING()).print()
    keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).process(Lines()).print()
    rows = pairs.map(lambda pair: Row(word=pair[0], count=pair[1])).map(lambda row: row.word + str(row["count"]))
    rows.map(SimpleStringSchema().serialize).map(lambda message: message[0])

    env.execute()


if __name__ == "__main__":
    word_count(*sys.argv[1:3])
