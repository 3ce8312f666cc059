"""Memory of a key in queries in SQL: aggregates, joins, ranks; here and in Flink.

    python -m benchmarks.sql_memory [--keys 1000000] [--pyflink FLINK_PYTHON]

A job keeps state for KEYS keys, another one for a tenth of them. The figure is the difference of what lives in memory,
divided by that of the keys: resident memory of the process here, Java objects after a garbage collection in Flink. That
needs the ``jcmd`` of a JDK on the path.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.engines import REPOSITORY

QUERIES = {
    "COUNT and SUM": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a GROUP BY k",
    "AVG, MIN and MAX": "SELECT k, AVG(v) AS m, MIN(v) AS low, MAX(v) AS high FROM a GROUP BY k",
    "COUNT(DISTINCT), one value": "SELECT k, COUNT(DISTINCT v) AS n FROM a GROUP BY k",
    "COUNT(DISTINCT), one key": "SELECT g, COUNT(DISTINCT k) AS n FROM (SELECT v - v AS g, k FROM a) GROUP BY g",
    "inner join": "SELECT a.k, a.v, b.v AS w FROM a JOIN b ON a.k = b.k",
    "left join": "SELECT a.k, a.v, b.v AS w FROM a LEFT JOIN b ON a.k = b.k",
    "first row": """SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS n
        FROM (SELECT k, v, PROCTIME() AS p FROM a)) WHERE n = 1""",
    "top 3": """SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n
        FROM a) WHERE n <= 3""",
}
_JOB = str(Path(__file__).with_name("runners") / "sql_memory.py")


def live(query: str, keys: int, pyflink: str | None) -> int:
    """Return the bytes that live when a query has state for all keys."""
    command = [sys.executable, "-m", "flintstream.cli", "run", "-D", "flintstream.engine=inline", _JOB]
    path = os.environ["PATH"]
    if pyflink is not None:
        command, path = [pyflink, _JOB], os.pathsep.join([str(Path(pyflink).parent), path])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(  # noqa: S603 - this module
        [*command, query, str(keys)], env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return next(int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("bytes "))


def main() -> None:
    """Print the table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--queries", default="|".join(QUERIES), help="separated by |")
    parser.add_argument("--pyflink", help="the interpreter of an environment with PyFlink")
    options = parser.parse_args()
    few = options.keys // 10
    pythons = [None, *([options.pyflink] if options.pyflink else [])]
    print(f"| bytes per key | {' | '.join(['flintstream', 'Flink'][: len(pythons)])} |\n|{'---|' * (1 + len(pythons))}")
    for query in options.queries.split("|"):
        sizes = [live(query, options.keys, python) - live(query, few, python) for python in pythons]
        print(f"| {query} | {' | '.join(f'{size / (options.keys - few):.0f}' for size in sizes)} |", flush=True)


if __name__ == "__main__":
    main()
