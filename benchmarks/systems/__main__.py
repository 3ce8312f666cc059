"""Messages per second to and from servers: flintstream beside the bare clients, 2 cores, STREAMING.

    python -m benchmarks.systems [SYSTEM|CASE ...] [--engines bare,flintstream] [--seconds N] [--save NAME]

    rabbitmq-write    numbers are written as texts of about ten bytes, and confirmed by the server
    rabbitmq-read     such texts are read and written to files
    ...               the same for kinesis, firehose, dynamodb, pulsar, cassandra, mongodb and elasticsearch

The engine "bare" is two Python processes with the clients that flintstream uses. The servers are those of the tests, on
this machine, and share its cores; their CPU is not in the figures. Those of AWS are moto, which is written in Python:
it is what limits both, and its queues of SQS, which look at all messages for each one, are left out. That of
Elasticsearch is a stand-in for its bulk API. A run counts only if its output is right, record by record. PyFlink is not
here: these connectors have no release for Flink 2.3. ``benchmarks/measure.py`` describes the rest of the method.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.connectors.guarantees.programs import SINKS, SOURCES
from tests.connectors.guarantees.systems import SYSTEMS

from benchmarks.connectors.cases import fingerprint
from benchmarks.engines import ENGINES
from benchmarks.measure import measure_runs
from benchmarks.options import Series, check, parser_of, refuse_unknown
from benchmarks.process import RunError, timed
from benchmarks.systems.records import text_of
from benchmarks.workload import Run, written_lines

if TYPE_CHECKING:
    from tests.connectors.guarantees.systems import System

    from benchmarks.engines import Engine
    from benchmarks.measure import Limits, Outcome
    from benchmarks.process import Cost

HERE = Path(__file__).parent
NAMES = ("rabbitmq", "kinesis", "firehose", "dynamodb", "pulsar", "cassandra", "mongodb", "elasticsearch")
CASES = [f"{name}-{way}" for name in NAMES for way, has in (("write", SINKS), ("read", SOURCES)) if name in has]
ABLE = ("bare", "flintstream")
FIRST = 20_000
"""The number of records to start with: some servers are slow."""


def run_once(case: str, system: System, engine: Engine, records: int, python: str, timeout: float) -> Cost:
    """Run a program once, with a new target and its own directory, and return the cost.

    Raises:
        RunError: The program fails, takes longer than ``timeout`` seconds, or gives wrong results.
    """
    system.renew()
    reads = case.endswith("read")
    expected = list(map(text_of, range(records)))
    if reads:
        system.fill(expected)
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as directory:
        settings: dict[str, Any] = {"configuration": {}, **system.settings(system.port)}
        if reads:
            checkpoints = Path(directory, "checkpoints").as_uri()
            settings["configuration"] = {
                "execution.checkpointing.interval": "1 s",
                "execution.checkpointing.dir": checkpoints,
            }
        run = Run(case, records, directory, settings)
        Path(run.output).mkdir()
        cost = timed(engine.command(python, run, HERE), engine.variables(python), directory, timeout)
        found = written_lines(run) if reads else system.texts()
        if fingerprint(found) != fingerprint(expected):
            raise RunError(f"wrong results of {records} records")
        return cost


def measure(case: str, system: System, engine: Engine, limits: Limits, python: str) -> Outcome:
    """Measure one case on one engine; an error becomes part of the outcome."""
    engine = replace(engine, first=FIRST)
    return measure_runs(
        case, engine, lambda records: run_once(case, system, engine, records, python, limits.timeout), limits
    )


def main() -> None:
    """Measure the requested cases, one after the other; print the tables."""
    parser = parser_of("benchmarks.systems", __doc__, ABLE)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="one case, or both of a system; by default all")
    options = parser.parse_args()
    refuse_unknown(parser, "cases", options.cases, (*NAMES, *CASES))
    names = [name for name in CASES if not options.cases or {name, name.split("-")[0]} & set(options.cases)]
    engines = check(parser, options, ABLE)
    series = Series(options, engines)
    for name, cases in groupby(names, lambda case: case.split("-")[0]):
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as directory,
            closing(SYSTEMS[name](Path(directory, "server"))) as system,
        ):
            for case, engine in product(cases, (ENGINES[chosen] for chosen in engines)):
                series.add(case, engine.name, partial(measure, case, system, engine, series.limits))
    series.print()


if __name__ == "__main__":
    main()
