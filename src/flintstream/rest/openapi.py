"""The description of the requests in the form of OpenAPI."""

from __future__ import annotations

import json
import re
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from flintstream import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.rest.routes import Route

NAMES: dict[str, str] = json.loads(get_data(__name__, "replies.json") or b"")
"""The names in replies, which are those of Flink's and may be more. Those of a list begin with ``[]``."""
PARAMETER = re.compile(r":([a-z]+)")
ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
UUID = {"type": "string", "format": "uuid"}
TYPES: dict[str, dict[str, Any]] = {
    "jobid": ID,
    "vertexid": ID,
    "applicationid": ID,
    "triggerid": ID,
    "checkpointid": {"type": "integer", "minimum": 0},
    "subtaskindex": {"type": "integer", "minimum": 0},
    "attempt": {"type": "integer", "minimum": 0},
    "sessionhandle": UUID,
    "operationhandle": UUID,
    "token": {"type": "integer", "minimum": 0},
}
QUERIES = {
    "/jobs/:jobid": ("mode",),
    "/jobs/:jobid/exceptions": ("maxExceptions",),
    "/jobs/metrics": ("get", "agg", "jobs"),
    "/flintstream/jobs/:jobid/curves": ("since",),
    "/sessions/:sessionhandle/operations/:operationhandle/result/:token": ("rowFormat",),
}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
STATEMENT: dict[str, object] = {"statement": {"type": "string"}, "executionTimeout": {"type": "integer", "minimum": 0}}
BODIES: dict[str, dict[str, Any]] = {
    "/jobs/:jobid/savepoints": {
        "target-directory": {"type": "string"},
        "cancel-job": {"type": "boolean"},
        "triggerId": ID,
    },
    "/jobs/:jobid/checkpoints": {"checkpointType": {"type": "string"}, "triggerId": ID},
    "/jobs/:jobid/stop": {"targetDirectory": {"type": "string"}, "drain": {"type": "boolean"}, "triggerId": ID},
    "/applications/:applicationid/cancel": {},
    "/flintstream/jobs/:jobid/rescale": {"parallelism": {"type": "integer", "minimum": 1}},
    "/sessions": {"sessionName": {"type": "string"}, "properties": TEXTS},
    "/sessions/:sessionhandle/heartbeat": {},
    "/sessions/:sessionhandle/configure-session": STATEMENT,
    "/sessions/:sessionhandle/statements": {**STATEMENT, "executionConfig": TEXTS},
    "/sessions/:sessionhandle/operations/:operationhandle/cancel": {},
}
BOUNDS = {"lowerBound": {"type": "integer", "minimum": 1}, "upperBound": {"type": "integer", "minimum": 1}}
MAPS: dict[str, dict[str, Any]] = {
    "/jobs/:jobid/resource-requirements": {
        "type": "object",
        "properties": {"parallelism": {"type": "object", "properties": BOUNDS}},
    }
}
STATUSES = {
    "400": "A parameter or the request body is invalid",
    "401": "A token is required",
    "403": "The request uses an unknown host name, comes from another site, or asks to write where the server may not",
    "404": "Not found",
    "409": "The job has ended",
    "413": "The request body is too long",
    "415": "The request body is not application/json",
    "503": "The process of the job does not answer",
}


def template(path: str) -> str:
    """Return a path with its parameters as OpenAPI writes them.

    >>> template("/jobs/:jobid/plan")
    '/jobs/{jobid}/plan'
    """
    return PARAMETER.sub(r"{\1}", path)


def document(routes: Iterable[Route]) -> dict[str, object]:
    """Return the document."""
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        operations = paths.setdefault(route.versions[-1] + template(route.path), {})
        operations[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "flintstream",
            "version": __version__,
            "description": "Flink's REST interface for the jobs of one user. The version prefix is optional.",
        },
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of the server"},
                "password": {"type": "http", "scheme": "basic", "description": "Any user, and the token as password"},
            },
            "schemas": {
                "Errors": {
                    "type": "object",
                    "required": ["errors"],
                    "properties": {"errors": {"type": "array", "items": {"type": "string"}}},
                }
            },
        },
        "security": [{"token": []}, {"password": []}],
        "paths": paths,
    }


def _operation(route: Route) -> dict[str, object]:
    names = PARAMETER.findall(route.path)
    query = ("get", "agg") if route.path.endswith("subtasks/metrics") else QUERIES.get(route.path, ())
    if route.method == "GET" and route.path.endswith("/metrics") and not query:
        query = ("get",)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": TYPES.get(name, {"type": "string"})} for name in names
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}
        for name in query
        if name != "mode" or route.method == "PATCH"
    ]
    is_text = route.kind != "application/json"
    right = {route.kind: {"schema": {"type": "string"} if is_text else reply_schema(route.method, route.path)}}
    wrong = {"application/json": {"schema": {"$ref": "#/components/schemas/Errors"}}}
    operation: dict[str, object] = {
        "summary": route.summary,
        "operationId": f"{route.method.lower()}{re.sub('[^a-z]+', '-', route.path.lower())}",
        "parameters": parameters,
        "responses": {
            str(route.status): {"description": route.summary, "content": right},
            **{status: {"description": text, "content": wrong} for status, text in STATUSES.items()},
        },
    }
    if route.method in {"POST", "PUT"}:
        schema: dict[str, object] = {"type": "object"}
        if route.path in MAPS:
            schema["additionalProperties"] = MAPS[route.path]
        else:
            schema["properties"] = BODIES[route.path]
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def reply_schema(method: str, path: str) -> dict[str, object]:
    """Return the schema of a reply.

    >>> reply_schema("GET", "/jobs")
    {'type': 'object', 'required': ['jobs']}
    """
    names = NAMES.get(f"{method} {path}", "").split()
    if names[:1] == ["[]"]:
        return {"type": "array", "items": _object(names[1:])}
    return _object(names)


def _object(names: list[str]) -> dict[str, object]:
    return {"type": "object", **({"required": names} if names else {})}
