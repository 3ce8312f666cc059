"""Measure the queries of Nexmark.

    python -m benchmarks.nexmark [--events 1000000] [--queries q0,q5] [--engine flintstream|pyflink] [--sql]

With --sql, the queries are those in SQL, which PyFlink runs in Java. Each query has a separate command with three jobs:
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

from benchmarks.nexmark.expected import SQL
from benchmarks.nexmark.measure import NAMES, Measurement
from benchmarks.nexmark.patterns import PATTERNS
from benchmarks.nexmark.report import HEADINGS, circumstances, fill_page, keep, line, path_of
from benchmarks.nexmark.sql import QUERIES


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
    parser.add_argument("--engine", choices=NAMES, default="flintstream")
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
    if options.events is None:
        options.events = 100_000 if options.engine == "pyflink" and not options.sql else 1_000_000
    if 0 < options.events <= options.check_events:
        parser.error(f"--events must be more than the {options.check_events} of --check-events, or 0")
    complete = queries == known and options.events > 0
    output = options.output or (path_of(options.engine, sql=options.sql) if complete else None)
    measurement = Measurement(options)
    about = circumstances(measurement, options)
    results = []
    print(HEADINGS)
    for query in queries:
        results.append(measurement.measure(query))
        print(line(results[-1]), flush=True)
        if output is not None:
            keep(output, about, results)
    if complete and options.output is None:
        fill_page(sql=options.sql)
    sys.exit(any(result.problem or result.checked != "equal" for result in results))


if __name__ == "__main__":
    main()
