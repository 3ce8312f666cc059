"""Streams whose topics and clusters may change; mirrors ``pyflink.datastream.connectors.dynamic_kafka``."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, cast

from flintstream.common._generic import Generic, T_co
from flintstream.connectors.kafka.client import check_consumer, close_quietly, consumer, patiently
from flintstream.connectors.kafka.dynamic import (
    ClusterMetadata,
    DynamicEnumerator,
    DynamicInput,
    DynamicReader,
    KafkaStream,
    MetadataService,
)
from flintstream.connectors.kafka.input import KafkaInput
from flintstream.connectors.kafka.offsets import Subscription
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream.connectors._kafka.offsets import KafkaOffsetsInitializer, offsets_of
from flintstream.datastream.connectors._kafka.source import (
    CLIENT_PREFIX,
    COMMIT,
    DISCOVERY,
    DISCOVERY_MS,
    GROUP,
    KafkaRecordDeserializationSchema,
    KafkaSourceBuilder,
    auto_commit_ms,
    check_servers,
    checked_properties,
    flag,
    interval_ms,
    number,
)
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from typing_extensions import Self

    from flintstream.common._generic import T
    from flintstream.common.serialization import DeserializationSchema
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.kafka.offsets import Offsets
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = [
    "ClusterMetadata",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaStream",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "StreamPatternSubscriber",
]

STREAM_DISCOVERY = "stream-metadata-discovery-interval-ms"
STREAM_FAILURES = "stream-metadata-discovery-failure-threshold"


class KafkaMetadataService(MetadataService):
    """Maps streams to topics and clusters. Write it in Python (PyFlink's wraps a Java object).

    >>> class Fixed(KafkaMetadataService):
    ...     def get_all_streams(self):
    ...         east = ClusterMetadata(frozenset({"orders"}), {"bootstrap.servers": "east:9092"})
    ...         return [KafkaStream("orders", {"east": east})]
    ...
    ...     def describe_streams(self, stream_ids):
    ...         return {stream.stream_id: stream for stream in self.get_all_streams() if stream.stream_id in stream_ids}
    >>> list(Fixed().describe_streams({"orders"}))
    ['orders']
    """


class SingleClusterTopicMetadataService(KafkaMetadataService):
    """Treats each topic of one cluster as a stream.

    >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "east:9092"})
    >>> stream = service.describe_streams({"orders"})["orders"]
    >>> stream.stream_id, list(stream.clusters)
    ('orders', ['east'])
    """

    def __init__(self, kafka_cluster_id: str, properties: Mapping[str, str]) -> None:
        if not isinstance(kafka_cluster_id, str) or not kafka_cluster_id:
            raise TypeError(f"the cluster ID must be a str, got {kafka_cluster_id!r}")
        self._cluster = kafka_cluster_id
        self._properties = checked_properties(properties)
        check_servers(self._properties, "SingleClusterTopicMetadataService")

    def _stream(self, topic: str) -> KafkaStream:
        return KafkaStream(topic, {self._cluster: ClusterMetadata(frozenset({topic}), self._properties)})

    def get_all_streams(self) -> Collection[KafkaStream]:
        """Ask the cluster for its topics, without Kafka's internal ones.

        Raises:
            KafkaConnectorError: The cluster does not respond.
        """
        client = consumer(self._properties)
        try:
            topics = patiently("list the topics", lambda: client.list_topics(timeout=10)).topics
        finally:
            close_quietly(client)
        return [self._stream(topic) for topic in topics if not topic.startswith("__")]

    def describe_streams(self, stream_ids: Collection[str]) -> Mapping[str, KafkaStream]:
        """Return the topics with these names. Missing topics are detected when they are read."""
        return {topic: self._stream(topic) for topic in stream_ids}


class KafkaStreamSubscriber(ABC):
    """Selects streams. PyFlink's wraps a Java object; here you write it in Python.

    >>> class Newest(KafkaStreamSubscriber):  # of streams such as orders-2023 and orders-2024
    ...     def get_subscribed_streams(self, kafka_metadata_service):
    ...         return [max(kafka_metadata_service.get_all_streams(), key=lambda stream: stream.stream_id)]
    >>> class Fixed(KafkaMetadataService):
    ...     def get_all_streams(self):
    ...         return [KafkaStream("orders-2023", {}), KafkaStream("orders-2024", {})]
    ...
    ...     def describe_streams(self, stream_ids):
    ...         return {stream.stream_id: stream for stream in self.get_all_streams() if stream.stream_id in stream_ids}
    >>> [stream.stream_id for stream in Newest().get_subscribed_streams(Fixed())]
    ['orders-2024']
    """

    @abstractmethod
    def get_subscribed_streams(self, kafka_metadata_service: MetadataService) -> Collection[KafkaStream]:
        """Return the streams to read now."""


class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """Reads the streams with the given IDs.

    >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "east:9092"})
    >>> [stream.stream_id for stream in KafkaStreamSetSubscriber({"orders"}).get_subscribed_streams(service)]
    ['orders']
    """

    def __init__(self, stream_ids: set[str]) -> None:
        if (
            isinstance(stream_ids, str)
            or not stream_ids
            or not all(isinstance(stream_id_, str) for stream_id_ in stream_ids)
        ):
            raise TypeError(f"stream IDs must be a set of str, got {stream_ids!r}")
        self._ids = frozenset(stream_ids)

    def get_subscribed_streams(self, kafka_metadata_service: MetadataService) -> Collection[KafkaStream]:
        """Return the streams with these IDs."""
        return kafka_metadata_service.describe_streams(self._ids).values()


class StreamPatternSubscriber(KafkaStreamSubscriber):
    """Reads the streams, existing and future, whose IDs contain a match of a regular expression.

    >>> class Fixed(KafkaMetadataService):
    ...     def get_all_streams(self):
    ...         return [KafkaStream(name, {}) for name in ("orders-eu", "orders-us", "users")]
    ...
    ...     def describe_streams(self, stream_ids):
    ...         return {stream.stream_id: stream for stream in self.get_all_streams() if stream.stream_id in stream_ids}
    >>> [stream.stream_id for stream in StreamPatternSubscriber("^orders-").get_subscribed_streams(Fixed())]
    ['orders-eu', 'orders-us']
    """

    def __init__(self, stream_pattern: str) -> None:
        try:
            self._pattern = re.compile(stream_pattern)
        except (re.error, TypeError) as error:
            raise PlanError(f"the stream pattern {stream_pattern!r} is not a regular expression: {error}") from None

    def get_subscribed_streams(self, kafka_metadata_service: MetadataService) -> Collection[KafkaStream]:
        """Return the matching streams."""
        return [stream for stream in kafka_metadata_service.get_all_streams() if self._pattern.search(stream.stream_id)]


class DynamicKafkaSource(Source[T_co]):
    """Reads streams of topics in one or more clusters, and discovers added and removed topics and clusters.

    >>> from flintstream.common.serialization import SimpleStringSchema
    >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "127.0.0.1:9092"})
    >>> builder = DynamicKafkaSource.builder().set_stream_ids({"orders"}).set_kafka_metadata_service(service)
    >>> source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    """

    watermarks_per_split = True

    def __init__(self, source: DynamicInput, boundedness: Boundedness) -> None:
        """Take the settings; programs call :meth:`builder` instead."""
        if not isinstance(source, DynamicInput):
            raise TypeError("create a DynamicKafkaSource with DynamicKafkaSource.builder()")
        self._input = source
        self.boundedness = boundedness

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        """Return a builder."""
        return DynamicKafkaSourceBuilder()

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records.

        >>> from flintstream.common import SimpleStringSchema
        >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "127.0.0.1:9092"})
        >>> builder = DynamicKafkaSource.builder().set_stream_ids({"orders"}).set_kafka_metadata_service(service)
        >>> builder.set_value_only_deserializer(SimpleStringSchema()).build().produced_type
        String
        """
        return self._input.template.deserializer.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which discovers clusters, topics and partitions."""
        return DynamicEnumerator(self._input, parallelism)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return DynamicReader(self._input)


class DynamicKafkaSourceBuilder(Generic[T_co]):
    """Builds a :class:`DynamicKafkaSource`. It needs streams, a metadata service and a deserializer.

    The source asks the service once, unless the property ``stream-metadata-discovery-interval-ms`` is set.

    >>> from flintstream.common.serialization import SimpleStringSchema
    >>> from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer
    >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "127.0.0.1:9092"})
    >>> builder = DynamicKafkaSource.builder().set_stream_pattern("orders-.*").set_kafka_metadata_service(service)
    >>> builder = builder.set_group_id("billing").set_client_id_prefix("billing").set_properties({})
    >>> builder = builder.set_property("stream-metadata-discovery-interval-ms", "60000")
    >>> builder = builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    >>> builder = builder.set_bounded(KafkaOffsetsInitializer.latest())
    >>> source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
    """

    def __init__(self) -> None:
        self._plain = KafkaSourceBuilder()  # handles the deserializers
        self._properties: dict[str, str] = {}
        self._subscriber: KafkaStreamSubscriber | None = None
        self._service: KafkaMetadataService | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: Offsets | None = None

    def set_stream_ids(self, stream_ids: set[str]) -> Self:
        """Read these streams.

        >>> builder = DynamicKafkaSource.builder().set_stream_ids({"orders", "returns"})
        """
        return self.set_kafka_stream_subscriber(KafkaStreamSetSubscriber(stream_ids))

    def set_stream_pattern(self, stream_pattern: str) -> Self:
        """Read all streams whose IDs contain a match of a regular expression."""
        return self.set_kafka_stream_subscriber(StreamPatternSubscriber(stream_pattern))

    def set_kafka_stream_subscriber(self, kafka_stream_subscriber: KafkaStreamSubscriber) -> Self:
        """Read the streams that a subscriber selects.

        >>> builder = DynamicKafkaSource.builder().set_kafka_stream_subscriber(StreamPatternSubscriber("^orders-"))
        """
        if not isinstance(kafka_stream_subscriber, KafkaStreamSubscriber):
            raise TypeError(f"expected a KafkaStreamSubscriber, got {kafka_stream_subscriber!r}")
        self._subscriber = kafka_stream_subscriber
        return self

    def set_kafka_metadata_service(self, kafka_metadata_service: KafkaMetadataService) -> Self:
        """Set the service that maps streams to topics and clusters. It is pickled with the source."""
        if not isinstance(kafka_metadata_service, KafkaMetadataService):
            raise TypeError(f"expected a KafkaMetadataService, got {kafka_metadata_service!r}")
        self._service = kafka_metadata_service
        return self

    def set_deserializer(self, deserializer: KafkaRecordDeserializationSchema[T]) -> DynamicKafkaSourceBuilder[T]:
        """Decode whole records with a schema.

        >>> from flintstream.common import SimpleStringSchema
        >>> schema = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
        >>> service = SingleClusterTopicMetadataService("east", {"bootstrap.servers": "127.0.0.1:9092"})
        >>> builder = DynamicKafkaSource.builder().set_stream_ids({"orders"}).set_kafka_metadata_service(service)
        >>> builder.set_deserializer(schema).build().produced_type
        String
        """
        self._plain.set_deserializer(deserializer)
        return cast("DynamicKafkaSourceBuilder[T]", self)

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema[T]
    ) -> DynamicKafkaSourceBuilder[T]:
        """Decode values with a schema. Messages without a value are skipped."""
        self._plain.set_value_only_deserializer(deserialization_schema)
        return cast("DynamicKafkaSourceBuilder[T]", self)

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Set where to start in each cluster."""
        offsets_of(starting_offsets_initializer, "the starting offsets")
        self._start = starting_offsets_initializer
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> Self:
        """Stop at these offsets, without discovering new partitions."""
        self._stop = offsets_of(stopping_offsets_initializer, "the stopping offsets")
        return self

    def set_properties(self, props: Mapping[str, str]) -> Self:
        """Set several properties for all clusters."""
        self._properties.update(checked_properties(props))
        return self

    def set_property(self, key: str, value: str) -> Self:
        """Set a property of the source, or of the consumers of all clusters."""
        self._properties.update(checked_properties({key: value}))
        return self

    def set_group_id(self, group_id: str) -> Self:
        """Set the group under which offsets are committed in all clusters."""
        return self.set_property(GROUP, group_id)

    def set_client_id_prefix(self, prefix: str) -> Self:
        """Set the prefix of the client IDs that brokers see."""
        return self.set_property(CLIENT_PREFIX, prefix)

    def build(self) -> DynamicKafkaSource[T_co]:
        """Return the source.

        Raises:
            PlanError: A required setting is missing, or a property is invalid.
            MissingDependencyError: confluent-kafka is not installed.
        """
        if self._subscriber is None:
            raise PlanError("a DynamicKafkaSource needs streams: set_stream_ids() or set_stream_pattern()")
        if self._service is None:
            raise PlanError("a DynamicKafkaSource needs a metadata service: set_kafka_metadata_service()")
        deserializer = self._plain._deserializer
        if deserializer is None:
            raise PlanError("a DynamicKafkaSource needs a deserializer: set_value_only_deserializer(schema)")
        own: dict[str, Any] = dict(self._properties)
        interval, failures = interval_ms(own, STREAM_DISCOVERY, -1), number(own, STREAM_FAILURES, 1)
        for key in (STREAM_DISCOVERY, STREAM_FAILURES):
            own.pop(key, None)
        bounded, grouped = self._stop is not None, GROUP in own
        check_consumer(own)
        template = KafkaInput(
            properties=own,
            subscription=Subscription(),
            deserializer=deserializer,
            start=self._start._offsets,
            stop=self._stop,
            discovery_ms=-1 if bounded else interval_ms(own, DISCOVERY, DISCOVERY_MS),
            commits_offsets=flag(own, COMMIT, default=grouped) and grouped,
            auto_commit_ms=auto_commit_ms(own, default=False),
            client_id_prefix=own.get(CLIENT_PREFIX, ""),
        )
        source = DynamicInput(
            template,
            self._service,
            self._subscriber.get_subscribed_streams,
            discovery_ms=-1 if bounded else interval,
            most_failures=failures,
        )
        return DynamicKafkaSource(source, Boundedness.BOUNDED if bounded else Boundedness.CONTINUOUS_UNBOUNDED)
