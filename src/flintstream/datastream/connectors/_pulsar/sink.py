"""The sink of Pulsar."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.common.serialization import SerializationSchema
from flintstream.common.time import Duration
from flintstream.connectors.pulsar.client import full_name, library
from flintstream.connectors.pulsar.writer import CUSTOM, KEY_HASH, ROUND_ROBIN, PulsarOutput, PulsarWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_member, load_callable
from flintstream.datastream.connectors._pulsar.settings import PRODUCER, Options, as_int
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.errors import PlanError, UnsupportedByDesignError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from typing_extensions import Self

    from flintstream.common.config_options import ConfigOption
    from flintstream.connectors.pulsar.writer import Router
    from flintstream.connectors.sink import SinkWriter, WriterContext


class TopicRoutingMode(enum.Enum):
    """How the partition of a message is chosen.

    >>> [mode.name for mode in TopicRoutingMode]
    ['ROUND_ROBIN', 'MESSAGE_KEY_HASH', 'CUSTOM']
    """

    ROUND_ROBIN = 0
    """In turn: a subtask changes to the next partition after 1000 messages."""
    MESSAGE_KEY_HASH = 1
    """By the hash of the key. PyFlink's schemas set no key, and any partition takes such a message."""
    CUSTOM = 2
    """By a router."""


class MessageDelayer:
    """How long Pulsar keeps a message before it delivers it to consumers of shared subscriptions.

    >>> MessageDelayer.never().delay is None
    True
    >>> str(MessageDelayer.fixed(Duration.of_seconds(10)).delay)
    '0:00:10'
    """

    def __init__(self, delay: timedelta | None) -> None:
        """Take the time; programs use the static methods."""
        self.delay = delay

    @staticmethod
    def never() -> MessageDelayer:
        """Return a delayer that delivers at once."""
        return MessageDelayer(None)

    @staticmethod
    def fixed(duration: Duration) -> MessageDelayer:
        """Return a delayer that keeps each message for the same time."""
        if not isinstance(duration, Duration):
            raise TypeError(f"expected a Duration, got {duration!r}")
        return MessageDelayer(duration.to_timedelta())


@dataclass(frozen=True)
class _Serialized:
    """Serializes records with a schema."""

    schema: SerializationSchema

    def __call__(self, value: object) -> bytes | None:
        return self.schema.serialize(value)


class PulsarSink(Sink[T_contra]):
    """Writes messages to topics, for ``sink_to``. At least once: Pulsar has all messages of an epoch before it ends.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = PulsarSink.builder().set_service_url("pulsar://127.0.0.1:6650").set_topics("orders")
    >>> type(builder.set_serialization_schema(SimpleStringSchema()).build()).__name__
    'PulsarSink'
    """

    waits_for_checkpoint = False

    def __init__(self, output: PulsarOutput) -> None:
        """Take the settings; programs use :meth:`builder` instead."""
        self._output = output

    @staticmethod
    def builder() -> PulsarSinkBuilder:
        """Return a builder."""
        return PulsarSinkBuilder()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return PulsarWriter(self._output, context.subtask)


class PulsarSinkBuilder:
    """Builds a :class:`PulsarSink`. It needs the service URL, topics and a schema.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = PulsarSinkBuilder().set_service_url("pulsar://127.0.0.1:6650").set_topics(["orders", "bills"])
    >>> builder = builder.set_admin_url("http://127.0.0.1:8080").set_producer_name("shop")
    >>> builder = builder.set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    >>> builder = builder.set_topic_routing_mode(TopicRoutingMode.ROUND_ROBIN)
    >>> builder = builder.set_serialization_schema(SimpleStringSchema())
    >>> builder = builder.set_authentication("org.apache.pulsar.client.impl.auth.AuthenticationToken", "token:abc")
    >>> builder = builder.delay_sending_message(MessageDelayer.fixed(Duration.of_seconds(10)))
    >>> builder = builder.set_config("pulsar.producer.batchingMaxMessages", 500)
    >>> sink = builder.set_properties({"pulsar.client.operationTimeoutMs": "5000"}).build()
    >>> builder.set_topic_router("com.shop.Router").build()  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    flintstream.errors.UnsupportedByDesignError: the topic router is 'com.shop.Router', which is not the name of a
    Python function or class; Java classes cannot be used: write 'module:function', of a class with
    route(record, partitions)
    """

    def __init__(self) -> None:
        self._options = Options()
        self._topics: tuple[str, ...] = ()
        self._schema: SerializationSchema | None = None
        self._guarantee = DeliveryGuarantee.AT_LEAST_ONCE
        self._mode = TopicRoutingMode.ROUND_ROBIN
        self._router: Router | None = None
        self._delayer = MessageDelayer.never()

    def set_admin_url(self, admin_url: str) -> Self:
        """Set the URL of administration. The sink does not need it."""
        return self.set_config("pulsar.admin.adminUrl", admin_url)

    def set_service_url(self, service_url: str) -> Self:
        """Set the address of Pulsar, as ``pulsar://host:6650`` or ``pulsar+ssl://host:6651``."""
        return self.set_config("pulsar.client.serviceUrl", service_url)

    def set_producer_name(self, producer_name: str) -> Self:
        """Set the name of the producers, to which the number of the subtask is added."""
        return self.set_config("pulsar.producer.producerName", producer_name)

    def set_topics(self, topics: str | list[str]) -> Self:
        """Set one or more topics, or partitions of topics."""
        names = [topics] if isinstance(topics, str) else list(topics)
        self._topics = tuple(map(full_name, names))
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee: ``AT_LEAST_ONCE``, or ``NONE``, with which a failure may lose messages.

        Raises:
            UnsupportedByDesignError: It is ``EXACTLY_ONCE``: Pulsar's Python client does not have transactions.
        """
        self._guarantee = check_member(delivery_guarantee, DeliveryGuarantee, "The delivery guarantee")
        if delivery_guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            raise UnsupportedByDesignError(
                "Pulsar's Python client does not have transactions, which exactly once needs: use AT_LEAST_ONCE, and "
                "let the reader drop repeated messages by an id"
            )
        return self

    def set_topic_routing_mode(self, topic_routing_mode: TopicRoutingMode) -> Self:
        """Set how the partition of a message is chosen."""
        self._mode = check_member(topic_routing_mode, TopicRoutingMode, "The routing mode")
        return self

    def set_topic_router(self, topic_router_class_name: str) -> Self:
        """Set the name of a Python class, as ``module:Class``.

        Its ``route(record, partitions)`` returns one of the partitions, which are names of topics.

        Raises:
            UnsupportedByDesignError: The class is not Python's.
        """
        make = load_callable(topic_router_class_name, "the topic router", "of a class with route(record, partitions)")
        self._router = make()
        self._mode = TopicRoutingMode.CUSTOM
        return self

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the schema, which makes the content of a message."""
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeError(f"expected a SerializationSchema, got {serialization_schema!r}")
        self._schema = serialization_schema
        return self

    def set_authentication(self, auth_plugin_class_name: str, auth_params_string: str | dict[str, str]) -> Self:
        """Set the authentication, by the name of Java's class and its parameters."""
        self._options.authenticate(auth_plugin_class_name, auth_params_string)
        return self

    def delay_sending_message(self, message_delayer: MessageDelayer) -> Self:
        """Set how long Pulsar keeps a message before it delivers it."""
        if not isinstance(message_delayer, MessageDelayer):
            raise TypeError(f"expected a MessageDelayer, got {message_delayer!r}")
        self._delayer = message_delayer
        return self

    def set_config(self, key: str | ConfigOption[object], value: object) -> Self:
        """Set an option of Flink's connector. Those without effect here give a warning."""
        self._options.set(key, value)
        return self

    def set_properties(self, config: Mapping[str, object]) -> Self:
        """Set several options."""
        for key, value in config.items():
            self._options.set(key, value)
        return self

    def build(self) -> PulsarSink:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing or wrong.
            MissingDependencyError: The client is not installed.
        """
        options = self._options
        if not self._topics:
            raise PlanError("the sink needs topics: set_topics('orders')")
        if self._schema is None:
            raise PlanError("the sink needs a schema: set_serialization_schema(SimpleStringSchema())")
        if self._mode is TopicRoutingMode.CUSTOM and self._router is None:
            raise PlanError("the routing mode CUSTOM needs a router: set_topic_router('module:Class')")
        access = options.access()
        settings: dict[str, object] = {"batching_enabled": True, **options.arguments(PRODUCER)}
        if "compression_type" in settings:
            settings["compression_type"] = _compression(str(settings["compression_type"]))
        modes = {TopicRoutingMode.ROUND_ROBIN: ROUND_ROBIN, TopicRoutingMode.MESSAGE_KEY_HASH: KEY_HASH}
        output = PulsarOutput(
            access,
            self._topics,
            _Serialized(self._schema),
            modes.get(self._mode, CUSTOM),
            self._router,
            self._guarantee is not DeliveryGuarantee.NONE,
            options.text("pulsar.producer.producerName"),
            self._delayer.delay,
            settings,
            options.get("pulsar.producer.batchingMaxMessages", 1000, as_int),
        )
        options.warn_of_rest()
        return PulsarSink(output)


def _compression(name: str) -> object:
    """Return the member of the client's enum."""
    kinds = library().CompressionType
    names = {"NONE": "NONE", "LZ4": "LZ4", "ZLIB": "ZLib", "ZSTD": "ZSTD", "SNAPPY": "SNAPPY"}
    if name.upper() not in names:
        raise PlanError(f"'pulsar.producer.compressionType' must be one of {', '.join(names)}, got '{name}'")
    found: object = getattr(kinds, names[name.upper()])
    return found
