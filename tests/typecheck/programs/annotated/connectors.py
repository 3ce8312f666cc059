"""Types flow from the format of a source to its stream, and from a stream to its sink."""

from typing import Any

from typing_extensions import assert_type

from flintstream.common import Encoder, Row, SerializationSchema, SimpleStringSchema, Types, WatermarkStrategy
from flintstream.datastream import DataStream, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from flintstream.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.testing import CollectSink


class Upper(SerializationSchema[str]):
    def serialize(self, element: str) -> bytes:
        return element.upper().encode()


def texts() -> KafkaSource[str]:
    builder = KafkaSource.builder().set_topics("texts").set_value_only_deserializer(SimpleStringSchema())
    return builder.set_starting_offsets(KafkaOffsetsInitializer.earliest()).set_group_id("g").build()


def sink() -> KafkaSink[str]:
    schema = KafkaRecordSerializationSchema.builder().set_topic("texts").set_value_serialization_schema(Upper()).build()
    return KafkaSink.builder().set_record_serializer(schema).set_bootstrap_servers("localhost:9092").build()


def build(env: StreamExecutionEnvironment) -> None:
    never = WatermarkStrategy.no_watermarks()
    numbers = env.from_source(NumberSequenceSource(1, 9), never, "numbers")
    assert_type(numbers, DataStream[int])
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), __file__).process_static_file_set()
    assert_type(lines.build(), FileSource[str])
    assert_type(env.from_source(lines.build(), never, "lines"), DataStream[str])
    assert_type(env.from_source(lines.build(), never, "lines", Types.ROW([Types.STRING()])), DataStream[Row])
    assert_type(env.read_text_file(__file__), DataStream[str])
    files = FileSink.for_row_format("/tmp/numbers", Encoder.simple_string_encoder()).with_bucket_check_interval(5)
    assert_type(files.build(), FileSink)
    numbers.sink_to(files.build()).name("files")
    collected = CollectSink()
    numbers.add_sink(collected)
    assert_type(collected.get_results(), list[str])
    assert_type(collected.get_results(is_python_object=True, stringify=False), list[Any])


def wrong(env: StreamExecutionEnvironment) -> None:
    read = env.from_source(texts(), WatermarkStrategy.no_watermarks(), "texts")
    read.map(lambda text: text.real)  # expect: attr-defined reportAttributeAccessIssue
    read.map(lambda text: len(text)).sink_to(sink())  # expect: arg-type reportArgumentType
    KafkaSink.builder().nonsense()  # expect: attr-defined reportAttributeAccessIssue
    KafkaSource.builder().set_value_only_deserializer(Upper())  # expect: arg-type reportArgumentType
