"""Descendants of a process, as reported by the kernel."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

DAEMON = re.compile(r"daemon(_process)? pyspark\.worker")
"""The command of Spark's daemon, or of the one that starts before it; workers are forks of it."""
JVM = re.compile(r"org\.apache\.spark\.(deploy\.SparkSubmit|api\.python\.PythonGatewayServer)\b")
"""The command of Spark's JVM: flintstream names the class that SparkSubmit would call where settings allow it."""


class Process(NamedTuple):
    """A running process."""

    pid: int
    parent: int
    started: str
    """In ticks since boot: distinguishes processes that reuse an id."""
    command: str


def running() -> dict[int, Process]:
    """Return all processes that are not zombies."""
    found = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (directory / "stat").read_text().rpartition(")")[2].split()
                command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if fields[0] != "Z":
                    pid = int(directory.name)
                    found[pid] = Process(pid, int(fields[1]), fields[19], command)
    return found


def below(pid: int) -> list[Process]:
    """Return a process and all its descendants."""
    processes = running()
    found = [processes[pid]] if pid in processes else []
    for process in found:
        found += [item for item in processes.values() if item.parent == process.pid]
    return found


def kill(process: Process, number: int = signal.SIGKILL) -> bool:
    """Kill a process, or send it another signal, if it is still the same; return whether it was."""
    now = running().get(process.pid)
    if now is None or now.started != process.started:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)
        return True
    return False


def victims(pid: int, kind: str, rng: random.Random, nodes: Iterable[int] = ()) -> list[Process]:
    """Return the processes to kill of a program that runs a job: ``driver`` is its own process, ``tree`` all of them.

    ``nodes`` are the processes outside of the program that start executors for it.

    ``jvm`` is Spark's, of the driver; ``daemon`` the process that forks workers, which live on when it is killed.

    Of workers, daemons and executors one is chosen; the result is empty while there is none.
    """
    tree = [process for node in (pid, *nodes) for process in below(node)]
    daemons = [process for process in tree if DAEMON.search(process.command)]
    forks = [process for process in daemons if process.parent in {daemon.pid for daemon in daemons}]
    candidates = {
        "worker": forks,
        "daemon": [process for process in daemons if process not in forks],
        "executor": [process for process in tree if "CoarseGrainedExecutorBackend" in process.command],
        "jvm": [process for process in tree if JVM.search(process.command)],
        "driver": [process for process in tree if process.pid == pid],
        "tree": tree,
    }[kind]
    return candidates if kind == "tree" or not candidates else [rng.choice(candidates)]


def wait_for_end(processes: set[Process], seconds: float) -> None:
    """Wait until processes end by themselves; kill the remaining ones."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and processes & set(running().values()):
        time.sleep(0.05)
    for process in processes & set(running().values()):
        kill(process)
