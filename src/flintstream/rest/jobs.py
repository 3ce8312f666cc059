"""Replies about jobs: lists of them, details, plan, exceptions, configuration."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flintstream.options import restarts
from flintstream.rest import vertices
from flintstream.rest.replies import JOB_STATES, TASK_STATES, job_type, now_ms, state, subtasks, task_state, times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.rest.replies import Record


def jobs(records: Iterable[Record]) -> dict[str, object]:
    """``/jobs``."""
    return {"jobs": [{"id": record["job_id"], "status": state(record)} for record in records]}


def jobs_overview(records: Iterable[Record]) -> dict[str, object]:
    """``/jobs/overview``."""
    return {
        "jobs": [
            {
                "jid": record["job_id"],
                "name": record["name"],
                "jobType": job_type(record),
                "schedulerType": "Default",
                **times(record),
                "state": state(record),
                "last-modification": record.get("ended_ms") or record["started_ms"],
                "tasks": {
                    **dict.fromkeys((item.lower() for item in TASK_STATES), 0),
                    task_state(record).lower(): subtasks(record),
                    "total": subtasks(record),
                },
                "pending-operators": 0,
            }
            for record in records
        ]
    }


def job(record: Record) -> dict[str, Any]:
    """``/jobs/:jobid``."""
    return {
        "jid": record["job_id"],
        "application-id": record["job_id"],
        "name": record["name"],
        "isStoppable": False,
        "state": state(record),
        "job-type": job_type(record),
        "schedulerType": "Default",
        **times(record),
        "maxParallelism": -1,
        "now": now_ms(),
        "timestamps": {
            **dict.fromkeys(JOB_STATES, 0),
            "CREATED": record["started_ms"],
            state(record): record.get("ended_ms") or record["started_ms"],
        },
        "vertices": [vertices.in_a_job(record, vertex) for vertex in record["plan"]["vertices"]],
        "pending-operators": 0,
        "status-counts": {**dict.fromkeys(TASK_STATES, 0), task_state(record): len(record["plan"]["vertices"])},
        **plan(record),
    }


def plan(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/plan``."""
    nodes = []
    for vertex in record["plan"]["vertices"]:
        first, *others = (html.escape(operator["name"]).replace("\\", "&#92;") for operator in vertex["operators"])
        node: dict[str, object] = {
            "id": vertex["id"],
            "operator": "",
            "parallelism": vertex["parallelism"],
            "operator_strategy": "",
            "description": "".join([f"{first}<br/>", *(f"+- {name}<br/>" for name in others)]),  # HTML, here alone
            "optimizer_properties": {},
        }
        if vertex["inputs"]:
            node["inputs"] = [
                {"id": item["id"], "num": number, "exchange": "pipelined", "ship_strategy": item["ship_strategy"]}
                for number, item in enumerate(vertex["inputs"])
            ]
        nodes.append(node)
    return {"plan": {"jid": record["job_id"], "name": record["name"], "type": job_type(record), "nodes": nodes}}


def exceptions(record: Record, longest: int | None = None) -> dict[str, object]:
    """``/jobs/:jobid/exceptions``, the latest first."""
    entries = [
        {
            "exceptionName": item["type"],
            "stacktrace": item["text"],
            "timestamp": item["at_ms"],
            "failureLabels": {},
            "taskName": item.get("operator"),  # not in a record of an older release
            "endpoint": record["host"] if item.get("operator") else None,
            "taskManagerId": vertices.manager_id(record) if item.get("operator") else None,
            "concurrentExceptions": [],
        }
        for item in reversed(record["exceptions"])
    ]
    shown = entries if longest is None else entries[:longest]
    return {"exceptionHistory": {"entries": shown, "truncated": len(shown) < len(entries)}}


def config(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/config``."""
    settings = record.get("configuration", {})
    widest = max((vertex["parallelism"] for vertex in record["plan"]["vertices"]), default=1)
    return {
        "jid": record["job_id"],
        "name": record["name"],
        "execution-config": {
            restarts.PREFIX: settings.get(restarts.STRATEGY.key, "default"),
            "job-parallelism": widest,
            "object-reuse-mode": False,
            "user-config": {},  # Flink has the parameters of the program here; all settings are in jobmanager/config
        },
    }


def requirements(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/resource-requirements``: here a chain gets as many subtasks as it asks for."""
    return {
        vertex["id"]: {"parallelism": {"lowerBound": 1, "upperBound": vertex["parallelism"]}}
        for vertex in record["plan"]["vertices"]
    }


def settings(record: Record) -> list[dict[str, str]]:
    """``/jobs/:jobid/jobmanager/config``: the configuration of the job, without secrets."""
    return [{"key": key, "value": value} for key, value in sorted(record.get("configuration", {}).items())]


def accumulators(record: Record) -> dict[str, object]:  # noqa: ARG001 - there are none
    """``/jobs/:jobid/accumulators``: programs in Python have none."""
    return {"job-accumulators": [], "user-task-accumulators": [], "serialized-user-task-accumulators": {}}


def applications(records: Iterable[Record]) -> dict[str, object]:
    """``/applications/overview``: each job is an application of its own."""
    return {
        "applications": [
            {
                "id": record["job_id"],
                "name": record["name"],
                **times(record),
                "status": application_state(record),
                "jobs": {state(record): 1},
            }
            for record in records
        ]
    }


def application(record: Record) -> dict[str, object]:
    """``/applications/:applicationid``."""
    status, spans = application_state(record), times(record)
    stamps = dict.fromkeys(("CREATED", "RUNNING", "FAILING", "FAILED", "CANCELING", "CANCELED", "FINISHED"), 0)
    stamps.update(CREATED=spans["start-time"], RUNNING=spans["start-time"])
    if spans["end-time"] >= 0:
        stamps[status] = spans["end-time"]
    return {
        "id": record["job_id"],
        "name": record["name"],
        "status": status,
        **spans,
        "timestamps": stamps,
        "jobs": jobs_overview([record])["jobs"],
    }


def application_state(record: Record) -> str:
    """Return Flink's state of an application with this job."""
    told = state(record)
    return {"CANCELLING": "CANCELING", "RESTARTING": "RUNNING", "INITIALIZING": "CREATED"}.get(told, told)


def application_exceptions(record: Record) -> dict[str, object]:
    """``/applications/:applicationid/exceptions``: those of the job are with the job."""
    return {"exceptionHistory": {"entries": []}} if record else {}
