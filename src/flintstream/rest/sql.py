"""The requests of Flink's SQL gateway, versions 1 to 4."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._text.secrets import hide_secrets
from flintstream.common._text.strict_json import json_text
from flintstream.compat.pyflink import PYFLINK_VERSION
from flintstream.rest.records import RefusedError
from flintstream.rest.routes import JsonText, Route
from flintstream.sql_gateway.completion import candidates
from flintstream.sql_gateway.errors import GatewayError, error_texts
from flintstream.sql_gateway.logical_types import logical_type
from flintstream.sql_gateway.row_formats import RowFormat, row_writer
from flintstream.table._results.rows import rows_by_clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.rest.routes import Request
    from flintstream.sql_gateway.operations import Operation
    from flintstream.sql_gateway.results import Page, Result
    from flintstream.sql_gateway.sessions import Gateway, Session

VERSIONS = ("V1", "V2", "V3", "V4")
_PREFIXES = ("", *(f"/{version.lower()}" for version in VERSIONS))
LONGEST_STATEMENT = 1 << 20
"""In bytes: a statement set may be long."""
_SESSION = "/sessions/:sessionhandle"
_OPERATION = f"{_SESSION}/operations/:operationhandle"


def sql_routes(gateway: Gateway) -> list[Route]:
    """Return the requests of clients of a gateway."""
    return [
        Route("GET", "/info", "The product and its version", _info, versions=_PREFIXES),
        Route("GET", "/api_versions", "The versions of this interface", _api_versions, versions=_PREFIXES),
        *_about_sessions(gateway),
        *_about_operations(gateway),
    ]


def _info(_: Request) -> object:
    return {"productName": "Apache Flink", "version": PYFLINK_VERSION}  # a client compares the version with its own


def _api_versions(_: Request) -> object:
    return {"versions": VERSIONS}


def _about_sessions(gateway: Gateway) -> list[Route]:
    def begin(request: Request) -> object:
        properties, name = _texts(request, "properties"), request.body.get("sessionName")
        with _explain_errors("openSession"):
            session = gateway.open(properties, name if isinstance(name, str) else None, request.user)
        return {"sessionHandle": session.handle}

    def settings(request: Request) -> object:
        return {"properties": hide_secrets(_session(gateway, request, "getSessionConfig").properties())}

    def end(request: Request) -> object:
        with _explain_errors("closeSession"):
            gateway.close(_handle(request, "session"), request.user)
        return {"status": "CLOSED"}

    def heartbeat(request: Request) -> object:
        _session(gateway, request, "triggerSessionHeartbeat")
        return {}

    def configure(request: Request) -> object:
        session = _session(gateway, request, "configureSession")
        with _explain_errors("configureSession"):
            session.configure(_statement(request), _timeout(request))
        return {}

    def run(request: Request) -> object:
        session = _session(gateway, request, "executeStatement")
        with _explain_errors("executeStatement"):
            operation = session.execute(_statement(request), _texts(request, "executionConfig"), _timeout(request))
        return {"operationHandle": operation.handle}

    def complete(request: Request) -> object:
        session = _session(gateway, request, "completeStatement")
        statement, position = _statement(request), request.body.get("position")
        at = position if isinstance(position, int) and position >= 0 else len(statement)
        with _explain_errors("completeStatement"):
            return {"candidates": candidates(session.environment, statement, at)}

    route = partial(Route, versions=_PREFIXES, longest_body=LONGEST_STATEMENT)
    return [
        route("POST", "/sessions", "Open a session with 'properties'", begin),
        route("GET", _SESSION, "The settings of a session", settings),
        route("DELETE", _SESSION, "End a session, and the jobs of its queries", end),
        route("POST", f"{_SESSION}/heartbeat", "Keep the session alive", heartbeat),
        route("POST", f"{_SESSION}/configure-session", "Run a 'statement' that changes the session", configure),
        route("POST", f"{_SESSION}/statements", "Run a 'statement' in the background", run),
        route("GET", f"{_SESSION}/complete-statement", "Completions at 'position'", complete, takes_body=True),
    ]


def _about_operations(gateway: Gateway) -> list[Route]:
    def status(request: Request) -> object:
        return {"status": _operation(gateway, request, "getOperationInfo").status.value}

    def cancel(request: Request) -> object:
        operation = _operation(gateway, request, "cancelOperation")
        with _explain_errors("cancelOperation"):
            operation.cancel()
        return {"status": operation.status.value}

    def close(request: Request) -> object:
        _session(gateway, request, "closeOperation").close_operation(_handle(request, "operation"))
        return {"status": "CLOSED"}

    def result(request: Request) -> object:
        row_format, token = _row_format(request), _token(request)
        operation = _operation(gateway, request, "fetchResults")
        with _explain_errors("fetchResults", Exception):
            page = operation.page(token)
            if page is None:
                address = _address(request, token, row_format)
                return {"resultType": "NOT_READY", "nextResultUri": address}
            return _page(operation.require_success(), page, request, row_format)

    route = partial(Route, versions=_PREFIXES)
    return [
        route("GET", f"{_OPERATION}/status", "The state of a statement", status),
        route("POST", f"{_OPERATION}/cancel", "Cancel a statement, or the job of its query", cancel),
        route("DELETE", f"{_OPERATION}/close", "Close a statement, and cancel the job of its query", close),
        route("GET", f"{_OPERATION}/result/:token", "A page of the result, in the format 'rowFormat'", result),
    ]


def _page(result: Result, page: Page, request: Request, row_format: RowFormat) -> JsonText:
    """Return a page of a result."""
    columns = [
        {"name": column.name, "logicalType": logical_type(column.type), "comment": None} for column in result.columns
    ]
    head = {
        "resultType": "EOS" if page.next_token is None else "PAYLOAD",
        "isQueryResult": result.is_query,
        **({} if result.job_id is None else {"jobID": result.job_id}),
        "resultKind": "SUCCESS_WITH_CONTENT" if result.has_content else "SUCCESS",
    }
    plain = row_format is RowFormat.PLAIN_TEXT
    shown = rows_by_clock(page.rows, result.columns, result.zone) if plain else page.rows
    rows = ",".join(map(row_writer(result.columns, row_format), shown))
    results = f'{{"columns":{json_text(columns)},"rowFormat":"{row_format.value}","data":[{rows}]}}'
    tail = ""
    if page.next_token is not None:
        tail = f',"nextResultUri":{json_text(_address(request, page.next_token, row_format))}'
    return JsonText(f'{json_text(head)[:-1]},"results":{results}{tail}}}')


def _address(request: Request, token: int, row_format: RowFormat) -> str:
    version = request.version or _PREFIXES[-1]
    session, operation = request.path["sessionhandle"], request.path["operationhandle"]
    query = "" if version == "/v1" else f"?rowFormat={row_format.value}"
    return f"{version}/sessions/{session}/operations/{operation}/result/{token}{query}"


@contextmanager
def _explain_errors(what: str, kinds: type[Exception] = Exception) -> Iterator[None]:
    """Refuse the request with the error of what the block does."""
    try:
        yield
    except RefusedError:
        raise
    except kinds as error:
        raise RefusedError(500, *error_texts(what, error)) from error


def _session(gateway: Gateway, request: Request, what: str) -> Session:
    with _explain_errors(what, GatewayError):
        return gateway.session(_handle(request, "session"), request.user)


def _operation(gateway: Gateway, request: Request, what: str) -> Operation:
    session = _session(gateway, request, what)
    with _explain_errors(what, GatewayError):
        return session.operation(_handle(request, "operation"))


def _handle(request: Request, what: str) -> str:
    given = request.path[f"{what}handle"]
    try:
        return str(uuid.UUID(given))
    except ValueError:
        raise _unreadable("path parameter", f"{what}_handle", given) from None


def _token(request: Request) -> int:
    given = request.path["token"]
    if not (given.isascii() and given.isdecimal()) or len(given) > 18:
        raise _unreadable("path parameter", "token", given)
    return int(given)


def _row_format(request: Request) -> RowFormat:
    given = request.query.get("rowFormat", "JSON")
    try:
        return RowFormat(given.upper())
    except ValueError:
        raise _unreadable("query parameter", "rowFormat", given) from None


def _unreadable(what: str, name: str, given: str) -> RefusedError:
    return RefusedError(
        400, f'Bad request, could not parse parameters: Cannot resolve {what} ({name}) from value "{given[:100]}".'
    )


def _statement(request: Request) -> str:
    given = request.body.get("statement")
    if not isinstance(given, str):
        raise RefusedError(400, "'statement' must be a string")
    return given


def _timeout(request: Request) -> int:
    given = request.body.get("executionTimeout")
    if given is None:
        return 0
    if not isinstance(given, int) or isinstance(given, bool):
        raise RefusedError(400, "'executionTimeout' must be a number of milliseconds")
    return max(given, 0)


def _texts(request: Request, name: str) -> dict[str, str]:
    given = request.body.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise RefusedError(400, f"'{name}' must be an object of strings")
    return dict(given)
