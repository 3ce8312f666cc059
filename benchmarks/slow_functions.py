"""Time from the result of a slow function until it is printed.

    python -m benchmarks.slow_functions [CASE ...] [--engines flintstream] [--flink-python PYTHON] [--parallelism 1]

The programs (``runners/slow_functions.py``) print 300 results, each with the time at which the function returned it;
this one reads their output and records the time of each line. PyFlink runs the same file in both of its modes, with
default settings otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNNER = Path(__file__).parent / "runners" / "slow_functions.py"
SOURCES = RUNNER.parents[2] / "src"
CASES = (
    "map",
    "map, computing",
    "map after rebalance",
    "map, a pause of 1 s",
    "map, slow after 20,000 records",
    "keyed process",
    "keyed process, a pause of 1 s",
    "keyed process, slow after 20,000 records",
    "async, 1 s each, 20 at a time",
)
PRINTED = re.compile(rb"\((\d+),\s*([\d.E]+)\)")
SHOWN = 300
"""Only the last results count: those before are not slow."""


def held_back(engine: str, python: str, case: str, parallelism: int) -> list[float]:
    """Run a program; return the seconds that each of its slow results took from the function to the terminal.

    Raises:
        RuntimeError: The program fails, or does not print each record once.
    """
    start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if engine == "flintstream" else []
    mode = [] if engine == "flintstream" else [engine.removeprefix("pyflink-")]
    variables = {
        **os.environ,
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCES) if engine == "flintstream" else "",
    }
    lags: dict[int, float] = {}
    printed = 0
    with tempfile.TemporaryDirectory(prefix="slow-functions-") as directory, Path(directory, "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own programs
            [python, *start, str(RUNNER), case, str(parallelism), *mode],
            env={**variables, "FLINK_LOG_DIR": directory}, cwd=directory, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            now = time.time()
            if found := PRINTED.search(line):
                printed += 1
                lags[int(found[1])] = now - float(found[2])
        if process.wait():
            raise RuntimeError(Path(directory, "log").read_text(errors="replace")[-2000:])
    if not printed == len(lags) == max(lags) + 1:
        raise RuntimeError(f"{printed} lines with {len(lags)} different records were printed")
    return [lags[number] for number in sorted(lags)[-SHOWN:]]


def main() -> None:
    """Run all cases one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--engines", default="flintstream,pyflink-process,pyflink-thread")
    parser.add_argument("--flink-python", help="an interpreter that has apache-flink 2.3.0")
    parser.add_argument("--parallelism", type=int, default=1)
    options = parser.parse_args()
    print(f"{'seconds from function to print':44}{'engine':18}{'median':>8}{'p95':>8}{'longest':>9}")
    for case in options.cases:
        for engine in options.engines.split(","):
            python = sys.executable if engine == "flintstream" else options.flink_python
            if not python:
                parser.error("give --flink-python, or --engines flintstream")
            try:
                lags = held_back(engine, python, case, options.parallelism)
            except RuntimeError as error:
                print(f"{case:44}{engine:18}{str(error).strip().splitlines()[-1]}", flush=True)
                continue
            p95 = statistics.quantiles(lags, n=20)[-1]
            print(f"{case:44}{engine:18}{statistics.median(lags):8.2f}{p95:8.2f}{max(lags):9.2f}", flush=True)


if __name__ == "__main__":
    main()
