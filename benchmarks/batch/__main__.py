"""Bounded queries in SQL on flintstream, Flink's Java, Spark SQL and DuckDB, one after the other, on the same files.

    python -m benchmarks.batch [--events 2000000] [--queries group,join] [--engines flintstream,duckdb]
        [--flink-python PYTHON]

Each query runs in a process of its own for each engine, first on few events, then on many. The figures are the
difference, so they do not include the start. Results must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.batch.job import RUNNERS
from benchmarks.batch.queries import QUERIES
from benchmarks.engines import ENGINES, REPOSITORY, python_of
from benchmarks.nexmark import events
from benchmarks.process import RunError, timed
from benchmarks.report import machine

FEW = 20_000
_JOB = str(Path(__file__).with_name("job.py"))
_ENGINES = {"flintstream": "flintstream", "flink": "flink-thread", "spark": "spark", "duckdb": "flintstream"}
"""Whose interpreter each engine runs in; DuckDB is one of the development packages."""
_RESULTS = REPOSITORY / "benchmarks" / "results" / "batch.json"


def _measured(engine: str, query: str, count: int, sources: list[Path], python: str) -> dict[str, Any]:
    start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if engine == "flintstream" else []
    with tempfile.TemporaryDirectory(prefix="batch-", ignore_cleanup_errors=True) as directory:
        report = Path(directory, "report.json")
        command = [python, *start, _JOB, engine, query, *map(str, sources), str(report)]
        timed(command, ENGINES[_ENGINES[engine]].variables(python), directory, 900)
        found = json.loads(report.read_text())
    rate, cpu = count / found["seconds"], found["cpu"] / count * 1e6
    return {"rows": found["rows"], "events_per_second": round(rate), "cpu_us_per_event": round(cpu, 3)}


def main() -> None:
    """Measure, print and keep the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.batch", description="Bounded SQL beside other engines.")
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--queries", default=",".join(QUERIES))
    parser.add_argument("--engines", default=",".join(RUNNERS))
    parser.add_argument("--flink-python", default=os.environ.get("BENCHMARK_FLINK_PYTHON"))
    parser.add_argument("--venvs", type=Path, default=REPOSITORY / "build" / "benchmark-venvs")
    options = parser.parse_args()
    engines = options.engines.split(",")
    given = {"flink": options.flink_python, "spark": sys.executable}
    pythons = {engine: python_of(ENGINES[_ENGINES[engine]], given, options.venvs) for engine in engines}
    sources = []
    for count in (FEW, options.events):
        directory = REPOSITORY / "build" / "batch" / str(count)
        if not (directory / ".ready").exists():
            events.write(events.Settings(count), directory, files=2)
            (directory / ".ready").touch()
        sources.append(directory)
    outcomes: dict[str, dict[str, Any]] = {}
    for query in options.queries.split(","):
        for engine in engines:
            try:
                found = _measured(engine, query, options.events - FEW, sources, pythons[engine])
            except RunError as error:
                found = {"problem": str(error)[:200]}
            outcomes.setdefault(query, {})[engine] = found
            print(query, engine, found, flush=True)
        if len({json.dumps(found.get("rows")) for found in outcomes[query].values()}) != 1:
            sys.exit(f"the results of {query} differ")
    if options.queries.split(",") == [*QUERIES] and engines == [*RUNNERS]:
        content = {"machine": machine(), "events": options.events, "outcomes": outcomes}
        _RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
