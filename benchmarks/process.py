"""Commands with a time limit, and their cost: seconds, and the CPU of all processes they started."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PR_SET_CHILD_SUBREAPER = 36
LINGER = 5.0
SAMPLE_SECONDS = 0.5
RAISED = re.compile(r"^(?:: |Caused by: )?[\w.$]+(?:Error|Exception)\b.*", re.MULTILINE)
TICKS = os.sysconf("SC_CLK_TCK")


class RunError(Exception):
    """A run failed, took too long, or gave a wrong result."""


class Cost(NamedTuple):
    """The cost of a run, in seconds."""

    seconds: float
    cpu: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu - other.cpu)


@contextmanager
def adopting() -> Iterator[None]:
    """Adopt orphaned descendants as children of this process for a while, so that their CPU is counted."""
    if sys.platform != "linux":
        yield
        return
    control = ctypes.CDLL(None).prctl
    control(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        control(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def timed(command: list[str], variables: dict[str, str], directory: str, timeout: float) -> Cost:
    """Run a command in a directory.

    Raises:
        RunError: The command fails or takes longer than ``timeout`` seconds.
    """
    log = Path(directory, "log")
    used = cpu_of_children()
    known = set(children().get(os.getpid(), []))
    with log.open("w") as output, adopting():
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command, env=variables, cwd=directory, stdout=output, stderr=output, start_new_session=True
        )
        sampled: dict[int, float] = {}
        try:
            code = wait(process, started + timeout, known, sampled)
        except subprocess.TimeoutExpired:
            raise RunError(f"not finished after {timeout:.0f} s") from None
        finally:
            seconds = time.perf_counter() - started
            process.kill()
            process.wait()
            end_all(known)
    if code:
        text = log.read_text(errors="replace").strip()
        raise RunError(f"exit code {code}: {reason(text)}\n{text[-2000:]}")
    return Cost(seconds, max(cpu_of_children() - used, sum(sampled.values())))


def reason(log: str) -> str:
    """Return the line of a log that names the last exception, or its last line."""
    return (RAISED.findall(log) or log.splitlines() or [""])[-1].lstrip(": ")


def wait(process: subprocess.Popen[bytes], until: float, known: set[int], sampled: dict[int, float]) -> int:
    """Wait for the end of a process and return its exit code; ``sampled`` gets the CPU of all descendants.

    The kernel loses the CPU of a process whose parent does not wait for it, and a JVM that ends may not wait.

    Raises:
        subprocess.TimeoutExpired: The process still runs at ``until``.
    """
    while True:
        try:
            return process.wait(SAMPLE_SECONDS)
        except subprocess.TimeoutExpired:
            if time.perf_counter() > until:
                raise
        for pid in descendants(known):
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                sampled[pid] = (int(fields[11]) + int(fields[12])) / TICKS


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that this process, or one of them, has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end_all(known: set[int]) -> None:
    """End the processes that a run left behind, and wait for them: JVMs and workers have separate sessions.

    ``known`` are the children that this process had before.
    """
    deadline = time.monotonic() + LINGER
    while (left := descendants(known)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def children() -> dict[int, list[int]]:
    """Return the children of every process, if the system has /proc."""
    found: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(directory.name))
    return found


def descendants(known: set[int]) -> list[int]:
    """Return all descendants of this process, except its known children and their descendants."""
    below = children()
    found = [pid for pid in below.get(os.getpid(), []) if pid not in known]
    for pid in found:  # the list grows during the loop
        found += below.get(pid, [])
    return found
