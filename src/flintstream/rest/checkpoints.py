"""Replies about the checkpoints and savepoints of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.rest.replies import subtasks, summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.rest.replies import Record

NEVER_MS = 2**63 - 1
"""Flink's interval of a job that takes no checkpoints."""
DEFAULTS: Mapping[str, object] = {
    "min_pause_ms": 0,
    "timeout_ms": 0,
    "tolerable_failures": 0,
    "exactly_once": True,
    "keep_when_cancelled": False,
    "keep_when_failed": False,
    "directory": None,
    "backend": "hashmap",
    "changelog": False,
    "materialize_interval_ms": None,
}
"""The settings in a record of an older release."""


def history(record: Record) -> list[dict[str, Any]]:
    """Return the checkpoints of a job, the latest first."""
    told = record["checkpoints"]
    kept = {item["number"]: item for item in told["kept"]}
    entries = [_checkpoint(record, item, discarded=item["number"] not in kept) for item in told.get("history", [])]
    known = {entry["id"] for entry in entries}
    for number, item in kept.items():  # from an earlier run, or of an older release
        if number not in known:
            entries.append(_checkpoint(record, _from_kept(item), discarded=False))
    return sorted(entries, key=lambda entry: int(entry["id"]), reverse=True)


def _from_kept(kept: dict[str, object]) -> dict[str, object]:
    return {
        **{name: kept[name] for name in ("number", "kind", "bytes", "path")},
        "status": "COMPLETED",
        "at_ms": kept["created_ms"],
        "duration_ms": 0,
        "new_bytes": kept["bytes"],
        "reason": None,
        "vertices": [],
    }


def _checkpoint(record: Record, entry: dict[str, Any], *, discarded: bool) -> dict[str, object]:
    savepoint, failed = entry["kind"] == "savepoint", entry["status"] == "FAILED"
    ended_ms, number = entry["at_ms"] + entry["duration_ms"], subtasks(record)
    told = {
        "className": "failed" if failed else "completed",
        "id": entry["number"],
        "status": entry["status"],
        "is_savepoint": savepoint,
        "savepointFormat": "CANONICAL" if savepoint else None,
        "trigger_timestamp": entry["at_ms"],
        "latest_ack_timestamp": ended_ms,
        "checkpointed_size": entry["new_bytes"],
        "state_size": entry["bytes"],
        "end_to_end_duration": entry["duration_ms"],
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": number,
        "num_acknowledged_subtasks": 0 if failed else number,
        "checkpoint_type": "SAVEPOINT" if savepoint else "CHECKPOINT",
        "tasks": {},
    }
    if failed:
        return {**told, "failure_timestamp": ended_ms, "failure_message": entry["reason"]}
    return {**told, "external_path": entry["path"], "discarded": discarded and not savepoint}


def checkpoints(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/checkpoints``."""
    told, entries = record["checkpoints"], history(record)
    done = [entry for entry in entries if entry["status"] == "COMPLETED"]
    unknown = summary([0] if done else [])
    restored = _restored_checkpoint(record)
    return {
        "counts": {
            "restored": int(told["started_from"] is not None) + record["status"]["restarts"] * int(bool(restored)),
            "total": told["completed"] + told["failed"],
            "in_progress": 0,
            "completed": told["completed"],
            "failed": told["failed"],
        },
        "summary": {
            "checkpointed_size": summary([item["checkpointed_size"] for item in done]),
            "state_size": summary([item["state_size"] for item in done]),
            "end_to_end_duration": summary([item["end_to_end_duration"] for item in done]),
            "alignment_buffered": unknown,
            "processed_data": unknown,
            "persisted_data": unknown,
        },
        "latest": {
            "completed": next((item for item in done if not item["is_savepoint"]), None),
            "savepoint": next((item for item in done if item["is_savepoint"]), None),
            "failed": next((entry for entry in entries if entry["status"] == "FAILED"), None),
            "restored": restored,
        },
        "history": entries,
    }


def _restored_checkpoint(record: Record) -> dict[str, object] | None:
    """Return the checkpoint that the job last went back to, or that it started from."""
    paths = {item["number"]: item["path"] for item in record["checkpoints"].get("history", [])}
    for failure in reversed(record["exceptions"]):
        number = failure.get("restart_from")
        if number is not None:
            at_ms = failure["at_ms"] + (failure.get("restart_ms") or 0)
            return {"id": number, "restore_timestamp": at_ms, "is_savepoint": False, "external_path": paths.get(number)}
    path = record["checkpoints"]["started_from"]
    if path is None:
        return None
    return {"id": 0, "restore_timestamp": record["started_ms"], "is_savepoint": True, "external_path": path}


def config(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/checkpoints/config``."""
    told = record["checkpoints"]
    settings = {**DEFAULTS, **told.get("settings", {})}
    interval_ms, materialization_ms = told["interval_ms"], settings["materialize_interval_ms"]
    return {
        "mode": "exactly_once" if settings["exactly_once"] else "at_least_once",
        "interval": NEVER_MS if interval_ms is None else interval_ms,
        "timeout": settings["timeout_ms"],
        "min_pause": settings["min_pause_ms"],
        "max_concurrent": 1,
        "externalization": {
            "enabled": settings["keep_when_cancelled"] or settings["keep_when_failed"],
            "delete_on_cancellation": not settings["keep_when_cancelled"],
        },
        "state_backend": "EmbeddedRocksDBStateBackend" if settings["backend"] == "rocksdb" else "HashMapStateBackend",
        "checkpoint_storage": "JobManagerCheckpointStorage"
        if settings["directory"] is None
        else "FileSystemCheckpointStorage",
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": settings["tolerable_failures"],
        "aligned_checkpoint_timeout": 0,
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": settings["changelog"],
        "changelog_periodic_materialization_interval": NEVER_MS if materialization_ms is None else materialization_ms,
        "changelog_storage": "filesystem" if settings["changelog"] else "memory",
    }


def details(record: Record, number: int) -> dict[str, object] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid``; None if it is not known."""
    found = next((item for item in history(record) if item["id"] == number), None)
    if found is None:
        return None
    return {**found, "tasks": {vertex["id"]: _task(found, vertex) for vertex in _vertices(record, number)}}


def _vertices(record: Record, number: int) -> list[dict[str, Any]]:
    for entry in record["checkpoints"].get("history", []):
        if entry["number"] == number:
            return list(entry["vertices"])
    return []


def _task(checkpoint: dict[str, Any], vertex: dict[str, Any]) -> dict[str, object]:
    slowest = max(vertex["ms"], default=0)
    return {
        "id": checkpoint["id"],
        "status": checkpoint["status"],
        "latest_ack_timestamp": checkpoint["trigger_timestamp"] + slowest,
        "checkpointed_size": sum(vertex["bytes"]),
        "state_size": sum(vertex["bytes"]),
        "end_to_end_duration": slowest,
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": len(vertex["bytes"]),
        "num_acknowledged_subtasks": len(vertex["bytes"]),
    }


def subtask_details(record: Record, number: int, vertex: str) -> dict[str, object] | None:
    """``/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid``; None if it is not known."""
    found = details(record, number)
    told = next((item for item in _vertices(record, number) if item["id"] == vertex), None)
    if found is None or told is None:
        return None
    nothing, sizes, times = _range([0]), _range(told["bytes"]), _range(told["ms"])
    return {
        **_task(found, told),
        "summary": {
            "checkpointed_size": sizes,
            "state_size": sizes,
            "end_to_end_duration": times,
            "checkpoint_duration": {"sync": times, "async": nothing},
            "alignment": {**dict.fromkeys(("processed", "persisted", "duration"), nothing), "buffered": summary([0])},
            "start_delay": nothing,
        },
        "subtasks": [
            {
                "className": "completed",
                "index": subtask,
                "status": "completed",
                "ack_timestamp": found["trigger_timestamp"] + millis,
                "end_to_end_duration": millis,
                "checkpointed_size": size,
                "state_size": size,
                "checkpoint": {"sync": millis, "async": 0},
                "alignment": {"buffered": 0, "processed": 0, "persisted": 0, "duration": 0},
                "start_delay": 0,
                "unaligned_checkpoint": False,
                "aborted": False,
            }
            for subtask, (size, millis) in enumerate(zip(told["bytes"], told["ms"], strict=False))
        ],
    }


def _range(values: list[int]) -> dict[str, object]:
    """Return statistics without quantiles, which Flink does not compute for a single checkpoint."""
    known = summary(values)
    return {**summary([]), **{name: known[name] for name in ("min", "max", "avg")}}
