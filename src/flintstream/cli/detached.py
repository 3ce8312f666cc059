"""``flintstream run -d``: the program runs in a process of its own, which outlives the terminal."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from flintstream.cli.printable import printable
from flintstream.cli.progress import ProgressLine, progress_line
from flintstream.common.job_status import JobStatus
from flintstream.coordinator.monitoring import output_file
from flintstream.options.execution import HISTORY_AGE

if TYPE_CHECKING:
    from flintstream.options.command_line import ProgressListener

LONGEST_ERROR = 1 << 16
"""Most bytes of the output that are shown if the start fails."""
LONGEST_LINE = 1 << 12
LOOKS_SECONDS = 0.1
INTERRUPTED = 130


class Announcer:
    """Tells the process that waits for the start of a job its id, as soon as an engine runs the job."""

    def __init__(self, descriptor: int) -> None:
        """Write the id to this descriptor."""
        self.then: ProgressListener | None = None
        """Another listener, which learns the same."""
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    def on_starting(self, job_name: str) -> None:
        """Pass it on."""
        if self.then is not None:
            self.then.on_starting(job_name)

    def on_job_submitted(self, job_client: Any, error: BaseException | None) -> None:
        """Wait in the background until the job runs."""
        if job_client is not None and self._descriptor is not None:
            threading.Thread(target=self._watch, args=(job_client,), name="flintstream-announcer", daemon=True).start()
        if self.then is not None:
            self.then.on_job_submitted(job_client, error)

    def on_progress(self, progress: Any) -> None:
        """Pass it on."""
        if self.then is not None:
            self.then.on_progress(progress)

    def on_job_executed(self, progress: Any, result: Any, error: BaseException | None) -> None:
        """Announce a job that has ended well before it was seen to run."""
        if error is None:
            self._announce(progress.job_id)
        if self.then is not None:
            self.then.on_job_executed(progress, result, error)

    def _watch(self, client: Any) -> None:
        while (status := client.get_job_status().result()) is JobStatus.CREATED:
            time.sleep(LOOKS_SECONDS / 5)
        if not status.is_globally_terminal_state():
            self._announce(str(client.get_job_id()))

    def _announce(self, job_id: str) -> None:
        with self._lock:
            if self._descriptor is not None:
                with contextlib.suppress(OSError):  # the other process was killed
                    os.write(self._descriptor, f"{job_id}\n".encode())
                os.close(self._descriptor)
                self._descriptor = None


def detach(log_file: str | None) -> Announcer:
    """Go on in a new process whose output goes to a file, by default a new one; return only there.

    This process waits until a job runs, shows its id and ends with 0, or with the exit code of the new process if that
    ends before.

    Raises:
        SystemExit: In this process, always.
    """
    output_file.delete_older(HISTORY_AGE.default)
    try:
        path, output = output_file.open_for_output(log_file)
    except OSError as error:
        click.echo(f"Error: {printable(f'the log file cannot be opened: {error}')}", err=True)
        raise SystemExit(1) from None
    begin = os.fstat(output).st_size
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        os.close(writer)
        os.close(output)
        _wait_for_start(process, reader, Path(path), begin)
    os.close(reader)
    _leave_terminal(output)
    return Announcer(writer)


def _leave_terminal(output: int) -> None:
    os.setsid()  # neither Ctrl-C nor the end of the terminal reaches it
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, target)
    os.close(nothing)
    os.close(output)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _wait_for_start(process: int, reader: int, path: Path, begin: int) -> NoReturn:
    try:
        with progress_line() as line:
            if isinstance(line, ProgressLine):
                line.on_starting("")
            job_id, code = _job_or_code(process, reader)
    except KeyboardInterrupt:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        click.echo("interrupted", err=True)
        raise SystemExit(INTERRUPTED) from None
    if job_id is not None:
        click.echo(f"Job has been submitted with JobID {job_id}")
        click.echo(f"Its log is {printable(str(path))}", err=True)
        raise SystemExit(0)
    with path.open("rb") as file:
        file.seek(max(begin, file.seek(0, os.SEEK_END) - LONGEST_ERROR))
        sys.stderr.buffer.write(file.read())
    sys.stderr.flush()
    if not code:
        click.echo("note: the program ended without starting a job", err=True)
    raise SystemExit(code)


def _job_or_code(process: int, reader: int) -> tuple[str | None, int]:
    """Return the id of the job that runs, or None and the exit code of the process."""
    while True:
        ready, _, _ = select.select([reader], [], [], LOOKS_SECONDS)
        line = os.read(reader, LONGEST_LINE) if ready else b""
        if line:
            return line.decode().strip(), 0
        if ready:  # it has closed its end: it ends
            _, status = os.waitpid(process, 0)
            return None, _code(status)
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:  # a process that it has forked may still have the other end
            ready, _, _ = select.select([reader], [], [], 0)
            line = os.read(reader, LONGEST_LINE) if ready else b""
            return (line.decode().strip(), 0) if line else (None, _code(status))


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
