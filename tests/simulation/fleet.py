"""Seeds in several concurrent processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.simulation"]


class Outcome(NamedTuple):
    """The combined result of several processes."""

    seeds: int
    seeds_per_second: float
    cpu_seconds: float
    failures: list[str]
    """The output of failed seeds."""
    output: str


def environment() -> dict[str, str]:
    """Return the environment of a simulating process: a seed must be repeatable, even the order of sets of texts."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT / "src"), str(ROOT)]))
    return {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path}


def run(processes: int, arguments: list[list[str]]) -> Outcome:
    """Run one process for each list of arguments, and sum up their output."""
    running = [
        subprocess.Popen(  # noqa: S603 - our own command
            [*COMMAND, *own], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for own in arguments[:processes]
    ]
    output = "".join(process.communicate()[0] for process in running)
    found = re.findall(r"^(\d+) seeds in [\d.]+ s \((\d+)/s, ([\d.]+) s", output, re.MULTILINE)
    failures = [line for line in output.splitlines() if " fails: " in line]
    broken = [process.returncode for process in running if process.returncode not in {0, 1}]
    if broken or (len(found) < len(running) and "--mutations" not in arguments[0]):
        failures.append(f"a process ended with {broken}: {output[-2000:]}")
    seeds, rates, cpu = ([float(item[n]) for item in found] for n in range(3))
    return Outcome(int(sum(seeds)), sum(rates), sum(cpu), failures, output)


def run_seeds(processes: int, first: int, count: int, seconds: float) -> Outcome:
    """Run ``count`` seeds starting with ``first``, for at most ``seconds``."""
    share = -(-count // processes)
    return run(
        processes,
        [
            ["--first", str(first + n), "--step", str(processes), "--count", str(share), "--seconds", str(seconds)]
            for n in range(processes)
        ],
    )
