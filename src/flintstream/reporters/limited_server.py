"""A server of WSGI whose connections are few and short, as everyone who can reach the port can open them."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MOST_CONNECTIONS = 16
"""How many connections may be open. One more ends the oldest."""
CONNECTION_SECONDS = 10.0
"""How long a connection may take for its request and the reply."""
PAUSE_SECONDS = 0.1
"""How long to wait if the process has no descriptor left for a connection."""


class LimitedServer(ThreadingMixIn, WSGIServer):
    """Answers each request in a thread."""

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(self, host: str, port: int, app: WSGIApplication) -> None:
        """Open the port; 0 chooses a free one.

        Raises:
            OSError: The address cannot be used.
        """
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._slots = threading.Semaphore(MOST_CONNECTIONS)
        self._since: dict[socket.socket, float] = {}
        """The open connections and when they were accepted, the oldest first."""
        self._changing = threading.Lock()
        super().__init__((host, port), _Handler)
        self.set_app(app)

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(PAUSE_SECONDS)  # the caller would try again at once
            raise

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Answer in a thread, if need be instead of the oldest connection."""
        pause = 0.0
        while not self._slots.acquire(timeout=pause):
            self._end_older_than(0, at_most=1)
            pause = PAUSE_SECONDS
        with self._changing:
            self._since[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        """Close a connection."""
        with self._changing:
            known = self._since.pop(request, None) is not None
        super().shutdown_request(request)
        if known:
            self._slots.release()

    def service_actions(self) -> None:
        """End connections that have taken too long; called twice a second, and after each connection."""
        self._end_older_than(CONNECTION_SECONDS)

    def _end_older_than(self, seconds: float, at_most: int = MOST_CONNECTIONS) -> None:
        """End connections; their threads close them."""
        until = time.monotonic() - seconds
        with self._changing:
            old = [request for request, since in self._since.items() if since <= until]
            for request in old[:at_most]:
                self._since[request] = math.inf  # it ends, so the next one is another
                with contextlib.suppress(OSError):  # the other end has closed it
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Log nothing: a connection that was ended is not an error."""


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
