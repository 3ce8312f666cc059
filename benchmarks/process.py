"""Runs a command with a time limit, and tells what it took: seconds, and the CPU of all processes it started."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36
LINGER = 5.0


class RunError(Exception):
    """A run failed, took too long, or gave a wrong result."""


class Cost(NamedTuple):
    """What a run took, in seconds."""

    seconds: float
    cpu: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu - other.cpu)


def timed(command: list[str], variables: dict[str, str], directory: str, timeout: float) -> Cost:
    """Run a command in a directory.

    Raises:
        RunError: It fails or takes longer than ``timeout`` seconds.
    """
    if sys.platform == "linux":  # what the command leaves behind becomes a child of this process, and so is accounted
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log = Path(directory, "log")
    used = cpu_of_children()
    with log.open("w") as output:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command, env=variables, cwd=directory, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise RunError(f"not finished after {timeout:.0f} s") from None
        finally:
            seconds = time.perf_counter() - started
            end_session(process.pid)
            process.wait()
            reap()
    if code:
        raise RunError(f"exit code {code}: {log.read_text(errors='replace').strip()[-2000:]}")
    return Cost(seconds, cpu_of_children() - used)


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that this one has waited for, and that they have."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end_session(session: int) -> None:
    """End what a run left behind: the JVMs and workers of an engine have process groups of their own."""
    for directory in Path("/proc").glob("[0-9]*"):
        pid = int(directory.name)
        try:
            if os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def reap() -> None:
    """Wait for the children that are left, so that they are accounted; not for ones that will not end."""
    deadline = time.monotonic() + LINGER
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.01)
