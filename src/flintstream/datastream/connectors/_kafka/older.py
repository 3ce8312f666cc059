"""Kafka source and sink of older PyFlink releases."""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.common.serialization import DeserializationSchema
from flintstream.connectors.kafka.client import check_consumer
from flintstream.connectors.kafka.input import KafkaInput
from flintstream.connectors.kafka.offsets import Offsets, Subscription
from flintstream.connectors.kafka.records import ValueDeserializer
from flintstream.connectors.kafka.serializing import RecordSerializer
from flintstream.connectors.kafka.sink import KafkaOutput
from flintstream.connectors.source import Boundedness
from flintstream.datastream._settings import MAX_LONG, check_bool, check_integer, check_member, warn_removed
from flintstream.datastream.connectors._kafka.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from flintstream.datastream.connectors._kafka.sink import KafkaSink, checked_output, with_output
from flintstream.datastream.connectors._kafka.sink import _checked_schema as _checked_serialization
from flintstream.datastream.connectors._kafka.source import (
    GROUP,
    KafkaSource,
    auto_commit_ms,
    check_servers,
    checked_properties,
    flag,
    number,
)
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from flintstream.common.serialization import SerializationSchema
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.datastream.connectors._kafka.offsets import KafkaTopicPartition

CREATES = "allow.auto.create.topics"
RESET = "auto.offset.reset"
OLD_DISCOVERY = "flink.partition-discovery.interval-millis"


class FlinkKafkaConsumerBase(KafkaSource):
    """Base class of consumers.

    >>> import warnings
    >>> from flintstream.common import SimpleStringSchema
    >>> warnings.simplefilter("ignore", DeprecationWarning)
    >>> from flintstream.datastream.connectors.kafka import FlinkKafkaConsumer, KafkaTopicPartition
    >>> consumer = FlinkKafkaConsumer("orders", SimpleStringSchema(), {"bootstrap.servers": "localhost:9092"})
    >>> consumer.get_produced_type()
    String
    >>> consumer.set_start_from_earliest() is consumer is consumer.set_start_from_latest()
    True
    >>> _ = consumer.set_start_from_timestamp(1_700_000_000_000).set_start_from_group_offsets()
    >>> _ = consumer.set_start_from_specific_offsets({KafkaTopicPartition("orders", 0): 17})
    >>> _ = consumer.set_commit_offsets_on_checkpoints(False)
    >>> _ = consumer.disable_filter_restored_partitions_with_subscribed_topics()
    """

    def _change(self, **changes: Any) -> Self:
        self._input = replace(self._input, **changes)
        return self

    def _begin(self, initializer: KafkaOffsetsInitializer) -> Self:
        return self._change(start=initializer._offsets)

    def set_commit_offsets_on_checkpoints(self, commit_on_checkpoints: bool) -> Self:
        """Set whether to commit the offsets of completed checkpoints to the group, if there is one; true by default."""
        check_bool(commit_on_checkpoints, "commit_on_checkpoints")
        return self._change(commits_offsets=commit_on_checkpoints and GROUP in self._input.properties)

    def set_start_from_earliest(self) -> Self:
        """Start at the earliest offsets."""
        return self._begin(KafkaOffsetsInitializer.earliest())

    def set_start_from_latest(self) -> Self:
        """Start at the latest offsets."""
        return self._begin(KafkaOffsetsInitializer.latest())

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> Self:
        """Start at the first records with this or a later timestamp (ms since the epoch)."""
        check_integer(startup_offsets_timestamp, "the timestamp (ms)", minimum=0, maximum=MAX_LONG)
        return self._begin(KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp))

    def set_start_from_group_offsets(self) -> Self:
        """Start at the group's offsets, which is the default. Without any, ``auto.offset.reset`` applies."""
        return self._change(start=_group_offsets(self._input.properties))

    def set_start_from_specific_offsets(self, specific_startup_offsets: Mapping[KafkaTopicPartition, int]) -> Self:
        """Start at these offsets; in other partitions like :meth:`set_start_from_group_offsets` (Java only)."""
        reset = KafkaOffsetResetStrategy[_reset_of(self._input.properties).upper()]
        return self._begin(KafkaOffsetsInitializer.offsets(specific_startup_offsets, reset))

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> Self:
        """Also read partitions of a checkpoint that the source no longer subscribes to."""
        return self._change(drops_foreign=False)

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the records; None for any Python object."""
        return self.produced_type


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """The source of releases before 1.16, for ``add_source``; use :class:`KafkaSource`.

    It starts at the group's offsets. Without a group or its offsets, it starts at the latest ones, or as the property
    ``auto.offset.reset`` says. A job without checkpoints commits its offsets every five seconds and when it ends. Set
    ``auto.commit.interval.ms`` for a different interval, or ``enable.auto.commit`` to false to turn this off. The
    schema's ``is_end_of_stream`` can end the stream.

    >>> import warnings
    >>> from flintstream.common import SimpleStringSchema
    >>> properties = {"bootstrap.servers": "127.0.0.1:9092", "group.id": "billing"}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it is deprecated
    ...     consumer = FlinkKafkaConsumer("orders", SimpleStringSchema(), properties).set_start_from_earliest()
    >>> consumer.get_produced_type()
    String
    """

    def __init__(
        self, topics: str | list[str], deserialization_schema: DeserializationSchema, properties: Mapping[str, str]
    ) -> None:
        warn_removed("FlinkKafkaConsumer", "KafkaSource")
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise TypeError(f"topics must be a topic name or a list of them, got {topics!r}")
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        own = checked_properties(properties)
        check_servers(own, "FlinkKafkaConsumer")
        check_consumer(own)
        ends = type(deserialization_schema).is_end_of_stream is not DeserializationSchema.is_end_of_stream
        creates = flag(own, CREATES, default=True)
        source = KafkaInput(
            properties={**own, CREATES: str(creates).lower()},
            subscription=Subscription(topics=names, creates=creates),
            deserializer=ValueDeserializer(deserialization_schema),
            start=_group_offsets(own),
            discovery_ms=number(own, OLD_DISCOVERY, -1),
            commits_offsets=GROUP in own,
            auto_commit_ms=auto_commit_ms(own, default=True),
            drops_foreign=True,
            ends_of_stream=deserialization_schema.is_end_of_stream if ends else None,
        )
        super().__init__(source, Boundedness.CONTINUOUS_UNBOUNDED)


def _group_offsets(properties: Mapping[str, str]) -> Offsets:
    """Return the committed offsets of a group; without a group, those of ``auto.offset.reset``."""
    reset = _reset_of(properties)
    if GROUP in properties:
        return Offsets("committed", reset=reset)
    if reset == "none":
        raise PlanError(f"a FlinkKafkaConsumer without the property '{GROUP}' must not set '{RESET}' to none")
    return Offsets(reset, reset=reset)


def _reset_of(properties: Mapping[str, str]) -> str:
    reset = properties.get(RESET, "latest").lower()
    if reset not in {"earliest", "latest", "none"}:
        raise PlanError(f"the property '{RESET}' must be earliest, latest or none, got {properties[RESET]!r}")
    return reset


class Semantic(enum.Enum):
    """How often a :class:`FlinkKafkaProducer` may deliver a record when the job fails and restarts.

    >>> import warnings
    >>> from flintstream.common import SimpleStringSchema
    >>> properties = {"bootstrap.servers": "127.0.0.1:9092"}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it is deprecated
    ...     sink = FlinkKafkaProducer("sums", SimpleStringSchema(), properties, semantic=Semantic.EXACTLY_ONCE)
    """

    EXACTLY_ONCE = 0
    """Exactly once, with transactions."""
    AT_LEAST_ONCE = 1
    """No record is lost, but records may be repeated."""
    NONE = 2
    """Records may be lost or repeated."""


class FlinkKafkaProducerBase(KafkaSink):
    """Base class of producers.

    >>> import warnings
    >>> from flintstream.common import SimpleStringSchema
    >>> warnings.simplefilter("ignore", DeprecationWarning)
    >>> from flintstream.datastream.connectors.kafka import FlinkKafkaProducer
    >>> producer = FlinkKafkaProducer("orders", SimpleStringSchema(), {"bootstrap.servers": "localhost:9092"})
    >>> producer.set_log_failures_only(True).set_flush_on_checkpoint(True) is producer
    True
    >>> producer.set_write_timestamp_to_kafka(True) is producer
    True
    """

    def set_log_failures_only(self, log_failures_only: bool) -> Self:
        """Set whether to only log a record that cannot be delivered instead of failing the job."""
        with_output(self, only_logs=check_bool(log_failures_only, "log_failures_only"))
        return self

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> Self:
        """Set whether a checkpoint waits until its records are delivered. Otherwise they may be lost."""
        with_output(self, flushes=check_bool(flush_on_checkpoint, "flush_on_checkpoint"))
        return self

    def set_write_timestamp_to_kafka(self, write_timestamp_to_kafka: bool) -> Self:
        """Set whether records keep their timestamps in Kafka. By default they get the time of writing."""
        with_output(self, writes_timestamps=check_bool(write_timestamp_to_kafka, "write_timestamp_to_kafka"))
        return self


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """The sink of releases before 1.16, for ``add_sink``; use :class:`KafkaSink`.

    ``kafka_producer_pool_size`` has no effect: transactions start and end when a checkpoint is complete.

    >>> import warnings
    >>> from flintstream.common import SimpleStringSchema
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it is deprecated
    ...     producer = FlinkKafkaProducer("sums", SimpleStringSchema(), {"bootstrap.servers": "127.0.0.1:9092"})
    >>> producer = producer.set_write_timestamp_to_kafka(True).ignore_failures_after_transaction_timeout()
    """

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: Mapping[str, str],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        warn_removed("FlinkKafkaProducer", "KafkaSink")
        check_integer(kafka_producer_pool_size, "the size of the pool of producers", minimum=1)
        check_member(semantic, Semantic, "the semantic")
        if not isinstance(topic, str) or not topic:
            raise TypeError(f"the topic must be a str, got {topic!r}")
        own = checked_properties(producer_config)
        check_servers(own, "FlinkKafkaProducer")
        output = KafkaOutput(
            own,
            RecordSerializer(_checked_serialization(serialization_schema), topic=topic),
            exactly_once=semantic is Semantic.EXACTLY_ONCE,
            flushes=semantic is not Semantic.NONE,
            writes_timestamps=False,
        )
        super().__init__(checked_output(output))

    def ignore_failures_after_transaction_timeout(self) -> Self:
        """Do nothing: no transaction stays open between checkpoints, so none can time out."""
        return self
