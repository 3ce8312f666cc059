"""A connection whose ends have proved that they know the key, the handshake that proves it, and how to connect.

The handshake is the same over Unix domain sockets, TCP and TLS. The key itself is never sent:

1. The listener sends a random number.
2. The caller sends one of its own, and an HMAC of both with the key and the word ``caller``.
3. The listener checks it, and sends an HMAC of both numbers with the word ``listener``, which the caller checks.

An end that gets its own HMAC back does not accept it, because the word differs, nor one from an earlier connection,
because the numbers do. Both ends give up at a deadline, however slowly the other one sends. No byte of a message is
read before that.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import socket
import struct
import time
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Address", "Channel", "Endpoint", "StrangerError", "accept", "connect", "new_key"]

Address = str | tuple[str, int]
"""The path of a Unix domain socket, or a host and a port."""

KEY_BYTES = 32

SILENT_SECONDS = 30
"""A connection between machines breaks after about this time if the other machine has gone."""

_GREETING = b"flintstream channel 1\n"
_NONCE_BYTES = 32
_PROOF_BYTES = 32
_REFUSED = bytes(_PROOF_BYTES)
_CALLER, _LISTENER = b"caller", b"listener"

_LENGTH = struct.Struct("!Q")

_BUSY_SECONDS = 0.005

_SENT_AT_ONCE = 1 << 16
"""A longer message is sent after its length and not with it, which would copy it."""

_open: weakref.WeakSet[socket.socket] = weakref.WeakSet()
"""The sockets of this process, which user code may fork: the other end must notice the end of this one."""


def keep_to_this_process(connection: socket.socket) -> None:
    """Close a socket in processes that are forked from this one."""
    _open.add(connection)


def _close_all() -> None:
    for connection in _open:
        connection.close()


os.register_at_fork(after_in_child=_close_all)


class StrangerError(FlintstreamError, ConnectionError):
    """The process at the other end of a connection does not know the key, or does not keep to the handshake."""


@dataclass(frozen=True)
class Endpoint:
    """All that a process needs to connect to a listener. Those who have it can connect, so keep it secret."""

    address: Address
    key: bytes = field(repr=False)
    certificate: str | None = None
    """The certificate of the listener, in PEM, if the connection is encrypted."""


def new_key() -> bytes:
    """Return a random key."""
    return secrets.token_bytes(KEY_BYTES)


class Channel:
    """An authenticated connection, over which each end sends messages of bytes."""

    def __init__(self, connection: socket.socket) -> None:
        """Take a connection after its handshake; see :func:`connect` and :func:`accept`."""
        self._connection = connection
        connection.settimeout(None)
        keep_to_this_process(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: bytes | bytearray) -> None:
        """Send a message.

        Raises:
            OSError: The connection has ended.
        """
        head = _LENGTH.pack(len(message))
        if len(message) <= _SENT_AT_ONCE:
            self._connection.sendall(head + message)
        else:
            self._connection.sendall(head)
            self._connection.sendall(message)

    def receive(self, *, longest: int | None = None, seconds: float | None = None) -> bytes | bytearray | None:
        """Return the next message; None if the connection has ended.

        Args:
            longest: Maximum length in bytes.
            seconds: How long the other end may be silent.

        Raises:
            TimeoutError: It was silent for longer.
            OSError: The message is longer.
        """
        self._connection.settimeout(seconds)
        head = _receive(self._connection, _LENGTH.size)
        if head is None:
            return None
        (length,) = _LENGTH.unpack(head)
        if longest is not None and length > longest:
            raise OSError(f"a message of {length} bytes is longer than {longest} bytes")
        return _receive(self._connection, length)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def connect(endpoint: Endpoint, seconds: float) -> Channel:
    """Connect to a listener.

    Args:
        endpoint: Where it is, and its key.
        seconds: Deadline of the whole handshake.

    Raises:
        StrangerError: The process that listens there does not know the key.
        OSError: No process listens there, it does not answer in time, or it ends the connection.
    """
    until = time.monotonic() + seconds
    connection = _connect(endpoint.address, seconds)
    try:
        if endpoint.certificate is not None:
            _limit(connection, until)
            connection = _encrypt(connection, endpoint.certificate)
        _introduce(connection, endpoint.key, until)
        return Channel(connection)
    except BaseException:
        connection.close()
        raise


def accept(connection: socket.socket, key: bytes, until: float) -> Channel:
    """Check that a process that has connected knows the key.

    Args:
        connection: The connection, which is closed if it does not.
        key: The key.
        until: Deadline of the whole handshake, as :func:`time.monotonic` has it.

    Raises:
        StrangerError: The process does not know the key.
        OSError: It does not answer in time, or ends the connection.
    """
    try:
        _challenge(connection, key, until)
        return Channel(connection)
    except BaseException:
        connection.close()
        raise


def _encrypt(connection: socket.socket, certificate: str) -> socket.socket:
    """Return an encrypted connection to the holder of a certificate, within the time limit of the given one."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # this certificate is the only one that counts, wherever its holder is
    context.load_verify_locations(cadata=certificate)
    return context.wrap_socket(connection)


def _introduce(connection: socket.socket, key: bytes, until: float) -> None:
    """Do the part of the caller in the handshake."""
    greeting = _receive_until(connection, len(_GREETING) + _NONCE_BYTES, until)
    if not greeting.startswith(_GREETING):
        raise StrangerError("the other end of the connection is not a process of this version of flintstream")
    theirs, ours = bytes(greeting[len(_GREETING) :]), secrets.token_bytes(_NONCE_BYTES)
    connection.sendall(ours + _proof(key, _CALLER, theirs, ours))
    proof = _receive_until(connection, _PROOF_BYTES, until)
    if not hmac.compare_digest(proof, _proof(key, _LISTENER, theirs, ours)):
        raise StrangerError("the other end of the connection has a different key")


def _challenge(connection: socket.socket, key: bytes, until: float) -> None:
    """Do the part of the listener in the handshake."""
    ours = secrets.token_bytes(_NONCE_BYTES)
    _limit(connection, until)
    connection.sendall(_GREETING + ours)
    answer = bytes(_receive_until(connection, _NONCE_BYTES + _PROOF_BYTES, until))
    theirs, proof = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
    if not hmac.compare_digest(proof, _proof(key, _CALLER, ours, theirs)):
        connection.sendall(_REFUSED)
        raise StrangerError("a process without the key connected")
    connection.sendall(_proof(key, _LISTENER, ours, theirs))


def tune(connection: socket.socket) -> None:
    """Set a connection between machines to send at once, and to end if the other machine no longer answers."""
    if connection.family == socket.AF_UNIX:
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probes = 3
    for name, value in (
        ("TCP_KEEPIDLE", SILENT_SECONDS // 2),
        ("TCP_KEEPINTVL", SILENT_SECONDS // 2 // probes),
        ("TCP_KEEPCNT", probes),
    ):
        if hasattr(socket, name):  # not on each system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _connect(address: Address, seconds: float) -> socket.socket:
    if not isinstance(address, str):
        connection = socket.create_connection(address, seconds)
    else:
        connection = socket.socket(socket.AF_UNIX)
        try:
            _connect_to_path(connection, address, time.monotonic() + seconds)
        except BaseException:
            connection.close()
            raise
    tune(connection)
    return connection


def _connect_to_path(connection: socket.socket, path: str, until: float) -> None:
    while True:
        _limit(connection, until)
        try:
            connection.connect(path)
        except BlockingIOError:  # many others wait to be accepted; unlike TCP, this does not
            time.sleep(_BUSY_SECONDS)
        else:
            return


def _proof(key: bytes, role: bytes, of_listener: bytes, of_caller: bytes) -> bytes:
    return hmac.digest(key, _GREETING + of_listener + of_caller + role, "sha256")


def _limit(connection: socket.socket, until: float) -> None:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("the other end of the connection does not answer")
    connection.settimeout(left)


def _receive_until(connection: socket.socket, size: int, until: float) -> bytearray:
    data = _receive(connection, size, until)
    if data is None:
        raise ConnectionError("the other end has closed the connection")
    return data


def _receive(connection: socket.socket, size: int, until: float | None = None) -> bytearray | None:
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        if until is not None:
            _limit(connection, until)
        read = 0
        with contextlib.suppress(ConnectionResetError):
            read = connection.recv_into(view[done:])
        if not read:
            return None
        done += read
    return data
