"""The end of channels that waits for callers. Strangers can neither get in nor keep the others out."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Protocol

from flintstream.channels.channel import KEY_BYTES, Endpoint, accept, keep_to_this_process, tune
from flintstream.errors import FlintstreamError, optional_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.channels.channel import Address, Channel

__all__ = ["Encryption", "Listener", "require_encryption"]

HANDSHAKE_SECONDS = 5.0
"""A caller must prove within this time that it knows the key."""

MOST_PENDING = 64
"""Most callers that have not proved it yet. The oldest one has to go for one more; a handshake takes milliseconds."""

_BACKLOG = 128
_END_SECONDS = 2.0
_BUSY_SECONDS = 0.1
"""How long to wait before the next caller if this process has too many open files."""


class Encryption(Protocol):
    """How a listener encrypts its channels; see :mod:`flintstream.channels.tls`."""

    @property
    def certificate(self) -> str:
        """The certificate that callers expect."""

    def wrap(self, connection: socket.socket) -> socket.socket:
        """Return an encrypted connection before its handshake."""

    def shake_hands(self, connection: socket.socket) -> None:
        """Agree on keys with the other end, within the time limit of the connection."""


def require_encryption() -> None:
    """Check that a listener of this process can encrypt its channels.

    Raises:
        MissingDependencyError: There is no package that makes certificates. The message shows how to install it.
    """
    optional_module("cryptography", extra="tls", purpose="encryption of connections between processes of a job")


class Listener:
    """Accepts channels in daemon threads until it is closed: one for each caller, so that callers do not wait."""

    def __init__(
        self,
        address: Address,
        key: bytes,
        serve: Callable[[Channel], object],
        *,
        name: str = "flintstream-listener",
        encryption: Encryption | None = None,
    ) -> None:
        """Bind the address and begin to accept callers.

        Args:
            address: Where to listen; port 0 is a free one.
            key: What callers must know.
            serve: Is called with each channel in its own thread, and closes it.
            name: The name of the threads.
            encryption: If given, the channels are encrypted.

        Raises:
            OSError: The address is in use, or is not one of this machine.
            ValueError: The key is too short.
        """
        if len(key) < KEY_BYTES:
            raise ValueError(f"the key of a listener must have at least {KEY_BYTES} bytes")
        self._key, self._serve, self._name, self._encryption = key, serve, name, encryption
        self._pid = os.getpid()
        self._closed = False
        self._pending: dict[socket.socket, None] = {}
        """Connections before their handshake, oldest first."""
        self._changing = threading.Lock()
        self._socket = _bind(address)
        self._ended, self._end = socket.socketpair()
        """The first can be read as soon as the second is closed."""
        self._path = address if isinstance(address, str) else None
        for own in (self._socket, self._ended, self._end):
            keep_to_this_process(own)
        self.address: Address = address if isinstance(address, str) else (address[0], self._socket.getsockname()[1])
        """Where it listens."""
        self._thread = threading.Thread(target=self._accept_callers, name=name, daemon=True)
        self._thread.start()

    def endpoint(self, host: str | None = None) -> Endpoint:
        """Return what callers need.

        Args:
            host: The name by which callers know this machine, if it is not the address at which it listens.
        """
        address = self.address if host is None or isinstance(self.address, str) else (host, self.address[1])
        return Endpoint(address, self._key, None if self._encryption is None else self._encryption.certificate)

    def close(self) -> None:
        """Refuse further callers. Channels stay open, also those to callers that have connected already."""
        if os.getpid() != self._pid:
            return
        with self._changing:
            if self._closed:
                return
            self._closed = True
        self._end.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(_END_SECONDS)
        if self._path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108 - as sockets take it

    def _accept_callers(self) -> None:
        with self._socket, self._ended, selectors.DefaultSelector() as waiting:
            for source in (self._socket, self._ended):
                waiting.register(source, selectors.EVENT_READ)
            while not self._closed:
                waiting.select()
                try:
                    connection, _ = self._socket.accept()
                except BlockingIOError:  # the caller has gone, or this is the end
                    continue
                except OSError:  # too many files are open
                    time.sleep(_BUSY_SECONDS)
                    continue
                self._begin(connection)

    def _begin(self, connection: socket.socket) -> None:
        """Begin the handshake with a caller in a thread."""
        try:
            tune(connection)
            connection.settimeout(HANDSHAKE_SECONDS)
            if self._encryption is not None:
                connection = self._encryption.wrap(connection)
        except OSError:  # it has gone
            connection.close()
            return
        with self._changing:
            if len(self._pending) >= MOST_PENDING:
                oldest = next(iter(self._pending))
                del self._pending[oldest]
                with contextlib.suppress(OSError):  # not ssl's own method: the thread may be in the handshake
                    socket.socket.shutdown(oldest, socket.SHUT_RDWR)
            self._pending[connection] = None
        try:
            threading.Thread(target=self._admit, args=(connection,), name=f"{self._name}-caller", daemon=True).start()
        except RuntimeError:  # Python ends, or has too many threads
            self._forget(connection)
            connection.close()

    def _admit(self, connection: socket.socket) -> None:
        """Serve a caller if it knows the key."""
        try:
            until = time.monotonic() + HANDSHAKE_SECONDS
            if self._encryption is not None:
                self._encryption.shake_hands(connection)
            channel = accept(connection, self._key, until)
        except (OSError, FlintstreamError):
            connection.close()
            return
        finally:
            self._forget(connection)
        self._serve(channel)

    def _forget(self, connection: socket.socket) -> None:
        with self._changing:
            self._pending.pop(connection, None)


def _bind(address: Address) -> socket.socket:
    if not isinstance(address, str):
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        listener = socket.create_server(address, family=family, backlog=_BACKLOG)
    else:
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(address)
            listener.listen(_BACKLOG)
        except BaseException:
            listener.close()
            raise
    listener.setblocking(False)
    return listener
