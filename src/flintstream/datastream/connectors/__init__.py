"""Sources and sinks; mirrors ``pyflink.datastream.connectors``."""

from __future__ import annotations

from typing import NoReturn

from flintstream.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from flintstream.datastream.connectors.dynamic_kafka import (
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    KafkaMetadataService,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
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
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
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
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaSource",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSource",
    "RollingPolicy",
    "Semantic",
    "SingleClusterTopicMetadataService",
    "Sink",
    "Source",
    "StreamFormat",
    "StreamPatternSubscriber",
    "StreamingFileSink",
]

# PyFlink exports that this version lacks, and the examples that show a replacement.
_MISSING = {
    "Pulsar": ("PulsarSource PulsarSourceBuilder StartCursor StopCursor pulsar", "pulsar_source.py"),
}


def __getattr__(name: str) -> NoReturn:
    for connector, (names, example) in _MISSING.items():
        if name in names.split():
            # An ImportError, because "from ... import" discards the text of an AttributeError
            raise ImportError(
                f"{name}: the {connector} connector is not available in this version of flintstream; "
                f"examples/connectors/{example} shows how to write one with the Python client",
                name=f"{__name__}.{name}",
            )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
