"""RabbitMQ source and sink; mirrors ``pyflink.datastream.connectors.rabbitmq``. Needs the extra ``rabbitmq``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flintstream.common._generic import T_co, T_contra
from flintstream.common._text.secrets import without_secrets
from flintstream.common.serialization import DeserializationSchema, SerializationSchema
from flintstream.connectors.rabbitmq.link import RabbitServer, library
from flintstream.connectors.rabbitmq.sink import RabbitOutput, RabbitWriter
from flintstream.connectors.rabbitmq.source import RabbitEnumerator, RabbitInput, RabbitReader
from flintstream.connectors.sink import Sink
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream._settings import check_bool, check_integer
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.sink import SinkWriter, WriterContext
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSource"]

MOST_PREFETCHED = 65_535
"""Limit of the protocol, which has 16 bits for it."""


class RMQConnectionConfig:
    """Address of RabbitMQ and connection settings. Settings that are not set are None.

    >>> builder = RMQConnectionConfig.Builder().set_host("localhost").set_port(5672).set_virtual_host("/")
    >>> builder = builder.set_user_name("guest").set_password("secret")
    >>> builder = builder.set_network_recovery_interval(2_000).set_connection_timeout(10_000).set_prefetch_count(500)
    >>> config = builder.build()
    >>> config
    RMQConnectionConfig(localhost:5672)
    >>> config.get_host(), config.get_port(), config.get_virtual_host(), config.get_uri()
    ('localhost', 5672, '/', None)
    >>> config.get_user_name(), config.get_password()
    ('guest', 'secret')
    >>> config.get_network_recovery_interval(), config.get_connection_timeout(), config.get_prefetch_count()
    (2000, 10000, 500)
    >>> config.is_automatic_recovery(), config.is_topology_recovery()
    (None, None)
    >>> config.get_requested_channel_max(), config.get_requested_frame_max(), config.get_requested_heartbeat()
    (None, None, None)
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Take the settings; programs use :class:`RMQConnectionConfig.Builder` instead."""
        self._values = dict(values)

    def get_host(self) -> str | None:
        """Return the host."""
        return self._values.get("host")

    def get_port(self) -> int | None:
        """Return the port."""
        return self._values.get("port")

    def get_virtual_host(self) -> str | None:
        """Return the virtual host."""
        return self._values.get("virtual_host")

    def get_user_name(self) -> str | None:
        """Return the user."""
        return self._values.get("user")

    def get_password(self) -> str | None:
        """Return the password."""
        return self._values.get("password")

    def get_uri(self) -> str | None:
        """Return the URI."""
        return self._values.get("uri")

    def get_network_recovery_interval(self) -> int | None:
        """Return how long (ms) to wait before reconnecting."""
        return self._values.get("recovery_interval")

    def is_automatic_recovery(self) -> bool | None:
        """Return whether to reconnect after a lost connection."""
        return self._values.get("recovers")

    def is_topology_recovery(self) -> bool | None:
        """Return the setting. It has no effect: queues are declared with every new connection."""
        return self._values.get("topology_recovery")

    def get_connection_timeout(self) -> int | None:
        """Return how long (ms) connecting may take."""
        return self._values.get("connection_timeout")

    def get_requested_channel_max(self) -> int | None:
        """Return the maximum number of channels of a connection."""
        return self._values.get("channel_max")

    def get_requested_frame_max(self) -> int | None:
        """Return the maximum size of a frame (bytes)."""
        return self._values.get("frame_max")

    def get_requested_heartbeat(self) -> int | None:
        """Return the interval between heartbeats (s)."""
        return self._values.get("heartbeat")

    def get_prefetch_count(self) -> int | None:
        """Return how many messages may be unacknowledged (as in the Java class)."""
        return self._values.get("prefetch")

    def __repr__(self) -> str:
        return f"RMQConnectionConfig({self._server().name})"

    def _server(self) -> RabbitServer:
        return RabbitServer(**{key: value for key, value in self._values.items() if key != "topology_recovery"})

    class Builder:
        """Builds a :class:`RMQConnectionConfig`. It needs a URI, or host, port, virtual host, user and password.

        By default it reconnects 5 s after a connection is lost.
        """

        def __init__(self) -> None:
            self._values: dict[str, Any] = {}

        def __repr__(self) -> str:
            return f"RMQConnectionConfig.Builder({', '.join(sorted(self._values))})"  # no password

        def _set_text(self, key: str, value: str, what: str) -> Self:
            if not isinstance(value, str) or not value:
                got = f"a value of type {type(value).__name__}" if value else "an empty value"
                raise TypeError(f"{what} of RabbitMQ must be a str, got {got}")
            self._values[key] = value
            return self

        def _set_number(self, key: str, value: int, what: str, minimum: int = 0, maximum: int = 2**31 - 1) -> Self:
            self._values[key] = check_integer(value, what, minimum=minimum, maximum=maximum)
            return self

        def set_port(self, port: int) -> Self:
            """Set the port of the server, usually 5672."""
            return self._set_number("port", port, "the port", 1, 65_535)

        def set_host(self, host: str) -> Self:
            """Set the host of the server."""
            return self._set_text("host", host, "the host")

        def set_virtual_host(self, vhost: str) -> Self:
            """Set the virtual host of the queues, usually ``/``."""
            return self._set_text("virtual_host", vhost, "the virtual host")

        def set_user_name(self, user_name: str) -> Self:
            """Set the user."""
            return self._set_text("user", user_name, "the user")

        def set_password(self, password: str) -> Self:
            """Set the password."""
            return self._set_text("password", password, "the password")

        def set_uri(self, uri: str) -> Self:
            """Set all of these as ``amqp://user:password@host:port/virtual-host``; ``amqps`` encrypts.

            Raises:
                PlanError: The URI is malformed.
            """
            parts = urlsplit(uri)
            if parts.scheme not in {"amqp", "amqps"} or not parts.hostname:
                raise PlanError(
                    f"a RabbitMQ URI must begin with amqp:// or amqps:// and name a host, got {without_secrets(uri)!r}"
                )
            return self._set_text("uri", uri, "the URI")

        def set_topology_recovery_enabled(self, topology_recovery_enabled: bool) -> Self:
            """Do nothing: queues are declared with every new connection."""
            self._values["topology_recovery"] = check_bool(topology_recovery_enabled, "topology_recovery_enabled")
            return self

        def set_requested_heartbeat(self, requested_heartbeat: int) -> Self:
            """Set the interval between heartbeats (s), 0 for none; by default the server decides."""
            return self._set_number("heartbeat", requested_heartbeat, "the heartbeat (s)", 0, 65_535)

        def set_requested_frame_max(self, requested_frame_max: int) -> Self:
            """Set the maximum size of a frame (bytes), from 4,096 to 131,072; 0 for no limit by the client."""
            if requested_frame_max:
                return self._set_number("frame_max", requested_frame_max, "the size of a frame", 4_096, 131_072)
            return self._set_number("frame_max", requested_frame_max, "the size of a frame")

        def set_requested_channel_max(self, requested_channel_max: int) -> Self:
            """Set the maximum number of channels, 0 for no limit by the client; the connector needs one."""
            return self._set_number("channel_max", requested_channel_max, "the number of channels", 0, 65_535)

        def set_network_recovery_interval(self, network_recovery_interval: int) -> Self:
            """Set how long (ms) to wait before reconnecting."""
            return self._set_number("recovery_interval", network_recovery_interval, "the recovery interval (ms)")

        def set_connection_timeout(self, connection_timeout: int) -> Self:
            """Set how long (ms) connecting may take; 0 for no limit."""
            return self._set_number("connection_timeout", connection_timeout, "the connection timeout (ms)")

        def set_automatic_recovery(self, automatic_recovery: bool) -> Self:
            """Set whether to reconnect after a lost connection, which is the default, or fail the job."""
            self._values["recovers"] = check_bool(automatic_recovery, "automatic_recovery")
            return self

        def set_prefetch_count(self, prefetch_count: int) -> Self:
            """Set how many messages may be unacknowledged, at most 65,535.

            With checkpointing, this is also the limit of messages between two checkpoints. By default there is none.
            """
            return self._set_number("prefetch", prefetch_count, "the number of prefetched messages", 1, MOST_PREFETCHED)

        def build(self) -> RMQConnectionConfig:
            """Return the configuration.

            Raises:
                PlanError: A required setting is missing.
            """
            if "uri" not in self._values:
                needed = {"host": "set_host", "port": "set_port", "virtual_host": "set_virtual_host"}
                needed |= {"user": "set_user_name", "password": "set_password"}
                missing = [f"{method}()" for key, method in needed.items() if key not in self._values]
                if missing:
                    raise PlanError(f"a connection to RabbitMQ needs set_uri() or, in addition, {', '.join(missing)}")
            return RMQConnectionConfig(self._values)


def _check_config(config: object, queue_name: object) -> RabbitServer:
    if not isinstance(config, RMQConnectionConfig):
        raise TypeError(f"expected an RMQConnectionConfig, got {config!r}")
    if not isinstance(queue_name, str) or not queue_name:
        raise TypeError(f"the name of the queue must be a str, got {queue_name!r}")
    library()
    return config._server()


class RMQSource(Source[T_co]):
    """Reads a queue, for ``add_source`` or ``from_source``. It acknowledges messages once a checkpoint contains them.

    With checkpoints, no message is lost. If the producer also sets unique correlation IDs, no message is read twice, at
    any parallelism. Without checkpoints, messages are acknowledged when they are read, and those in flight are lost if
    the job fails. A single subtask preserves the order of the queue.

    Override :meth:`setup_queue` to declare the queue differently. The schema's ``is_end_of_stream`` can end the stream.

    >>> from flintstream.common import SimpleStringSchema
    >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/").build()
    >>> class Passive(RMQSource):
    ...     def setup_queue(self, channel):
    ...         channel.queue_declare(self._queue, passive=True)  # it must exist
    >>> source = Passive(config, "orders", True, SimpleStringSchema())
    >>> source.produced_type, source.get_boundedness().name
    (String, 'CONTINUOUS_UNBOUNDED')
    """

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema[T_co],
    ) -> None:
        """Take the connection, the queue and the schema.

        Raises:
            MissingDependencyError: pika is not installed.
        """
        self._server = _check_config(connection_config, queue_name)
        self._queue = queue_name
        self._with_ids = check_bool(use_correlation_id, "use_correlation_id")
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        self._schema = deserialization_schema

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records.

        >>> from flintstream.common import SimpleStringSchema
        >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/").build()
        >>> RMQSource(config, "orders", False, SimpleStringSchema()).produced_type
        String
        """
        return self._schema.get_produced_type()

    def setup_queue(self, channel: Any) -> None:
        """Declare the queue on a pika channel: by default a durable one, unless it exists."""
        channel.queue_declare(self._queue, durable=True)

    def _input(self) -> RabbitInput:
        schema = self._schema
        ends = type(schema).is_end_of_stream is not DeserializationSchema.is_end_of_stream
        return RabbitInput(
            self._server,
            self._queue,
            schema,
            self._with_ids,
            self.setup_queue,
            schema.is_end_of_stream if ends else None,
        )

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which receives messages."""
        return RabbitEnumerator(self._input(), parallelism)

    def create_reader(self) -> SourceReader:
        """Return a reader, which decodes messages."""
        return RabbitReader(self._input())


class RMQSink(Sink[T_contra]):
    """Writes to a queue, for ``add_sink`` or ``sink_to``, at least once if checkpointing is on.

    Messages are persistent, and an epoch ends only after the server has confirmed all of them. Override
    :meth:`properties` to set, for example, a correlation ID, and :meth:`setup_queue` to declare the queue differently.

    >>> from flintstream.common import SimpleStringSchema
    >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/").build()
    >>> class WithIds(RMQSink):
    ...     def properties(self, value):
    ...         return {"correlation_id": value.partition(",")[0]}
    ...
    ...     def setup_queue(self, channel):
    ...         channel.queue_declare("orders", durable=True, arguments={"x-max-length": 1_000_000})
    >>> WithIds(config, "orders", SimpleStringSchema()).properties("17,tea")
    {'correlation_id': '17'}
    """

    waits_for_checkpoint = False

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        serialization_schema: SerializationSchema[T_contra],
    ) -> None:
        """Take the connection, the queue and the schema.

        Raises:
            MissingDependencyError: pika is not installed.
        """
        self._server = _check_config(connection_config, queue_name)
        self._queue = queue_name
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeError(f"expected a SerializationSchema, got {serialization_schema!r}")
        self._schema = serialization_schema

    def properties(self, value: T_contra) -> Mapping[str, Any]:
        """Return the message properties of a record, as arguments of ``pika.BasicProperties``; none by default."""
        return {}

    def setup_queue(self, channel: Any) -> None:
        """Declare the queue on a pika channel: by default a durable one, unless it exists."""
        channel.queue_declare(self._queue, durable=True)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return RabbitWriter(RabbitOutput(self._server, self._queue, self._schema, self.properties, self.setup_queue))
