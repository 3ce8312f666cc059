"""The sink into Kafka's topics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._generic import Generic, T_contra
from flintstream.common.serialization import SerializationSchema
from flintstream.connectors.kafka.client import check_producer
from flintstream.connectors.kafka.serializing import RecordSerializer
from flintstream.connectors.kafka.sink import KafkaOutput
from flintstream.connectors.kafka.transactions import KafkaCommitter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_member
from flintstream.datastream.connectors._kafka_source import SERVERS, check_servers, checked_properties
from flintstream.datastream.connectors.base import DeliveryGuarantee, SupportsPreprocessing
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from flintstream.common._generic import T
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext
    from flintstream.datastream.connectors.base import StreamTransformer

TRANSACTIONAL_ID = "transactional.id"
MOST_OF_A_NAME = 200
"""Characters of a prefix; brokers take 255 or so for a name."""


class KafkaTopicSelector(ABC):
    """Finds the topic for each record."""

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the name of the topic for ``data``."""


class KafkaRecordSerializationSchema(SerializationSchema[T_contra]):
    """Says what a record is in Kafka: topic, key, value, partition.

    >>> from flintstream.common.serialization import SimpleStringSchema
    >>> schema = (
    ...     KafkaRecordSerializationSchema.builder()
    ...     .set_topic_selector(lambda word: f"words-{word[0]}")
    ...     .set_value_serialization_schema(SimpleStringSchema())
    ...     .build()
    ... )
    >>> schema.serialize("hello")
    b'hello'
    """

    def __init__(self, serializer: RecordSerializer) -> None:
        """Take what the builder made; use :meth:`builder`."""
        if not isinstance(serializer, RecordSerializer):
            raise TypeError("a KafkaRecordSerializationSchema is made by KafkaRecordSerializationSchema.builder()")
        self._serializer = serializer

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder."""
        return KafkaRecordSerializationSchemaBuilder()

    def serialize(self, element: T_contra) -> bytes | None:
        """Return the value of the record."""
        return self._serializer.value.serialize(element)


class KafkaRecordSerializationSchemaBuilder(Generic[T_contra]):
    """Builds a :class:`KafkaRecordSerializationSchema`: a topic or its selector, and the value's schema, are needed."""

    def __init__(self) -> None:
        self._topic: str | None = None
        self._selector: Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None
        self._partitioner: Callable[..., int] | None = None

    def set_topic(self, topic: str) -> Self:
        """Write all records to one topic."""
        if not isinstance(topic, str) or not topic:
            raise TypeError(f"the topic must be a text, got {topic!r}")
        self._topic, self._selector = topic, None
        return self

    def set_topic_selector(self, topic_selector: Callable[[Any], str] | KafkaTopicSelector) -> Self:
        """Write each record to the topic that a function returns for it."""
        if isinstance(topic_selector, KafkaTopicSelector):
            self._selector = topic_selector.apply
        elif callable(topic_selector):
            self._selector = topic_selector
        else:
            raise TypeError(f"the topic selector must be a KafkaTopicSelector or a function, got {topic_selector!r}")
        self._topic = None
        return self

    def set_key_serialization_schema(self, key_serialization_schema: SerializationSchema) -> Self:
        """Make the key of each record with a schema; by default records have none."""
        self._key = _checked_schema(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema[T]
    ) -> KafkaRecordSerializationSchemaBuilder[T]:
        """Make the value of each record with a schema."""
        self._value = _checked_schema(value_serialization_schema)
        return cast("KafkaRecordSerializationSchemaBuilder[T]", self)

    def set_partitioner(self, partitioner: Callable[..., int]) -> Self:
        """Choose partitions with a function of record, key, value, topic and its partitions' numbers (not in PyFlink).

        By default records of one key go to one partition, which is the one that Kafka's Java client chooses.
        """
        if not callable(partitioner):
            raise TypeError(f"the partitioner must be a function, got {partitioner!r}")
        self._partitioner = partitioner
        return self

    def build(self) -> KafkaRecordSerializationSchema[T_contra]:
        """Return the schema.

        Raises:
            PlanError: There is no topic, or no schema for the value.
        """
        if self._topic is None and self._selector is None:
            raise PlanError("records need a topic: set_topic() or set_topic_selector()")
        if self._value is None:
            raise PlanError("records need a value: set_value_serialization_schema()")
        return KafkaRecordSerializationSchema(
            RecordSerializer(self._value, self._key, self._topic, self._selector, self._partitioner)
        )


class KafkaSink(Sink[T_contra], SupportsPreprocessing):
    """Writes records into topics.

    With ``EXACTLY_ONCE`` they are visible, to consumers that read committed records, when a checkpoint contains them.
    """

    def __init__(self, output: KafkaOutput) -> None:
        """Take what the builder made; use :meth:`builder`."""
        if not isinstance(output, KafkaOutput):
            raise TypeError("a KafkaSink is made by KafkaSink.builder()")
        self._output = output

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        """Return None: topics are selected when records are written, not before."""
        return None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return self._output.create_writer(context)

    def create_committer(self) -> Committer | None:
        """Return what writes transactions, for ``EXACTLY_ONCE``."""
        return KafkaCommitter(self._output.properties) if self._output.exactly_once else None


class KafkaSinkBuilder(Generic[T_contra]):
    """Builds a :class:`KafkaSink`. Servers and a record serializer are needed; nothing is guaranteed by default."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix = ""
        self._serializer: RecordSerializer | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Say where the brokers are: ``host:port``, several with commas between."""
        return self.set_property(SERVERS, bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Say how often records may appear when the job fails and goes on."""
        self._guarantee = check_member(delivery_guarantee, DeliveryGuarantee, "the delivery guarantee")
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> Self:
        """Name the transactions of ``EXACTLY_ONCE``. No two sinks of a Kafka cluster may share a prefix.

        Keep it when the job is started again, from a checkpoint or savepoint: by it is known what is written already.
        """
        if not isinstance(transactional_id_prefix, str) or not transactional_id_prefix:
            raise TypeError(f"the prefix must be a text, got {transactional_id_prefix!r}")
        if len(transactional_id_prefix) > MOST_OF_A_NAME:
            raise ValueError(f"the prefix must have at most {MOST_OF_A_NAME} characters: {transactional_id_prefix!r}")
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema[T]) -> KafkaSinkBuilder[T]:
        """Say what a record is in Kafka."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise TypeError(f"a KafkaRecordSerializationSchema is needed, got {record_serializer!r}")
        self._serializer = record_serializer._serializer  # noqa: SLF001 - the same module
        return cast("KafkaSinkBuilder[T]", self)

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of Kafka's producer, under its name in Java or in librdkafka."""
        self._properties.update(checked_properties({key: value}))
        return self

    def set_kafka_producer_config(self, props: Mapping[str, str]) -> Self:
        """Set several properties (the Java builder has this)."""
        self._properties.update(checked_properties(props))
        return self

    def build(self) -> KafkaSink[T_contra]:
        """Return the sink.

        Raises:
            PlanError: Something is missing, or a property is wrong.
            MissingDependencyError: confluent-kafka is not installed.
        """
        if self._serializer is None:
            raise PlanError("a KafkaSink needs a record serializer: set_record_serializer()")
        check_servers(self._properties, "KafkaSink")
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        if exactly_once and not self._prefix:
            raise PlanError(
                "EXACTLY_ONCE needs a name for the transactions, which no other sink of the Kafka cluster has: "
                "set_transactional_id_prefix()"
            )
        output = KafkaOutput(
            self._properties.copy(),
            self._serializer,
            exactly_once=exactly_once,
            flushes=self._guarantee is not DeliveryGuarantee.NONE,
            transactional_id=self._prefix,
        )
        return KafkaSink(checked_output(output))


def checked_output(output: KafkaOutput) -> KafkaOutput:
    """Refuse properties that no producer takes."""
    if TRANSACTIONAL_ID in output.properties and not output.exactly_once:
        raise PlanError(f"the property '{TRANSACTIONAL_ID}' is the sink's own: use set_transactional_id_prefix()")
    own = {key: value for key, value in output.properties.items() if key != TRANSACTIONAL_ID}
    check_producer({**own, TRANSACTIONAL_ID: "checked"} if output.exactly_once else own)
    return replace(output, properties=own)


def with_output(sink: KafkaSink, **changes: Any) -> None:
    """Change what a sink writes."""
    sink._output = replace(sink._output, **changes)  # noqa: SLF001 - the same module


def _checked_schema(schema: object) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise TypeError(f"a SerializationSchema is needed, got {schema!r}")
    return schema
