"""The query of an address is read the same way by every request, whatever bytes it has."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.rest.test_rest import TOKEN, places  # noqa: F401 - a fixture
from tests.strict import read_strictly

from flintstream.rest.app import application
from flintstream.rest.routes import routes

pytest.importorskip("starlette")


async def replied(app, method, path, query):
    """Return status and content of the reply to a request as servers pass it on that do not check addresses."""
    received = [{"type": "http.request", "body": b"{}", "more_body": False}]
    sent = []

    async def receive():
        return received.pop()

    async def send(message):
        sent.append(message)

    headers = {"host": "localhost", "authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
        "server": ("127.0.0.1", 8081),
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await app(scope, receive, send)
    return sent[0]["status"], read_strictly(b"".join(message["body"] for message in sent[1:]))


@pytest.mark.parametrize(
    "query", [b"get=\xba", b"\xff", "get=größe".encode(), b"mode=cancel\x80"], ids=["latin", "byte", "utf-8", "value"]
)
def test_bytes_outside_ascii_in_a_query_are_refused_by_every_request(query):
    app = application(TOKEN)
    for route in routes():
        path = re.sub(r":\w+", "0" * 32, route.path)
        status, told = asyncio.run(replied(app, route.method, path, query))
        assert status == 400, path
        assert told == {"errors": ["the query string must be ASCII: percent-encode other characters"]}


@pytest.mark.parametrize(
    "query", [b"%ba", b"get=%ff&agg=%00", b"=&&=;", b"token=%C3%B6", b"mode=" + b"x" * 5000], ids=range(5)
)
def test_other_queries_of_no_sense_fail_no_request(query):
    app = application(TOKEN)
    for route in routes():
        path = re.sub(r":\w+", "0" * 32, route.path)
        status, _ = asyncio.run(replied(app, route.method, path, query))
        assert status < 500, path
