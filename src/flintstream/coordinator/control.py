"""The control channel of a running job. Other processes of the same user ask it for its status, or to stop.

A request and its reply are one JSON document each, over a :mod:`channel <flintstream.channels.channel>` on a Unix
domain socket. Its key is in the job's entry of the :mod:`~flintstream.coordinator.registry`. Input is never unpickled.

================  ===============================  =========================================================
request           arguments                        result
================  ===============================  =========================================================
``status``                                         state, totals, watermark (ms since the epoch or null), and the
                                                   path of the file that standard error goes to (or null)
``checkpoints``                                    number of checkpoints, and those that are kept
``metrics``                                        name of the job, metrics of it, its tasks and its operators
``record``                                         what there is to tell of the job; see ``history.record_of``
``curves``         ``since`` (ms since the epoch)  samples of its totals that are later; see ``curves``
``log``                                            the last lines of the log of its process
``prometheus``                                     the same metrics in the text format of Prometheus
``savepoint``     ``directory`` (or null)          path
``stop``          ``directory``, ``drain``         path, after the job has stopped
``rescale``       ``parallelism`` or               name and parallelism of the operators, before and after; ``wait``
                  ``vertices`` (by id), ``wait``   for the first epoch with it
``cancel``                                         state, after the job has stopped
``wait``                                           how it has ended, and its error or null, when it has
================  ===============================  =========================================================
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.channels.channel import new_key
from flintstream.channels.listener import Listener
from flintstream.common._text.strict_json import json_text
from flintstream.coordinator import registry
from flintstream.coordinator.coordinator import described
from flintstream.coordinator.monitoring import output_file, recent_log
from flintstream.coordinator.monitoring.checkpoint_history import state_of
from flintstream.coordinator.monitoring.measured import families, of_job, of_operators, of_tasks, vertex_id
from flintstream.coordinator.rescaling import told
from flintstream.errors import FlintstreamError, message_of, shorten
from flintstream.metrics.families import prometheus_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.channels.channel import Channel
    from flintstream.coordinator.client import RunningJob

LARGEST_PARALLELISM = 1 << 15
LONGEST_REQUEST = 1 << 16
LONGEST_ADDRESS = 100
"""Length in bytes that every system allows for the path of a Unix domain socket."""
LAST_REPLIES_SECONDS = 2.0
"""Longest time that a process waits at exit for replies in progress."""

_ARGUMENTS: dict[str, dict[str, tuple[type, ...]]] = {
    "curves": {"since": (int,)},
    "savepoint": {"directory": (str, type(None))},
    "stop": {"directory": (str, type(None)), "drain": (bool,)},
    "rescale": {"parallelism": (int,), "vertices": (dict,), "wait": (bool,)},
}
"""The arguments of requests, and their types."""

_log = logging.getLogger(__name__)


class Control:
    """Answers the requests for one job, in daemon threads."""

    def __init__(self, job: RunningJob) -> None:
        """Prepare to answer for ``job``."""
        self._job = job
        self._pid = os.getpid()
        self._entry: registry.Entry | None = None
        self._listener: Listener | None = None
        self._closed = False
        self._closing = threading.Lock()
        self._replying: set[threading.Thread] = set()
        self._requests: dict[str, Callable[..., Any]] = {
            "status": lambda: status_of(job),
            "checkpoints": lambda: checkpoints_of(job),
            "metrics": lambda: metrics_of(job),
            "record": lambda: _record_of(job),
            "curves": lambda since=0: job.coordinator.tally.curves.since(since),
            "log": recent_log.lines,
            "prometheus": lambda: prometheus_text(families(job)),
            "savepoint": lambda directory=None: job.savepoint(directory).result(),
            "stop": self._stop,
            "rescale": self._rescale,
            "cancel": self._cancel,
            "wait": self._wait,
        }

    def start(self) -> None:
        """Register the job and start to answer. If the control channel cannot be opened, the job runs without one."""
        recent_log.keep()
        plan = self._job.job.plan
        try:
            address = _new_address()
            self._entry = registry.Entry(
                job_id=plan.job_id,
                name=plan.job_name,
                pid=self._pid,
                host=registry.host(),
                started_ms=time.time_ns() // 1_000_000,
                address=address,
                key=new_key().hex(),
            )
            key = bytes.fromhex(self._entry.key)
            self._listener = Listener(address, key, self._answer, name="flintstream-control")
            registry.add(self._entry)
        except (OSError, AttributeError) as error:  # AttributeError: no such sockets here
            _log.warning("'flintstream list' will not show the job '%s': %s", plan.job_name, error)
            self.close()
            return
        atexit.register(self.close)

    def close(self) -> None:
        """Refuse new requests, and return when pending replies are sent."""
        if os.getpid() != self._pid:  # a forked process inherits the exit handler
            return
        with self._closing:
            if not self._closed:
                self._closed = True
                if self._listener is not None:
                    self._listener.close()
                if self._entry is not None:
                    registry.remove(self._entry)
        until = time.monotonic() + LAST_REPLIES_SECONDS
        for thread in tuple(self._replying):
            thread.join(max(0.0, until - time.monotonic()))
        atexit.unregister(self.close)

    def _answer(self, channel: Channel) -> None:
        thread = threading.current_thread()
        with channel, contextlib.suppress(OSError):
            request = channel.receive(longest=LONGEST_REQUEST)
            if request is None:
                return
            self._replying.add(thread)
            try:
                channel.send(json_text(self._reply(request)).encode())
            finally:
                self._replying.discard(thread)

    def _reply(self, data: bytes | bytearray) -> dict[str, Any]:
        try:
            request, arguments = _parsed(data)
            if request not in self._requests:
                return {"error": f"there is no request {shorten(request)}, only {', '.join(self._requests)}"}
            for name, value in arguments.items():
                kinds = _ARGUMENTS.get(request, {}).get(name, ())
                if not isinstance(value, kinds):
                    return {"error": f"the request '{request}' has no argument {shorten(name)}: {shorten(value)}"}
            return {"result": self._requests[request](**arguments)}
        except Exception as error:  # noqa: BLE001 - the caller gets it as the reply
            return {"error": message_of(error) or type(error).__name__}

    def _stop(self, directory: str | None = None, drain: bool = False) -> str:
        path = self._job.savepoint(directory, stop=True, drain=drain).result()
        self._job.finished.wait()
        return path

    def _rescale(
        self, parallelism: int | None = None, vertices: dict[str, Any] | None = None, wait: bool = True
    ) -> list[dict[str, Any]]:
        for value in [parallelism] if vertices is None else vertices.values():
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_PARALLELISM:
                raise FlintstreamError(f"a parallelism must be 1 to {LARGEST_PARALLELISM}, but got {shorten(value)}")
        before = self._job.job.plan
        result = self._job.rescale(parallelism, vertices)
        if wait or result.done():
            result.result()
        return told(before, self._job.job.plan)

    def _cancel(self) -> str:
        self._job.cancel()
        self._job.finished.wait()
        return self._job.status().name

    def _wait(self) -> dict[str, str | None]:
        self._job.finished.wait()
        error = self._job.result.exception()
        return {"state": self._job.status().name, "error": None if error is None else described(error)}


def _parsed(data: bytes | bytearray) -> tuple[str, dict[str, Any]]:
    """Return the name of a request, and its arguments."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("request"), str):
        raise FlintstreamError("a request must be a JSON object with the member 'request'")
    return content.pop("request"), content


def status_of(job: RunningJob) -> dict[str, Any]:
    """Return the progress of a job, as JSON."""
    progress = job.coordinator.tally.progress
    return {
        "state": job.status().name,
        "epochs": progress.epochs,
        "restarts": progress.restarts,
        "checkpoints": progress.checkpoints,
        "failed_checkpoints": job.coordinator.checkpoints.failed,
        "records_in": progress.records_in,
        "records_out": progress.records_out,
        "watermark": None if progress.watermark == -(2**63) else progress.watermark,
        "log_file": output_file.own(),
    }


def checkpoints_of(job: RunningJob) -> dict[str, Any]:
    """Return the checkpoints of a job, as JSON. The job would go back to the last one in ``kept``."""
    checkpoints = job.coordinator.checkpoints
    settings, latest = checkpoints.settings, checkpoints.latest
    return {
        "interval_ms": settings.interval_ms,
        "completed": job.coordinator.tally.progress.checkpoints,
        "failed": checkpoints.failed,
        "last_duration_ms": checkpoints.duration_ms,
        "started_from": settings.restore_path,
        "settings": {
            "min_pause_ms": settings.min_pause_ms,
            "timeout_ms": settings.timeout_ms,
            "tolerable_failures": settings.tolerable_failures,
            "retained": settings.retained,
            "exactly_once": settings.exactly_once,
            "incremental": settings.incremental,
            "keep_when_cancelled": settings.keep_when_cancelled,
            "keep_when_failed": settings.keep_when_failed,
            "directory": None if checkpoints.store is None else checkpoints.store.uri(""),
            "savepoint_directory": settings.savepoint_directory,
            "backend": job.job.plan.settings.state.backend,
            "changelog": checkpoints.logged,
            "materialize_interval_ms": settings.materialize_interval_ms,
        },
        "history": checkpoints.history.told(),
        "state": [] if latest is None else state_of(latest.metadata),
        "kept": [
            {
                "number": each.metadata.number,
                "kind": each.metadata.purpose,
                "path": each.where,
                "created_ms": each.metadata.created_ms,
                "bytes": each.metadata.size(),
            }
            for each in tuple(checkpoints.completed)
        ],
    }


def metrics_of(job: RunningJob) -> dict[str, Any]:
    """Return the metrics of a job, its tasks and its operators, as JSON."""
    vertices = {node.id: vertex_id(chain) for chain in job.job.plan.chains for node in chain.nodes}
    operators = [{**asdict(each), "vertex": vertices[each.operator_id]} for each in of_operators(job)]
    load, clock = job.coordinator.tally.load, job.coordinator.lasting.clock
    chains = {chain.id: chain for chain in load.plan.chains}
    lived_ms, totals = load.lived_ms(clock.now_ms()), dict(zip(chains, load.by_chain(), strict=True))
    tasks = []
    for (chain, subtask), values in of_tasks(load, clock.now_ms()).items():
        _, _, busy, held = (each[subtask] for each in totals[chain])
        spent = {"busy": busy, "held": held, "idle": max(0, lived_ms - busy - held)}
        place = {"task": chains[chain].name, "vertex": vertex_id(chains[chain]), "subtask": subtask}
        tasks.append({**place, "values": values, "spent_ms": spent})
    return {"job": job.job.plan.job_name, "totals": of_job(job), "tasks": tasks, "operators": operators}


def _record_of(job: RunningJob) -> dict[str, Any]:
    from flintstream.coordinator.monitoring.history import record_of  # noqa: PLC0415 - it uses this module

    return record_of(job)


def _new_address() -> str:
    """Return a path for a socket, in a new directory that only this user can enter."""
    directory = tempfile.mkdtemp(prefix=registry.SOCKET_DIRECTORY)
    address = f"{directory}/{registry.SOCKET}"
    if len(os.fsencode(address)) > LONGEST_ADDRESS:
        Path(directory).rmdir()
        address = f"{tempfile.mkdtemp(prefix=registry.SOCKET_DIRECTORY, dir='/tmp')}/{registry.SOCKET}"
    return address
