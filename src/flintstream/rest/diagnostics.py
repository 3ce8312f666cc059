"""Replies to requests of clients that know Flink: what is always empty here, threads, and the result of a job."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import TYPE_CHECKING

from flintstream.coordinator.asking import ask
from flintstream.rest.replies import ENDED, state, times

if TYPE_CHECKING:
    from flintstream.coordinator import registry
    from flintstream.rest.replies import Record

CHECKPOINT_TYPES = ("CONFIGURED", "FULL", "INCREMENTAL")
"""An incremental checkpoint is one as configured: whether files are shared depends on the settings of the job."""
RESULTS = {"FINISHED": "SUCCEEDED", "CANCELED": "CANCELED", "FAILED": "FAILED"}


def jars(address: str) -> dict[str, object]:
    """``/jars``: programs are not uploaded to the server."""
    return {"address": address, "files": []}


def datasets() -> dict[str, object]:
    """``/datasets``: what jobs cache is not kept after their program."""
    return {"dataSets": []}


def thread_dump() -> dict[str, object]:
    """``/jobmanager/thread-dump``: the threads of the server."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        "threadInfos": [
            {
                "threadName": names.get(number, str(number)),
                "stringifiedThreadInfo": f'"{names.get(number, number)}" Id={number}\n'
                + "".join(traceback.format_stack(frame)),
            }
            for number, frame in sys._current_frames().items()
        ]
    }


def execution_result(record: Record) -> dict[str, object]:
    """``/jobs/:jobid/execution-result``."""
    ended = state(record)
    if ended not in ENDED:
        return {"status": {"id": "IN_PROGRESS"}}
    result: dict[str, object] = {
        "id": record["job_id"],
        "application-status": RESULTS[ended],
        "accumulator-results": {},
        "net-runtime": times(record)["duration"],
    }
    if ended == "FAILED":
        text = str(record.get("error") or "the process of the job has ended")
        result["failure-cause"] = {"class": text.partition(":")[0], "stack-trace": text, "serialized-throwable": ""}
    return {"status": {"id": "COMPLETED"}, "job-execution-result": result}


def flame_graph() -> dict[str, object]:
    """``/jobs/:jobid/vertices/:vertexid/flamegraph``: as if ``rest.flamegraph.enabled`` were false."""
    return {"endTimestamp": -2}


def log_url(address: str, record: Record) -> dict[str, object]:
    """``/jobs/:jobid/jobmanager/log-url``: the request that returns the last lines of the log of the job."""
    return {"url": f"{address}/flintstream/jobs/{record['job_id']}/log"}


def take_checkpoint(entry: registry.Entry, kind: str) -> dict[str, object]:
    """Take a checkpoint of a job, of a kind of :data:`CHECKPOINT_TYPES`.

    Raises:
        FlintstreamError: It failed, or the job has ended.
    """
    return {"checkpointId": ask(entry, "checkpoint", full=kind == "FULL")["number"]}
