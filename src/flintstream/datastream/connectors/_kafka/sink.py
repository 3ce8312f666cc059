"""The Kafka sink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._generic import Generic, T_contra
from flintstream.common.serialization import SerializationSchema
from flintstream.connectors.kafka.client import check_producer
from flintstream.connectors.kafka.committer import KafkaCommitter
from flintstream.connectors.kafka.serializing import RecordSerializer
from flintstream.connectors.kafka.sink import KafkaOutput
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_member
from flintstream.datastream.connectors._kafka.source import SERVERS, check_servers, checked_properties
from flintstream.datastream.connectors.base import DeliveryGuarantee, SupportsPreprocessing
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext
    from flintstream.datastream.connectors.base import StreamTransformer

TRANSACTIONAL_ID = "transactional.id"
MOST_OF_A_NAME = 200
"""Maximum length of a prefix; brokers accept names of about 255 characters."""


class KafkaTopicSelector(ABC):
    """Selects the topic of each record.

    >>> class ByCity(KafkaTopicSelector):
    ...     def apply(self, data):
    ...         return f"orders-{data['city'].lower()}"
    >>> ByCity().apply({"city": "Bern"})
    'orders-bern'
    """

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the name of the topic for ``data``."""


class KafkaRecordSerializationSchema(SerializationSchema[T_contra]):
    """Defines a record's topic, key, value and partition in Kafka.

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
        """Take the serializer; programs call :meth:`builder` instead."""
        if not isinstance(serializer, RecordSerializer):
            raise TypeError("create a KafkaRecordSerializationSchema with KafkaRecordSerializationSchema.builder()")
        self._serializer = serializer

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder."""
        return KafkaRecordSerializationSchemaBuilder()

    def serialize(self, element: T_contra) -> bytes | None:
        """Return the value of the record."""
        return self._serializer.value.serialize(element)


class KafkaRecordSerializationSchemaBuilder(Generic[T_contra]):
    """Builds a :class:`KafkaRecordSerializationSchema`. It needs a topic or selector, and a schema for the value.

    >>> from flintstream.common import SimpleStringSchema
    >>> schema = (
    ...     KafkaRecordSerializationSchemaBuilder()
    ...     .set_topic_selector(lambda order: order.split()[1])
    ...     .set_key_serialization_schema(SimpleStringSchema())
    ...     .set_value_serialization_schema(SimpleStringSchema())
    ...     .set_partitioner(lambda record, key, value, topic, partitions: partitions[0])
    ...     .build()
    ... )
    >>> type(schema).__name__
    'KafkaRecordSerializationSchema'
    >>> fixed = KafkaRecordSerializationSchemaBuilder().set_topic("orders")
    >>> type(fixed.set_value_serialization_schema(SimpleStringSchema()).build()).__name__
    'KafkaRecordSerializationSchema'
    """

    def __init__(self) -> None:
        self._topic: str | None = None
        self._selector: Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None
        self._partitioner: Callable[..., int] | None = None

    def set_topic(self, topic: str) -> Self:
        """Write all records to one topic."""
        if not isinstance(topic, str) or not topic:
            raise TypeError(f"the topic must be a str, got {topic!r}")
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
        """Serialize the key of each record with a schema; by default records have no key."""
        self._key = _checked_schema(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema[T]
    ) -> KafkaRecordSerializationSchemaBuilder[T]:
        """Serialize the value of each record with a schema."""
        self._value = _checked_schema(value_serialization_schema)
        return cast("KafkaRecordSerializationSchemaBuilder[T]", self)

    def set_partitioner(self, partitioner: Callable[..., int]) -> Self:
        """Choose partitions with a function of record, key, value, topic and partition numbers (not in PyFlink).

        By default all records with the same key go to the partition that Kafka's Java client would choose.
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
    """Writes records to topics.

    With ``EXACTLY_ONCE``, consumers that read only committed records see them once a checkpoint contains them.

    >>> from flintstream.common import SimpleStringSchema
    >>> from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema
    >>> values = KafkaRecordSerializationSchema.builder().set_topic("orders")
    >>> schema = values.set_value_serialization_schema(SimpleStringSchema()).build()
    >>> builder = KafkaSink.builder().set_bootstrap_servers("localhost:9092").set_record_serializer(schema)
    >>> type(builder.build()).__name__
    'KafkaSink'
    """

    def __init__(self, output: KafkaOutput) -> None:
        """Take the settings; programs call :meth:`builder` instead."""
        if not isinstance(output, KafkaOutput):
            raise TypeError("create a KafkaSink with KafkaSink.builder()")
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
        """Return the committer, which writes transactions, for ``EXACTLY_ONCE``."""
        return KafkaCommitter(self._output.properties) if self._output.exactly_once else None


class KafkaSinkBuilder(Generic[T_contra]):
    """Builds a :class:`KafkaSink`. It needs servers and a record serializer. There is no guarantee by default.

    >>> from flintstream.common import SimpleStringSchema
    >>> from flintstream.datastream.connectors import DeliveryGuarantee
    >>> from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema
    >>> values = KafkaRecordSerializationSchema.builder().set_topic("orders")
    >>> sink = (
    ...     KafkaSinkBuilder()
    ...     .set_bootstrap_servers("localhost:9092")
    ...     .set_record_serializer(values.set_value_serialization_schema(SimpleStringSchema()).build())
    ...     .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    ...     .set_transactional_id_prefix("orders-of-the-shop")
    ...     .set_property("transaction.timeout.ms", "600000")
    ...     .set_kafka_producer_config({"compression.type": "lz4"})
    ...     .build()
    ... )
    >>> type(sink).__name__
    'KafkaSink'
    """

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix = ""
        self._serializer: RecordSerializer | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set the addresses of the brokers: ``host:port``, separated by commas."""
        return self.set_property(SERVERS, bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set how often records may appear when the job fails and restarts."""
        self._guarantee = check_member(delivery_guarantee, DeliveryGuarantee, "the delivery guarantee")
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> Self:
        """Set the name prefix of ``EXACTLY_ONCE`` transactions. Two sinks of a Kafka cluster must not share a prefix.

        Keep it when you restart the job from a checkpoint or savepoint: the sink uses it to find what it has written.
        """
        if not isinstance(transactional_id_prefix, str) or not transactional_id_prefix:
            raise TypeError(f"the prefix must be a str, got {transactional_id_prefix!r}")
        if len(transactional_id_prefix) > MOST_OF_A_NAME:
            raise ValueError(f"the prefix must have at most {MOST_OF_A_NAME} characters: {transactional_id_prefix!r}")
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema[T]) -> KafkaSinkBuilder[T]:
        """Set the topic, key, value and partition of records."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise TypeError(f"expected a KafkaRecordSerializationSchema, got {record_serializer!r}")
        self._serializer = record_serializer._serializer
        return cast("KafkaSinkBuilder[T]", self)

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of Kafka's producer, under its name in Java or in librdkafka."""
        self._properties.update(checked_properties({key: value}))
        return self

    def set_kafka_producer_config(self, props: Mapping[str, str]) -> Self:
        """Set several properties (as in the Java builder)."""
        self._properties.update(checked_properties(props))
        return self

    def build(self) -> KafkaSink[T_contra]:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing, or a property is invalid.
            MissingDependencyError: confluent-kafka is not installed.
        """
        if self._serializer is None:
            raise PlanError("a KafkaSink needs a record serializer: set_record_serializer()")
        check_servers(self._properties, "KafkaSink")
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        if exactly_once and not self._prefix:
            raise PlanError(
                "EXACTLY_ONCE needs a transaction name that no other sink of the Kafka cluster uses: "
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
    """Return ``output``; raise an error for properties that a producer does not accept."""
    if TRANSACTIONAL_ID in output.properties and not output.exactly_once:
        raise PlanError(f"the sink sets the property '{TRANSACTIONAL_ID}' itself: use set_transactional_id_prefix()")
    own = {key: value for key, value in output.properties.items() if key != TRANSACTIONAL_ID}
    check_producer({**own, TRANSACTIONAL_ID: "checked"} if output.exactly_once else own)
    return replace(output, properties=own)


def with_output(sink: KafkaSink, **changes: Any) -> None:
    """Change the settings of a sink."""
    sink._output = replace(sink._output, **changes)


def _checked_schema(schema: object) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise TypeError(f"expected a SerializationSchema, got {schema!r}")
    return schema
