"""A keyed count of lines that appear while the job runs, in PyFlink's API, for PyFlink and flintstream.

Each printed line has the time at which the input was written and that at which the keyed function received it.
"""

# ruff: noqa: ANN001, ANN201, D101, D102, D103 - as a user of that engine would write it

import sys
import time

from pyflink.common import Configuration, Duration, Types, WatermarkStrategy
from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        number, written, _ = value
        yield f"found {number} {written} {time.time()}"


def parsed(line):
    number, written, key = line.split(",")
    return int(number), float(written), int(key)


def kafka(env, where):
    servers, _, topic = where.partition("/")
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(topic)
        .set_group_id("found-input")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "kafka")


def files(env, where):
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), where)
    source = source.monitor_continuously(Duration.of_millis(50)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "files")


def sockets(env, where):
    host, _, port = where.partition(":")
    if hasattr(env, "socket_text_stream"):
        return env.socket_text_stream(host, int(port))
    return DataStream(env._j_stream_execution_environment.socketTextStream(host, int(port)))


def main():
    kind, where, *mode, jar = sys.argv[1:]
    configuration = Configuration()
    if mode:
        configuration.set_string("python.execution-mode", mode[0])
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    if mode and jar:
        env.add_jars(f"file://{jar}")
    stream = {"files": files, "kafka": kafka, "sockets": sockets}[kind](env, where)
    lines = stream.map(parsed, Types.TUPLE([Types.INT(), Types.DOUBLE(), Types.INT()]))
    lines.key_by(lambda value: value[2], Types.INT()).process(Count(), Types.STRING()).print()
    env.execute("found input")


main()
