"""RabbitMQ sink: publishes records to a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.connectors.rabbitmq.link import Link, RabbitError, library
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common.serialization import SerializationSchema
    from flintstream.connectors.rabbitmq.link import RabbitServer

MOST_UNCONFIRMED = 10_000
"""Maximum number of messages in flight; further ones wait."""

PERSISTENT = 2


@dataclass(frozen=True)
class RabbitOutput:
    """Configuration of a RabbitMQ sink. Tasks get a copy."""

    server: RabbitServer
    queue: str
    schema: SerializationSchema
    properties: Callable[[Any], Mapping[str, Any]]
    """Returns the message properties for a record."""
    setup: Callable[[Any], None] = field(compare=False)
    """Declares the queue."""


class Publisher:
    """A connection that sends messages in the background and tracks the server's confirmations."""

    def __init__(self, output: RabbitOutput) -> None:
        """Connect.

        Raises:
            RabbitError: The connection fails, or the queue does not exist.
        """
        self._output = output
        self._left: set[int] = set()
        """Delivery tags of unconfirmed messages."""
        self._lowest = 1
        self._sent = 0
        self._refused: str | None = None
        self._link = Link(output.server, self._prepare, f"cannot write to the queue '{output.queue}' of RabbitMQ")
        try:
            self._link.wait()
        except RabbitError:
            self._link.close()
            raise

    def _prepare(self, channel: Any, ready: Callable[..., None]) -> None:
        self._output.setup(channel)
        channel.add_on_return_callback(self._on_return)
        channel.confirm_delivery(self._on_confirm, callback=ready)

    def _on_return(self, _channel: Any, method: Any, _properties: Any, _body: bytes) -> None:
        self._refused = method.reply_text  # waiting callers wake up when its confirmation follows

    def _on_confirm(self, frame: Any) -> None:
        method = frame.method
        with self._link.changed:
            if method.multiple:
                self._left.difference_update(range(self._lowest, method.delivery_tag + 1))
                self._lowest = method.delivery_tag + 1
            else:
                self._left.discard(method.delivery_tag)
            if type(method).__name__ == "Nack":
                self._refused = "the server rejected a message"
            self._link.changed.notify_all()

    @property
    def is_lost(self) -> bool:
        """Whether the connection is lost."""
        return self._link.failure is not None

    @property
    def is_idle(self) -> bool:
        """Whether all messages are confirmed."""
        return not self._left and self._refused is None

    def publish(self, messages: Sequence[tuple[bytes, Any]]) -> None:
        """Send messages in the background."""
        self._wait(MOST_UNCONFIRMED)
        first, self._sent = self._sent + 1, self._sent + len(messages)
        with self._link.changed:
            self._left.update(range(first, self._sent + 1))

        def send(channel: Any) -> None:
            for body, properties in messages:
                channel.basic_publish("", self._output.queue, body, properties, mandatory=True)

        self._link.call(send)

    def flush(self) -> None:
        """Wait until the server has confirmed all messages.

        Raises:
            RabbitError: The server rejected a message, or the connection is lost.
        """
        self._wait(0)

    def _wait(self, most: int) -> None:
        link = self._link
        with link.changed:
            # A server without free memory or disk does not confirm; heartbeats show that it is still alive.
            link.changed.wait_for(lambda: len(self._left) <= most or link.failure or self._refused)
            if self._refused is not None:
                raise RabbitError(f"a message was not written to the queue '{self._output.queue}': {self._refused}")
            if link.failure is not None and self._left:
                raise link.failure

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class RabbitWriter(SinkWriter):
    """Sends records immediately. Records that are written again after a failure are duplicated."""

    def __init__(self, output: RabbitOutput) -> None:
        """Connect."""
        self._output = output
        self._publisher = Publisher(output)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Send a block."""
        if self._publisher.is_lost and self._publisher.is_idle and self._output.server.recovers:
            self._publisher.close()
            self._publisher = Publisher(self._output)
        self._publisher.publish([self._message(value) for value in values])

    def _message(self, value: Any) -> tuple[bytes, Any]:
        try:
            body = self._output.schema.serialize(value)
            properties = library().BasicProperties(**{"delivery_mode": PERSISTENT, **self._output.properties(value)})
        except Exception as error:
            add_note(error, f"while serializing {shorten(value)} for RabbitMQ")
            raise
        if body is None:
            raise TypeError(f"the serialization schema returned None for {shorten(value)}: it must return bytes")
        return body, properties

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Wait until the server has confirmed all messages: a finished epoch is not read again."""
        self._publisher.flush()
        return ()

    def close(self) -> None:
        """Disconnect."""
        self._publisher.close()
