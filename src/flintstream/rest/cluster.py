"""Replies about the server itself, and about what stands for a cluster: the processes of running jobs."""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import TYPE_CHECKING

from flintstream.rest.replies import ENDED, now_ms, state, subtasks
from flintstream.rest.vertices import manager_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flintstream.rest.replies import Record

NO_RESOURCE: Mapping[str, object] = {
    "cpuCores": 0.0,
    "taskHeapMemory": 0,
    "taskOffHeapMemory": 0,
    "managedMemory": 0,
    "networkMemory": 0,
    "extendedResources": {},
}
MEMORY = (
    "frameworkHeap",
    "taskHeap",
    "frameworkOffHeap",
    "taskOffHeap",
    "networkMemory",
    "managedMemory",
    "jvmMetaspace",
    "jvmOverhead",
    "totalFlinkMemory",
    "totalProcessMemory",
)
JVM = (
    *("heapUsed", "heapCommitted", "heapMax", "nonHeapUsed", "nonHeapCommitted", "nonHeapMax"),
    *("directCount", "directUsed", "directMax", "mappedCount", "mappedUsed", "mappedMax"),
    *("nettyShuffleMemorySegmentsAvailable", "nettyShuffleMemorySegmentsUsed", "nettyShuffleMemorySegmentsTotal"),
    *("nettyShuffleMemoryAvailable", "nettyShuffleMemoryUsed", "nettyShuffleMemoryTotal"),
)
"""What Flink tells of a task manager, and is not known of the process of a job."""


def config(release: str) -> dict[str, object]:
    """``/config``."""
    return {
        "refresh-interval": 3000,
        "timezone-name": time.tzname[0],
        "timezone-offset": -time.timezone * 1000,
        "flink-version": release,
        "flink-revision": "",
        "features": {"web-submit": False, "web-cancel": True, "web-rescale": False, "web-history": False},
    }


def overview(records: Sequence[Record], release: str) -> dict[str, object]:
    """``/overview``."""
    states = [state(record) for record in records]
    running = _running(records)
    return {
        "taskmanagers": len(running),
        "slots-total": sum(_slots(record) for record in running),
        "slots-available": 0,
        "jobs-running": sum(item not in ENDED for item in states),
        "jobs-finished": states.count("FINISHED"),
        "jobs-cancelled": states.count("CANCELED"),
        "jobs-failed": states.count("FAILED"),
        "flink-version": release,
        "flink-commit": "",
    }


def _running(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if state(record) not in ENDED]


def _slots(record: Record) -> int:
    """Return how many tasks of a job run at the same time: those of its widest superstep."""
    widths: dict[int, int] = {}
    for vertex in record["plan"]["vertices"]:
        step = vertex["superstep"]
        widths[step] = max(widths.get(step, 0), vertex["parallelism"])
    return max(widths.values(), default=0)


def task_managers(records: Iterable[Record]) -> dict[str, object]:
    """``/taskmanagers``."""
    return {"taskmanagers": [_task_manager(record) for record in _running(records)]}


def _task_manager(record: Record) -> dict[str, object]:
    return {
        "id": manager_id(record),
        "path": f"{record['host']}:{record['pid']}",
        "dataPort": -1,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": now_ms(),
        "slotsNumber": _slots(record),
        "freeSlots": 0,
        "assignedTasks": subtasks(record),
        "totalResource": dict(NO_RESOURCE),
        "freeResource": dict(NO_RESOURCE),
        "hardware": {"cpuCores": os.cpu_count() or 0, "physicalMemory": _memory(), "freeMemory": 0, "managedMemory": 0},
        "memoryConfiguration": dict.fromkeys(MEMORY, 0),
    }


def _memory() -> int:
    """Return the memory of this machine (bytes)."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def task_manager(records: Iterable[Record], wanted: str) -> dict[str, object] | None:
    """``/taskmanagers/:taskmanagerid``; None if there is none."""
    for record in _running(records):
        if manager_id(record) == wanted:
            slot = {
                "jobId": record["job_id"],
                "resource": dict(NO_RESOURCE),
                "assignedTasks": subtasks(record),
            }
            metrics = {**dict.fromkeys(JVM, 0), "garbageCollectors": []}
            return {**_task_manager(record), "allocatedSlots": [slot], "metrics": metrics}
    return None


def environment() -> dict[str, object]:
    """``/jobmanager/environment``: the interpreter in place of a JVM."""
    return {
        "jvm": {
            "version": f"{platform.python_implementation()} {platform.python_version()}",
            "arch": platform.machine(),
            "options": [],
        },
        "classpath": [entry for entry in sys.path if entry],
    }
