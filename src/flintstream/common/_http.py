"""Answers of HTTP servers, limited in size and in time: one that never ends must not fill the memory."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPSConnection
from typing import IO, TYPE_CHECKING, Protocol
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, build_opener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPMessage, HTTPResponse
    from ssl import SSLContext
    from urllib.request import Request

__all__ = ["MOST_BYTES", "AnswerError", "RefusalError", "ask", "read_answer", "shut_after"]

MOST_BYTES = 16 << 20
"""Longest answer, by default."""

_BLOCK = 1 << 16
_REFUSAL_BYTES = 4096


class AnswerError(OSError):
    """An answer is too long, or takes too long."""


class RefusalError(OSError):
    """A server answers with a status other than success.

    >>> error = RefusalError(404, "Not Found")
    >>> error.status, str(error)
    (404, '404 Not Found')
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}")
        self.status = status
        self.text = text
        """The beginning of the answer."""


class _Answer(Protocol):
    def read1(self, amount: int, /) -> bytes: ...


def read_answer(answer: _Answer, seconds: float, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the body of an answer.

    Args:
        answer: a response of ``http.client`` or of urllib3, nothing of which was read yet.
        seconds: the longest time for all of it, as far as the connection's own timeout ends each wait for data.
        most_bytes: the longest body, after decompression.

    Raises:
        AnswerError: it is longer, or takes longer.
    """
    until, blocks, size = time.monotonic() + seconds, [], 0
    while block := answer.read1(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > most_bytes:
            raise AnswerError(f"the response is longer than {most_bytes} bytes")
        if time.monotonic() > until:
            raise AnswerError(f"the response takes longer than {seconds:g} s")
    return b"".join(blocks)


@contextmanager
def shut_after(seconds: float) -> Iterator[Callable[[socket.socket], None]]:
    """Shut connections that still wait for something after some time; the function takes their sockets.

    Raises:
        AnswerError: a connection was shut.
    """
    watched: list[socket.socket] = []
    over = threading.Event()

    def close_all() -> None:
        over.set()
        for copy in watched:
            with suppress(OSError):
                copy.shutdown(socket.SHUT_RDWR)

    def watch(connected: socket.socket) -> None:
        copy = connected.dup()  # TLS takes the socket away from its first owner
        watched.append(copy)
        if over.is_set():
            close_all()

    timer = threading.Timer(seconds, close_all)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    except Exception as error:
        if over.is_set() and not isinstance(error, AnswerError):
            raise AnswerError(f"the response takes longer than {seconds:g} s") from None
        raise
    else:
        if over.is_set():  # what arrived before looks like a whole answer
            raise AnswerError(f"the response takes longer than {seconds:g} s")
    finally:
        timer.cancel()
        timer.join()
        for copy in watched:
            copy.close()


class _SameServerOnly(HTTPRedirectHandler):
    """Follows redirects, but gives what proves an identity to no other server, and never without encryption."""

    http_error_308 = HTTPRedirectHandler.http_error_302  # which Python 3.10 does not follow

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        request = super().redirect_request(req, fp, 307 if code == 308 else code, msg, headers, newurl)
        if request is not None and _server(request.full_url) != _server(req.full_url):
            for name in [name for name in request.headers if name.lower() in {"authorization", "cookie"}]:
                request.remove_header(name)
        return request


def _server(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def ask(request: Request, seconds: float, most_bytes: int = MOST_BYTES, *, context: SSLContext | None = None) -> bytes:
    """Send a request over HTTP, and return the body of the answer. Credentials follow no redirect to another server.

    Args:
        request: what to send.
        seconds: the longest time for all of it, from the first connection to the last byte.
        most_bytes: the longest body.
        context: what to trust, and the client's own certificate; what the system trusts by default.

    Raises:
        AnswerError: the answer is longer, or takes longer.
        RefusalError: the server refuses.
        OSError: there is no answer.
        http.client.HTTPException: the answer is none of HTTP.
    """
    with shut_after(seconds) as watch:

        class Watched(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                watch(self.sock)

        class WatchedTls(HTTPSConnection, Watched):
            pass

        class Plain(HTTPHandler):
            def http_open(self, req: Request) -> HTTPResponse:
                return self.do_open(Watched, req)

        class Encrypted(HTTPSHandler):
            def https_open(self, req: Request) -> HTTPResponse:
                return self.do_open(WatchedTls, req, context=context)

        opener = build_opener(Plain, Encrypted, _SameServerOnly)
        try:
            with opener.open(request, timeout=seconds) as answer:
                return read_answer(answer, seconds, most_bytes)
        except HTTPError as error:
            with error:
                raise RefusalError(error.code, error.read(_REFUSAL_BYTES).decode("utf-8", "replace")) from None
