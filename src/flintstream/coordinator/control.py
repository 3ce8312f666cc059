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
``record``         ``parts`` (or null)             what there is to tell of the job, or these parts of it; see
                                                   ``record_of``
``curves``         ``since`` (ms since the epoch)  samples of its totals that are later; see ``curves``
``log``                                            the last lines of the log of its process
``prometheus``                                     the same metrics in the text format of Prometheus
``savepoint``     ``directory`` (or null)          path
``checkpoint``    ``full``                         number and path; the path is null if it is in memory
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.channels.channel import new_key
from flintstream.channels.listener import Listener
from flintstream.common._text.strict_json import json_text
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import recent_log
from flintstream.coordinator.monitoring.descriptions import checkpoints_of, metrics_of, record_of, status_of
from flintstream.coordinator.monitoring.error_text import describe
from flintstream.coordinator.monitoring.measured import families
from flintstream.coordinator.monitoring.observed import ObservedJob
from flintstream.coordinator.rescaling import describe_change
from flintstream.errors import FlintstreamError, message_of, shorten
from flintstream.metrics.families import prometheus_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from flintstream.channels.channel import Channel
    from flintstream.coordinator.checkpointing.completed import Completed

LARGEST_PARALLELISM = 1 << 15
LONGEST_REQUEST = 1 << 16
LONGEST_ADDRESS = 100
"""Length in bytes that every system allows for the path of a Unix domain socket."""
LAST_REPLIES_SECONDS = 2.0
"""Longest time that a process waits at exit for replies in progress."""

_ARGUMENTS: dict[str, dict[str, tuple[type, ...]]] = {
    "record": {"parts": (list, type(None))},
    "curves": {"since": (int,)},
    "savepoint": {"directory": (str, type(None))},
    "checkpoint": {"full": (bool,)},
    "stop": {"directory": (str, type(None)), "drain": (bool,)},
    "rescale": {"parallelism": (int,), "vertices": (dict,), "wait": (bool,)},
}
"""The arguments of requests, and their types."""

_log = logging.getLogger(__name__)


class ControlledJob(ObservedJob, Protocol):
    """A job that others can stop and change."""

    @property
    def finished(self) -> threading.Event:
        """Set when it has ended."""

    def savepoint(self, directory: str | None, *, stop: bool = False, drain: bool = False) -> Future[str]:
        """Take a savepoint."""

    def checkpoint(self, *, full: bool = False) -> Future[Completed]:
        """Take a checkpoint."""

    def rescale(self, parallelism: int | None = None, vertices: Mapping[str, int] | None = None) -> Future[None]:
        """Change its parallelism."""

    def cancel(self) -> None:
        """Stop it."""


class Control:
    """Answers the requests for one job, in daemon threads."""

    def __init__(self, job: ControlledJob) -> None:
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
            "record": lambda parts=None: record_of(job, parts),
            "curves": lambda since=0: job.coordinator.statistics.curves.since(since),
            "log": recent_log.lines,
            "prometheus": lambda: prometheus_text(families(job)),
            "savepoint": lambda directory=None: job.savepoint(directory).result(),
            "checkpoint": self._checkpoint,
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

    def _reply(self, data: bytes | bytearray) -> dict[str, object]:
        try:
            request, arguments = _parse_request(data)
            if request not in self._requests:
                return {"error": f"unknown request {shorten(request)}: known are {', '.join(self._requests)}"}
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

    def _checkpoint(self, full: bool = False) -> dict[str, object]:
        done = self._job.checkpoint(full=full).result()
        return {"number": done.metadata.number, "path": None if done.store is None else done.where}

    def _rescale(
        self, parallelism: int | None = None, vertices: dict[str, Any] | None = None, wait: bool = True
    ) -> list[dict[str, object]]:
        for value in [parallelism] if vertices is None else vertices.values():
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_PARALLELISM:
                raise FlintstreamError(f"a parallelism must be 1 to {LARGEST_PARALLELISM}, but got {shorten(value)}")
        before = self._job.job.plan
        result = self._job.rescale(parallelism, vertices)
        if wait or result.done():
            result.result()
        return describe_change(before, self._job.job.plan)

    def _cancel(self) -> str:
        self._job.cancel()
        self._job.finished.wait()
        return self._job.status().name

    def _wait(self) -> dict[str, str | None]:
        self._job.finished.wait()
        error = self._job.result.exception()
        return {"state": self._job.status().name, "error": None if error is None else describe(error)}


def _parse_request(data: bytes | bytearray) -> tuple[str, dict[str, object]]:
    """Return the name of a request, and its arguments."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("request"), str):
        raise FlintstreamError("a request must be a JSON object with the member 'request'")
    return content.pop("request"), content


def _new_address() -> str:
    """Return a path for a socket, in a new directory that only this user can enter."""
    directory = tempfile.mkdtemp(prefix=registry.SOCKET_DIRECTORY)
    address = f"{directory}/{registry.SOCKET}"
    if len(os.fsencode(address)) > LONGEST_ADDRESS:
        Path(directory).rmdir()
        address = f"{tempfile.mkdtemp(prefix=registry.SOCKET_DIRECTORY, dir='/tmp')}/{registry.SOCKET}"
    return address
