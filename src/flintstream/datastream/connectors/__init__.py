"""Sources and sinks; mirrors ``pyflink.datastream.connectors``."""

from __future__ import annotations

from typing import NoReturn

from flintstream.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from flintstream.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    Semantic,
)
from flintstream.datastream.connectors.number_seq import NumberSequenceSource
from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource

__all__ = [
    "BucketAssigner",
    "DeliveryGuarantee",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "KafkaRecordDeserializationSchema",
    "KafkaSource",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSource",
    "RollingPolicy",
    "Semantic",
    "Sink",
    "Source",
    "StreamFormat",
    "StreamingFileSink",
]

# What PyFlink exports here and this version does not have; its modules pulsar, ... are missing likewise.
_MISSING = {
    "dynamic Kafka": "DynamicKafkaSource DynamicKafkaSourceBuilder KafkaMetadataService KafkaStreamSetSubscriber "
    "KafkaStreamSubscriber StreamPatternSubscriber SingleClusterTopicMetadataService dynamic_kafka",
    "Pulsar": "PulsarSource PulsarSourceBuilder StartCursor StopCursor pulsar",
    "Cassandra": "cassandra",
    "Elasticsearch": "elasticsearch",
    "Kinesis": "kinesis",
}


def __getattr__(name: str) -> NoReturn:
    for connector, names in _MISSING.items():
        if name in names.split():
            # An ImportError, because the text of an AttributeError is lost in "from ... import"
            raise ImportError(
                f"{name}: the {connector} connector is not available in this version of flintstream",
                name=f"{__name__}.{name}",
            )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
