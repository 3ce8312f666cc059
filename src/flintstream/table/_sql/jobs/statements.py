"""Statements about jobs: SHOW JOBS, DESCRIBE JOB and STOP JOB, for those that ``flintstream list`` shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.coordinator import registry
from flintstream.coordinator.asking import JobGoneError, ask, ask_all
from flintstream.coordinator.monitoring import history
from flintstream.errors import FlintstreamError
from flintstream.options.checkpointing import SAVEPOINT_DIRECTORY
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.helpers import EPOCH
from flintstream.table._sql.answers import DONE, Answer
from flintstream.table._sql.ddl import expect_end

if TYPE_CHECKING:
    from datetime import datetime

    from flintstream.table._errors import Place
    from flintstream.table._session.session import Session
    from flintstream.table._sql.dialect import Tokens

_COLUMNS = (
    Column("job id", t.DataTypes.STRING()),
    Column("job name", t.DataTypes.STRING()),
    Column("status", t.DataTypes.STRING()),
    Column("start time", t.DataTypes.TIMESTAMP_LTZ(3)),
)


@dataclass(frozen=True)
class StopJob:
    """What STOP JOB asks for."""

    job: str
    place: Place | None
    savepoint: bool = False
    drain: bool = False


def show_jobs(tokens: Tokens) -> Answer:
    """Return the jobs of this user on this machine, also those that have ended, the oldest first."""
    expect_end(tokens)
    return Answer(_COLUMNS, tuple(_rows()))


def describe_job(tokens: Tokens) -> Answer:
    """Return one job.

    Raises:
        SqlError: There is none of this id.
    """
    place, job = tokens.place(), tokens.text()
    expect_end(tokens)
    found = tuple(row for row in _rows() if row[0] == job)
    if not found:
        raise SqlError(f"DESCRIBE JOB{at(place)}: job '{job}' does not exist: SHOW JOBS lists all jobs")
    return Answer(_COLUMNS, found)


def _rows() -> list[tuple[str, str, str, datetime]]:
    running = registry.entries()
    found = {}
    for entry, told in zip(running, ask_all(running, "status"), strict=True):
        if not isinstance(told, JobGoneError):
            state = "UNKNOWN" if isinstance(told, FlintstreamError) else str(told[0]["state"])
            found[entry.job_id] = (entry.name, state, entry.started_ms)
    for record in history.ended_jobs():
        row = (str(record["name"]), str(record["status"]["state"]), int(record["started_ms"]))
        found.setdefault(record["job_id"], row)
    rows = [(job, name, state, EPOCH + timedelta(milliseconds=ms)) for job, (name, state, ms) in found.items()]
    return sorted(rows, key=lambda row: (row[3], row[0]))


def read_stop(tokens: Tokens) -> StopJob:
    """Read ``JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]``.

    Raises:
        SqlError: DRAIN stands alone.
    """
    tokens.expect("JOB")
    place, job = tokens.place(), tokens.text()
    savepoint, at_drain = tokens.take("WITH", "SAVEPOINT"), tokens.place()
    drain = tokens.take("WITH", "DRAIN")
    expect_end(tokens)
    if drain and not savepoint:
        raise SqlError(f"WITH DRAIN{at(at_drain)} could only be used after WITH SAVEPOINT")
    return StopJob(job, place, savepoint, drain)


def stop_job(session: Session, stop: StopJob) -> Answer:
    """Cancel a job, or stop it with a savepoint, and return the path of the savepoint.

    Raises:
        SqlError: No such job runs, or it cannot be stopped.
    """
    entry = next((entry for entry in registry.entries() if entry.job_id == stop.job), None)
    if entry is None:
        raise SqlError(f"STOP JOB{at(stop.place)}: no job '{stop.job}' is running: SHOW JOBS lists them")
    try:
        if not stop.savepoint:
            ask(entry, "cancel")
            return DONE
        directory = session.env._configuration.get(SAVEPOINT_DIRECTORY)
        path = str(ask(entry, "stop", directory=directory, drain=stop.drain))
    except FlintstreamError as error:
        raise SqlError(f"STOP JOB{at(stop.place)}: {error}") from error
    return Answer((Column("savepoint path", t.DataTypes.STRING()),), ((path,),))
