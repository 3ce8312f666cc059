"""Lines of text from a TCP server, such as ``nc -lk 9999``."""

from __future__ import annotations

import codecs
import socket
import time
from typing import Any

from flintstream.contracts.functions import SourceFunction

__all__ = ["SocketText"]

LOOK_UP_SECONDS = 0.2
"""How long a read waits before it checks whether the function was cancelled."""

BETWEEN_ATTEMPTS_SECONDS = 0.5


class SocketText(SourceFunction):
    """Emits the text that a server sends, split at ``delimiter``, until the server closes the connection.

    Text that was sent before a failure is lost: the function reconnects and continues with the text that follows.
    """

    def __init__(self, host: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        """Read from ``host`` and ``port``.

        Args:
            host: Name or address of the server.
            port: Its port, 1 to 65535.
            delimiter: The separator of records. If it is a line feed, a carriage return before it is dropped as well.
            max_retry: How many connections to make when the server closes one; -1 for no limit.

        Raises:
            ValueError: The port is out of range, or the delimiter is empty.
        """
        if not 0 < port < 65_536:
            raise ValueError(f"the port must be a number from 1 to 65535, got {port!r}")
        if not delimiter:
            raise ValueError("the delimiter of a socket's records must not be empty")
        self.host = host
        self.port = port
        self.delimiter = delimiter
        self.max_retry = max_retry
        self.running = True

    def run(self, ctx: Any) -> None:
        """Emit records until the server closes the last connection.

        Raises:
            ConnectionError: The server cannot be reached.
        """
        attempts = 0
        while self.running:
            self._read(ctx)
            attempts += 1
            if not self.running or (self.max_retry != -1 and attempts >= self.max_retry):
                return
            time.sleep(BETWEEN_ATTEMPTS_SECONDS)

    def cancel(self) -> None:
        """Stop reading."""
        self.running = False

    def _read(self, ctx: Any) -> None:
        try:
            connection = socket.create_connection((self.host, self.port))
        except OSError as error:
            raise ConnectionError(f"cannot connect to {self.host}:{self.port}: {error}") from error
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        rest = ""
        with connection:
            connection.settimeout(LOOK_UP_SECONDS)
            while self.running:
                try:
                    received = connection.recv(65_536)
                except TimeoutError:
                    continue
                if not received:
                    break
                *records, rest = (rest + decode(received)).split(self.delimiter)
                with ctx.get_checkpoint_lock():
                    for record in records:
                        ctx.collect(record.removesuffix("\r") if self.delimiter == "\n" else record)
        rest += decode(b"", final=True)
        if rest:  # a last record without a delimiter
            ctx.collect(rest)
