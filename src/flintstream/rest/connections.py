"""A server of uvicorn with limits, so that callers who send nothing take neither the files nor the time of a job.

Anyone who can reach the port can open connections, before any token is asked for. This module needs uvicorn.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

MOST_CONNECTIONS = 64
"""How many connections may be open. One more ends the one that has waited longest for a request."""
BACKLOG = 64
"""How many connections the system completes before they are accepted, and how many are accepted in one go."""
REQUEST_SECONDS = 10.0
"""How long the head of a request may take to arrive, since the connection was opened or got a reply."""
IDLE_SECONDS = 5
"""How long a connection stays open after a reply if nothing arrives."""
LOGGED_SECONDS = 60.0
"""How often it is logged at most that no connections can be accepted."""

_log = logging.getLogger(__name__)
_requests_log = logging.getLogger(f"{__name__}.requests")
_requests_log.setLevel(logging.ERROR)  # callers without a token could fill the log with warnings


def make_server(app: Callable[..., Awaitable[None]]) -> Server:
    """Return a server for an ASGI application."""
    return Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_level="warning",
            access_log=False,
            log_config=None,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=IDLE_SECONDS,
        )
    )


class Server(uvicorn.Server):
    """A server that logs only now and then that it cannot accept connections."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until the end."""
        asyncio.get_running_loop().set_exception_handler(AcceptErrors())
        await super().serve(sockets)


class Connection(H11Protocol):
    """A connection that must send each request in time, and that a newer one may replace until it has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what uvicorn passes."""
        super().__init__(*args, **kwargs)
        self.app = self._with_time_limit(self.app)
        self.logger = _requests_log
        self.waits_since: float | None = None
        """Since when it has waited for a request; None while it answers one."""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait_for_request()
        if len(self.connections) > MOST_CONNECTIONS:
            others = (other for other in self.connections if isinstance(other, Connection))
            waiting = [(other.waits_since, id(other), other) for other in others if other.waits_since is not None]
            min(waiting)[2].abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        super().connection_lost(exc)
        self._stop_waiting()

    def abort(self) -> None:
        """End the connection at once."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _with_time_limit(self, app: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def answer(*request: object) -> None:
            self._stop_waiting()
            await app(*request)
            if not self.transport.is_closing():
                self._wait_for_request()

        return answer

    def _wait_for_request(self) -> None:
        self.waits_since = self.loop.time()
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.abort)

    def _stop_waiting(self) -> None:
        self.waits_since = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class AcceptErrors:
    """Handles exceptions of an event loop: errors of accepting connections are logged now and then, others always."""

    def __init__(self) -> None:
        """Log the first one."""
        self._due = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """Log what has happened."""
        if "socket" not in context or not isinstance(context.get("exception"), OSError):
            loop.default_exception_handler(context)
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + LOGGED_SECONDS
            _log.warning("the web page cannot accept connections: %s", context["exception"])
