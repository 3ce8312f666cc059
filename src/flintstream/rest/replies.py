"""Records of jobs in the shape of Flink's replies: names and types as a Flink 2.3 server gives them.

A field that has no meaning here has the value that Flink gives where it knows nothing, such as -1 or 0.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flintstream.common.job_status import JobStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STATES = ("CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED", "RECONCILING")
TASK_STATES = (*STATES, "INITIALIZING")
JOB_STATES = (*(status.name for status in JobStatus), "INITIALIZING")
ENDED = {"FINISHED", "CANCELED", "FAILED"}
OK, LOW, HIGH = "ok", "low", "high"
LITTLE, MUCH = 0.1, 0.5
"""Shares of time from which on back-pressure is low and high, as in Flink."""

Record = dict[str, Any]


def now_ms() -> int:
    """Return the time (ms since the epoch)."""
    return time.time_ns() // 1_000_000


def state(record: Record) -> str:
    """Return Flink's state of a job. A lost one has failed."""
    told = str(record["status"]["state"])
    return "FAILED" if told == "LOST" else told


def times(record: Record) -> dict[str, int]:
    """Return start, end and duration of a job (ms)."""
    end = record.get("ended_ms")
    return {
        "start-time": record["started_ms"],
        "end-time": -1 if end is None else end,
        "duration": (end or now_ms()) - record["started_ms"],
    }


def _subtasks(record: Record) -> int:
    return sum(vertex["parallelism"] for vertex in record["plan"]["vertices"])


def _task_state(record: Record) -> str:
    return {"RESTARTING": "SCHEDULED", "CANCELLING": "CANCELING"}.get(state(record), state(record))


def config(release: str) -> dict[str, Any]:
    """``/config``."""
    return {
        "refresh-interval": 3000,
        "timezone-name": time.tzname[0],
        "timezone-offset": -time.timezone * 1000,
        "flink-version": release,
        "flink-revision": "",
        "features": {"web-submit": False, "web-cancel": True, "web-rescale": False, "web-history": False},
    }


def overview(records: Sequence[Record], release: str) -> dict[str, Any]:
    """``/overview``."""
    states = [state(record) for record in records]
    return {
        "taskmanagers": 0,
        "slots-total": 0,
        "slots-available": 0,
        "jobs-running": sum(each not in ENDED for each in states),
        "jobs-finished": states.count("FINISHED"),
        "jobs-cancelled": states.count("CANCELED"),
        "jobs-failed": states.count("FAILED"),
        "flink-version": release,
        "flink-commit": "",
    }


def jobs(records: Iterable[Record]) -> dict[str, Any]:
    """``/jobs``."""
    return {"jobs": [{"id": record["job_id"], "status": state(record)} for record in records]}


def jobs_overview(records: Iterable[Record]) -> dict[str, Any]:
    """``/jobs/overview``."""
    return {
        "jobs": [
            {
                "jid": record["job_id"],
                "name": record["name"],
                "jobType": _type(record),
                "schedulerType": "Default",
                **times(record),
                "state": state(record),
                "last-modification": record.get("ended_ms") or record["started_ms"],
                "tasks": {
                    **dict.fromkeys((each.lower() for each in TASK_STATES), 0),
                    _task_state(record).lower(): _subtasks(record),
                    "total": _subtasks(record),
                },
                "pending-operators": 0,
            }
            for record in records
        ]
    }


def _type(record: Record) -> str:
    return "BATCH" if record["plan"]["batch"] else "STREAMING"


def job(record: Record) -> dict[str, Any]:
    """``/jobs/:jobid``."""
    return {
        "jid": record["job_id"],
        "application-id": record["job_id"],
        "name": record["name"],
        "isStoppable": False,
        "state": state(record),
        "job-type": _type(record),
        "schedulerType": "Default",
        **times(record),
        "maxParallelism": -1,
        "now": now_ms(),
        "timestamps": {
            **dict.fromkeys(JOB_STATES, 0),
            "CREATED": record["started_ms"],
            state(record): record.get("ended_ms") or record["started_ms"],
        },
        "vertices": [_vertex(record, vertex) for vertex in record["plan"]["vertices"]],
        "pending-operators": 0,
        "status-counts": {**dict.fromkeys(TASK_STATES, 0), _task_state(record): len(record["plan"]["vertices"])},
        **plan(record),
    }


def _vertex(record: Record, vertex: dict[str, Any]) -> dict[str, Any]:
    counted = [_counts(record, vertex, subtask) for subtask in range(vertex["parallelism"])]
    return {
        "id": vertex["id"],
        "slotSharingGroupId": "0" * 32,
        "name": vertex["name"],
        "maxParallelism": vertex["max_parallelism"],
        "parallelism": vertex["parallelism"],
        "status": _task_state(record),
        **times(record),
        "tasks": {**dict.fromkeys(TASK_STATES, 0), _task_state(record): vertex["parallelism"]},
        "metrics": {
            name: value if name.endswith("complete") else sum(each[name] for each in counted)
            for name, value in counted[0].items()
        },
    }


def _counts(record: Record, vertex: dict[str, Any], subtask: int) -> dict[str, Any]:
    """Return what a subtask read and wrote. Bytes are not known, which Flink calls not complete."""
    operators = [
        each["values"]
        for each in record["metrics"]["operators"]
        if each["vertex"] == vertex["id"] and each["subtask"] == subtask
    ]
    return {
        "read-bytes": 0,
        "read-bytes-complete": False,
        "write-bytes": 0,
        "write-bytes-complete": False,
        "read-records": operators[0].get("numRecordsIn", 0) if operators else 0,
        "read-records-complete": True,
        "write-records": operators[-1].get("numRecordsOut", 0) if operators else 0,
        "write-records-complete": True,
        "accumulated-backpressured-time": 0,
        "accumulated-idle-time": 0,
        "accumulated-busy-time": 0.0,
    }


def plan(record: Record) -> dict[str, Any]:
    """``/jobs/:jobid/plan``."""
    nodes = []
    for vertex in record["plan"]["vertices"]:
        first, *others = (operator["name"] for operator in vertex["operators"])
        node: dict[str, Any] = {
            "id": vertex["id"],
            "operator": "",
            "parallelism": vertex["parallelism"],
            "operator_strategy": "",
            "description": "".join([f"{first}<br/>", *(f"+- {name}<br/>" for name in others)]),
            "optimizer_properties": {},
        }
        if vertex["inputs"]:
            node["inputs"] = [
                {"id": each["id"], "num": number, "exchange": "pipelined", "ship_strategy": each["ship_strategy"]}
                for number, each in enumerate(vertex["inputs"])
            ]
        nodes.append(node)
    return {"plan": {"jid": record["job_id"], "name": record["name"], "type": _type(record), "nodes": nodes}}


def exceptions(record: Record) -> dict[str, Any]:
    """``/jobs/:jobid/exceptions``, the latest first."""
    entries = [
        {
            "exceptionName": each["type"],
            "stacktrace": each["text"],
            "timestamp": each["at_ms"],
            "failureLabels": {},
            "taskName": None,
            "endpoint": None,
            "taskManagerId": None,
            "concurrentExceptions": [],
        }
        for each in reversed(record["exceptions"])
    ]
    return {"exceptionHistory": {"entries": entries, "truncated": False}}


def checkpoints(record: Record) -> dict[str, Any]:
    """``/jobs/:jobid/checkpoints``, with the retained ones as history."""
    told = record["checkpoints"]
    history = [_checkpoint(record, each) for each in reversed(told["kept"])]
    sizes = [each["state_size"] for each in history]
    unknown = _summary([0] if history else [])
    return {
        "counts": {
            "restored": int(told["started_from"] is not None),
            "total": told["completed"] + told["failed"],
            "in_progress": 0,
            "completed": told["completed"],
            "failed": told["failed"],
        },
        "summary": {
            "checkpointed_size": _summary(sizes),
            "state_size": _summary(sizes),
            "end_to_end_duration": _summary([told["last_duration_ms"]] if told["completed"] else []),
            "alignment_buffered": unknown,
            "processed_data": unknown,
            "persisted_data": unknown,
        },
        "latest": {
            "completed": next((each for each in history if not each["is_savepoint"]), None),
            "savepoint": next((each for each in history if each["is_savepoint"]), None),
            "failed": None,
            "restored": None,
        },
        "history": history,
    }


def _checkpoint(record: Record, kept: dict[str, Any]) -> dict[str, Any]:
    savepoint = kept["kind"] == "savepoint"
    return {
        "className": "completed",
        "id": kept["number"],
        "status": "COMPLETED",
        "is_savepoint": savepoint,
        "savepointFormat": "CANONICAL" if savepoint else None,
        "trigger_timestamp": kept["created_ms"],
        "latest_ack_timestamp": kept["created_ms"],
        "checkpointed_size": kept["bytes"],
        "state_size": kept["bytes"],
        "end_to_end_duration": record["checkpoints"]["last_duration_ms"],
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": _subtasks(record),
        "num_acknowledged_subtasks": _subtasks(record),
        "checkpoint_type": "SAVEPOINT" if savepoint else "CHECKPOINT",
        "tasks": {},
        "external_path": kept["path"],
        "discarded": False,
    }


def _summary(values: Sequence[int]) -> dict[str, Any]:
    names = ("p50", "p90", "p95", "p99", "p999")
    if not values:
        return {"min": 0, "max": 0, "avg": 0, **dict.fromkeys(names, "NaN")}
    ordered = sorted(values)
    shares = (0.5, 0.9, 0.95, 0.99, 0.999)
    quantiles = {
        n: float(ordered[min(len(ordered) - 1, int(s * len(ordered)))]) for n, s in zip(names, shares, strict=True)
    }
    return {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) // len(ordered), **quantiles}


def metrics(values: Mapping[str, Any], wanted: str | None) -> list[dict[str, str]]:
    """Names of metrics, or the values of those in a list with commas between them."""
    if wanted is None:
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in wanted.split(",") if name in values]


def vertex_metrics(record: Record, vertex: str) -> dict[str, Any]:
    """Return the metrics of a vertex by Flink's names: ``0.busyTimeMsPerSecond``, ``0.Map.numRecordsIn``."""
    found = {}
    for each in record["metrics"]["tasks"]:
        if each["vertex"] == vertex:
            found.update({f"{each['subtask']}.{name}": value for name, value in each["values"].items()})
    for each in record["metrics"]["operators"]:
        if each["vertex"] == vertex:
            operator = each["operator"].replace(" ", "_").replace(":", "_").replace(".", "_")
            found.update({f"{each['subtask']}.{operator}.{name}": value for name, value in each["values"].items()})
    return found


def watermarks(record: Record, vertex: str) -> list[dict[str, str]]:
    """``/jobs/:jobid/vertices/:vertexid/watermarks``."""
    found: dict[int, str] = {}
    for each in record["metrics"]["operators"]:
        if each["vertex"] == vertex:
            found.setdefault(each["subtask"], str(each["values"].get("currentInputWatermark", -(2**63))))
    return [{"id": f"{subtask}.currentInputWatermark", "value": value} for subtask, value in sorted(found.items())]


def back_pressure(record: Record, vertex: str) -> dict[str, Any]:
    """``/jobs/:jobid/vertices/:vertexid/backpressure``."""
    subtasks = []
    for each in record["metrics"]["tasks"]:
        if each["vertex"] == vertex:
            held = each["values"]["backPressuredTimeMsPerSecond"] / 1000
            subtasks.append(
                {
                    "subtask": each["subtask"],
                    "backpressureLevel": _level(held),
                    "ratio": held,
                    "idleRatio": each["values"]["idleTimeMsPerSecond"] / 1000,
                    "busyRatio": each["values"]["busyTimeMsPerSecond"] / 1000,
                    "backpressure-level": _level(held),
                }
            )
    level = _level(max((each["ratio"] for each in subtasks), default=0.0))
    return {
        "status": "ok",
        "backpressureLevel": level,
        "end-timestamp": now_ms(),
        "subtasks": subtasks,
        "backpressure-level": level,
    }


def _level(share: float) -> str:
    return OK if share <= LITTLE else LOW if share <= MUCH else HIGH
