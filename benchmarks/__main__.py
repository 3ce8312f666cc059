"""Records per second of the same programs on several engines, 2 cores, STREAMING.

    python -m benchmarks [WORKLOAD ...] [--engines flintstream,bare] [--seconds 5] [--save NAME]

A workload (``benchmarks/workloads``) is a program in PyFlink's API, which PyFlink in thread and in process mode and
flintstream run unmodified. The bound is the same work in bare Python processes without an exchange. Where it fits, there
is also a version as a user of Bytewax or PySpark would write it. ``benchmarks/measure.py`` describes the method.

The other engines run in virtual environments below --venvs, which are created if necessary (that takes a while, and
PyFlink needs Python 3.12 or older), or in existing ones (--flink-python or the variable BENCHMARK_FLINK_PYTHON, and so
on).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines import ENGINES
from benchmarks.measure import measure
from benchmarks.options import Series, check, parser_of, refuse_unknown
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    import argparse

ABLE = [name for name, engine in ENGINES.items() if any(engine.runs(value.package) for value in WORKLOADS.values())]


def read_options() -> tuple[argparse.Namespace, list[str], list[str]]:
    """Return the options, and the names of the workloads and of the engines."""
    parser = parser_of("benchmarks", __doc__, ABLE)
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help=f"by default all: {', '.join(WORKLOADS)}"
    )
    options = parser.parse_args()
    refuse_unknown(parser, "workloads", options.workloads, WORKLOADS)
    return options, options.workloads or list(WORKLOADS), check(parser, options, ABLE)


def main() -> None:
    """Measure the requested workloads, one after the other; print the tables."""
    options, workloads, engines = read_options()
    series = Series(options, engines)
    for workload in (WORKLOADS[name] for name in workloads):
        for engine in (ENGINES[name] for name in engines):
            if engine.runs(workload.package):
                series.add(workload.name, engine.name, lambda python: measure(workload, engine, python, series.limits))
    series.print()


if __name__ == "__main__":
    main()
