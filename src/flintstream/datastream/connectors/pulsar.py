"""The source and the sink of Pulsar; mirrors ``pyflink.datastream.connectors.pulsar``.

They need the extra ``pulsar``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.common._generic import T_co
from flintstream.common.serialization import DeserializationSchema
from flintstream.connectors.pulsar.client import full_name
from flintstream.connectors.pulsar.reader import PulsarReader
from flintstream.connectors.pulsar.source import PulsarEnumerator, PulsarInput
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream.connectors._pulsar.cursors import RangeGenerator, StartCursor, StopCursor
from flintstream.datastream.connectors._pulsar.settings import Options, as_bool, as_int
from flintstream.datastream.connectors._pulsar.sink import (
    MessageDelayer,
    PulsarSink,
    PulsarSinkBuilder,
    TopicRoutingMode,
)
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from flintstream.common.config_options import ConfigOption
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = [
    "MessageDelayer",
    "PulsarSink",
    "PulsarSinkBuilder",
    "PulsarSource",
    "PulsarSourceBuilder",
    "RangeGenerator",
    "StartCursor",
    "StopCursor",
    "TopicRoutingMode",
]


class PulsarSource(Source[T_co]):
    """Reads topics, for ``from_source``, each message once: positions are part of checkpoints.

    Records have the event times that producers have set.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = PulsarSource.builder().set_service_url("pulsar://127.0.0.1:6650").set_topics("orders")
    >>> builder = builder.set_subscription_name("bills").set_deserialization_schema(SimpleStringSchema())
    >>> source = builder.set_bounded_stop_cursor(StopCursor.latest()).build()
    >>> source.get_boundedness().name, source.produced_type
    ('BOUNDED', String)
    """

    watermarks_per_split = True

    def __init__(self, given: PulsarInput) -> None:
        """Take the settings; programs use :meth:`builder` instead."""
        self._input = given
        self.boundedness = Boundedness.BOUNDED if given.bounded else Boundedness.CONTINUOUS_UNBOUNDED

    @staticmethod
    def builder() -> PulsarSourceBuilder:
        """Return a builder."""
        return PulsarSourceBuilder()

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records."""
        return self._input.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which finds partitions."""
        return PulsarEnumerator(self._input)

    def create_reader(self) -> SourceReader:
        """Return a reader, which reads partitions."""
        return PulsarReader(self._input)


class PulsarSourceBuilder:
    """Builds a :class:`PulsarSource`. It needs the service URL, topics or a pattern, a subscription and a schema.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = PulsarSourceBuilder().set_service_url("pulsar://127.0.0.1:6650")
    >>> builder = builder.set_admin_url("http://127.0.0.1:8080").set_topic_pattern("orders-.*")
    >>> builder = builder.set_subscription_name("bills").set_consumer_name("first")
    >>> builder = builder.set_start_cursor(StartCursor.latest())
    >>> builder = builder.set_unbounded_stop_cursor(StopCursor.at_publish_time(1_700_000_000_000))
    >>> builder = builder.set_range_generator(RangeGenerator.fixed_key(keys="pear"))
    >>> builder = builder.set_deserialization_schema(SimpleStringSchema())
    >>> builder = builder.set_authentication("org.apache.pulsar.client.impl.auth.AuthenticationToken", "token:abc")
    >>> builder = builder.set_config("pulsar.source.partitionDiscoveryIntervalMs", 10_000)
    >>> builder = builder.set_config_with_dict({"pulsar.consumer.receiverQueueSize": 500})
    >>> source = builder.set_properties({"pulsar.client.operationTimeoutMs": "5000"}).build()
    >>> source = builder.set_bounded_stop_cursor(StopCursor.latest()).build()
    >>> builder.set_topics("orders")
    Traceback (most recent call last):
    flintstream.errors.PlanError: the source reads either topics or a pattern: call one of set_topics() and \
    set_topic_pattern()
    """

    def __init__(self) -> None:
        self._options = Options()
        self._topics: tuple[str, ...] = ()
        self._pattern = ""
        self._start = StartCursor.default_start_cursor()
        self._stop = StopCursor.default_stop_cursor()
        self._bounded = False
        self._ranges = RangeGenerator.full()
        self._schema: DeserializationSchema | None = None

    def set_admin_url(self, admin_url: str) -> Self:
        """Set the URL of administration, which a pattern needs, and a subscription that is to continue where it is."""
        return self.set_config("pulsar.admin.adminUrl", admin_url)

    def set_service_url(self, service_url: str) -> Self:
        """Set the address of Pulsar, as ``pulsar://host:6650`` or ``pulsar+ssl://host:6651``."""
        return self.set_config("pulsar.client.serviceUrl", service_url)

    def set_subscription_name(self, subscription_name: str) -> Self:
        """Set the subscription, in which checkpoints note what has been read. One job at a time may use it."""
        return self.set_config("pulsar.consumer.subscriptionName", subscription_name)

    def set_topics(self, topics: str | list[str]) -> Self:
        """Set one or more topics, or partitions of topics.

        Raises:
            PlanError: There is a pattern already.
        """
        names = [topics] if isinstance(topics, str) else list(topics)
        self._check_unset()
        self._topics = tuple(map(full_name, names))
        return self

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """Set a regular expression for the names of topics of one namespace, ``public/default`` if it has none.

        Raises:
            PlanError: There are topics already.
        """
        re.compile(topic_pattern)
        self._check_unset()
        self._pattern = topic_pattern
        return self

    def _check_unset(self) -> None:
        if self._topics or self._pattern:
            raise PlanError(
                "the source reads either topics or a pattern: call one of set_topics() and set_topic_pattern()"
            )

    def set_consumer_name(self, consumer_name: str) -> Self:
        """Set the name of the consumers, which Pulsar shows."""
        return self.set_config("pulsar.consumer.consumerName", consumer_name)

    def set_range_generator(self, range_generator: RangeGenerator) -> Self:
        """Set which keys are read."""
        if not isinstance(range_generator, RangeGenerator):
            raise TypeError(f"expected a RangeGenerator, got {range_generator!r}")
        self._ranges = range_generator
        return self

    def set_start_cursor(self, start_cursor: StartCursor) -> Self:
        """Set where to start without a checkpoint."""
        if not isinstance(start_cursor, StartCursor):
            raise TypeError(f"expected a StartCursor, got {start_cursor!r}")
        self._start = start_cursor
        return self

    def set_unbounded_stop_cursor(self, stop_cursor: StopCursor) -> Self:
        """Set where to stop. The stream counts as unbounded."""
        return self._set_stop(stop_cursor, bounded=False)

    def set_bounded_stop_cursor(self, stop_cursor: StopCursor) -> Self:
        """Set where to stop. The stream is bounded, and partitions are looked for once."""
        return self._set_stop(stop_cursor, bounded=True)

    def _set_stop(self, stop_cursor: StopCursor, *, bounded: bool) -> Self:
        if not isinstance(stop_cursor, StopCursor):
            raise TypeError(f"expected a StopCursor, got {stop_cursor!r}")
        self._stop, self._bounded = stop_cursor, bounded
        return self

    def set_deserialization_schema(self, deserialization_schema: DeserializationSchema) -> Self:
        """Set the schema, which makes a record of the content of a message."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        self._schema = deserialization_schema
        return self

    def set_authentication(self, auth_plugin_class_name: str, auth_params_string: str | dict[str, str]) -> Self:
        """Set the authentication, by the name of Java's class and its parameters."""
        self._options.authenticate(auth_plugin_class_name, auth_params_string)
        return self

    def set_config(self, key: str | ConfigOption[object], value: object) -> Self:
        """Set an option of Flink's connector. Those without effect here give a warning."""
        self._options.set(key, value)
        return self

    def set_config_with_dict(self, config: Mapping[str, object]) -> Self:
        """Set several options."""
        return self.set_properties(config)

    def set_properties(self, config: Mapping[str, object]) -> Self:
        """Set several options."""
        for key, value in config.items():
            self._options.set(key, value)
        return self

    def build(self) -> PulsarSource[T_co]:
        """Return the source.

        Raises:
            PlanError: A required setting is missing or wrong.
            MissingDependencyError: The client is not installed.
        """
        options, schema = self._options, self._schema
        if not self._topics and not self._pattern:
            raise PlanError("the source needs topics: set_topics('orders')")
        if schema is None:
            raise PlanError("the source needs a schema: set_deserialization_schema(SimpleStringSchema())")
        subscription = options.text("pulsar.consumer.subscriptionName")
        if not subscription:
            raise PlanError("the source needs a subscription: set_subscription_name('bills')")
        access = options.access()
        if self._pattern and not access.admin_url:
            raise PlanError("a pattern needs the admin URL: set_admin_url('http://127.0.0.1:8080')")
        found = PulsarInput(
            access,
            subscription,
            self._topics,
            self._pattern,
            schema.deserialize,
            schema.get_produced_type(),
            self._start.cursor,
            self._stop.cursor,
            self._bounded,
            options.text("pulsar.consumer.consumerName"),
            self._ranges.keys,
            options.get("pulsar.source.partitionDiscoveryIntervalMs", 300_000, as_int) / 1000,
            options.get("pulsar.consumer.receiverQueueSize", 1000, as_int),
            options.get("pulsar.consumer.readCompacted", False, as_bool),
            options.get("pulsar.source.resetSubscriptionCursor", False, as_bool),
            options.get("pulsar.source.enableAutoAcknowledgeMessage", False, as_bool),
        )
        options.warn_of_rest()
        return PulsarSource(found)
