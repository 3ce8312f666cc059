"""Measurement of one workload on one engine: run it in a separate process, check the results, subtract the start-up.

The whole command is timed with few records and with many; the difference is the time of the additional records, without
start-up. The larger number is chosen so that a run takes the requested seconds. The results must be those of the bare
loop with the same number of records.
"""

from __future__ import annotations

import hashlib
import importlib
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engines import ENGINES
from benchmarks.process import RunError, timed
from benchmarks.workload import Run, written_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.engines import Engine
    from benchmarks.process import Cost
    from benchmarks.workload import Workload

FEW = 2_000
MOST_RECORDS = 64_000_000
MOST_GROWTH = 10


@dataclass(frozen=True)
class Limits:
    """Time limits of runs."""

    seconds: float
    """Least duration of a run, without start-up, unless ``records`` is given."""
    timeout: float
    """Greatest duration of a run, with start-up."""
    records: int | None = None
    repeat: int = 1


@dataclass(frozen=True)
class Outcome:
    """The result of one engine for one workload."""

    workload: str
    engine: str
    records: int = 0
    seconds: float = 0.0
    """Time of the records without start-up; the median, if the run was repeated."""
    cpu: float = 0.0
    """CPU seconds of all processes of the run, without start-up."""
    start_up: float = 0.0
    problem: str = ""

    @property
    def rate(self) -> float:
        """Records per second without start-up; 0 if the run was too short to measure."""
        return self.records / self.seconds if self.seconds > 0 else 0.0

    @property
    def cpu_per_record(self) -> float:
        """Microseconds of CPU."""
        return self.cpu / self.records * 1e6 if self.records else 0.0


def measure(workload: Workload, engine: Engine, python: str, limits: Limits) -> Outcome:
    """Measure one workload on one engine; an error becomes part of the outcome."""

    def run(records: int) -> Cost:
        if records == FEW:
            return run_once(workload, engine, python, records, limits.timeout)[0]
        return checked(workload, engine, python, records, limits.timeout)

    return measure_runs(workload.name, engine, run, limits)


def measure_runs(name: str, engine: Engine, run: Callable[[int], Cost], limits: Limits) -> Outcome:
    """Measure runs of a function that gets the number of records; an error becomes part of the outcome."""
    try:
        start_up = run(FEW)
        records = limits.records or engine.first
        while True:
            cost = run(records) - start_up
            if limits.records or cost.seconds >= limits.seconds or records == MOST_RECORDS:
                break
            growth = 1.3 * limits.seconds / max(cost.seconds, limits.seconds / MOST_GROWTH)
            records = min(rounded(records * max(growth, 1.5)), MOST_RECORDS)
        more = [run(records) - start_up for _ in range(limits.repeat - 1)]
        seconds = statistics.median(item.seconds for item in (cost, *more))
        cpu = statistics.median(item.cpu for item in (cost, *more))
        return Outcome(name, engine.name, records - FEW, seconds, cpu, start_up.seconds)
    except (RunError, OSError, subprocess.SubprocessError) as error:
        return Outcome(name, engine.name, problem=f"{type(error).__name__}: {error}")


def rounded(records: float) -> int:
    """Round a number of records to two digits, so that runs of several engines share the expected results."""
    unit = 10 ** (len(str(int(records))) - 2)
    return int(records // unit * unit)


def checked(workload: Workload, engine: Engine, python: str, records: int, timeout: float) -> Cost:
    """Run once and return the cost.

    Raises:
        RunError: The run fails, or the results are not the expected ones.
    """
    cost, results = run_once(workload, engine, python, records, timeout)
    if engine.name != "bare":
        expected = expected_results(workload.name, records, timeout)
        if results != expected:
            raise RunError(f"wrong results: {results[0]} lines, expected {expected[0]}, with {records} records")
    if results[0] == 0:
        raise RunError(f"no results were written with {records} records")
    return cost


@cache
def expected_results(name: str, records: int, timeout: float) -> tuple[int, str]:
    """Return the results of the bare loop."""
    from benchmarks.workloads import WORKLOADS

    return run_once(WORKLOADS[name], ENGINES["bare"], sys.executable, records, timeout)[1]


def run_once(
    workload: Workload, engine: Engine, python: str, records: int, timeout: float
) -> tuple[Cost, tuple[int, str]]:
    """Run a workload once.

    Returns:
        The cost, and the number of lines written with a hash of the sorted lines.

    Raises:
        RunError: The run fails or takes longer than ``timeout`` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as directory:
        run = Run(workload.package, records, directory, workload.settings)
        Path(run.output).mkdir()
        prepare = getattr(importlib.import_module(f"benchmarks.workloads.{run.package}"), "prepare", None)
        if prepare is not None:
            prepare(run)
        cost = timed(engine.command(python, run), engine.variables(python), directory, timeout)
        lines = written_lines(run)
        return cost, (len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())
