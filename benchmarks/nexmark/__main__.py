"""Measure the queries of Nexmark.

    python -m benchmarks.nexmark [--events 1000000] [--queries q0,q5] [--engine flintstream|pyflink] [--sql]
    python -m benchmarks.nexmark --sql --engine flintstream,pyflink,streams --repeat 3 --events 1000000

With --sql, the queries are those in SQL, which PyFlink runs in Java; the engine "streams" then stands for their
DataStream versions on flintstream. Several engines take turns at each query, so that they meet the same machine, and
with --repeat the fastest of several commands counts. Each query has a separate command with three jobs:
one on few events (--check-events), whose results are compared with DuckDB's; the same again, without writing; one on N
events. The report has the difference between the last two: seconds, and processor time of all processes. If it is less
than a few seconds (--min-seconds), the command runs again with twice as many events. A query that fails or takes longer
than --timeout is reported, and the next one follows. Results are printed, kept as JSON below benchmarks/results, and
written to docs/explanation/nexmark.md when all queries have been run.

PyFlink runs in a virtual environment below --venvs, which is created if necessary (it needs Python 3.12 or older), or
in that of --flink-python or the variable BENCHMARK_FLINK_PYTHON.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nexmark.expected import SQL
from benchmarks.nexmark.measure import NAMES, Measurement
from benchmarks.nexmark.patterns import PATTERNS
from benchmarks.nexmark.report import HEADINGS, circumstances, fill_page, keep, line, path_of
from benchmarks.nexmark.sql import QUERIES

if TYPE_CHECKING:
    from benchmarks.nexmark.measure import Measured

STREAMS = "streams"
"""Stands for the DataStream versions of the queries, on flintstream, beside those in SQL."""


def main() -> None:
    """Run the queries one after the other."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nexmark", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, help="default: 1,000,000; 100,000 for PyFlink; 0: only check results")
    parser.add_argument(
        "--sql",
        action="store_true",
        help="the queries in SQL; all but q6, and the patterns cep0 to cep3 if --queries names them",
    )
    parser.add_argument("--queries", help="comma-separated (default: all)")
    parser.add_argument("--engine", default="flintstream", help=f"one or several of {', '.join([*NAMES, STREAMS])}")
    parser.add_argument("--repeat", type=int, default=1, help="commands per query, of which the fastest counts")
    parser.add_argument("--rate", type=float, default=10_000, help="events per second of event time (%(default)g)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--check-events", type=int, default=20_000, help="%(default)s")
    parser.add_argument("--min-seconds", type=float, default=5, help="least duration of the last job (%(default)g)")
    parser.add_argument("--max-events", type=int, default=8_000_000, help="never measure more (%(default)s)")
    parser.add_argument("--timeout", type=float, default=600, help="time limit of a command in seconds (%(default)g)")
    parser.add_argument("--data", default="build/nexmark", help="directory for the events (%(default)s)")
    parser.add_argument(
        "--output", type=Path, help="the JSON file; by default that of the repository if all queries run"
    )
    parser.add_argument(
        "--venvs",
        type=Path,
        default=Path("build/benchmark-venvs"),
        help="directory of the virtual environments (%(default)s)",
    )
    flink = os.environ.get("BENCHMARK_FLINK_PYTHON")
    parser.add_argument("--flink-python", default=flink, help="an interpreter that has apache-flink==2.3.0")
    options = parser.parse_args()
    known = list(QUERIES if options.sql else SQL)
    queries = options.queries.split(",") if options.queries else known
    unknown = [query for query in queries if query not in known and not (options.sql and query in PATTERNS)]
    if unknown:
        parser.error(f"unknown queries: {', '.join(unknown)}; choose from {', '.join([*known, *PATTERNS])}")
    engines = options.engine.split(",")
    for name in engines:
        if name not in NAMES and not (name == STREAMS and options.sql):
            parser.error(f"unknown engine: {name}; choose from {', '.join(NAMES)}, and {STREAMS} beside --sql")
    if options.output and len(engines) > 1:
        parser.error("--output is for one engine")
    if options.events is None:
        options.events = 100_000 if engines == ["pyflink"] and not options.sql else 1_000_000
    if 0 < options.events <= options.check_events:
        parser.error(f"--events must be more than the {options.check_events} of --check-events, or 0")
    complete = queries == known and options.events > 0
    series = [Series(options, name, kept=complete) for name in engines]
    width = 12 if len(series) > 1 else 0
    print(f"{'':{width}}{HEADINGS}")
    for query in queries:
        for one in series:
            print(f"{one.name:{width}}"[:width] + line(one.measure(query)), flush=True)
    if complete and options.output is None:
        fill_page(sql=options.sql)
    sys.exit(any(result.problem or result.checked != "equal" for one in series for result in one.results))


class Series:
    """The results of one engine, which are kept after each query."""

    def __init__(self, options: argparse.Namespace, name: str, *, kept: bool) -> None:
        self.name = name
        given = {"engine": "flintstream", "sql": False} if name == STREAMS else {"engine": name}
        self._options = argparse.Namespace(**(vars(options) | given))
        self._measurement = Measurement(self._options)
        self._about = circumstances(self._measurement, self._options)
        self._output = options.output or (path_of(name, sql=options.sql) if kept else None)
        self.results: list[Measured] = []

    def measure(self, query: str) -> Measured:
        """Measure a query as often as asked, and keep the fastest; a failure counts before all others."""
        found = [self._measurement.measure(query) for _ in range(self._options.repeat)]
        best = max(found, key=lambda result: (bool(result.problem) or result.checked != "equal", result.rate))
        self.results.append(best)
        if self._output is not None:
            keep(self._output, self._about, self.results)
        return best


if __name__ == "__main__":
    main()
