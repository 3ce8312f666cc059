"""Samples of the soak: memory, descriptors and threads of its processes, and the files it keeps."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.processes import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.processes import Process
    from tests.soak.job import Plan

TICKS = os.sysconf("SC_CLK_TCK")
PARTS = ("driver", "jvm", "workers", "other")


@dataclass
class Usage:
    """What processes use; sizes in KiB."""

    processes: int = 0
    rss: int = 0
    pss: int = 0
    heap: int = 0
    """The part of the RSS that is Java's heap."""
    files: int = 0
    threads: int = 0
    cpu: float = 0.0
    """Seconds since each process began."""
    members: list[tuple[int, int, int]] = field(default_factory=list)
    """Process id, PSS and RSS of each."""

    def add(self, pid: int) -> None:
        """Add a process that may be ending."""
        with contextlib.suppress(OSError, ValueError):
            directory = Path(f"/proc/{pid}")
            sizes = dict(_sizes(directory / "smaps_rollup"))
            threads = len(list((directory / "task").iterdir()))
            self.files += len(list((directory / "fd").iterdir()))
            self.processes += 1
            self.rss += sizes["Rss"]
            self.pss += sizes["Pss"]
            self.threads += threads
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
            self.cpu = round(self.cpu + (int(fields[11]) + int(fields[12])) / TICKS, 2)
            self.members.append((pid, sizes["Pss"], sizes["Rss"]))


def _sizes(path: Path) -> Iterator[tuple[str, int]]:
    for line in path.read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        yield name, int(rest.split()[0])


HEAP_END = 1 << 32
"""A JVM puts a heap of up to 2 GiB below this address, and nothing else."""


def heap_in(smaps: str) -> int:
    """Return how much of the heap of a JVM is in memory (KiB)."""
    size, inside = 0, False
    for line in smaps.splitlines():
        name, *values = line.split()
        if name == "Rss:":
            size += inside * int(values[0])
        elif not name.endswith(":"):
            inside = int(name.partition("-")[2], 16) <= HEAP_END
    return size


def part_of(process: Process, driver: int) -> str:
    """Return which part of the job a process is."""
    if process.pid == driver:
        return "driver"
    if "org.apache.spark" in process.command:
        return "jvm"
    return "workers" if "daemon" in process.command else "other"


def files_in(directory: Path) -> tuple[int, int]:
    """Return the number of files below a directory, and their size in bytes."""
    count = size = 0
    pending = [str(directory)]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        count += 1
                        size += entry.stat(follow_symlinks=False).st_size
    return count, size


def lag(plan: Plan) -> float:
    """Return how far the source is behind (s)."""
    worst = 0.0
    for path in plan.path("positions").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number, start = path.read_text().split()
            due = min(plan.seconds, time.monotonic() - float(start))
            worst = max(worst, due - int(number) / plan.rate)
    return max(0.0, worst)


def sample(plan: Plan, driver: int, began: float) -> dict[str, Any]:
    """Return one sample."""
    usages = {part: Usage() for part in PARTS}
    for process in below(driver):
        part = part_of(process, driver)
        usages[part].add(process.pid)
        if part == "jvm":
            with contextlib.suppress(OSError):
                usages[part].heap += heap_in(Path(f"/proc/{process.pid}/smaps").read_text())
    temporary = plan.path("tmp")
    logs = [files_in(path) for path in temporary.glob("flintstream-*") if path.is_dir()]
    everything = files_in(temporary)
    log = (sum(count for count, _ in logs), sum(size for _, size in logs))
    return {
        "seconds": round(time.monotonic() - began, 1),
        **{part: vars(usage) for part, usage in usages.items()},
        "checkpoints": files_in(plan.path("checkpoints")),
        "savepoints": files_in(plan.path("savepoints")),
        "state log": log,
        "temporary": (everything[0] - log[0], everything[1] - log[1]),
        "lag": round(lag(plan), 2),
        "load": os.getloadavg()[0],
    }
