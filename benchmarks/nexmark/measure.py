"""Checks and measures queries on an engine."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engines import ENGINES, python_of
from benchmarks.nexmark import events
from benchmarks.nexmark.expected import database, difference, written
from benchmarks.process import RunError, timed

if TYPE_CHECKING:
    import argparse

    import duckdb

    from benchmarks.process import Cost

NAMES = {"flintstream": "flintstream", "pyflink": "flink-thread"}
"""The engines that run PyFlink programs: what they are called here, and by ``benchmarks.engines``."""
_JOB = str(Path(__file__).with_name("job.py"))


@dataclass(frozen=True)
class Measured:
    """What became of a query."""

    query: str
    problem: str = ""
    """What went wrong."""
    checked: str = ""
    """"equal", or what is wrong with the results, or nothing if there are none."""
    events: int = 0
    seconds: float = 0.0
    """Without start-up."""
    cpu: float = 0.0
    """Processor time of all processes, seconds, without start-up."""
    start_up: float = 0.0
    start_up_cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Events per second; 0 if the events were too few to tell."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return what is kept of it."""
        if self.problem:
            return {"problem": self.problem, "checked": self.checked}
        if not self.events:
            return {"checked": self.checked}
        figures = {name: round(value, 2) if isinstance(value, float) else value for name, value in asdict(self).items()}
        del figures["query"], figures["problem"]
        return figures | {
            "events_per_second": round(self.rate),
            "cpu_us_per_event": round(self.cpu / self.events * 1e6, 2),
        }


class Measurement:
    """Queries on one engine, and the events that they are run on."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.engine = ENGINES[NAMES[options.engine]]
        self.python = python_of(self.engine, {"flink": options.flink_python}, options.venvs)
        self._options = options
        self._expected: duckdb.DuckDBPyConnection | None = None

    def _events(self, count: int, rate: float) -> Path:
        """Return where so many events are; they are written once."""
        settings = events.Settings(count, rate, self._options.seed)
        parallelism = self._options.parallelism
        directory = Path(self._options.data, f"{count}-{rate:g}-{settings.seed}-{parallelism}").absolute()
        ready = directory / ".ready"
        if not ready.exists():
            events.write(settings, directory, files=parallelism)
            ready.touch()
        return directory

    def _run(self, query: str, source: Path, directory: str, *more: str) -> Cost:
        """Run a query once, in a directory."""
        start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if self.engine.mode == "flintstream" else []
        arguments = [query, "--input", str(source), "--mode", self.engine.mode, *more]
        arguments += ["--parallelism", str(self._options.parallelism)]
        command = [self.python, *start, _JOB, *arguments]
        return timed(command, self.engine.variables(self.python), directory, self._options.timeout)

    def _cost(self, query: str, count: int) -> Cost:
        """Return what a query takes on so many events."""
        source = self._events(count, self._options.rate)
        with tempfile.TemporaryDirectory(prefix="nexmark-", ignore_cleanup_errors=True) as directory:
            more = ["--output", f"{directory}/output"] if query == "q10" else []
            return self._run(query, source, directory, *more)

    def check(self, query: str) -> tuple[Cost, str]:
        """Run a query on few events; return what it takes, and "equal" or what is wrong with the results."""
        count = self._options.check_events
        source = self._events(count, rate=count / 50)  # 50 seconds of event time: several windows
        if self._expected is None:
            self._expected = database(source)
        with tempfile.TemporaryDirectory(prefix="nexmark-", ignore_cleanup_errors=True) as directory:
            output = Path(directory, "output")
            # Windows of processing time that have not ended when a bounded stream does are dropped, except in BATCH.
            runtime = "BATCH" if query == "q12" else "STREAMING"
            cost = self._run(query, source, directory, "--output", str(output), "--runtime", runtime)
            return cost, difference(query, written(output), self._expected) or "equal"

    def measure(self, query: str) -> Measured:
        """Check a query and measure it; what goes wrong is part of the result."""
        checked = ""
        try:
            small, checked = self.check(query)
            count = self._options.events
            if not count:
                return Measured(query, checked=checked)
            cost = self._cost(query, count) - small
            while cost.seconds < self._options.min_seconds and count * 2 <= self._options.max_events:
                count *= 2
                cost = self._cost(query, count) - small
        except (RunError, OSError, ValueError, AssertionError, subprocess.SubprocessError) as error:
            return Measured(query, f"{type(error).__name__}: {error}", checked)
        return Measured(
            query,
            checked=checked,
            events=count - self._options.check_events,
            seconds=cost.seconds,
            cpu=cost.cpu,
            start_up=small.seconds,
            start_up_cpu=small.cpu,
        )
