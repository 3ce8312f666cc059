"""The processor time of a process and its descendants. Imports only the standard library: jobs on any engine use it."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of_family() -> float:
    """Return the processor seconds of this process and all its descendants, including those that have ended.

    Without ``/proc``, only children that have ended are known.
    """
    parents, seconds = {}, {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in parentheses, may contain any characters.
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(directory.name)
        parents[pid] = int(fields[1])
        seconds[pid] = sum(map(int, fields[11:15])) / _TICKS
    if not seconds:
        return sum(os.times()[:4])
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[pid] for pid in ours)
