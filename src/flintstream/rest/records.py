"""What is known of the jobs of this user: running ones are asked, ended ones have left a record."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flintstream.coordinator import registry
from flintstream.coordinator.asking import JobGoneError, JobSilentError, ask, ask_all
from flintstream.coordinator.monitoring import history
from flintstream.coordinator.monitoring.descriptions import PARTS
from flintstream.coordinator.monitoring.record_shape import fault_of
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Callable

Record = dict[str, Any]


UNKNOWN = "UNKNOWN"
"""The state of a job whose process does not answer, such as one that is stopped."""


class RefusedError(FlintstreamError):
    """A request cannot be answered."""

    def __init__(self, status: int, text: str, *more: str) -> None:
        """Refuse with this HTTP status, and with ``more`` texts if one is not enough."""
        super().__init__(text)
        self.status = status
        self.texts = (text, *more)


def records(*parts: str) -> list[Record]:
    """Return what there is to tell of all jobs, running ones first: at least these parts of their records."""
    found: dict[str, Record] = {}
    running = registry.entries()
    for entry, replies in zip(running, ask_all(running, "record", parts=parts), strict=True):
        if isinstance(replies, JobGoneError):
            continue
        told = _silent(entry, replies) if isinstance(replies, FlintstreamError) else _living(entry, replies[0], parts)
        found[entry.job_id] = told
    for record in history.ended_jobs():
        found.setdefault(record["job_id"], record)
    return list(found.values())


def _living(entry: registry.Entry, reply: Any, parts: tuple[str, ...]) -> Record:
    fault = fault_of(reply, kept=False, without=PARTS.keys() - parts)
    if fault is not None:
        text = f"the job '{entry.name}' (process {entry.pid}) sent a record in an unexpected format: {fault}"
        return _silent(entry, FlintstreamError(text))
    return {**reply, "job_id": entry.job_id, "started_ms": entry.started_ms, "ended_ms": None}


def _silent(entry: registry.Entry, error: FlintstreamError) -> Record:
    """Return what is known of a job that cannot be asked: its last record in the history, or else its entry."""
    record = _history_record(entry.job_id, entry) or _entry_alone(entry)
    status = {**record["status"], "state": UNKNOWN}
    return {**record, "status": status, "started_ms": entry.started_ms, "ended_ms": None, "error": str(error)}


def _entry_alone(entry: registry.Entry) -> Record:
    counts = dict.fromkeys(("epochs", "restarts", "checkpoints", "records_in", "records_out"), 0)
    return {
        **{name: getattr(entry, name) for name in ("job_id", "name", "host", "pid")},
        "plan": {"batch": False, "vertices": []},
        "status": {"state": UNKNOWN, **counts, "watermark": None},
        "checkpoints": {"interval_ms": None, "completed": 0, "failed": 0, "started_from": None, "kept": []},
        "metrics": {"totals": {"uptime": 0}, "tasks": [], "operators": []},
        "exceptions": [],
        "configuration": {},
    }


def record_of(job: str, *parts: str) -> Record:
    """Return what there is to tell of a job: at least these parts of its record.

    Raises:
        RefusedError: There is no such job.
    """
    entry = entry_of(job)
    if entry is not None:
        try:
            return _living(entry, ask(entry, "record", parts=parts), parts)
        except JobGoneError:
            pass
        except FlintstreamError as error:
            return _silent(entry, error)
    return _ended_record(job)


def _ended_record(job: str) -> Record:
    for record in history.ended_jobs():
        if record["job_id"] == job:
            return record
    raise RefusedError(404, f"Job {job} not found")


def _history_record(job: str, entry: registry.Entry | None) -> Record:
    """Return the record in the history; an empty one for a job that runs without."""
    if entry is None:
        return _ended_record(job)
    return next((record for record in history.records() if record["job_id"] == job), {})


def curves_of(job: str, since_ms: int) -> list[Any]:
    """Return the samples of a job that are later than a time (ms since the epoch)."""
    entry = entry_of(job)
    if entry is not None:
        with suppress(JobGoneError, JobSilentError):
            return list(ask(entry, "curves", since=since_ms))
    return [sample for sample in _history_record(job, entry).get("curves", []) if sample["at_ms"] > since_ms]


def log_of(job: str) -> list[Any]:
    """Return the last lines of the log of the process of a job."""
    entry = entry_of(job)
    if entry is not None:
        with suppress(JobGoneError, JobSilentError):
            return list(ask(entry, "log"))
    return list(_history_record(job, entry).get("log", []))


def entry_of(job: str) -> registry.Entry | None:
    """Return how to reach a running job."""
    checked_id(job, "jobid")
    return next((entry for entry in registry.entries() if entry.job_id == job), None)


def checked_id(text: str, name: str) -> None:
    """Refuse what is not an id."""
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise RefusedError(400, f'Cannot resolve path parameter ({name}) from value "{text}".')


def cancel(job: str) -> None:
    """Cancel a job; return when it has ended.

    Raises:
        RefusedError: It is not known, or has ended.
    """
    entry = entry_of(job)
    if entry is None:
        _ended_record(job)
        raise RefusedError(409, f"Job {job} has already ended")
    with suppress(JobGoneError):
        ask(entry, "cancel")


def rescale(job: str, **arguments: object) -> None:
    """Ask a job to go on with another parallelism; see ``control``.

    Raises:
        RefusedError: It is not known, has ended, or cannot run like that.
    """
    entry = entry_of(job)
    if entry is None:
        _ended_record(job)
        raise RefusedError(409, f"Job {job} has already ended")
    try:
        ask(entry, "rescale", **arguments)
    except JobGoneError as error:
        raise RefusedError(409, str(error)) from None
    except JobSilentError:
        raise
    except FlintstreamError as error:
        raise RefusedError(400, str(error)) from None


class Triggers:
    """Savepoints that were asked for, by the id of the request."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[tuple[str, str], dict[str, Any]] = {}

    def start(self, job: str, request: str, wanted: str | None = None, **arguments: Any) -> str:
        """Ask a job in a thread of its own, and return the id of the request, ``wanted`` if that is given."""
        return self.begin(job, lambda entry: {"location": ask(entry, request, **arguments)}, wanted)

    def begin(self, job: str, work: Callable[[registry.Entry], dict[str, Any]], wanted: str | None = None) -> str:
        """Run ``work`` in a thread of its own, and return the id of the request, ``wanted`` if that is given."""
        entry = entry_of(job)
        if entry is None:
            raise RefusedError(404, f"Job {job} not found")
        trigger = wanted or secrets.token_hex(16)
        if (job, trigger) in self._known:
            return trigger  # a caller that has asked twice
        told = self._known[job, trigger] = {"status": {"id": "IN_PROGRESS"}, "operation": None}

        def run() -> None:
            try:
                operation = work(entry)
            except FlintstreamError as error:
                operation = {"failure-cause": {"class": type(error).__name__, "stack-trace": str(error)}}
            told.update(status={"id": "COMPLETED"}, operation=operation)

        threading.Thread(target=run, name="flintstream-savepoint", daemon=True).start()
        return trigger

    def status(self, job: str, trigger: str) -> dict[str, Any]:
        """Return how far a request is."""
        if (job, trigger) not in self._known:
            raise RefusedError(404, f"There is no operation with triggerId={trigger} for job {job}.")
        return self._known[job, trigger]
