"""Records per second through connectors, of the same programs on flintstream and on PyFlink, 2 cores, STREAMING.

    python -m benchmarks.connectors [file|kafka|jdbc|CASE ...] [--records N] [--jars JAR,JAR] [--save NAME]

    file-count           two files of lines of 60 bytes, parsed in Python, counted per key; every tenth count is written
    file-copy            the same files, copied line by line
    kafka-read           a topic of 2 partitions, 100 bytes each, counted per key; every tenth count goes to a file
    kafka-at-least-once  the same; all counts go to another topic, 100 bytes each
    kafka-exactly-once   the same in transactions; only committed records count
    kafka-exactly-once-1 the same at parallelism 1
    jdbc-insert          rows of a number and a text are inserted into a table of PostgreSQL

The engine "bare" is the bound: two Python processes with the clients that flintstream uses, without an exchange. Broker
and server are those of the tests, on this machine, and share its cores; their CPU is not in the figures. A run counts
only if its output is right, record by record. ``benchmarks/measure.py`` describes the rest of the method.

The engines "quix" and "quix-local" are Quix Streams, for the cases of Kafka only: its sources and sinks are topics. It
counts per key after ``group_by``, which takes all records through another topic, or without.

PyFlink needs the connectors' jars: --jars flink-sql-connector-kafka-5.0.0-2.2.jar (from Maven Central).
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.connectors.cases import CASES, measure
from benchmarks.engines import ENGINES
from benchmarks.options import Series, check, parser_of, refuse_unknown

if TYPE_CHECKING:
    import argparse

KINDS = tuple(dict.fromkeys(name.split("-")[0] for name in CASES))
ABLE = ("bare", "flintstream", "flink-thread", "flink-process", "quix", "quix-local")
USUAL = ABLE[:3]


def read_options() -> tuple[argparse.Namespace, list[str], list[str]]:
    """Return the options, and the names of the cases and of the engines."""
    parser = parser_of("benchmarks.connectors", __doc__, USUAL)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="one case, or all of a kind; by default all")
    parser.add_argument("--jars", default="", help="comma-separated jars for PyFlink")
    options = parser.parse_args()
    refuse_unknown(parser, "cases", options.cases, (*KINDS, *CASES))
    cases = [name for name in CASES if not options.cases or {name, name.split("-")[0]} & set(options.cases)]
    return options, cases, check(parser, options, ABLE)


def main() -> None:
    """Measure the requested cases, one after the other; print the tables."""
    options, names, engines = read_options()
    jars = [str(Path(jar).absolute()) for jar in options.jars.split(",") if jar]
    series = Series(options, engines)
    for place, cases in groupby((CASES[name] for name in names), lambda case: case.place):
        with closing(place()) as held:
            for case, engine in product(cases, (ENGINES[name] for name in engines)):
                if not case.runs_on(engine):
                    continue
                series.add(case.name, engine.name, partial(measure, case, held, engine, jars, series.limits))
    series.print()


if __name__ == "__main__":
    main()
