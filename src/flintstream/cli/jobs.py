"""``flintstream list``, ``checkpoint``, ``rescale``, ``stop`` and ``cancel``: control of this user's jobs."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from flintstream.cli.places import absolute
from flintstream.cli.printable import printable
from flintstream.common._text.watermarks import watermark_text
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.coordinator import registry
from flintstream.coordinator.asking import JobGoneError, ask, ask_all
from flintstream.coordinator.monitoring import history
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from flintstream.coordinator.registry import Entry

MISUNDERSTOOD = (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
"""Errors from an answer that has another form than expected."""

OTHER_RELEASE = "its answer has an unexpected format: does it run a different release of flintstream?"

ENDS = {
    "FINISHED": "has already finished",
    "CANCELED": "has already been cancelled",
    "FAILED": "has already failed",
    history.LOST: "was lost: its process ended without a result",
}
"""Why a job cannot be controlled any more."""

SETTINGS = {"help_option_names": ["-h", "--help"]}


def absolute_directory(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Return the place that an option or argument names, for a job with another working directory."""
    return absolute(value) if value else value


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the names and ids of running jobs that begin like this, for shells: ids only where names are ambiguous."""
    known = registry.entries()
    names = Counter(entry.name for entry in known)
    items = [CompletionItem(entry.name, help=entry.job_id) for entry in known if names[entry.name] == 1]
    items += [
        CompletionItem(element.job_id, help=element.name) for element in known if incomplete or names[element.name] > 1
    ]
    return [item for item in items if item.value.startswith(incomplete)]


def ask_job(job: str, request: str, **arguments: Any) -> Any:
    """Send a request to the job that ``job`` refers to; report a failure as one line on standard error."""
    try:
        return ask(_find_running(job), request, **arguments)
    except FlintstreamError as error:
        raise click.ClickException(printable(" ".join(str(error).split()))) from None


def _find_running(job: str) -> Entry:
    """Return the running job that ``job`` refers to.

    Raises:
        FlintstreamError: There is none. If a job with this name or id has ended, the message says how.
    """
    try:
        return registry.find(job)
    except registry.AmbiguousJobError:
        raise
    except FlintstreamError as missing:
        reason = missing
        with suppress(FlintstreamError):
            record = history.find(job)
            state = record["status"]["state"]
            how = ENDS.get(state, f"has ended: {state}")
            at = "" if record["ended_ms"] is None else f" on {_when(record['ended_ms'])}"
            reason = FlintstreamError(f"the job '{record['name']}' ({record['job_id']}) {how}{at}")
        raise reason from None


def _when(millis: int) -> str:
    return f"{datetime.fromtimestamp(millis / 1000):%d.%m.%Y %H:%M:%S}"  # noqa: DTZ006 - the user's time


@click.command("list", context_settings=SETTINGS)
@click.option("-r", "--running", is_flag=True, help="Show only jobs that have started.")
@click.option("-a", "--all", "everything", is_flag=True, help="Also show jobs that have ended.")
@click.option("-v", "--verbose", is_flag=True, help="Also show retained checkpoints, and full errors.")
def list_command(running: bool, everything: bool, verbose: bool) -> None:
    """Show this user's jobs on this machine: start, id, name, state and progress."""
    shown: set[str] = set()
    known = registry.entries()
    for entry, told in zip(known, ask_all(known, "status", *["checkpoints"] * verbose), strict=True):
        if isinstance(told, JobGoneError):
            continue
        if isinstance(told, FlintstreamError):
            status, checkpoints = {"state": f"UNKNOWN: {told}"}, None
        else:
            status, checkpoints = told[0], told[1] if verbose else None
        try:
            lines = _lines(entry, status, checkpoints)
            lines += _log_lines(status) if verbose else []
        except MISUNDERSTOOD:
            status = {"state": f"UNKNOWN: {OTHER_RELEASE}"}
            lines = _lines(entry, status, None)
        if running and not everything and status["state"] == "CREATED":
            continue
        shown.add(entry.job_id)
        for line in lines:
            click.echo(printable(line))
    for record in history.ended_jobs() if everything else ():
        if record["job_id"] in shown:
            continue
        try:
            lines = _ended_lines(record, verbose=verbose)
        except MISUNDERSTOOD:
            continue  # of another release
        shown.add(record["job_id"])
        for line in lines:
            click.echo(printable(line))
    if not shown:
        click.echo("No jobs." if everything else "No running jobs.")


def _ended_lines(record: dict[str, Any], *, verbose: bool) -> list[str]:
    status, ended_ms = record["status"], record["ended_ms"]
    name = " ".join(record["name"].split())
    end = "its process ended without reporting a result" if ended_ms is None else f"ended {_when(ended_ms)}"
    lines = [
        f"{_when(record['started_ms'])} : {record['job_id']} : {name} ({status['state']})",
        f"    {end}  {_totals(status)}",
    ]
    if record["error"]:
        text = str(record["error"]).strip().splitlines()
        lines += [f"    {line}" for line in (text if verbose else text[:1])]
    return lines + _checkpoint_lines(record["checkpoints"]) + _log_lines(status) if verbose else lines


def _lines(entry: Entry, status: dict[str, Any], checkpoints: dict[str, Any] | None) -> list[str]:
    name = " ".join(entry.name.split())
    lines = [
        f"{_when(entry.started_ms)} : {entry.job_id} : {name} ({status['state']})",
        f"    {_progress(entry, status)}",
    ]
    return lines if checkpoints is None else lines + _checkpoint_lines(checkpoints)


def _progress(entry: Entry, status: dict[str, Any]) -> str:
    process = f"process {entry.pid}"
    if "epochs" not in status:
        return process
    return f"{process}  {_totals(status)}"


def _totals(status: dict[str, Any]) -> str:
    watermark = MIN_LONG_VALUE if status["watermark"] is None else status["watermark"]
    return (
        f"epochs {status['epochs']:,}  restarts {status['restarts']:,}  "
        f"checkpoints {status['checkpoints']:,}  in {status['records_in']:,}  out {status['records_out']:,}  "
        f"watermark {watermark_text(watermark)}"
    )


def _log_lines(status: dict[str, Any]) -> list[str]:
    lines = [f"    {_when(loss['at_ms'])} {loss['text']}" for loss in status.get("losses", ())]
    path = status.get("log_file")
    return [*lines, f"    log {path}"] if path else lines


def _checkpoint_lines(checkpoints: dict[str, Any]) -> list[str]:
    lines = []
    if checkpoints["started_from"]:
        lines.append(f"    started from {checkpoints['started_from']}")
    if checkpoints["failed"]:
        lines.append(f"    {checkpoints['failed']:,} checkpoints failed")
    for kept in checkpoints["kept"]:
        created = _when(kept["created_ms"])
        lines.append(f"    {kept['kind']} {kept['number']}  {created}  {kept['bytes']:,} bytes  {kept['path']}")
    return lines


@click.command("checkpoint", context_settings=SETTINGS)
@click.option("--full", "-full", is_flag=True, help="Share no files with other checkpoints.")
@click.argument("job", shell_complete=complete_job)
def checkpoint_command(full: bool, job: str) -> None:
    """Take a checkpoint of a job, which continues.

    JOB is an id, the beginning of an id, or a name. The job deletes this checkpoint like its own ones. The last
    line of the output is its path.
    """
    done = ask_job(job, "checkpoint", full=full)
    click.echo(printable(done["path"] or f"checkpoint {done['number']}, in memory"))


@click.command("rescale", context_settings=SETTINGS)
@click.option(
    "-p",
    "--parallelism",
    type=click.IntRange(min=1),
    required=True,
    help="The parallelism of all operators for which the program sets none.",
)
@click.argument("job", shell_complete=complete_job)
def rescale_command(parallelism: int, job: str) -> None:
    """Change the parallelism of a running job.

    JOB is an id, the beginning of an id, or a name. The job takes a checkpoint and continues from it; each record
    counts once. The command returns when the job runs with the new parallelism.
    """
    for item in ask_job(job, "rescale", parallelism=parallelism):
        change = f"{item['from']} -> {item['to']}" if item["from"] != item["to"] else f"{item['to']}, as before"
        click.echo(printable(f"{item['name']}: {change}"))


@click.command("stop", context_settings=SETTINGS)
@click.option(
    "-p",
    "--savepointPath",
    "directory",
    metavar="DIRECTORY",
    callback=absolute_directory,
    help="Directory for the savepoint; the configured directory by default.",
)
@click.option(
    "-d",
    "--drain",
    is_flag=True,
    help="Advance event time to the end first. The output is then final, and the job cannot resume.",
)
@click.argument("job", shell_complete=complete_job)
def stop_command(directory: str | None, drain: bool, job: str) -> None:
    """Stop a job with a savepoint.

    JOB is an id, the beginning of an id, or a name. The command returns when the job has stopped. The last line
    of the output is the path of the savepoint.
    """
    click.echo(printable(str(ask_job(job, "stop", directory=directory, drain=drain))))


@click.command("cancel", context_settings=SETTINGS)
@click.option(
    "-s",
    "--withSavepoint",
    "directory",
    is_flag=False,
    flag_value="",
    metavar="[DIRECTORY]",
    help="Stop the job with a savepoint, like 'stop'.",
)
@click.argument("job", shell_complete=complete_job, required=False)
def cancel_command(directory: str | None, job: str | None) -> None:
    """Cancel a job, without a savepoint.

    JOB is an id, the beginning of an id, or a name. The command returns when the job has stopped.
    """
    if job is None and directory:  # -s JOB
        job, directory = directory, ""
    if job is None:
        raise click.UsageError("specify a job: 'flintstream list' shows them")
    if directory is not None:
        click.echo(ask_job(job, "stop", directory=absolute(directory) if directory else None))
        return
    state = ask_job(job, "cancel")
    if state != "CANCELED":
        raise click.ClickException(f"the job '{job}' ended before it was cancelled: {state}")
    click.echo(f"Cancelled {job}.")
