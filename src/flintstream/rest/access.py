"""Who may use the server: callers that know its token, and the browser that has opened its address with the token."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from flintstream.common._text.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
DOCUMENTS = frozenset({"/", "/docs", "/openapi.json", "/v1/openapi.json"})
"""What a browser shows or stores as a whole. None of it contains anything of a job."""
MODULES = "/web/"
"""Where the modules of the page's script are. A browser loads them as it does documents, with the cookie only."""
JSON_HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
"""Headers of replies in JSON, which no browser is to keep or to take for something else."""
KEY = b"flintstream-key"
"""The header with the key of the page."""


class Guard:
    """Passes on the requests of callers with the token, and refuses all others, as an ASGI application.

    Programs send the token as ``Authorization: Bearer``, or as the password of ``Authorization: Basic``. A browser
    opens ``/?token=...`` once. It gets two secrets for that, which this server accepts until it ends: a cookie, and a
    key for the scripts of the page, in the part of the address that browsers send nowhere. Documents and the scripts
    themselves need the cookie only. Anything else needs both: browsers send the cookies of an address to its other
    ports, too, where other users of the machine may listen, while each port has its own storage of keys.
    """

    def __init__(self, app: App, token: str, hosts: tuple[str, ...], refusal: tuple[str, dict[str, str]]) -> None:
        """Guard ``app``.

        Args:
            app: what answers the requests of callers with the token.
            token: the token.
            hosts: names by which callers may address the server, so that a page in a browser cannot reach it by a name
                of its own; empty for all.
            refusal: the page for browsers without the token, and its headers.
        """
        self._app = app
        self._token = token.encode()
        self._hosts = hosts
        self._refusal = refusal
        self._cookie, self._key = (secrets.token_urlsafe(24).encode() for _ in range(2))

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = dict(reversed(scope["headers"]))  # the first of several
        host = headers.get(b"host", b"").decode("latin-1")
        query = scope["query_string"].decode("latin-1")  # parse_qs takes only ASCII as bytes
        given = parse_qs(query, encoding="latin-1").get("token") if scope["path"] == "/" else None
        if self._hosts and split_host(host)[0] not in self._hosts:
            await _send_error(send, 403, "the server does not accept requests for this host name")
        elif (
            given is not None
            and scope["method"] == "GET"
            and hmac.compare_digest(given[0].encode("latin-1"), self._token)
        ):
            await self._let_in(send, split_host(host)[1])
        elif self._has_token(headers) or self._is_page(scope, headers, split_host(host)[1]):
            await self._app(scope, receive, send)
        elif scope["path"] in DOCUMENTS and scope["method"] == "GET":
            html, more = self._refusal
            await _send(send, 401, html, {"content-type": "text/html; charset=utf-8", **more})
        else:
            await _send_error(send, 401, "a token is required: Authorization: Bearer ...")

    async def _let_in(self, send: Send, port: str) -> None:
        """Exchange the token for the secrets of this server, and make the browser forget the address with it."""
        cookie = f"flintstream-{port}={self._cookie.decode()}; HttpOnly; SameSite=Strict; Path=/"
        headers = {"location": f"./#key={self._key.decode()}", "set-cookie": cookie}
        await _send(send, 303, "", {**headers, "referrer-policy": "no-referrer", "cache-control": "no-store"})

    def _has_token(self, headers: dict[bytes, bytes]) -> bool:
        given = credentials(headers.get(b"authorization", b""))
        return given is not None and hmac.compare_digest(given[1], self._token)

    def _is_page(self, scope: dict[str, object], headers: dict[bytes, bytes], port: str) -> bool:
        cookies = [part.strip().partition(b"=") for part in headers.get(b"cookie", b"").split(b";")]
        name = f"flintstream-{port}".encode()
        has_cookie = any(own == name and hmac.compare_digest(value, self._cookie) for own, _, value in cookies)
        has_key = hmac.compare_digest(headers.get(KEY, b""), self._key)
        path = str(scope["path"])
        public = path in DOCUMENTS or path.startswith(MODULES)
        return has_cookie and (has_key or (public and scope["method"] in {"GET", "HEAD"}))


def credentials(header: bytes) -> tuple[str, bytes] | None:
    """Return the user and the password or token of an ``Authorization``; None if there are none.

    >>> credentials(b"Bearer abc"), credentials(b"Basic bWU6YWJj"), credentials(b"")
    (('', b'abc'), ('me', b'abc'), None)
    """
    scheme, _, given = header.partition(b" ")
    if scheme.lower() == b"bearer":
        return "", given.strip()
    if scheme.lower() != b"basic":
        return None
    try:
        user, _, password = base64.b64decode(given.strip(), validate=True).partition(b":")
    except binascii.Error:
        return None
    return user.decode("latin-1"), password


def split_host(host: str) -> tuple[str, str]:
    """Return the name and the port of a ``Host`` header; the port is empty if it names none.

    >>> split_host("[::1]:8081"), split_host("[::1]"), split_host("localhost:8081"), split_host("localhost")
    (('[::1]', '8081'), ('[::1]', ''), ('localhost', '8081'), ('localhost', ''))
    """
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and port.isdecimal() else (host, "")


async def _send_error(send: Send, status: int, text: str) -> None:
    await _send(send, status, json_text({"errors": [text]}), {"content-type": "application/json", **JSON_HEADERS})


async def _send(send: Send, status: int, content: str, headers: dict[str, str]) -> None:
    """Send a reply, and end the connection: a caller without the token must not keep one open."""
    body = content.encode()
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="flintstream"'
    headers |= {"content-length": str(len(body)), "connection": "close"}
    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
