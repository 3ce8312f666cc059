"""Check and measure queries on an engine."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
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

NAMES = {"flintstream": "flintstream", "pyflink": "flink-thread"}
"""The engines that run PyFlink programs: their names here and in ``benchmarks.engines``."""
_JOBS = {sql: str(Path(__file__).with_name("sql_job.py" if sql else "job.py")) for sql in (False, True)}


@dataclass(frozen=True)
class Measured:
    """The result of a query."""

    query: str
    problem: str = ""
    """The error, if any."""
    checked: str = ""
    """"equal", or the error in the results, or empty if there are none."""
    events: int = 0
    seconds: float = 0.0
    """Without the time of a job on few events."""
    cpu: float = 0.0
    """Processor time of all processes, seconds, likewise."""
    start_up: float = 0.0
    """Seconds from the start of the command to the end of a first job on few events."""

    @property
    def rate(self) -> float:
        """Events per second; 0 if there were too few events to measure."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the values to keep as JSON."""
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
    """Queries on one engine, and their events."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.engine = ENGINES[NAMES[options.engine]]
        self.python = python_of(self.engine, {"flink": options.flink_python}, options.venvs)
        self._options = options
        self._expected: duckdb.DuckDBPyConnection | None = None

    def _events(self, count: int, rate: float) -> Path:
        """Return the directory of this many events, which are written once."""
        settings = events.Settings(count, rate, self._options.seed)
        parallelism = self._options.parallelism
        directory = Path(self._options.data, f"{count}-{rate:g}-{settings.seed}-{parallelism}").absolute()
        ready = directory / ".ready"
        if not ready.exists():
            events.write(settings, directory, files=parallelism)
            ready.touch()
        return directory

    def _run(self, query: str, count: int) -> tuple[str, dict[str, Any]]:
        """Run a query on few events and on this many; return the error in the results and the cost of the jobs."""
        few = self._options.check_events
        small = self._events(few, rate=few / 50)  # 50 seconds of event time: several windows
        if self._expected is None:
            self._expected = database(small)
        with tempfile.TemporaryDirectory(prefix="nexmark-", ignore_cleanup_errors=True) as directory:
            output, report = Path(directory, "output"), Path(directory, "report.json")
            arguments = ["--small", str(small), "--output", str(output), "--report", str(report)]
            arguments += ["--mode", self.engine.mode, "--parallelism", str(self._options.parallelism)]
            if count:
                arguments += ["--large", str(self._events(count, self._options.rate))]
            start = (
                ["-m", "flintstream.cli", "run", "--master", "local[2]"] if self.engine.mode == "flintstream" else []
            )
            command = [self.python, *start, _JOBS[self._options.sql], query, *arguments]
            started = time.time()
            timed(command, self.engine.variables(self.python), directory, self._options.timeout)
            problem = difference(query, written(output / "checked"), self._expected)
            if not count:
                return problem, {}
            took = json.loads(report.read_text())
            return problem, {**took, "first": took["first"] - started}

    def measure(self, query: str) -> Measured:
        """Check a query and measure it; an error becomes part of the result."""
        count = self._options.events
        try:
            problem, took = self._run(query, count)
            while took and self._too_short(took) and count * 2 <= self._options.max_events:
                count *= 2
                problem, took = self._run(query, count)
        except (RunError, OSError, ValueError, AssertionError, subprocess.SubprocessError) as error:
            return Measured(query, f"{type(error).__name__}: {error}")
        if not took:
            return Measured(query, checked=problem or "equal")
        small, large = took["small"], took["large"]
        return Measured(
            query,
            checked=problem or "equal",
            events=count - self._options.check_events,
            seconds=large["seconds"] - small["seconds"],
            cpu=large["cpu"] - small["cpu"],
            start_up=took["first"],
        )

    def _too_short(self, took: dict[str, Any]) -> bool:
        return bool(took["large"]["seconds"] - took["small"]["seconds"] < self._options.min_seconds)
