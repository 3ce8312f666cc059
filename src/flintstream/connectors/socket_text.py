"""Lines of text from a TCP server, such as ``nc -lk 9999``."""

from __future__ import annotations

import codecs
import socket
import time
from typing import Any

from flintstream.contracts.functions import SourceFunction

__all__ = ["SocketText"]

LOOK_UP_SECONDS = 0.2
"""How long a read waits before it looks whether it is cancelled."""

BETWEEN_ATTEMPTS_SECONDS = 0.5


class SocketText(SourceFunction):
    """Emits what a server sends, parted at ``delimiter``; it ends when the server closes the connection.

    What the server has sent is gone after a failure: the function connects again and goes on with what comes then.
    """

    def __init__(self, host: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        """Read from ``host`` and ``port``.

        Args:
            host: Name or address of the server.
            port: Its port, 1 to 65535.
            delimiter: What stands between records; a carriage return before a line feed belongs to it.
            max_retry: How many connections to make when the server closes one; -1 for any number.

        Raises:
            ValueError: The port or the delimiter is none.
        """
        if not 0 < port < 65_536:
            raise ValueError(f"a port is a number from 1 to 65535, got {port!r}")
        if not delimiter:
            raise ValueError("the delimiter of a socket's records is empty")
        self.host = host
        self.port = port
        self.delimiter = delimiter
        self.max_retry = max_retry
        self.running = True

    def run(self, ctx: Any) -> None:
        """Emit records until the server closes the last connection.

        Raises:
            ConnectionError: There is no such server.
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
            raise ConnectionError(f"no connection to {self.host}:{self.port}: {error}") from error
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
        if rest:  # what no delimiter ends is a record as it is
            ctx.collect(rest)
