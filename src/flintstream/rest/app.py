"""The server: how replies and refusals are sent."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flintstream.common._text.strict_json import json_text
from flintstream.coordinator.asking import JobSilentError
from flintstream.errors import FlintstreamError, optional_module
from flintstream.rest import openapi, page
from flintstream.rest.access import JSON_HEADERS, LOOPBACK, MODULES, Guard, credentials
from flintstream.rest.records import RefusedError
from flintstream.rest.routes import JsonText, Request, Route, routes

if TYPE_CHECKING:
    from collections.abc import Sequence

BODY_SECONDS = 10.0
"""How long the content of a request may take to arrive."""

_log = logging.getLogger(__name__)


def application(token: str, hosts: tuple[str, ...] = LOOPBACK, more: Sequence[Route] = ()) -> Any:
    """Return the ASGI application.

    Args:
        token: what callers must present; see `Guard`.
        hosts: names by which callers may address the server, so that a page in a browser cannot reach it by a name
            of its own; empty for all.
        more: requests to answer beside those about jobs.
    """
    starlette = optional_module("starlette.applications", package="starlette", extra="ui", purpose="the REST server")
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response
    from starlette.routing import Route as Endpoint

    def reply(content: object, status: int, kind: str = "application/json") -> Any:
        is_text = kind != "application/json" or isinstance(content, JsonText)
        return Response(content if is_text else json_text(content), status, JSON_HEADERS, kind)

    def refusal(error: RefusedError) -> Any:
        return reply({"errors": list(error.texts)}, error.status)

    def endpoint(route: Route, version: str) -> Any:
        async def answer(request: Any) -> object:
            try:
                body: dict[str, object] = {}
                if request.method not in {"GET", "HEAD"}:
                    _check_origin(request)
                if request.method in {"POST", "PUT"} or (route.takes_body and request.method == "GET"):
                    body = await _body(request, route.longest_body)
                _check_query(request.scope["query_string"])
                address = f"{request.scope['scheme']}://{request.headers.get('host', '')}"
                given = credentials(request.headers.get("authorization", "").encode("latin-1"))
                user = given[0] if given else ""
                asked = Request(dict(request.path_params), dict(request.query_params), body, address, version, user)
                return reply(await run_in_threadpool(route.reply, asked), route.status, route.kind)
            except RefusedError as error:
                return refusal(error)
            except JobSilentError as error:
                return refusal(RefusedError(503, str(error)))
            except FlintstreamError as error:
                return refusal(RefusedError(500, str(error)))
            except Exception:  # noqa: BLE001 - one bad request or job must not look like another kind of answer
                _log.exception("cannot answer %s %s", route.method, route.path)
                return refusal(RefusedError(500, "Internal server error: see the log of the server"))

        return answer

    def document(path: str, text: str, headers: dict[str, str], kind: str = "text/html") -> Any:
        async def answer(_: object) -> object:
            return Response(text, 200, headers, kind)

        return Endpoint(path, answer, methods=["GET"])

    answered = [*routes(), *more]
    described = openapi.document(answered)
    answered.append(_description(described))
    endpoints = [
        Endpoint(version + openapi.template(route.path), endpoint(route, version), methods=[route.method])
        for route in answered
        for version in route.versions
    ]
    endpoints += [document("/", *page.document()), document("/docs", *page.reference(described))]
    endpoints += [
        document(MODULES + name, module, page.SCRIPT_HEADERS, "text/javascript")
        for name, module in page.modules().items()
    ]

    async def missing(request: Any, error: Any) -> Any:
        return refusal(RefusedError(error.status_code, f"{error.detail}: {request.scope['path']}"))

    answering = starlette.Starlette(routes=endpoints, exception_handlers={404: missing, 405: missing})
    return Guard(answering, token, hosts, page.refusal())


def _description(document: dict[str, object]) -> Route:
    return Route("GET", "/openapi.json", "This document", lambda _: document)


def _check_origin(request: Any) -> None:
    """Refuse what a page of another server sends. Programs other than browsers name no origin."""
    origin = request.headers.get("origin")
    if origin is not None and _place(origin) != request.headers.get("host", ""):
        raise RefusedError(403, "the request comes from a page of another server")


def _check_query(query: bytes) -> None:
    """Refuse bytes that servers and libraries read in different encodings. Some HTTP servers pass them on."""
    if not query.isascii():
        raise RefusedError(400, "the query string must be ASCII: percent-encode other characters")


def _place(origin: str) -> str | None:
    """Return host and port of an origin; None if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


async def _body(request: Any, longest: int) -> dict[str, object]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "the request body must be application/json")  # which a form of another page cannot send
    try:
        data = await asyncio.wait_for(_content(request, longest), BODY_SECONDS)
    except asyncio.TimeoutError:
        raise RefusedError(408, "the request body did not arrive in time") from None
    try:
        body = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedError(400, "the request body must be a JSON object")
    return body


async def _content(request: Any, longest: int) -> bytes:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > longest:
            raise RefusedError(413, "the request is too long")
    return bytes(data)
