"""What is measured: a program, where its records come from and go to, and what it has to write."""

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
    """Return what is written of the counts where they go to a file."""
    return (line(counted).rstrip() for counted in counts(records) if is_written(counted))


def all_counts(records: int) -> Iterator[str]:
    """Return all counts as they are written to Kafka."""
    return map(to_text, counts(records))


def all_lines(records: int) -> Iterator[str]:
    """Return the lines of both files."""
    return (text for part in range(2) for text in texts(part, records // 2, FILE_LENGTH))


def all_rows(records: int) -> Iterator[str]:
    """Return the rows of the table."""
    return (f"{number},{to_name(number)}" for number in range(records))


@dataclass(frozen=True)
class Case:
    """A program, with the place of its records."""

    name: str
    program: str
    """A function of ``run_pyflink`` and ``run_bare``."""
    place: type[Place]
    expected: Callable[[int], Iterable[str]]
    settings: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)


CASES = {
    case.name: case
    for case in (
        Case("file-count", "file_count", Files, sampled_counts),
        Case("file-copy", "file_copy", Files, all_lines),
        Case("kafka-read", "kafka_read", Kafka, sampled_counts),
        Case("kafka-at-least-once", "kafka_count", Kafka, all_counts, {"guarantee": "AT_LEAST_ONCE"}),
        Case("kafka-exactly-once", "kafka_count", Kafka, all_counts, {"guarantee": "EXACTLY_ONCE"}),
        Case("jdbc-insert", "jdbc_insert", Database, all_rows),
    )
}


def measure(case: Case, place: Place, engine: Engine, jars: list[str], limits: Limits, python: str) -> Outcome:
    """Measure one case on one engine; what goes wrong is part of the outcome."""

    def run(records: int) -> Cost:
        return run_once(case, place, engine, Run(case.program, records, "", {"jars": jars}), python, limits.timeout)

    return measure_runs(case.name, engine, run, limits)


def run_once(case: Case, place: Place, engine: Engine, run: Run, python: str, timeout: float) -> Cost:
    """Run a program once, in a directory of its own, and return what it took.

    Raises:
        RunError: It fails, takes longer than ``timeout`` seconds, or has written something else than it should.
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
    """Return the fingerprint of what is to be written."""
    return fingerprint(case.expected(records))


def fingerprint(written: Iterable[str]) -> tuple[int, int]:
    """Return how many records there are, and the sum of their checksums: their order does not matter."""
    count = checksum = 0
    for text in written:
        count += 1
        checksum += crc32(text.encode())
    return count, checksum
