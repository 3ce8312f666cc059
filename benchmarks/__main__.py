"""Records per second of the same programs on several engines, 2 cores, STREAMING.

    python -m benchmarks [WORKLOAD ...] [--engines flintstream,bare] [--seconds 5] [--save NAME]

A workload (``benchmarks/workloads``) is a program in PyFlink's API, which PyFlink in thread and in process mode and
flintstream run as it is; the same on bare Python processes without an exchange, which is the bound; and, where it fits,
what a user of Bytewax, PySpark would write. How it is measured: ``benchmarks/measure.py``.

The other engines run in virtual environments below --venvs, which are made when they are not there (that takes a while,
and PyFlink needs Python 3.12 or older), or in given ones (--flink-python or the variable BENCHMARK_FLINK_PYTHON, and so
on).
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from benchmarks.engines import BENCHMARKS, ENGINES, REQUIREMENTS, python_of
from benchmarks.measure import Limits, Outcome, measure
from benchmarks.report import Record, progress
from benchmarks.workloads import WORKLOADS


def read_options() -> tuple[argparse.Namespace, list[str], list[str]]:
    """Return the options, and the names of the workloads and of the engines."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help=f"all, if none is given: {', '.join(WORKLOADS)}"
    )
    parser.add_argument("--engines", default=",".join(ENGINES), help="separated by commas: %(default)s")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, default=5.0, help="what a run takes at least (%(default)s)")
    length.add_argument("--records", type=int, help="the same number for all engines, however long it takes")
    parser.add_argument("--repeat", type=int, default=1, help="how often the longest run is done; the median counts")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that one run may take (%(default)s)")
    parser.add_argument(
        "--save", metavar="NAME", help="write benchmarks/results/NAME.json and NAME.md, or continue them"
    )
    parser.add_argument(
        "--venvs", type=Path, default=Path("build/benchmark-venvs"), help="where they are (%(default)s)"
    )
    for name, packages in REQUIREMENTS.items():
        variable = f"BENCHMARK_{name.upper()}_PYTHON"
        parser.add_argument(
            f"--{name}-python", default=os.environ.get(variable), help=f"an interpreter that has {packages[0]}"
        )
    options = parser.parse_args()
    engines = options.engines.split(",")
    for kind, names, known in (("workloads", options.workloads, WORKLOADS), ("engines", engines, ENGINES)):
        unknown = [name for name in names if name not in known]
        if unknown:
            parser.error(f"unknown {kind}: {', '.join(unknown)}; there are {', '.join(known)}")
    if options.records is not None and (options.records < 10_000 or options.records % 20):
        parser.error("--records must be a multiple of 20 and at least 10000")
    return options, options.workloads or list(WORKLOADS), engines


def main() -> None:
    """Measure what was asked for, one after the other; print the tables."""
    options, workloads, engines = read_options()
    given = {name: getattr(options, f"{name}_python") for name in REQUIREMENTS}
    pythons, problems = {}, {}
    for name in engines:
        try:
            pythons[name] = python_of(ENGINES[name], given, options.venvs)
        except (OSError, subprocess.CalledProcessError) as error:
            problems[name] = f"no environment: {error}"
    limits = Limits(options.seconds, options.timeout, options.records, options.repeat)
    record = Record(BENCHMARKS / "results" / f"{options.save}.json" if options.save else None, pythons)
    for workload in (WORKLOADS[name] for name in workloads):
        for engine in (ENGINES[name] for name in engines):
            if not engine.runs(workload.package):
                continue
            if engine.name in problems:
                outcome = Outcome(workload.name, engine.name, problem=problems[engine.name])
            else:
                outcome = measure(workload, engine, pythons[engine.name], limits)
            progress(outcome)
            record.add(outcome)
    print(record.table(), end="")


if __name__ == "__main__":
    main()
