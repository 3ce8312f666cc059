"""Sources and sinks; mirrors ``pyflink.datastream.connectors``."""

from __future__ import annotations

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
from flintstream.datastream.connectors.pulsar import PulsarSource, PulsarSourceBuilder, StartCursor, StopCursor
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
    "PulsarSource",
    "PulsarSourceBuilder",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSource",
    "RollingPolicy",
    "Semantic",
    "SingleClusterTopicMetadataService",
    "Sink",
    "Source",
    "StartCursor",
    "StopCursor",
    "StreamFormat",
    "StreamPatternSubscriber",
    "StreamingFileSink",
]
