"""Publishes records into a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.connectors.rabbitmq.link import Link, RabbitError, library
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common.serialization import SerializationSchema
    from flintstream.connectors.rabbitmq.link import RabbitServer

MOST_UNCONFIRMED = 10_000
"""Messages on their way; more have to wait."""

PERSISTENT = 2


@dataclass(frozen=True)
class RabbitOutput:
    """What is to be written, and how; travels to the tasks."""

    server: RabbitServer
    queue: str
    schema: SerializationSchema
    properties: Callable[[Any], Mapping[str, Any]]
    """Properties of the message of a record."""
    setup: Callable[[Any], None] = field(compare=False)
    """Declares the queue."""


class Publisher:
    """A connection by which messages are sent in the background, and the server's word for it that it has them."""

    def __init__(self, output: RabbitOutput) -> None:
        """Connect.

        Raises:
            RabbitError: There is no connection, or no such queue.
        """
        self._output = output
        self._left: set[int] = set()
        """Numbers of the messages that are not confirmed."""
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
        channel.add_on_return_callback(self._returned)
        channel.confirm_delivery(self._confirmed, callback=ready)

    def _returned(self, _channel: Any, method: Any, _properties: Any, _body: bytes) -> None:
        self._refused = method.reply_text  # its confirmation follows, which somebody may wait for

    def _confirmed(self, frame: Any) -> None:
        method = frame.method
        with self._link.changed:
            if method.multiple:
                self._left.difference_update(range(self._lowest, method.delivery_tag + 1))
                self._lowest = method.delivery_tag + 1
            else:
                self._left.discard(method.delivery_tag)
            if type(method).__name__ == "Nack":
                self._refused = "the server refused a message"
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
        """Send messages, in the background."""
        self._wait(MOST_UNCONFIRMED)
        first, self._sent = self._sent + 1, self._sent + len(messages)
        with self._link.changed:
            self._left.update(range(first, self._sent + 1))

        def send(channel: Any) -> None:
            for body, properties in messages:
                channel.basic_publish("", self._output.queue, body, properties, mandatory=True)

        self._link.call(send)

    def flush(self) -> None:
        """Wait until the server has all messages.

        Raises:
            RabbitError: It did not take one, or the connection is lost.
        """
        self._wait(0)

    def _wait(self, most: int) -> None:
        link = self._link
        with link.changed:
            # A server without memory or room on disk does not confirm; that it is there at all the heartbeats show.
            link.changed.wait_for(lambda: len(self._left) <= most or link.failure or self._refused)
            if self._refused is not None:
                raise RabbitError(f"a message was not written to the queue '{self._output.queue}': {self._refused}")
            if link.failure is not None and self._left:
                raise link.failure

    def close(self) -> None:
        """Disconnect."""
        self._link.close()


class RabbitWriter(SinkWriter):
    """Writes at once: what is written again after a failure is there twice."""

    def __init__(self, output: RabbitOutput) -> None:
        """Connect."""
        self._output = output
        self._publisher = Publisher(output)

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:  # noqa: ARG002
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
            error.add_note(f"while serializing {shorten(value)} for RabbitMQ")
            raise
        if body is None:
            raise TypeError(f"the serialization schema made None of {shorten(value)}, which is no message")
        return body, properties

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        """See that the server has all before the epoch counts, as its records are not read again then."""
        self._publisher.flush()
        return ()

    def close(self) -> None:
        """Disconnect."""
        self._publisher.close()
