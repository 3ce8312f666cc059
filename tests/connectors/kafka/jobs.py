"""Programs for the tests of Kafka."""

from __future__ import annotations

from dataclasses import replace

from tests.datastream.inline import make_env

from flintstream.common.serialization import SimpleStringSchema
from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
LATEST = KafkaOffsetsInitializer.latest()


def source(broker, *topics, schema=None):
    """Return a builder of a source that reads texts from the beginning to the current end of the topics."""
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_bounded(LATEST)
    if topics:
        builder.set_topics(*topics)
    return builder.set_value_only_deserializer(schema or SimpleStringSchema())


def schema(topic):
    builder = KafkaRecordSerializationSchema.builder()
    return builder.set_topic(topic).set_value_serialization_schema(SimpleStringSchema())


def sink(broker, topic, guarantee=DeliveryGuarantee.AT_LEAST_ONCE):
    """Return a builder of a sink of texts."""
    builder = KafkaSink.builder().set_bootstrap_servers(broker.servers).set_delivery_guarantee(guarantee)
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE:
        builder.set_transactional_id_prefix(f"to-{topic}")
    return builder.set_record_serializer(schema(topic).build())


def checkpointed(tmp_path, parallelism=1, **settings):
    """Return an environment that takes checkpoints all the time."""
    own = {
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "20",
        "restart-strategy.fixed-delay.delay": "1 ms",
        "flintstream.epoch.idle-duration": "20",
    }
    return make_env(parallelism=parallelism, settings=own | settings)


def read(env, built, name="kafka"):
    """Run a program that reads, and return its records."""
    with env.from_source(built, NO_WATERMARKS, name).execute_and_collect() as found:
        return list(found)


def in_tasks(built):
    """Return the sink with all its epochs written by tasks, however small they are."""
    return KafkaSink(replace(built._output, shared_bytes=0))
