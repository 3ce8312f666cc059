"""Servers of the REST interface and the web page: in the foreground, or beside a program."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.errors import FlintstreamError, optional_module
from flintstream.rest.app import LOOPBACK, application

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a server listens, and the token that callers need there."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 for a free one."""
    token: str | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in {"127.0.0.1", "localhost", "::1"}

    def with_token(self) -> Place:
        """Return the place with a new token if other machines can reach it and it has none."""
        if self.local or self.token:
            return self
        return Place(self.host, self.port, secrets.token_urlsafe(24))

    def address(self) -> str:
        """Return what to open in a browser. The token is behind the #, which browsers send nowhere.

        >>> Place("0.0.0.0", 8081, "abc").address(), Place("::1", 8081).address()
        ('http://0.0.0.0:8081/#token=abc', 'http://[::1]:8081/')
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"#token={self.token}" if self.token else "")


def server(place: Place) -> tuple[Any, socket.socket, Place]:
    """Return a server that has not started, its socket, and where it listens.

    Raises:
        FlintstreamError: The port is taken, the address is none of this machine, or a package is not there.
    """
    uvicorn = optional_module("uvicorn", extra="ui", purpose="the web page and the REST server")
    app = application(place.token, LOOPBACK if place.local else ())
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((place.host, place.port))
    except OSError as error:
        listener.close()
        raise FlintstreamError(f"cannot listen at {place.host}, port {place.port}: {error.strerror}") from None
    config = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False, ws="none", log_config=None)
    return uvicorn.Server(config), listener, Place(place.host, listener.getsockname()[1], place.token)


@contextmanager
def beside(place: Place) -> Iterator[Place]:
    """Serve in a thread of this process while the block runs. Yield where.

    Raises:
        FlintstreamError: The server cannot start.
    """
    made, listener, found = server(place)
    made.install_signal_handlers = lambda: None  # the program has its own
    thread = threading.Thread(target=made.run, args=([listener],), name="flintstream-ui", daemon=True)
    thread.start()
    until = time.monotonic() + START_SECONDS
    while not made.started and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield found
    finally:
        made.should_exit = True
        thread.join(2)
        listener.close()
