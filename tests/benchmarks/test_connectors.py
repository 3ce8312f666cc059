from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.connectors import run_bare
from benchmarks.connectors.__main__ import read_options
from benchmarks.connectors.cases import CASES, fingerprint, run_once
from benchmarks.connectors.places import Files
from benchmarks.connectors.records import FILE_LENGTH, KAFKA_LENGTH, counts, parse, texts, to_text
from benchmarks.engines import ENGINES
from benchmarks.process import RunError, timed
from benchmarks.workload import Run
from tests.conformance.ours import alias

from flintstream.common import Configuration
from flintstream.datastream import StreamExecutionEnvironment

RECORDS = 25_000
FILE_CASES = [case for case in CASES.values() if case.place is Files]


def prepared(case, tmp_path):
    run = Run(case.program, RECORDS, str(tmp_path))
    Path(run.output).mkdir()
    Files().prepare(run)
    return run


def with_programs(use):
    """Call a function with the programs, which import pyflink."""
    with alias():
        return use(importlib.import_module("benchmarks.connectors.run_pyflink").PROGRAMS)


def run_inline(case, run):
    settings = Configuration().set_string("flintstream.engine", "inline")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    with_programs(lambda programs: programs[case.program](env, run))
    env.execute(case.name)


def run_bare_halves(case, run):
    for number in range(2):
        run_bare.PROGRAMS[case.program](number, run)


@pytest.mark.parametrize("case", FILE_CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("way", [run_inline, run_bare_halves])
def test_programs_with_files_write_what_is_expected(case, way, tmp_path):
    run = prepared(case, tmp_path)
    way(case, run)
    expected = fingerprint(case.expected(RECORDS))
    assert expected[0] > 1000
    assert fingerprint(Files().written(run)) == expected


def test_each_case_has_its_program_for_both_runners():
    used = {case.program for case in CASES.values()}
    assert used == set(run_bare.PROGRAMS)
    assert used == with_programs(set)


def test_the_counts_are_those_of_the_texts():
    keys = Counter(parse(text)[0] for part in range(2) for text in texts(part, RECORDS // 2, FILE_LENGTH))
    assert sorted(counts(RECORDS)) == sorted((key, n) for key, times in keys.items() for n in range(1, times + 1))


def test_what_is_read_from_and_written_to_kafka_has_the_same_length():
    assert {len(to_text(counted)) for counted in counts(2000)} == {KAFKA_LENGTH}
    assert {len(text) for text in texts(1, 20_000, KAFKA_LENGTH)} == {KAFKA_LENGTH}


def test_the_order_of_records_does_not_matter_but_each_of_them_does():
    assert fingerprint(["a", "b", "c"]) == fingerprint(["c", "a", "b"])
    assert fingerprint(["a", "b"]) != fingerprint(["a", "b", "b"])
    assert fingerprint(["a", "b"]) != fingerprint(["a", "c"])


def test_a_run_that_writes_too_little_does_not_count():
    class Lossy(Files):
        def written(self, run):
            return list(super().written(run))[1:]

    (case,) = (case for case in FILE_CASES if case.name == "file-copy")
    run = Run(case.program, RECORDS, "", {"jars": []})
    with pytest.raises(RunError, match="wrong results: 24999 records, expected 25000"):
        run_once(case, Lossy(), ENGINES["bare"], run, sys.executable, 60)


def test_what_was_raised_last_is_the_reason_that_a_run_has_failed(tmp_path):
    program = "import sys; sys.exit('x.JavaError: while calling.\\n: java.lang.NoSuchMethodException: f\\n\\tat Class')"
    with pytest.raises(RunError) as caught:
        timed([sys.executable, "-c", program], {}, str(tmp_path), 30)
    assert str(caught.value).splitlines()[0] == "exit code 1: java.lang.NoSuchMethodException: f"


def test_cases_are_chosen_by_name_and_kind(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["connectors", "file", "kafka-read", "--engines", "bare"])
    _, cases, engines = read_options()
    assert cases == ["file-count", "file-copy", "kafka-read"]
    assert engines == ["bare"]


def test_quix_streams_has_the_cases_of_kafka_only():
    quix = [name for name, case in CASES.items() if case.runs_on(ENGINES["quix"])]
    assert quix == ["kafka-read", "kafka-at-least-once", "kafka-exactly-once"]
    assert all(case.runs_on(ENGINES["flintstream"]) for case in CASES.values())


def test_the_program_of_quix_streams_gets_its_mode():
    run = Run("kafka_read", RECORDS, "there")
    command = ENGINES["quix-local"].command("python", run, Path("connectors"))
    assert command == ["python", "connectors/run_quix.py", "local", run.to_json()]


def test_what_there_is_not_is_refused():
    command = [sys.executable, "-m", "benchmarks.connectors"]
    for arguments, message in (
        (["carrier-pigeon"], "unknown cases: carrier-pigeon"),
        (["--engines", "spark"], "unknown engines: spark"),
    ):
        done = subprocess.run(  # noqa: S603 - our own program
            [*command, *arguments], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert message in done.stderr
