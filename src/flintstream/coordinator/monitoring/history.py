"""Records of this user's jobs on this machine, which stay for some time after the jobs have ended.

The directory is ``$FLINTSTREAM_HISTORY_DIR``, or else ``flintstream/history`` below the user's directory for state
(``XDG_STATE_HOME``). A record is a JSON file that only the user can read. A job writes it when it starts, again and
again while it runs, and when it ends. So a job whose process was killed is known, too, and how far it was.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintstream.common._text.strict_json import json_text
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import recent_log
from flintstream.coordinator.monitoring.descriptions import FORMAT, record_of
from flintstream.coordinator.monitoring.error_text import describe
from flintstream.coordinator.monitoring.record_shape import fault_of
from flintstream.errors import FlintstreamError
from flintstream.storage.private import make_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.coordinator.monitoring.observed import ObservedJob

DIRECTORY = "FLINTSTREAM_HISTORY_DIR"
LOST = "LOST"
"""The state of a job whose process ended without reporting a result."""
LONGEST_RECORD = 1 << 28
RENEWED_MS = 10_000
"""The record of a running job is not older than this (ms), or than half of its life, if an epoch ends."""
LAST_LINES = 200
"""How many lines of the driver, and of workers, are kept with a record."""

_log = logging.getLogger(__name__)


def directory() -> Path:
    """Return the directory of the records. It may not exist yet."""
    given = os.environ.get(DIRECTORY)
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "flintstream" / "history"


def history_reporter(max_age_ms: int, max_jobs: int) -> Callable[[ObservedJob], Callable[[], None]]:
    """Return a function that takes a job which starts, keeps its record, and returns what to call at its end.

    Args:
        max_age_ms: older records of ended jobs are deleted.
        max_jobs: if there are more records, the oldest are deleted.
    """

    def begin(job: ObservedJob) -> Callable[[], None]:
        started_ms = time.time_ns() // 1_000_000
        _write(job, started_ms, None)
        job.listen(_renewal(job, started_ms))
        return partial(end, job, started_ms)

    def end(job: ObservedJob, started_ms: int) -> None:
        _write(job, started_ms, time.time_ns() // 1_000_000)
        _prune(max_age_ms, max_jobs, job.job.plan.job_id)

    return begin


def _renewal(job: ObservedJob, started_ms: int) -> Callable[[object], None]:
    """Return what to call after each epoch, to write the record now and then."""
    due_ms = 1000

    def renew(_progress: object) -> None:
        nonlocal due_ms
        age_ms = job.uptime_ms
        if age_ms >= due_ms:
            due_ms = min(2 * age_ms, age_ms + RENEWED_MS)
            try:
                _write(job, started_ms, None, warns=False)
            except Exception:  # noqa: BLE001 - the job is worth more than its record
                _log.debug("the record of the job '%s'", job.job.plan.job_name, exc_info=True)

    return renew


def _write(job: ObservedJob, started_ms: int, ended_ms: int | None, *, warns: bool = True) -> None:
    plan = job.job.plan
    record = {
        **record_of(job),
        "started_ms": started_ms,
        "ended_ms": ended_ms,
        "error": _text_of_error(job) if ended_ms is not None else None,
        "curves": job.coordinator.statistics.curves.since(0),
        "log": recent_log.lines(LAST_LINES),
    }
    try:
        place = directory()
        make_private(place)
        temporary = place / f".{plan.job_id}.{os.getpid()}.part"
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json_text(record))
        temporary.replace(place / f"{plan.job_id}.json")
    except OSError as error:
        _log.log(
            logging.WARNING if warns else logging.DEBUG,
            "'flintstream list -a' will not show how the job '%s' has ended: %s",
            plan.job_name,
            error,
        )


def _text_of_error(job: ObservedJob) -> str | None:
    error = job.result.exception()
    return None if error is None else describe(error)


def _prune(max_age_ms: int, max_jobs: int, latest: str) -> None:
    """Delete records that are too old or too many, except those of the ``latest`` job and of running ones."""
    oldest = time.time_ns() // 1_000_000 - max_age_ms
    kept = {latest, *(entry.job_id for entry in registry.entries())}
    others = ((_age_of(path), path) for path in registry.files(directory()) if path.stem not in kept)
    dated = sorted(((age, path) for age, path in others if age is not None), reverse=True)
    for number, ((started_ms, last_ms), path) in enumerate(dated, 1):
        if number >= max_jobs or (last_ms or started_ms) < oldest:
            with contextlib.suppress(OSError):
                path.unlink()


def _age_of(path: Path) -> tuple[int, int] | None:
    """Return when a job of this machine started and ended (0 if unknown); None for any other file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return _age_in(path, status.st_ino, status.st_ctime_ns)


@lru_cache(maxsize=4096)
def _age_in(path: Path, _file: int, _changed_ns: int) -> tuple[int, int] | None:
    """Read the age, once for each state of a file: every job that ends asks for the ages of all records.

    The record is not checked as a whole: reading a hundred of them takes as long as a small job.
    """
    record = registry.content(path, LONGEST_RECORD)
    if not isinstance(record, dict) or (record.get("host"), record.get("job_id")) != (registry.host(), path.stem):
        return None
    started_ms, ended_ms = record.get("started_ms"), record.get("ended_ms") or 0
    return (started_ms, ended_ms) if isinstance(started_ms, int) and isinstance(ended_ms, int) else None


def records() -> list[dict[str, Any]]:
    """Return all records of this machine, the latest start first. A job without an end is running or lost.

    A file that is not a record is named once in the log.
    """
    found = []
    for path in registry.files(directory()):
        record = registry.content(path, LONGEST_RECORD)
        if record is None:
            continue
        fault = _fault_of(record, path)
        if fault is not None:
            registry.warn_of(path, fault)
        elif record["host"] == registry.host():
            found.append(record)
    return sorted(found, key=lambda record: (record["started_ms"], record["job_id"]), reverse=True)


def ended_jobs() -> list[dict[str, Any]]:
    """Return the records of jobs that do not run any more, the latest start first.

    A job that its process did not see end has the state ``LOST``.
    """
    running = {entry.job_id for entry in registry.entries()}
    found = [record for record in records() if record["ended_ms"] is not None or record["job_id"] not in running]
    for record in found:
        if record["ended_ms"] is None:
            record["status"]["state"] = LOST
    return found


def find(job: str) -> dict[str, Any]:
    """Return the record of the latest job with this id, name or prefix of an id that does not run any more.

    Raises:
        FlintstreamError: There is none.
    """
    known = ended_jobs()
    for matches in (
        [record for record in known if record["job_id"] == job],
        [record for record in known if record["name"] == job],
        [record for record in known if job and record["job_id"].startswith(job)],
    ):
        if matches:
            return matches[0]
    raise FlintstreamError(f"no job has the id or name '{job}'; 'flintstream list -a' shows them")


def _fault_of(record: Any, path: Path) -> str | None:
    form = record.get("format") if isinstance(record, dict) else FORMAT
    if type(form) is int and form != FORMAT:
        return "it was written by a different release"
    fault = fault_of(record, kept=True)
    return "it belongs to another job" if fault is None and record["job_id"] != path.stem else fault
