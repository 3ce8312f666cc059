"""Connections to RabbitMQ, each served by its own thread."""

from __future__ import annotations

import importlib
import logging
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flintstream.errors import FlintstreamError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

CLIENT_LOG = logging.getLogger("pika")
OPEN_SECONDS = 60.0
"""How long a new connection may take to become ready."""

CLOSE_SECONDS = 10.0
STOPS = (320, 541)
"""Codes of connections that the server closes because it stops, or has an error of its own."""


class RabbitError(FlintstreamError):
    """Reading from or writing to RabbitMQ failed."""

    may_pass = False
    """Whether the same may succeed later: the server is away, rather than refusing what was asked."""


def library() -> ModuleType:
    """Return the module ``pika``.

    Raises:
        MissingDependencyError: pika is not installed.
    """
    if CLIENT_LOG.level == logging.NOTSET:
        CLIENT_LOG.setLevel(logging.CRITICAL)  # it writes eight lines for each attempt to connect
    return optional_module("pika", extra="rabbitmq", purpose="the RabbitMQ connector")


def may_pass(reason: object) -> bool:
    """Return whether a connection ended, or did not begin, because the server was away or stopped."""
    errors = importlib.import_module("pika.exceptions")
    refusals = ("AuthenticationError", "ProbableAuthenticationError", "ProbableAccessDeniedError")
    if any(type(cause).__name__ in refusals for cause in causes(reason)):
        return False
    if isinstance(reason, errors.ConnectionClosedByBroker):
        return reason.reply_code in STOPS
    return isinstance(reason, (errors.AMQPConnectionError, errors.ChannelClosedByClient, OSError))


def causes(reason: object) -> Iterator[object]:
    """Return an error and all that pika has wrapped in it."""
    yield reason
    wrapped = [*getattr(reason, "args", ()), *getattr(reason, "exceptions", ()), getattr(reason, "exception", None)]
    for cause in wrapped:
        if isinstance(cause, Exception):
            yield from causes(cause)


@dataclass(frozen=True)
class RabbitServer:
    """Address of a server, and the settings of connections to it."""

    uri: str | None = field(default=None, repr=False)
    """Replaces host, port, virtual host, user and password."""
    host: str = "localhost"
    port: int = 5672
    virtual_host: str = "/"
    user: str = "guest"
    password: str = field(default="guest", repr=False)
    heartbeat: int | None = None
    """In seconds, 0 for none; None for the server's default."""
    frame_max: int | None = None
    channel_max: int | None = None
    connection_timeout: int | None = None
    """In ms, 0 for none."""
    recovers: bool = True
    """Whether to reconnect when a connection is lost."""
    recovery_interval: int = 5_000
    """How long to wait before reconnecting, in ms."""
    prefetch: int | None = None
    """Maximum number of unacknowledged messages; None for a window that grows as needed."""

    @property
    def name(self) -> str:
        """The name of the server for messages."""
        if self.uri is None:
            return f"{self.host}:{self.port}"
        parts = urlsplit(self.uri)
        return parts.hostname or "?" if parts.port is None else f"{parts.hostname}:{parts.port}"

    def parameters(self) -> Any:
        """Return the connection parameters for pika."""
        pika = library()
        if self.uri is not None:
            found = pika.URLParameters(self.uri)
        else:
            credentials = pika.PlainCredentials(self.user, self.password)
            found = pika.ConnectionParameters(self.host, self.port, self.virtual_host, credentials)
        if self.heartbeat is not None:
            found.heartbeat = self.heartbeat
        if self.frame_max:
            found.frame_max = self.frame_max
        if self.channel_max:
            found.channel_max = self.channel_max
        if self.connection_timeout is not None:
            found.socket_timeout = found.stack_timeout = self.connection_timeout / 1000 or None
        return found


class Link:
    """A connection with one channel."""

    def __init__(self, server: RabbitServer, prepare: Callable[[Any, Callable[..., None]], None], purpose: str) -> None:
        """Start connecting.

        Args:
            server: The server to connect to.
            prepare: Sets up the channel that is its first argument, in the thread of the connection, and calls its
                second argument when the server is done.
            purpose: What the connection is for, for messages.
        """
        self._server = server
        self._prepare = prepare
        self._purpose = purpose
        self._over = False
        self._ready = False
        self._channel: Any = None
        self.changed = threading.Condition()
        """Notified when the connection is ready or lost, and for callers that wait for events in its thread."""
        self.failure: RabbitError | None = None
        """Why the connection was lost."""
        self._connection = library().SelectConnection(
            server.parameters(),
            on_open_callback=lambda connection: connection.channel(on_open_callback=self._on_open),
            on_open_error_callback=self._on_close,
            on_close_callback=self._on_close,
        )
        self._thread = threading.Thread(target=self._run, name="flintstream-rabbitmq", daemon=True)
        self._thread.start()

    # -- called in the thread of the connection -----------------------------------------------------------------------

    def _run(self) -> None:
        loop = self._connection.ioloop
        try:
            loop.start()
        except Exception as error:  # noqa: BLE001 - callbacks may raise anything
            self._fail(error)
        with self.changed:
            self._over = True
        loop.close()

    def _on_open(self, channel: Any) -> None:
        self._channel = channel
        channel.add_on_close_callback(self._channel_closed)
        self._prepare(channel, self._on_prepared)

    def _on_prepared(self, *_: Any) -> None:
        with self.changed:
            self._ready = True
            self.changed.notify_all()

    def _channel_closed(self, _channel: Any, reason: Any) -> None:
        self._fail(reason)
        if self._connection.is_open:
            self._connection.close()

    def _on_close(self, connection: Any, reason: Any) -> None:
        self._fail(reason)
        connection.ioloop.stop()

    def _fail(self, reason: Any) -> None:
        with self.changed:
            if self.failure is None:
                what = str(reason) or type(reason).__name__
                self.failure = RabbitError(f"{self._purpose} at {self._server.name}: {what}")
                self.failure.may_pass = may_pass(reason)
            self.changed.notify_all()

    def _close_connection(self) -> None:
        if self._connection.is_open:
            self._connection.close()
        else:
            self._connection.ioloop.stop()

    # -- called from other threads -----------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Whether the channel is usable."""
        return self._ready and self.failure is None

    def wait(self) -> None:
        """Wait until the channel is usable.

        Raises:
            RabbitError: The connection fails, or the server refuses the setup of the channel.
        """
        with self.changed:
            self.changed.wait_for(lambda: self._ready or self.failure, OPEN_SECONDS)
            if self.failure is not None:
                raise self.failure
            if not self._ready:
                late = RabbitError(f"{self._purpose} at {self._server.name}: no answer within {OPEN_SECONDS:.0f} s")
                late.may_pass = True
                raise late

    def call(self, function: Callable[[Any], None]) -> None:
        """Call a function with the channel in the thread of the connection, unless the connection is lost."""
        with self.changed:
            if not self._over:
                self._connection.ioloop.add_callback_threadsafe(lambda: self._use(function))

    def _use(self, function: Callable[[Any], None]) -> None:
        if self._channel is not None and self._channel.is_open:
            function(self._channel)

    def request(self, function: Callable[[Any, Callable[..., None]], None], seconds: float) -> bool:
        """Like :meth:`call`, but wait until the function's second argument is called; tell whether it was in time."""
        answers: list[object] = []

        def answer(*_: Any) -> None:
            with self.changed:
                answers.append(True)
                self.changed.notify_all()

        self.call(lambda channel: function(channel, answer))
        with self.changed:
            self.changed.wait_for(lambda: answers or self.failure, seconds)
        return bool(answers)

    def close(self) -> None:
        """Disconnect."""
        with self.changed:
            if not self._over:
                self._connection.ioloop.add_callback_threadsafe(self._close_connection)
        self._thread.join(CLOSE_SECONDS)
        with self.changed:
            if not self._over:  # the server does not respond
                self._connection.ioloop.add_callback_threadsafe(self._connection.ioloop.stop)
