"""What the replies of all requests need: names and types are those that a Flink 2.3 server gives.

A field that has no meaning here has the value that Flink gives where it knows nothing, such as -1 or 0.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flintstream.common.job_status import JobStatus
from flintstream.coordinator.monitoring.history import LOST

if TYPE_CHECKING:
    from collections.abc import Sequence

STATES = ("CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED", "RECONCILING")
TASK_STATES = (*STATES, "INITIALIZING")
JOB_STATES = (*(status.name for status in JobStatus), "INITIALIZING")
ENDED = {"FINISHED", "CANCELED", "FAILED"}

Record = dict[str, Any]


def now_ms() -> int:
    """Return the time (ms since the epoch)."""
    return time.time_ns() // 1_000_000


def state(record: Record) -> str:
    """Return Flink's state of a job: a lost one has failed, and one that does not answer is being looked for."""
    told = str(record["status"]["state"])
    return "FAILED" if told == LOST else told if told in JOB_STATES else "RECONCILING"


def times(record: Record) -> dict[str, int]:
    """Return start, end and duration of a job (ms). A lost one has ended when its record was last written."""
    end = record.get("ended_ms")
    if end is None and record["status"]["state"] == LOST and "metrics" in record:
        end = record["started_ms"] + record["metrics"]["totals"]["uptime"]
    return {
        "start-time": record["started_ms"],
        "end-time": -1 if end is None else end,
        "duration": (end or now_ms()) - record["started_ms"],
    }


def subtasks(record: Record) -> int:
    """Return the number of subtasks of a job."""
    return sum(vertex["parallelism"] for vertex in record["plan"]["vertices"])


def task_state(record: Record) -> str:
    """Return Flink's state of the tasks of a job."""
    return {"RESTARTING": "SCHEDULED", "CANCELLING": "CANCELING"}.get(state(record), state(record))


def job_type(record: Record) -> str:
    """Return Flink's name of the mode of a job."""
    return "BATCH" if record["plan"]["batch"] else "STREAMING"


def summary(values: Sequence[int]) -> dict[str, object]:
    """Return what Flink's statistics say of some values."""
    names = ("p50", "p90", "p95", "p99", "p999")
    if not values:
        return {"min": 0, "max": 0, "avg": 0, **dict.fromkeys(names, "NaN")}
    ordered = sorted(values)
    shares = (0.5, 0.9, 0.95, 0.99, 0.999)
    quantiles = {
        n: float(ordered[min(len(ordered) - 1, int(s * len(ordered)))]) for n, s in zip(names, shares, strict=True)
    }
    return {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) // len(ordered), **quantiles}
