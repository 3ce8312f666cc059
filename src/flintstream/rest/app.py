"""The server: routes, who may ask, and actions on jobs."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream import __version__
from flintstream.coordinator import history, registry
from flintstream.coordinator.control import JobGoneError, ask
from flintstream.errors import FlintstreamError, optional_module
from flintstream.rest import replies
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LONGEST_BODY = 1 << 16

Record = dict[str, Any]


class RefusedError(FlintstreamError):
    """A request cannot be answered."""

    def __init__(self, status: int, text: str) -> None:
        """Refuse with this HTTP status."""
        super().__init__(text)
        self.status = status


def records() -> list[Record]:
    """Return what there is to tell of all jobs, running ones first."""
    found: dict[str, Record] = {}
    for entry in registry.entries():
        with suppress(FlintstreamError):
            found[entry.job_id] = _living(entry)
    for record in history.ended():
        found.setdefault(record["job_id"], record)
    return list(found.values())


def _living(entry: registry.Entry) -> Record:
    return {**ask(entry, "record"), "started_ms": entry.started_ms, "ended_ms": None}


def record_of(job: str) -> Record:
    """Return what there is to tell of a job.

    Raises:
        RefusedError: There is no such job.
    """
    _checked_id(job, "jobid")
    for entry in registry.entries():
        if entry.job_id == job:
            with suppress(JobGoneError):
                return _living(entry)
    for record in history.ended():
        if record["job_id"] == job:
            return record
    raise RefusedError(404, f"Job {job} not found")


def _checked_id(text: str, name: str) -> None:
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise RefusedError(400, f'Cannot resolve path parameter ({name}) from value "{text}".')


def _vertex(record: Record, vertex: str) -> str:
    _checked_id(vertex, "vertexid")
    if vertex not in {each["id"] for each in record["plan"]["vertices"]}:
        raise RefusedError(404, f"Vertex {vertex} not found")
    return vertex


class Triggers:
    """Savepoints that were asked for, by the id of the request."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[tuple[str, str], dict[str, Any]] = {}

    def start(self, job: str, request: str, **arguments: Any) -> str:
        """Ask a job in a thread of its own, and return the id."""
        _checked_id(job, "jobid")
        entry = next((each for each in registry.entries() if each.job_id == job), None)
        if entry is None:
            raise RefusedError(404, f"Job {job} not found")
        trigger = secrets.token_hex(16)
        told = self._known[job, trigger] = {"status": {"id": "IN_PROGRESS"}, "operation": None}

        def run() -> None:
            try:
                operation: dict[str, Any] = {"location": ask(entry, request, **arguments)}
            except FlintstreamError as error:
                operation = {"failure-cause": {"class": type(error).__name__, "stack-trace": str(error)}}
            told.update(status={"id": "COMPLETED"}, operation=operation)

        threading.Thread(target=run, name="flintstream-savepoint", daemon=True).start()
        return trigger

    def told(self, job: str, trigger: str) -> dict[str, Any]:
        """Return how far a request is."""
        if (job, trigger) not in self._known:
            raise RefusedError(404, f"There is no savepoint operation with triggerId={trigger} for job {job}.")
        return self._known[job, trigger]


def application(token: str | None = None, hosts: tuple[str, ...] = LOOPBACK) -> Any:
    """Return the ASGI application.

    Args:
        token: what callers must present as ``Authorization: Bearer``; None for no check.
        hosts: names by which callers may address the server, so that a page in a browser cannot reach it by a name
            of its own; empty for all.
    """
    starlette = optional_module("starlette.applications", package="starlette", extra="ui", purpose="the REST server")
    from starlette.responses import JSONResponse  # noqa: PLC0415 - an optional dependency
    from starlette.routing import Route  # noqa: PLC0415

    triggers = Triggers()

    def refusal(status: int, text: str) -> Any:
        return JSONResponse({"errors": [text]}, status)

    def endpoint(reply: Callable[..., Any], status: int = 200) -> Any:
        async def answer(request: Any) -> Any:
            from starlette.concurrency import run_in_threadpool  # noqa: PLC0415

            host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
            if hosts and host not in hosts:
                return refusal(403, "this name of the server is not known")
            given = request.headers.get("authorization", "")
            if token is not None and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                return refusal(401, "a token is required: Authorization: Bearer ...")
            try:
                arguments = dict(request.path_params)
                if request.method == "POST":
                    arguments["body"] = await _body(request)
                elif request.method == "PATCH" or "get" in request.query_params:
                    arguments["query"] = dict(request.query_params)
                return JSONResponse(await run_in_threadpool(reply, **arguments), status)
            except RefusedError as error:
                return refusal(error.status, str(error))
            except FlintstreamError as error:
                return refusal(500, str(error))

        return answer

    routes = [
        Route(prefix + path, endpoint(reply, status), methods=[method])
        for method, path, reply, status in _table(triggers)
        for prefix in ("", "/v1")
    ]

    async def missing(request: Any, error: Any) -> Any:
        return refusal(error.status_code, f"{error.detail}: {request.url.path}")

    return starlette.Starlette(routes=routes, exception_handlers={404: missing, 405: missing})


async def _body(request: Any) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "the content must be application/json")  # which a form of another page cannot send
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > LONGEST_BODY:
            raise RefusedError(413, "the request is too long")
    try:
        body = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedError(400, "the content must be a JSON object")
    return body


def _directory(body: dict[str, Any], name: str) -> str | None:
    given = body.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise RefusedError(400, f"'{name}' must be a string")
    try:
        return str(Location.parse(given))
    except FlintstreamError as error:
        raise RefusedError(400, str(error)) from None


def _cancel(job: str, query: dict[str, str]) -> dict[str, Any]:
    mode = query.get("mode", "cancel")
    if mode != "cancel":
        raise RefusedError(400, f"the mode '{mode}' is not known: use 'cancel', or POST .../stop")
    _checked_id(job, "jobid")
    entry = next((each for each in registry.entries() if each.job_id == job), None)
    if entry is None:
        record_of(job)
        raise RefusedError(409, f"Job {job} has already ended")
    with suppress(JobGoneError):
        ask(entry, "cancel")
    return {}


def _table(triggers: Triggers) -> list[tuple[str, str, Callable[..., Any], int]]:
    def on(reply: Callable[[Record], Any]) -> Callable[..., Any]:
        return lambda job: reply(record_of(job))

    def on_vertex(reply: Callable[[Record, str], Any]) -> Callable[..., Any]:
        def answer(job: str, vertex: str) -> Any:
            record = record_of(job)
            return reply(record, _vertex(record, vertex))

        return answer

    def vertex_metrics(job: str, vertex: str, query: dict[str, str] | None = None) -> Any:
        record = record_of(job)
        values = replies.vertex_metrics(record, _vertex(record, vertex))
        return replies.metrics(values, (query or {}).get("get"))

    def job_metrics(job: str, query: dict[str, str] | None = None) -> Any:
        return replies.metrics(record_of(job)["metrics"]["totals"], (query or {}).get("get"))

    def savepoint(job: str, body: dict[str, Any]) -> Any:
        directory = _directory(body, "target-directory")
        if body.get("cancel-job"):
            return {"request-id": triggers.start(job, "stop", directory=directory, drain=False)}
        return {"request-id": triggers.start(job, "savepoint", directory=directory)}

    def stop(job: str, body: dict[str, Any]) -> Any:
        directory = _directory(body, "targetDirectory")
        return {"request-id": triggers.start(job, "stop", directory=directory, drain=body.get("drain") is True)}

    return [
        ("GET", "/config", lambda: replies.config(__version__), 200),
        ("GET", "/overview", lambda: replies.overview(records(), __version__), 200),
        ("GET", "/jobs", lambda: replies.jobs(records()), 200),
        ("GET", "/jobs/overview", lambda: replies.jobs_overview(records()), 200),
        ("GET", "/jobs/{job}", on(replies.job), 200),
        ("PATCH", "/jobs/{job}", _cancel, 202),
        ("GET", "/jobs/{job}/status", on(lambda record: {"status": replies.state(record)}), 200),
        ("GET", "/jobs/{job}/plan", on(replies.plan), 200),
        ("GET", "/jobs/{job}/exceptions", on(replies.exceptions), 200),
        ("GET", "/jobs/{job}/checkpoints", on(replies.checkpoints), 200),
        ("GET", "/jobs/{job}/metrics", job_metrics, 200),
        ("POST", "/jobs/{job}/savepoints", savepoint, 202),
        ("GET", "/jobs/{job}/savepoints/{trigger}", triggers.told, 200),
        ("POST", "/jobs/{job}/stop", stop, 202),
        ("GET", "/jobs/{job}/vertices/{vertex}/backpressure", on_vertex(replies.back_pressure), 200),
        ("GET", "/jobs/{job}/vertices/{vertex}/watermarks", on_vertex(replies.watermarks), 200),
        ("GET", "/jobs/{job}/vertices/{vertex}/metrics", vertex_metrics, 200),
    ]
