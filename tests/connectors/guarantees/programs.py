"""Sinks and sources of all systems for the same program, by name; what they need is in settings that fit in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common import Row, SimpleStringSchema, Types, WatermarkStrategy

if TYPE_CHECKING:
    from collections.abc import Callable

PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
NAMED = Types.ROW_NAMED(["id", "value"], [Types.INT(), Types.STRING()])
NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def to_pair(text: str) -> tuple[int, str]:
    """Return the number and the rest of a text."""
    number, seen = text.split()
    return int(number), seen


def to_row(text: str) -> Row:
    return Row(*to_pair(text))


def to_document(text: str) -> dict[str, object]:
    number, seen = to_pair(text)
    return {"id": number, "seen": seen}


def to_change(text: str, _context: object) -> object:
    import pymongo

    number, seen = to_pair(text)
    # FerretDB hangs after many changes that change nothing
    return pymongo.UpdateOne({"_id": number}, {"$set": {"seen": seen}, "$inc": {"writes": 1}}, upsert=True)


def rabbit_config(given: dict[str, Any]) -> Any:
    from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig

    builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(given["port"]).set_virtual_host("/")
    return builder.set_user_name("guest").set_password("guest").set_network_recovery_interval(100).build()


def to_rabbitmq(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.rabbitmq import RMQSink

    stream.add_sink(RMQSink(rabbit_config(given), given["out"], SimpleStringSchema()))


def to_kinesis(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.kinesis import KinesisStreamsSink, PartitionKeyGenerator

    builder = KinesisStreamsSink.builder().set_kinesis_client_properties(given["properties"])
    builder.set_stream_name(given["out"]).set_serialization_schema(SimpleStringSchema())
    builder.set_max_batch_size(given.get("batch", 500))
    stream.sink_to(builder.set_partition_key_generator(PartitionKeyGenerator.random()).build())


def to_sqs(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.sqs import SqsSink

    builder = SqsSink.builder().set_sqs_client_properties(given["properties"]).set_sqs_url(given["url"])
    stream.sink_to(builder.set_serialization_schema(SimpleStringSchema()).build())


def to_firehose(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.kinesis import KinesisFirehoseSink

    builder = KinesisFirehoseSink.builder().set_firehose_client_properties(given["properties"])
    builder.set_delivery_stream_name(given["out"]).set_serialization_schema(SimpleStringSchema())
    lines = stream.map(lambda text: f"{text}\n", Types.STRING())
    lines.sink_to(builder.set_max_batch_size(given.get("batch", 500)).build())


def to_dynamodb(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.connectors.aws.client import AwsAccess
    from flintstream.connectors.aws.dynamodb import DynamoDbSink, Items

    access = AwsAccess(given["properties"])
    stream.sink_to(
        DynamoDbSink(access, given["table"], Items(to_request, number_of), most_items=given.get("batch", 25))
    )


def number_of(text: object) -> int:
    return to_pair(str(text))[0]


def to_request(text: object) -> dict[str, Any]:
    number, seen = to_pair(str(text))
    return {"PutRequest": {"Item": {"id": {"N": str(number)}, "seen": {"S": seen}}}}


def to_pulsar(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.pulsar import PulsarSink

    builder = PulsarSink.builder().set_service_url(given["url"]).set_topics([given["out"]])
    stream.sink_to(builder.set_serialization_schema(SimpleStringSchema()).build())


def to_cassandra(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.cassandra import CassandraSink

    builder = CassandraSink.add_sink(stream.map(to_pair, PAIR)).set_host("127.0.0.1", given["port"])
    builder.set_query(f"INSERT INTO {given['keyspace']}.t (id, value) VALUES (?, ?)")  # noqa: S608 - a table of ours
    (builder.enable_write_ahead_log() if given["log"] else builder).build()


def to_postgresql(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink

    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(given["url"]).with_user_name("me")
    upsert = f"INSERT INTO {given['table']} (id, value) VALUES (?, ?) "  # noqa: S608 - a table of ours
    upsert += "ON CONFLICT (id) DO UPDATE SET value = EXCLUDED.value"
    execution = JdbcExecutionOptions.builder().with_batch_size(given.get("batch", 5000)).build()
    sink = JdbcSink.sink(upsert, NAMED, options.with_password(given["password"]).build(), execution)
    stream.map(to_row, NAMED).add_sink(sink)


def to_mongodb(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.mongodb import MongoSink

    builder = MongoSink.builder().set_uri(given["uri"]).set_database(given["out"]).set_collection("c")
    stream.sink_to(builder.set_batch_size(given.get("batch", 1000)).set_serialization_schema(to_change).build())


def to_elasticsearch(stream: Any, given: dict[str, Any]) -> None:
    from flintstream.datastream.connectors.elasticsearch import (
        Elasticsearch7SinkBuilder,
        ElasticsearchEmitter,
        FlushBackoffType,
    )

    builder = Elasticsearch7SinkBuilder().set_hosts(given["host"]).set_bulk_flush_max_actions(given.get("batch", 1000))
    builder.set_emitter(ElasticsearchEmitter.static_index("numbers", "id"))
    stream.map(to_document).sink_to(
        builder.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 1000, 100).build()
    )


def of_rabbitmq(env: Any, given: dict[str, Any]) -> Any:
    from flintstream.datastream.connectors.rabbitmq import RMQSource

    return env.add_source(RMQSource(rabbit_config(given), given["in"], False, SimpleStringSchema()))


def of_kinesis(env: Any, given: dict[str, Any]) -> Any:
    from flintstream.datastream.connectors.kinesis import FlinkKinesisConsumer

    properties = {**given["properties"], "flink.stream.initpos": "TRIM_HORIZON"}
    return env.add_source(FlinkKinesisConsumer(given["in"], SimpleStringSchema(), properties))


def of_pulsar(env: Any, given: dict[str, Any]) -> Any:
    from flintstream.datastream.connectors.pulsar import PulsarSource, StartCursor

    builder = PulsarSource.builder().set_service_url(given["url"]).set_admin_url(given["admin"])
    builder.set_subscription_name("guarantees").set_deserialization_schema(SimpleStringSchema())
    built = builder.set_topics(given["in"]).set_start_cursor(StartCursor.earliest()).build()
    return env.from_source(built, NO_WATERMARKS, "pulsar")


def of_mongodb(env: Any, given: dict[str, Any]) -> Any:
    from flintstream.datastream.connectors.mongodb import MongoSource

    builder = MongoSource.builder().set_uri(given["uri"]).set_database(given["in"]).set_collection("c")
    built = (
        builder.set_fetch_size(given.get("batch", 2048))
        .set_deserialization_schema(lambda document: document["text"])
        .build()
    )
    return env.from_source(built, NO_WATERMARKS, "mongodb")


SINKS: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "rabbitmq": to_rabbitmq,
    "kinesis": to_kinesis,
    "sqs": to_sqs,
    "firehose": to_firehose,
    "dynamodb": to_dynamodb,
    "pulsar": to_pulsar,
    "cassandra": to_cassandra,
    "cassandra-log": to_cassandra,
    "postgresql": to_postgresql,
    "mongodb": to_mongodb,
    "elasticsearch": to_elasticsearch,
}
SOURCES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "rabbitmq": of_rabbitmq,
    "kinesis": of_kinesis,
    "pulsar": of_pulsar,
    "mongodb": of_mongodb,
}
