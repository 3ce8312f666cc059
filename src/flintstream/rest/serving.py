"""Servers of the REST interface and the web page: in the foreground, or beside a program."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import stat
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flintstream.coordinator import registry
from flintstream.coordinator.descriptors import raise_limit
from flintstream.errors import FlintstreamError, optional_module
from flintstream.rest.access import LOOPBACK
from flintstream.rest.app import application

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from flintstream.rest.routes import Route

START_SECONDS = 10
TOKEN = "FLINTSTREAM_REST_TOKEN"  # noqa: S105 - the name of a variable
HEADER = "Authorization:Bearer "
"""Without a blank after the colon, which the client of Flink refuses."""
_log = logging.getLogger(__name__)


def _new_token() -> str:
    return os.environ.get(TOKEN) or secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Place:
    """Where a server listens, and the token that callers need there."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 for a free one."""
    token: str = field(default_factory=_new_token, repr=False)
    """By default that of ``FLINTSTREAM_REST_TOKEN``, or else a new one: a server that ends takes its token with it."""

    def __post_init__(self) -> None:
        """Check the token, which becomes part of a header.

        Raises:
            FlintstreamError: It contains blanks or other characters than those of ASCII.
        """
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise FlintstreamError(f"the token in {TOKEN} must consist of printable ASCII characters without spaces")

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in {"127.0.0.1", "localhost", "::1"}

    @property
    def bare_address(self) -> str:
        """The address without the token.

        >>> Place("::1", 8081).bare_address
        'http://[::1]:8081/'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def address(self) -> str:
        """Return what to open in a browser.

        >>> Place("0.0.0.0", 8081, "abc").address()
        'http://0.0.0.0:8081/?token=abc'
        """
        return f"{self.bare_address}?token={quote(self.token, safe='')}"

    def shown_address(self) -> str:
        """Return what to print on standard error: without the token if it is a file that other users can read."""
        if is_readable_by_others(2):
            return f"{self.bare_address} ('flintstream ui --print-address --port {self.port}' adds the token)"
        return self.address()

    @property
    def header_file(self) -> Path:
        """The file with the header that callers must send, while the server runs. Only its user can read it."""
        return registry.directory() / f"rest-{registry.host()}-{self.port}"

    @contextlib.contextmanager
    def publish(self) -> Iterator[None]:
        """Keep the file with the header while the block runs."""
        line = f"{HEADER}{self.token}\n"
        try:
            registry.write(self.header_file.name, line)
        except OSError as error:
            _log.warning("commands will not find the token of the server at %s: %s", self.bare_address, error)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                if self.header_file.read_text(encoding="ascii") == line:  # not that of a later server
                    self.header_file.unlink()


def running_at(host: str, port: int) -> Place:
    """Return the server of this user at a port of this machine.

    Raises:
        FlintstreamError: There is none.
    """
    place = Place(host, port)
    try:
        token = place.header_file.read_text(encoding="ascii").strip().removeprefix(HEADER)
    except (OSError, ValueError):
        raise FlintstreamError(f"you have no server on port {port} of this machine") from None
    return replace(place, token=token)


def is_readable_by_others(descriptor: int) -> bool:
    """Tell whether what is written to a descriptor ends where other users may read it, such as the journal.

    A terminal and a pipe are this user's.
    """
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    if stat.S_ISREG(status.st_mode):
        return bool(status.st_mode & 0o044)
    return stat.S_ISSOCK(status.st_mode)


def server(place: Place, more: Sequence[Route] = ()) -> tuple[Any, socket.socket, Place]:
    """Return a server that has not started, its socket, and where it listens; it also answers ``more`` requests.

    Raises:
        FlintstreamError: The port is taken, the address is none of this machine, or a package is not there.
    """
    purpose = "the web page and the REST server"
    connections = optional_module("flintstream.rest.connections", package="uvicorn", extra="ui", purpose=purpose)
    raise_limit()
    app = application(place.token, LOOPBACK if place.local else (), more)
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((place.host, place.port))
    except OSError as error:
        listener.close()
        raise FlintstreamError(f"cannot listen at {place.host}, port {place.port}: {error.strerror}") from None
    return connections.make_server(app), listener, replace(place, port=listener.getsockname()[1])


@contextlib.contextmanager
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
        with found.publish():
            yield found
    finally:
        made.should_exit = True
        thread.join(2)
        listener.close()
