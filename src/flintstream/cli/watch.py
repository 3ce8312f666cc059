"""``flintstream logs`` and ``attach``: watching a job of another process."""

from __future__ import annotations

import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from flintstream.cli.jobs import SETTINGS, complete_job
from flintstream.cli.printable import printable
from flintstream.cli.progress import ProgressLine, progress_line
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.coordinator import registry
from flintstream.coordinator.asking import JobGoneError, ask
from flintstream.coordinator.monitoring import history
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from flintstream.coordinator.registry import Entry

INTERRUPTED = 130
LOOKS_SECONDS = 0.25
BLOCK = 1 << 16


def _running(job: str) -> Entry | None:
    """Return the running job of this name, or None if one of this name has ended.

    Raises:
        click.ClickException: There is none, or more than one.
    """
    try:
        return registry.find(job)
    except registry.AmbiguousJobError as error:
        raise click.ClickException(printable(str(error))) from None
    except FlintstreamError:
        return None


def _record(job: str) -> dict[str, Any]:
    try:
        return history.find(job)
    except FlintstreamError as error:
        raise click.ClickException(printable(str(error))) from None


@click.command("logs", context_settings=SETTINGS)
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the job has ended, or until Ctrl-C.")
@click.argument("job", shell_complete=complete_job)
def logs_command(follow: bool, job: str) -> None:
    """Show the output and log of a job.

    JOB is an id, the beginning of an id, or a name. The job may have ended. If the standard error of its program
    is a file, as after 'run -d', the command shows that file; otherwise, the last lines of the log.
    """
    entry = _running(job)
    try:
        try:
            record = {"status": ask(entry, "status")} if entry is not None else _record(job)
        except JobGoneError:
            entry, record = None, _record(job)
        path = record["status"].get("log_file")
        lines = None if path else record.get("log", ()) if entry is None else ask(entry, "log")
    except FlintstreamError as error:
        raise click.ClickException(printable(" ".join(str(error).split()))) from None
    if lines is not None:
        click.echo("note: its standard error is not a file; these are the last lines that were logged", err=True)
        for line in lines:
            at = datetime.fromtimestamp(line["at_ms"] / 1000)  # noqa: DTZ006 - the user's time
            text = "\n".join(map(printable, str(line["text"]).splitlines()))
            click.echo(f"{at:%Y-%m-%d %H:%M:%S} {line['level']:<7} {printable(line['logger'])} {text}")
        return
    try:
        with Path(str(path)).open("rb") as file:
            _copy(file, entry if follow else None)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        raise click.ClickException(printable(f"cannot read {path}: {error.strerror}")) from None


def _copy(file: BinaryIO, entry: Entry | None) -> None:
    """Copy a file to standard output, and what is added to it until the job ends."""
    out = sys.stdout.buffer
    while True:
        runs = entry is not None and any(item.job_id == entry.job_id for item in registry.entries())
        while block := file.read(BLOCK):
            out.write(block)
        out.flush()
        if not runs:
            return
        time.sleep(LOOKS_SECONDS)


class _End(threading.Thread):
    """Waits for the end of a job."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(name="flintstream-attach", daemon=True)
        self.entry = entry
        self.outcome: dict[str, Any] | FlintstreamError = {}
        self.start()

    def run(self) -> None:
        try:
            self.outcome = ask(self.entry, "wait")
        except FlintstreamError as error:
            self.outcome = error


@click.command("attach", context_settings=SETTINGS)
@click.argument("job", shell_complete=complete_job)
def attach_command(job: str) -> None:
    """Show the progress of a job until it ends.

    JOB is an id, the beginning of an id, or a name. The exit code is 0 if the job has finished, and 1 if it has
    failed or was cancelled. Ctrl-C ends only this command, with the exit code 130.
    """
    entry = _running(job)
    if entry is None:
        record = _record(job)
        _end(job, {"state": record["status"]["state"], "error": record["error"]})
        return
    end = _End(entry)
    try:
        with progress_line() as line:
            while end.is_alive():
                if isinstance(line, ProgressLine):
                    _show(line, entry)
                end.join(LOOKS_SECONDS)
    except KeyboardInterrupt:
        name = printable(job)
        click.echo(f"detached: the job keeps running; 'flintstream cancel {name}' ends it", err=True)
        sys.exit(INTERRUPTED)
    if isinstance(end.outcome, JobGoneError):
        end.outcome = _end_of(entry)
    if isinstance(end.outcome, FlintstreamError):
        raise click.ClickException(printable(" ".join(str(end.outcome).split())))
    _end(job, end.outcome)


def _end_of(entry: Entry) -> dict[str, Any]:
    """Return how a job has ended that could not say it."""
    for record in history.ended_jobs():
        if record["job_id"] == entry.job_id:
            return {"state": record["status"]["state"], "error": record["error"]}
    return {"state": history.LOST, "error": None}


def _show(line: ProgressLine, entry: Entry) -> None:
    try:
        status = ask(entry, "status")
        watermark = MIN_LONG_VALUE if status["watermark"] is None else status["watermark"]
        line.update(status["epochs"], status["records_in"], status["records_out"], watermark)
    except (FlintstreamError, LookupError, TypeError):  # it ends, or is of another release
        return


def _end(job: str, outcome: dict[str, Any]) -> None:
    state, error = str(outcome["state"]), outcome["error"]
    if state == "FINISHED":
        click.echo(printable(f"The job '{job}' is FINISHED."))
        return
    lines = str(error).strip().splitlines() if error and state != "CANCELED" else []
    text = "\n".join(printable(line) for line in lines)
    if state == history.LOST:
        raise click.ClickException(printable(f"the process of the job '{job}' ended without reporting a result"))
    raise click.ClickException(printable(f"the job '{job}' is {state}") + (f": {text}" if text else ""))
