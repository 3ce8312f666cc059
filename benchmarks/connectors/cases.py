"""The cases: a program, its input and output, and the expected output."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from benchmarks.connectors.places import Database, Files, Kafka
from benchmarks.connectors.records import FILE_LENGTH, counts, is_written, texts, to_name, to_text
from benchmarks.measure import measure_runs
from benchmarks.process import RunError, timed
from benchmarks.workload import Run, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchmarks.connectors.places import Place
    from benchmarks.engines import Engine
    from benchmarks.measure import Limits, Outcome
    from benchmarks.process import Cost

HERE = Path(__file__).parent


def sampled_counts(records: int) -> Iterator[str]:
    """Return the counts that are written to a file."""
    return (line(counted).rstrip() for counted in counts(records) if is_written(counted))


def all_counts(records: int) -> Iterator[str]:
    """Return all counts in the form that is written to Kafka."""
    return map(to_text, counts(records))


def all_lines(records: int) -> Iterator[str]:
    """Return the lines of both files."""
    return (text for part in range(2) for text in texts(part, records // 2, FILE_LENGTH))


def all_rows(records: int) -> Iterator[str]:
    """Return the rows of the table."""
    return (f"{number},{to_name(number)}" for number in range(records))


@dataclass(frozen=True)
class Case:
    """A program with its input and output."""

    name: str
    program: str
    """A function of ``run_pyflink`` and ``run_bare``."""
    place: type[Place]
    expected: Callable[[int], Iterable[str]]
    settings: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)

    def runs_on(self, engine: Engine) -> bool:
        """Whether an engine has the program: Quix Streams has those of Kafka at parallelism 2."""
        return engine.module != "quix" or (self.place is Kafka and "parallelism" not in self.settings)


CASES = {
    case.name: case
    for case in (
        Case("file-count", "file_count", Files, sampled_counts),
        Case("file-copy", "file_copy", Files, all_lines),
        Case("kafka-read", "kafka_read", Kafka, sampled_counts),
        Case("kafka-at-least-once", "kafka_count", Kafka, all_counts, {"guarantee": "AT_LEAST_ONCE"}),
        Case("kafka-exactly-once", "kafka_count", Kafka, all_counts, {"guarantee": "EXACTLY_ONCE"}),
        Case(
            "kafka-exactly-once-1",
            "kafka_count",
            Kafka,
            all_counts,
            {"guarantee": "EXACTLY_ONCE", "parallelism": 1},
        ),
        Case("jdbc-insert", "jdbc_insert", Database, all_rows),
    )
}


def measure(case: Case, place: Place, engine: Engine, jars: list[str], limits: Limits, python: str) -> Outcome:
    """Measure one case on one engine; an error becomes part of the outcome."""

    def run(records: int) -> Cost:
        return run_once(case, place, engine, Run(case.program, records, "", {"jars": jars}), python, limits.timeout)

    return measure_runs(case.name, engine, run, limits)


def run_once(case: Case, place: Place, engine: Engine, run: Run, python: str, timeout: float) -> Cost:
    """Run a program once, in a separate directory, and return the cost.

    Raises:
        RunError: The program fails, takes longer than ``timeout`` seconds, or gives wrong results.
    """
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as directory:
        run = replace(run, directory=directory)
        Path(run.output).mkdir()
        run = replace(run, settings={**run.settings, **case.settings, **place.prepare(run)})
        cost = timed(engine.command(python, run, HERE), engine.variables(python), directory, timeout)
        found, expected = fingerprint(place.written(run)), expected_of(case, run.records)
        if found != expected:
            raise RunError(f"wrong results: {found[0]} records, expected {expected[0]}, with {run.records} records")
        return cost


@cache
def expected_of(case: Case, records: int) -> tuple[int, int]:
    """Return the fingerprint of the expected output."""
    return fingerprint(case.expected(records))


def fingerprint(written: Iterable[str]) -> tuple[int, int]:
    """Return the number of records and the sum of their checksums, which do not depend on the order."""
    count = checksum = 0
    for text in written:
        count += 1
        checksum += crc32(text.encode())
    return count, checksum
