"""Replies about the vertices of a job, which are its chains of operators, and about their subtasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.rest import replies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.rest.replies import Record

OK, LOW, HIGH = "ok", "low", "high"
LITTLE, MUCH = 0.1, 0.5
"""Shares of time from which on back-pressure is low and high, as in Flink."""
PHASES = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING")
"""The states that a task passes before its end."""


def counts(record: Record, vertex: dict[str, object], subtask: int) -> dict[str, float]:
    """Return what a subtask read and wrote, and its time. Bytes are not known, which Flink calls not complete."""
    operators = [
        item["values"]
        for item in record["metrics"]["operators"]
        if item["vertex"] == vertex["id"] and item["subtask"] == subtask
    ]
    spent: dict[str, int] = {}
    for item in record["metrics"]["tasks"]:
        if item["vertex"] == vertex["id"] and item["subtask"] == subtask:
            spent = item.get("spent_ms", {})  # not in a record of an older release
    return {
        "read-bytes": 0,
        "read-bytes-complete": False,
        "write-bytes": 0,
        "write-bytes-complete": False,
        "read-records": _count(operators[0], "numRecordsIn") if operators else 0,
        "read-records-complete": True,
        "write-records": _count(operators[-1], "numRecordsOut") if operators else 0,
        "write-records-complete": True,
        "accumulated-backpressured-time": spent.get("held", 0),
        "accumulated-idle-time": spent.get("idle", 0),
        "accumulated-busy-time": float(spent.get("busy", 0)),
    }


def _count(values: dict[str, object], name: str) -> int:
    value = values.get(name, 0)
    return value if isinstance(value, int) else 0  # a gauge of the program may have the name


def total(counted: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the sum of what several subtasks read and wrote."""
    return {
        name: value if name.endswith("complete") else sum(item[name] for item in counted)
        for name, value in counted[0].items()
    }


def in_a_job(record: Record, vertex: dict[str, Any]) -> dict[str, object]:
    """Return a vertex as the reply about its job has it."""
    told = replies.task_state(record)
    return {
        "id": vertex["id"],
        "slotSharingGroupId": "0" * 32,
        "name": vertex["name"],
        "maxParallelism": vertex["max_parallelism"],
        "parallelism": vertex["parallelism"],
        "status": told,
        **replies.times(record),
        "tasks": {**dict.fromkeys(replies.TASK_STATES, 0), told: vertex["parallelism"]},
        "metrics": total([counts(record, vertex, subtask) for subtask in range(vertex["parallelism"])]),
    }


def vertex(record: Record, found: dict[str, Any]) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid``."""
    subtasks = [subtask(record, found, number) for number in range(found["parallelism"])]
    return {
        "id": found["id"],
        "name": found["name"],
        "parallelism": found["parallelism"],
        "maxParallelism": found["max_parallelism"],
        "now": replies.now_ms(),
        "subtasks": subtasks,
        "aggregated": _aggregate(subtasks),
    }


def subtask(record: Record, found: dict[str, object], number: int) -> dict[str, Any]:
    """``/jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex``, and the same for its attempt."""
    times = replies.times(record)
    return {
        "subtask": number,
        "status": replies.task_state(record),
        "attempt": record["status"]["restarts"],
        "endpoint": record["host"],
        **times,
        "metrics": counts(record, found, number),
        "taskmanager-id": manager_id(record),
        "status-duration": {**dict.fromkeys(PHASES, 0), "RUNNING": times["duration"]},
        "start_time": times["start-time"],
    }


def manager_id(record: Record) -> str:
    """Return the id of what stands for a task manager: the process of a job's driver, behind which its executors are.

    >>> manager_id({"host": "box", "pid": 17})
    'box-17'
    """
    return f"{record['host']}-{record['pid']}"


def _aggregate(subtasks: Sequence[dict[str, Any]]) -> dict[str, object]:
    def over(part: str) -> dict[str, object]:
        names = [name for name in subtasks[0][part] if not name.endswith("complete")]
        return {name: _summary([item[part][name] for item in subtasks]) for name in names}

    return {"metrics": over("metrics"), "status-duration": over("status-duration")}


def _summary(values: Sequence[float]) -> dict[str, int]:
    ordered = sorted(int(value) for value in values)

    def at(share: float) -> int:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {
        "min": ordered[0],
        "max": ordered[-1],
        "avg": sum(ordered) // len(ordered),
        "sum": sum(ordered),
        "median": at(0.5),
        "p25": at(0.25),
        "p75": at(0.75),
        "p95": at(0.95),
    }


def subtask_times(record: Record, found: dict[str, Any]) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/subtasktimes``."""
    times = replies.times(record)
    stamps = {**dict.fromkeys(replies.TASK_STATES, 0), "CREATED": times["start-time"], "RUNNING": times["start-time"]}
    if times["end-time"] >= 0:
        stamps[replies.task_state(record)] = times["end-time"]
    return {
        "id": found["id"],
        "name": found["name"],
        "now": replies.now_ms(),
        "subtasks": [
            {"subtask": number, "endpoint": record["host"], "duration": times["duration"], "timestamps": dict(stamps)}
            for number in range(found["parallelism"])
        ],
    }


def task_managers(record: Record, found: dict[str, Any]) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/taskmanagers``."""
    subtasks = [subtask(record, found, number) for number in range(found["parallelism"])]
    told = replies.task_state(record)
    return {
        "id": found["id"],
        "name": found["name"],
        "now": replies.now_ms(),
        "taskmanagers": [
            {
                "endpoint": record["host"],
                "status": told,
                **replies.times(record),
                "metrics": total([item["metrics"] for item in subtasks]),
                "status-counts": {**dict.fromkeys(replies.TASK_STATES, 0), told: len(subtasks)},
                "taskmanager-id": manager_id(record),
                "aggregated": _aggregate(subtasks),
            }
        ],
    }


def accumulators(record: Record, found: dict[str, object]) -> dict[str, object]:  # noqa: ARG001 - there are none
    """``/jobs/:jobid/vertices/:vertexid/accumulators``: programs in Python have none."""
    return {"id": found["id"], "user-accumulators": []}


def subtask_accumulators(record: Record, found: dict[str, Any]) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/subtasks/accumulators``."""
    return {
        "id": found["id"],
        "parallelism": found["parallelism"],
        "subtasks": [
            {
                "subtask": number,
                "attempt": record["status"]["restarts"],
                "endpoint": record["host"],
                "user-accumulators": [],
            }
            for number in range(found["parallelism"])
        ],
    }


def attempt_accumulators(record: Record, found: dict[str, object], number: int) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex/attempts/:attempt/accumulators``."""
    attempt = record["status"]["restarts"]
    name = f"{record['job_id']}_{found['id']}_{number}_{attempt}"
    return {"subtask": number, "attempt": attempt, "id": name, "user-accumulators": []}


def watermarks(record: Record, found: dict[str, object]) -> list[dict[str, str]]:
    """``/jobs/:jobid/vertices/:vertexid/watermarks``."""
    known: dict[int, str] = {}
    for item in record["metrics"]["operators"]:
        if item["vertex"] == found["id"]:
            known.setdefault(item["subtask"], str(item["values"].get("currentInputWatermark", -(2**63))))
    return [{"id": f"{subtask}.currentInputWatermark", "value": value} for subtask, value in sorted(known.items())]


def back_pressure(record: Record, found: dict[str, object]) -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/backpressure``."""
    subtasks = []
    for item in record["metrics"]["tasks"]:
        if item["vertex"] == found["id"]:
            held = item["values"]["backPressuredTimeMsPerSecond"] / 1000
            subtasks.append(
                {
                    "subtask": item["subtask"],
                    "backpressureLevel": _level(held),
                    "ratio": held,
                    "idleRatio": item["values"]["idleTimeMsPerSecond"] / 1000,
                    "busyRatio": item["values"]["busyTimeMsPerSecond"] / 1000,
                    "backpressure-level": _level(held),
                }
            )
    level = _level(max((item["ratio"] for item in subtasks), default=0.0))
    return {
        "status": "ok",
        "backpressureLevel": level,
        "end-timestamp": replies.now_ms(),
        "subtasks": subtasks,
        "backpressure-level": level,
    }


def _level(share: float) -> str:
    return OK if share <= LITTLE else LOW if share <= MUCH else HIGH
