"""Receiver of the messages of a queue."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.connectors.rabbitmq.link import CLOSE_SECONDS, Link, RabbitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.connectors.rabbitmq.link import RabbitServer

_log = logging.getLogger(__name__)

WINDOW = 5_000
"""Unacknowledged messages per consumer. More consumers are added while nothing can be acknowledged."""


class Message(NamedTuple):
    """A message and its delivery tag, which acknowledges it."""

    tag: int
    id: str | None
    """The correlation id."""
    body: bytes


class Receiver:
    """A connection that buffers incoming messages, and reconnects when it is lost.

    The server sends messages ahead, up to a window. A window that is too small makes a job wait for its next
    checkpoint; no window would bring the whole queue into this process. Therefore, windows are added as existing ones
    fill up: the receiver holds about as many messages as arrive between two checkpoints.
    """

    def __init__(
        self, server: RabbitServer, queue: str, setup: Callable[[Any], None], *, in_transactions: bool
    ) -> None:
        """Connect.

        Args:
            server: The server to connect to.
            queue: The name of the queue.
            setup: Declares the queue on a pika channel.
            in_transactions: Whether the server must confirm acknowledgements.

        Raises:
            RabbitError: The connection fails, or the queue does not exist.
        """
        self._server = server
        self._queue = queue
        self._setup = setup
        self._in_transactions = in_transactions
        self.number = 0
        """Number of the current connection. Delivery tags are only valid within one connection."""
        self._retry_at: float | None = None
        self._connect()
        try:
            self._link.wait()
        except RabbitError:
            self._link.close()
            raise

    def _connect(self) -> None:
        self._retry_at = None
        self._windows = 1
        self._taken = self._acknowledged = 0
        self._arrived: deque[Message] = deque()
        self._link = Link(self._server, self._prepare, f"cannot read from the queue '{self._queue}' of RabbitMQ")

    def _prepare(self, channel: Any, ready: Callable[..., None]) -> None:
        arrived = self._arrived

        def receive(_channel: Any, method: Any, properties: Any, body: bytes) -> None:
            arrived.append(Message(method.delivery_tag, properties.correlation_id, body))

        def on_cancel(_frame: Any) -> None:
            raise RabbitError("the queue was deleted")

        self._receive = receive
        channel.add_on_cancel_callback(on_cancel)
        self._setup(channel)
        if self._in_transactions:
            channel.tx_select(callback=lambda _: None)
        channel.basic_qos(prefetch_count=self._server.prefetch or WINDOW, callback=lambda _: None)
        channel.basic_consume(self._queue, receive, callback=ready)

    @property
    def is_connected(self) -> bool:
        """Whether no loss of the connection is known."""
        return self._link.failure is None

    def take(self, most: int, most_bytes: int) -> list[Message]:
        """Return messages that have arrived, in queue order, without waiting for more.

        Raises:
            RabbitError: The connection is lost, and reconnecting is disabled.
        """
        if self._link.failure is not None:
            self._recover(self._link.failure)
        found: list[Message] = []
        size = 0
        while self._arrived and len(found) < most and size < most_bytes:
            message = self._arrived.popleft()
            found.append(message)
            size += len(message.body)
        if found:
            self._taken = found[-1].tag
        elif self._server.prefetch is None and self._taken - self._acknowledged >= self._windows * WINDOW:
            self._windows += 1
            self._link.call(lambda channel: channel.basic_consume(self._queue, self._receive))
        return found

    def _recover(self, failure: RabbitError) -> None:
        """Reconnect after a delay. The server sends untaken messages again."""
        if not self._server.recovers:
            raise failure
        now = time.monotonic()
        if self._retry_at is None:
            _log.warning("reconnecting in %d ms: %s", self._server.recovery_interval, failure)
            self._arrived = deque()
            self._retry_at = now + self._server.recovery_interval / 1000
        elif now >= self._retry_at:
            self.number += 1
            self._link.close()
            self._connect()

    def acknowledge(self, tag: int) -> bool:
        """Acknowledge a message and all before it; tell whether the server has confirmed that, if required."""
        self._acknowledged = tag
        if not self._in_transactions:
            self._link.call(lambda channel: channel.basic_ack(tag, multiple=True))
            return False

        def commit(channel: Any, done: Callable[..., None]) -> None:
            channel.basic_ack(tag, multiple=True)
            channel.tx_commit(callback=done)

        return self._link.request(commit, CLOSE_SECONDS)

    def acknowledge_these(self, tags: list[int]) -> None:
        """Acknowledge single messages, without waiting."""

        def commit(channel: Any) -> None:
            for tag in tags:
                channel.basic_ack(tag)
            channel.tx_commit(callback=lambda _: None)

        self._link.call(commit)

    def close(self) -> None:
        """Disconnect. Unacknowledged messages return to the queue."""
        self._link.close()
