"""Source and sink of RabbitMQ's queues; mirrors ``pyflink.datastream.connectors.rabbitmq``. Needs ``rabbitmq``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flintstream.common._generic import T_co, T_contra
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
    from typing import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.sink import SinkWriter, WriterContext
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSource"]

MOST_PREFETCHED = 65_535
"""The protocol has 16 bits for it."""


class RMQConnectionConfig:
    """Where RabbitMQ is, and how to connect. What is not set is None.

    >>> builder = RMQConnectionConfig.Builder().set_host("localhost").set_port(5672).set_virtual_host("/")
    >>> config = builder.set_user_name("guest").set_password("guest").build()
    >>> config.get_host(), config.get_port(), config.get_uri()
    ('localhost', 5672, None)
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Take what the builder made; use :class:`RMQConnectionConfig.Builder`."""
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
        """Return how long (ms) to wait before connecting again."""
        return self._values.get("recovery_interval")

    def is_automatic_recovery(self) -> bool | None:
        """Return whether a lost connection comes up again."""
        return self._values.get("recovers")

    def is_topology_recovery(self) -> bool | None:
        """Return what was set; queues are declared whenever a connection comes up."""
        return self._values.get("topology_recovery")

    def get_connection_timeout(self) -> int | None:
        """Return how long (ms) connecting may take."""
        return self._values.get("connection_timeout")

    def get_requested_channel_max(self) -> int | None:
        """Return the most channels of a connection."""
        return self._values.get("channel_max")

    def get_requested_frame_max(self) -> int | None:
        """Return the most bytes of a frame."""
        return self._values.get("frame_max")

    def get_requested_heartbeat(self) -> int | None:
        """Return the seconds between heartbeats."""
        return self._values.get("heartbeat")

    def get_prefetch_count(self) -> int | None:
        """Return how many messages may be unacknowledged (the Java class has this)."""
        return self._values.get("prefetch")

    def __repr__(self) -> str:
        return f"RMQConnectionConfig({self._server().name})"

    def _server(self) -> RabbitServer:
        return RabbitServer(**{key: value for key, value in self._values.items() if key != "topology_recovery"})

    class Builder:
        """Builds a :class:`RMQConnectionConfig`. Either a URI is needed, or host, port, virtual host, user, password.

        A connection that is lost comes up again after 5 s, unless something else is set.
        """

        def __init__(self) -> None:
            self._values: dict[str, Any] = {}

        def __repr__(self) -> str:
            return f"RMQConnectionConfig.Builder({', '.join(sorted(self._values))})"  # no password

        def _set_text(self, key: str, value: str, what: str) -> Self:
            if not isinstance(value, str) or not value:
                raise TypeError(f"{what} of RabbitMQ must be a text, got {value!r}")
            self._values[key] = value
            return self

        def _set_number(self, key: str, value: int, what: str, minimum: int = 0, maximum: int = 2**31 - 1) -> Self:
            self._values[key] = check_integer(value, what, minimum=minimum, maximum=maximum)
            return self

        def set_port(self, port: int) -> Self:
            """Say on which port the server listens; 5672 is usual."""
            return self._set_number("port", port, "the port", 1, 65_535)

        def set_host(self, host: str) -> Self:
            """Say on which host the server is."""
            return self._set_text("host", host, "the host")

        def set_virtual_host(self, vhost: str) -> Self:
            """Say in which virtual host the queues are; ``/`` is usual."""
            return self._set_text("virtual_host", vhost, "the virtual host")

        def set_user_name(self, user_name: str) -> Self:
            """Say who connects."""
            return self._set_text("user", user_name, "the user")

        def set_password(self, password: str) -> Self:
            """Say by which password."""
            return self._set_text("password", password, "the password")

        def set_uri(self, uri: str) -> Self:
            """Say all that by ``amqp://user:password@host:port/virtual-host``; ``amqps`` encrypts.

            Raises:
                PlanError: It is no such URI.
            """
            parts = urlsplit(uri)
            if parts.scheme not in {"amqp", "amqps"} or not parts.hostname:
                raise PlanError(
                    f"a URI of RabbitMQ begins with amqp:// or amqps:// and names a host, not {parts.netloc!r}"
                )
            return self._set_text("uri", uri, "the URI")

        def set_topology_recovery_enabled(self, topology_recovery_enabled: bool) -> Self:
            """Have no effect: queues are declared whenever a connection comes up."""
            self._values["topology_recovery"] = check_bool(topology_recovery_enabled, "topology_recovery_enabled")
            return self

        def set_requested_heartbeat(self, requested_heartbeat: int) -> Self:
            """Set the seconds between heartbeats, 0 for none; by default the server says how many."""
            return self._set_number("heartbeat", requested_heartbeat, "the heartbeat (s)", 0, 65_535)

        def set_requested_frame_max(self, requested_frame_max: int) -> Self:
            """Set the most bytes of a frame, from 4,096 to 131,072; 0 for no limit of this side."""
            if requested_frame_max:
                return self._set_number("frame_max", requested_frame_max, "the size of a frame", 4_096, 131_072)
            return self._set_number("frame_max", requested_frame_max, "the size of a frame")

        def set_requested_channel_max(self, requested_channel_max: int) -> Self:
            """Set the most channels, 0 for no limit of this side; one is needed."""
            return self._set_number("channel_max", requested_channel_max, "the number of channels", 0, 65_535)

        def set_network_recovery_interval(self, network_recovery_interval: int) -> Self:
            """Set how long (ms) to wait before a lost connection comes up again."""
            return self._set_number("recovery_interval", network_recovery_interval, "the recovery interval (ms)")

        def set_connection_timeout(self, connection_timeout: int) -> Self:
            """Set how long (ms) connecting may take, 0 for any time."""
            return self._set_number("connection_timeout", connection_timeout, "the connection timeout (ms)")

        def set_automatic_recovery(self, automatic_recovery: bool) -> Self:
            """Say whether a lost connection comes up again, which it does by default; else the job fails."""
            self._values["recovers"] = check_bool(automatic_recovery, "automatic_recovery")
            return self

        def set_prefetch_count(self, prefetch_count: int) -> Self:
            """Set how many messages may be unacknowledged, at most 65,535.

            With checkpoints no more than that are read between two of them. Without this there is no such limit.
            """
            return self._set_number("prefetch", prefetch_count, "the number of prefetched messages", 1, MOST_PREFETCHED)

        def build(self) -> RMQConnectionConfig:
            """Return the configuration.

            Raises:
                PlanError: Something is missing.
            """
            if "uri" not in self._values:
                needed = {"host": "set_host", "port": "set_port", "virtual_host": "set_virtual_host"}
                needed |= {"user": "set_user_name", "password": "set_password"}
                missing = [f"{method}()" for key, method in needed.items() if key not in self._values]
                if missing:
                    raise PlanError(f"a connection to RabbitMQ needs set_uri(), or also {', '.join(missing)}")
            return RMQConnectionConfig(self._values)


def _checked(config: object, queue_name: object) -> RabbitServer:
    if not isinstance(config, RMQConnectionConfig):
        raise TypeError(f"a RMQConnectionConfig is needed, got {config!r}")
    if not isinstance(queue_name, str) or not queue_name:
        raise TypeError(f"the name of the queue must be a text, got {queue_name!r}")
    library()
    return config._server()  # noqa: SLF001 - the same module


class RMQSource(Source[T_co]):
    """Reads a queue, for ``add_source`` or ``from_source``. Messages are acknowledged when a checkpoint contains them.

    With checkpoints nothing is lost; with correlation ids that are unique, which the producer has to set, nothing is
    read twice either, at any parallelism. Without checkpoints messages are acknowledged when they are read, and those
    on the way are lost when the job fails. The order of the queue is kept where one subtask reads.

    Override :meth:`setup_queue` for a queue that is declared in another way. A schema may say, by
    ``is_end_of_stream``, that nothing follows.
    """

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema[T_co],
    ) -> None:
        """Say what to read.

        Raises:
            MissingDependencyError: pika is not installed.
        """
        self._server = _checked(connection_config, queue_name)
        self._queue = queue_name
        self._with_ids = check_bool(use_correlation_id, "use_correlation_id")
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"a DeserializationSchema is needed, got {deserialization_schema!r}")
        self._schema = deserialization_schema

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records."""
        return self._schema.get_produced_type()

    def setup_queue(self, channel: Any) -> None:
        """Declare the queue, with a channel of pika; by default a durable one, which stays if it is there already."""
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
        """Return what receives messages."""
        return RabbitEnumerator(self._input(), parallelism)

    def create_reader(self) -> SourceReader:
        """Return what deserializes them."""
        return RabbitReader(self._input())


class RMQSink(Sink[T_contra]):
    """Writes into a queue, for ``add_sink`` or ``sink_to``: at least once, if there are checkpoints.

    Messages are persistent, and an epoch ends only when the server has confirmed all of them. Override
    :meth:`properties` to give them a correlation id, say, and :meth:`setup_queue` for a queue that is declared in
    another way.
    """

    waits_for_checkpoint = False

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        serialization_schema: SerializationSchema[T_contra],
    ) -> None:
        """Say where to write.

        Raises:
            MissingDependencyError: pika is not installed.
        """
        self._server = _checked(connection_config, queue_name)
        self._queue = queue_name
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeError(f"a SerializationSchema is needed, got {serialization_schema!r}")
        self._schema = serialization_schema

    def properties(self, value: T_contra) -> Mapping[str, Any]:  # noqa: ARG002
        """Return properties for the message of a record, as ``pika.BasicProperties`` takes them; by default none."""
        return {}

    def setup_queue(self, channel: Any) -> None:
        """Declare the queue, with a channel of pika; by default a durable one, which stays if it is there already."""
        channel.queue_declare(self._queue, durable=True)

    def create_writer(self, context: WriterContext) -> SinkWriter:  # noqa: ARG002
        """Return a writer."""
        return RabbitWriter(RabbitOutput(self._server, self._queue, self._schema, self.properties, self.setup_queue))
