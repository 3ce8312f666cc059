"""RabbitMQ sink: publishes records to a queue."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from flintstream.connectors.patience import Patience
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
Content: TypeAlias = tuple[bytes, Any]
"""The body and the properties of a message."""


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
    """Sends messages in the background, and keeps them until the server confirms them.

    When the connection is lost, it connects again, however long that takes, and sends the unconfirmed messages again.
    """

    def __init__(self, output: RabbitOutput) -> None:
        """Connect.

        Raises:
            RabbitError: The connection fails, or the queue does not exist.
        """
        self._output = output
        self._left: dict[int, Content] = {}
        """Unconfirmed messages by delivery tag, in order."""
        self._sent = 0
        self._refused: str | None = None
        self._purpose = f"cannot write to the queue '{output.queue}' of RabbitMQ"
        self._patience = Patience("could not write to RabbitMQ", most=output.server.recovery_interval / 1000)
        self._connect()

    def _connect(self) -> None:
        self._link = Link(self._output.server, self._prepare, self._purpose)
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
                for tag in [tag for tag in self._left if tag <= method.delivery_tag]:
                    del self._left[tag]
            else:
                self._left.pop(method.delivery_tag, None)
            if type(method).__name__ == "Nack":
                self._refused = "the server rejected a message"
            self._link.changed.notify_all()

    def publish(self, messages: Sequence[Content]) -> None:
        """Send messages in the background."""
        self._wait(MOST_UNCONFIRMED)
        if self._link.failure is not None:
            self._reconnect(self._link.failure)
        self._send(messages)

    def _send(self, messages: Sequence[Content]) -> None:
        first, self._sent = self._sent + 1, self._sent + len(messages)
        with self._link.changed:
            self._left.update(enumerate(messages, first))

        def send(channel: Any) -> None:
            for body, properties in messages:
                channel.basic_publish("", self._output.queue, body, properties, mandatory=True)

        self._link.call(send)

    def flush(self) -> None:
        """Wait until the server has confirmed all messages.

        Raises:
            RabbitError: The server rejected a message, or the connection is lost and cannot be restored.
        """
        self._wait(0)

    def _wait(self, most: int) -> None:
        while True:
            link = self._link
            with link.changed:
                # A server without free memory or disk does not confirm; heartbeats show that it is still alive.
                link.changed.wait_for(lambda: len(self._left) <= most or self._link.failure or self._refused)
                if self._refused is not None:
                    raise RabbitError(f"a message was not written to the queue '{self._output.queue}': {self._refused}")
                if len(self._left) <= most or link.failure is None:
                    return
                failure = link.failure
            self._reconnect(failure)

    def _reconnect(self, failure: RabbitError) -> None:
        """Connect again, and send the unconfirmed messages.

        Raises:
            RabbitError: The program does not want that, or the server refuses the connection or the queue.
        """
        self._link.close()
        while True:
            if not self._output.server.recovers or not failure.may_pass:
                raise failure
            time.sleep(self._patience.note_failure(str(failure)))
            try:
                self._connect()
            except RabbitError as error:
                failure = error
            else:
                break
        self._patience.note_success()
        left, self._left, self._sent = list(self._left.values()), {}, 0
        self._send(left)

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
        self._publisher.publish([self._message(value) for value in values])

    def _message(self, value: Any) -> Content:
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
