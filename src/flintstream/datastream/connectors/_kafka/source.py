"""The Kafka source."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._generic import Generic, T_co
from flintstream.common.serialization import DeserializationSchema
from flintstream.connectors.kafka.client import check_consumer
from flintstream.connectors.kafka.input import KafkaInput
from flintstream.connectors.kafka.offsets import Subscription
from flintstream.connectors.kafka.reader import KafkaReader
from flintstream.connectors.kafka.records import RecordDeserializer, ValueDeserializer
from flintstream.connectors.kafka.source import KafkaEnumerator
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream.connectors._kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition, offsets_of
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.kafka.offsets import Offsets
    from flintstream.connectors.kafka.records import Deserializer
    from flintstream.connectors.source import SourceReader, SplitEnumerator

SERVERS = "bootstrap.servers"
GROUP = "group.id"
COMMIT = "commit.offsets.on.checkpoint"
AUTO_COMMIT = "enable.auto.commit"
AUTO_COMMIT_INTERVAL = "auto.commit.interval.ms"
AUTO_COMMIT_MS = 5_000
DISCOVERY = "partition.discovery.interval.ms"
CLIENT_PREFIX = "client.id.prefix"
DISCOVERY_MS = 300_000
"""Default interval for discovering new partitions, as in PyFlink."""


class KafkaRecordDeserializationSchema(DeserializationSchema[T_co], ABC):
    """Decodes whole Kafka records: topic, partition, offset, timestamp, key, value and headers.

    PyFlink offers only :meth:`value_only`; here you can write your own.

    >>> from flintstream.connectors.kafka.records import KafkaRecord
    >>> class KeyAndOffset(KafkaRecordDeserializationSchema):
    ...     def deserialize(self, record):
    ...         return record.key, record.offset
    >>> KeyAndOffset().deserialize(KafkaRecord("t", 0, 7, -1, b"k", b"v", ()))
    (b'k', 7)
    """

    @abstractmethod
    def deserialize(self, record: Any) -> T_co | None:
        """Return the record for a :class:`KafkaRecord`; None to skip it."""

    @staticmethod
    def value_only(deserialization_schema: DeserializationSchema[T]) -> KafkaRecordDeserializationSchema[T]:
        """Return a schema that decodes only the values.

        >>> from flintstream.common import SimpleStringSchema
        >>> from flintstream.connectors.kafka.records import KafkaRecord
        >>> schema = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
        >>> schema.deserialize(KafkaRecord("orders", 0, 7, -1, b"key", b"value", ()))
        'value'
        """
        return _ValueOnly(deserialization_schema)


class _ValueOnly(KafkaRecordDeserializationSchema[T_co]):
    def __init__(self, schema: DeserializationSchema[T_co]) -> None:
        self.schema = _checked_schema(schema)

    def deserialize(self, record: Any) -> T_co | None:
        return None if record.value is None else self.schema.deserialize(record.value)

    def get_produced_type(self) -> TypeInformation[T_co] | None:
        return self.schema.get_produced_type()


class KafkaSource(Source[T_co]):
    """Reads topics. Records carry their Kafka timestamps. Checkpoints contain the positions.

    >>> from flintstream.common.serialization import SimpleStringSchema
    >>> source = (
    ...     KafkaSource.builder()
    ...     .set_bootstrap_servers("127.0.0.1:9092")
    ...     .set_topics("orders")
    ...     .set_group_id("billing")
    ...     .set_starting_offsets(KafkaOffsetsInitializer.earliest())
    ...     .set_value_only_deserializer(SimpleStringSchema())
    ...     .build()
    ... )
    """

    watermarks_per_split = True

    def __init__(self, source: KafkaInput, boundedness: Boundedness) -> None:
        """Take the settings; programs call :meth:`builder` instead."""
        if not isinstance(source, KafkaInput):
            raise TypeError("create a KafkaSource with KafkaSource.builder()")
        self._input = source
        self.boundedness = boundedness

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder."""
        return KafkaSourceBuilder()

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records.

        >>> from flintstream.common import SimpleStringSchema
        >>> builder = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:9092").set_topics("orders")
        >>> builder.set_value_only_deserializer(SimpleStringSchema()).build().produced_type
        String
        """
        return self._input.deserializer.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which discovers partitions."""
        return KafkaEnumerator(self._input)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return KafkaReader(self._input)


class KafkaSourceBuilder(Generic[T_co]):
    """Builds a :class:`KafkaSource`. It needs servers, topics or partitions, and a deserializer.

    By default a source starts at the earliest offsets, never ends, and looks for new partitions every five minutes.

    >>> from flintstream.common import SimpleStringSchema
    >>> from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaTopicPartition
    >>> source = (
    ...     KafkaSourceBuilder()
    ...     .set_bootstrap_servers("localhost:9092")
    ...     .set_group_id("shop")
    ...     .set_topics("orders", "returns")
    ...     .set_value_only_deserializer(SimpleStringSchema())
    ...     .set_starting_offsets(KafkaOffsetsInitializer.earliest())
    ...     .set_bounded(KafkaOffsetsInitializer.latest())
    ...     .set_client_id_prefix("shop")
    ...     .set_property("partition.discovery.interval.ms", "60000")
    ...     .set_properties({"fetch.max.bytes": "1048576"})
    ...     .build()
    ... )
    >>> source.get_boundedness().name
    'BOUNDED'
    """

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._subscription: Subscription | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: Offsets | None = None
        self._boundedness = Boundedness.CONTINUOUS_UNBOUNDED
        self._deserializer: Deserializer | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set the addresses of the brokers: ``host:port``, separated by commas."""
        return self.set_property(SERVERS, bootstrap_servers)

    def set_group_id(self, group_id: str) -> Self:
        """Set the group under which offsets are committed. The job assigns partitions, never the group."""
        return self.set_property(GROUP, group_id)

    def set_topics(self, *topics: str) -> Self:
        """Read all partitions of these topics."""
        names = tuple(name for topic in topics for name in ([topic] if isinstance(topic, str) else topic))
        if not names or not all(isinstance(name, str) and name for name in names):
            raise TypeError(f"set_topics() takes topic names, got {topics!r}")
        return self._subscribe(Subscription(topics=names))

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """Read all partitions of the topics, existing and future, whose whole name matches a regular expression.

        Raises:
            PlanError: ``topic_pattern`` is not a regular expression.

        >>> type(KafkaSourceBuilder().set_topic_pattern("orders-.*")).__name__
        'KafkaSourceBuilder'
        """
        try:
            re.compile(topic_pattern)
        except (re.error, TypeError) as error:
            raise PlanError(f"the topic pattern {topic_pattern!r} is not a regular expression: {error}") from None
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> Self:
        """Read these partitions.

        >>> from flintstream.common import SimpleStringSchema
        >>> from flintstream.datastream.connectors.kafka import KafkaTopicPartition
        >>> builder = KafkaSourceBuilder().set_bootstrap_servers("localhost:9092")
        >>> builder = builder.set_value_only_deserializer(SimpleStringSchema())
        >>> type(builder.set_partitions({KafkaTopicPartition("orders", 0)}).build()).__name__
        'KafkaSource'
        """
        if not partitions or not all(isinstance(partition, KafkaTopicPartition) for partition in partitions):
            raise TypeError(f"set_partitions() takes a set of KafkaTopicPartition, got {partitions!r}")
        return self._subscribe(Subscription(partitions=frozenset(partition._pair() for partition in partitions)))

    def _subscribe(self, subscription: Subscription) -> Self:
        if self._subscription is not None:
            raise PlanError("a KafkaSource reads topics, a topic pattern, or partitions: set exactly one of them, once")
        self._subscription = subscription
        return self

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Set where to start. A job that starts from a checkpoint continues from its positions instead."""
        offsets_of(starting_offsets_initializer, "the starting offsets")
        self._start = starting_offsets_initializer
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Stop at these offsets, but treat the source as unbounded.

        >>> from flintstream.common import SimpleStringSchema
        >>> from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer
        >>> builder = KafkaSourceBuilder().set_bootstrap_servers("localhost:9092").set_topics("orders")
        >>> builder = builder.set_value_only_deserializer(SimpleStringSchema())
        >>> builder.set_unbounded(KafkaOffsetsInitializer.latest()).build().get_boundedness().name
        'CONTINUOUS_UNBOUNDED'
        """
        return self._end(stopping_offsets_initializer, Boundedness.CONTINUOUS_UNBOUNDED)

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Stop at these offsets, without discovering new partitions. BATCH mode can read the source."""
        return self._end(stopping_offsets_initializer, Boundedness.BOUNDED)

    def _end(self, initializer: KafkaOffsetsInitializer, boundedness: Boundedness) -> Self:
        self._stop = offsets_of(initializer, "the stopping offsets")
        if self._stop.kind == "earliest":
            raise PlanError("a source that stops at the earliest offsets reads nothing")
        self._boundedness = boundedness
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema[T]) -> KafkaSourceBuilder[T]:
        """Decode values with a schema. Messages without a value (tombstones) are skipped."""
        self._deserializer = ValueDeserializer(_checked_schema(deserialization_schema))
        return cast("KafkaSourceBuilder[T]", self)

    def set_deserializer(self, deserializer: KafkaRecordDeserializationSchema[T]) -> KafkaSourceBuilder[T]:
        """Decode whole records with a schema (in PyFlink only for dynamic sources).

        >>> from flintstream.common import SimpleStringSchema
        >>> from flintstream.datastream.connectors.kafka import KafkaRecordDeserializationSchema
        >>> whole = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
        >>> builder = KafkaSourceBuilder().set_bootstrap_servers("localhost:9092").set_topics("orders")
        >>> builder.set_deserializer(whole).build().get_boundedness().name
        'CONTINUOUS_UNBOUNDED'
        """
        if isinstance(deserializer, _ValueOnly):
            return self.set_value_only_deserializer(deserializer.schema)
        if not isinstance(deserializer, KafkaRecordDeserializationSchema):
            raise TypeError(f"expected a KafkaRecordDeserializationSchema, got {deserializer!r}")
        self._deserializer = RecordDeserializer(deserializer)
        return cast("KafkaSourceBuilder[T]", self)

    def set_client_id_prefix(self, prefix: str) -> Self:
        """Set the client IDs that brokers see: ``<prefix>-<subtask>``."""
        return self.set_property(CLIENT_PREFIX, prefix)

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of the source or of Kafka's consumer, under its name in Java or in librdkafka."""
        self._properties.update(checked_properties({key: value}))
        return self

    def set_properties(self, props: Mapping[str, str]) -> Self:
        """Set several properties."""
        self._properties.update(checked_properties(props))
        return self

    def build(self) -> KafkaSource[T_co]:
        """Return the source.

        Raises:
            PlanError: A required setting is missing, or a property is invalid.
            MissingDependencyError: confluent-kafka is not installed.
        """
        if self._subscription is None:
            raise PlanError(
                "a KafkaSource needs something to read: set_topics(), set_topic_pattern() or set_partitions()"
            )
        if self._deserializer is None:
            raise PlanError("a KafkaSource needs a deserializer: set_value_only_deserializer(schema)")
        properties = self._properties
        check_servers(properties, "KafkaSource")
        start = self._start._offsets
        grouped = GROUP in properties
        if not grouped and "committed" in {start.kind, self._stop.kind if self._stop is not None else ""}:
            raise PlanError("a KafkaSource needs a group to start or stop at its committed offsets: set_group_id()")
        commits = flag(properties, COMMIT, default=grouped)
        for key in (COMMIT, AUTO_COMMIT):
            if not grouped and flag(properties, key, default=False):
                raise PlanError(f"the property '{key}' is true, but there is no group to commit to: set_group_id()")
        discovery = interval_ms(properties, DISCOVERY, DISCOVERY_MS)
        check_consumer(properties)
        source = KafkaInput(
            properties=properties.copy(),
            subscription=self._subscription,
            deserializer=self._deserializer,
            start=start,
            stop=self._stop,
            discovery_ms=-1 if self._boundedness is Boundedness.BOUNDED else discovery,
            commits_offsets=commits,
            auto_commit_ms=auto_commit_ms(properties, default=False),
            client_id_prefix=properties.get(CLIENT_PREFIX, ""),
        )
        return KafkaSource(source, self._boundedness)


def _checked_schema(schema: object) -> DeserializationSchema:
    if not isinstance(schema, DeserializationSchema):
        raise TypeError(f"expected a DeserializationSchema, got {schema!r}")
    return schema


def checked_properties(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return properties as strings, with booleans in Java's notation.

    >>> checked_properties({"a": True, "b": 5})
    {'a': 'true', 'b': '5'}

    Raises:
        TypeError: A key is not a str, or a value is not a str, number or bool.
    """
    found = {}
    for key, value in properties.items():
        if not isinstance(key, str) or not isinstance(value, (str, int, float)):
            kind = type(value).__name__  # the value may be a password
            raise TypeError(f"Kafka properties must be of type str, but the value of {key!r} is of type {kind}")
        found[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def check_servers(properties: Mapping[str, str], what: str) -> None:
    """Raise an error if the properties name no servers."""
    if not properties.get(SERVERS) and "test.mock.num.brokers" not in properties:
        raise PlanError(f"a {what} needs the addresses of the brokers: set_bootstrap_servers('host:9092')")


def flag(properties: Mapping[str, str], key: str, *, default: bool) -> bool:
    """Return a boolean property.

    Raises:
        PlanError: The value is invalid.
    """
    text = properties.get(key, str(default)).lower()
    if text not in {"true", "false"}:
        raise PlanError(f"the property '{key}' must be true or false, got {properties[key]!r}")
    return text == "true"


def auto_commit_ms(properties: Mapping[str, str], *, default: bool) -> int | None:
    """Return how often (ms) a job without checkpoints commits its offsets to the group; None for never."""
    wished = flag(properties, AUTO_COMMIT, default=default)
    return number(properties, AUTO_COMMIT_INTERVAL, AUTO_COMMIT_MS) if wished and GROUP in properties else None


def interval_ms(properties: Mapping[str, str], key: str, default: int) -> int:
    """Return a discovery interval (ms); -1 for a single discovery, for which Flink also accepts 0."""
    return number(properties, key, default) or -1


def number(properties: Mapping[str, str], key: str, default: int) -> int:
    """Return an integer property.

    Raises:
        PlanError: The value is invalid.
    """
    try:
        return int(properties.get(key, default))
    except ValueError:
        raise PlanError(f"the property '{key}' must be an integer, got {properties[key]!r}") from None
