"""The programs, in PyFlink's API: PyFlink runs them and, with ``flintstream run``, flintstream."""

import sys
from pathlib import Path

from pyflink.common import Encoder, Row, SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat
from pyflink.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from benchmarks.connectors.records import is_written, parse, to_name, to_text
from benchmarks.runners.run_pyflink import settings
from benchmarks.sources import numbers
from benchmarks.workload import Run

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
COUNTED = Types.TUPLE([Types.STRING(), Types.LONG()])
NAMED = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


def counted(texts):
    return (
        texts.map(parse, output_type=COUNTED)
        .key_by(lambda value: value[0], key_type=Types.STRING())
        .process(Count(), output_type=COUNTED)
    )


def lines(env, run):
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), run.input).build()
    return env.from_source(files, NO_WATERMARKS, "lines")


def files_of(run):
    sink = FileSink.for_row_format(run.output, Encoder.simple_string_encoder())
    return sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


def file_count(env, run):
    counted(lines(env, run)).filter(is_written).sink_to(files_of(run))


def file_copy(env, run):
    lines(env, run).sink_to(files_of(run))


def kafka_source(run):
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(run.settings["servers"])
        .set_topics(run.settings["from"])
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )


def kafka_sink(run):
    serializer = KafkaRecordSerializationSchema.builder().set_topic(run.settings["to"])
    return (
        KafkaSink.builder()
        .set_bootstrap_servers(run.settings["servers"])
        .set_record_serializer(serializer.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee[run.settings["guarantee"]])
        .set_transactional_id_prefix(run.settings["to"])
        .set_property("transaction.timeout.ms", "600000")  # brokers refuse the hour that is Flink's default
        .build()
    )


def kafka_count(env, run):
    counts = counted(env.from_source(kafka_source(run), NO_WATERMARKS, "topic"))
    counts.map(to_text, output_type=Types.STRING()).sink_to(kafka_sink(run))


def kafka_read(env, run):
    counts = counted(env.from_source(kafka_source(run), NO_WATERMARKS, "topic"))
    counts.filter(is_written).sink_to(files_of(run))


def jdbc_insert(env, run):
    options = (
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        .with_url(run.settings["url"])
        .with_driver_name("org.postgresql.Driver")
        .with_user_name(run.settings["user"])
        .with_password(run.settings["password"])
        .build()
    )
    execution = JdbcExecutionOptions.builder().with_batch_size(run.settings["batch"]).build()
    insert = f"INSERT INTO {run.settings['table']} VALUES (?, ?)"  # noqa: S608 - a table of ours
    rows = numbers(env, run.records).map(lambda number: Row(number, to_name(number)), output_type=NAMED)
    rows.add_sink(JdbcSink.sink(insert, NAMED, options, execution))


PROGRAMS = {program.__name__: program for program in (file_count, file_copy, kafka_read, kafka_count, jdbc_insert)}


def main() -> None:
    """Build the program and execute it."""
    mode, run = sys.argv[1], Run.from_json(sys.argv[2])
    env = StreamExecutionEnvironment.get_execution_environment(settings(mode, run))
    env.set_parallelism(run.settings.get("parallelism", 2))
    if run.settings["jars"]:
        env.add_jars(*(Path(jar).as_uri() for jar in run.settings["jars"]))
    PROGRAMS[run.package](env, run)
    env.execute(run.package)


if __name__ == "__main__":
    main()
