"""Every program gives the results that were recorded on real PyFlink, on both engines."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from tests.conformance import harness, ours
from tests.conformance.deviations import DEVIATING_ERRORS, DEVIATIONS, JAVA_ERRORS, UNCHECKED_BY_PYFLINK
from tests.conformance.harness import Run

from flintstream.runtime.operators import source

BROKEN: dict[str, ImportError] = {}
with ours.alias():
    PROGRAMS = harness.load_programs(BROKEN)
    FAILING = harness.load_failing(BROKEN)


def test_flintstream_has_all_names_that_the_programs_import():
    assert not BROKEN


PROGRAMS_PER_JOB = 30


def engine_params():
    marks = {"inline": [], "spark": [pytest.mark.spark, pytest.mark.deep]}
    return [pytest.param(engine, marks=marks[engine]) for engine in ours.ENGINES]


def marks_of(program):
    reason = DEVIATIONS.get(program.name)
    return [pytest.mark.xfail(strict=True, raises=(AssertionError, OverflowError), reason=reason)] if reason else []


def run_params():
    return [
        pytest.param(program, run, id=f"{program.name}-{run}", marks=marks_of(program))
        for program in PROGRAMS.values()
        for run in harness.runs_of(program)
    ]


def job_params():
    """Return the programs that one job runs together, a few for each way to run them."""
    ways = defaultdict(list)
    for program in PROGRAMS.values():
        if program.can_share_a_job and program.name not in DEVIATIONS:
            for run in harness.runs_of(program):
                ways[run, tuple(program.config.items())].append(program)
    return [
        pytest.param(programs[first : first + PROGRAMS_PER_JOB], run, dict(config), id=f"{run}-{number}-{first}")
        for number, ((run, config), programs) in enumerate(ways.items())
        for first in range(0, len(programs), PROGRAMS_PER_JOB)
    ]


@pytest.mark.spark
@pytest.mark.parametrize(("programs", "run", "config"), job_params())
def test_programs_of_one_job_give_what_pyflink_gives_each(programs, run, config, tmp_path):
    found = ours.run_together(programs, run, "spark", tmp_path, config)
    wrong = []
    for program in programs:
        try:
            harness.compare(program, run, found[program.name])
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("engine", engine_params())
@pytest.mark.parametrize(("program", "run"), run_params())
def test_program_gives_what_pyflink_gives(program, run, engine, tmp_path):
    found = ours.run_program(program, run, engine, tmp_path)
    harness.compare(program, run, found["text"])
    if program.name not in DEVIATIONS:
        harness.compare(program, run, found["values"], form="values")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.endswith("_of_the_processing_time")])
def test_programs_of_the_processing_time_do_not_depend_on_what_else_the_process_does(name, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BUSY_SHARE", 0.0)  # a process that is always busy, for example because threads run
    (run,) = harness.runs_of(PROGRAMS[name])
    harness.compare(PROGRAMS[name], run, ours.run_program(PROGRAMS[name], run, "inline", tmp_path)["text"])


@pytest.mark.parametrize("name", FAILING)
def test_program_fails_where_pyflink_fails(name):
    program = FAILING[name]
    recorded = json.loads((harness.ERRORS / "recorded.json").read_text(encoding="utf-8"))[name]
    assert (program.stage, program.exception) == (recorded["stage"], recorded["exception"])
    with pytest.raises(Exception) as raised:
        fail(program)
    errors = list(causes(raised.value))
    kinds = {kind.__name__ for error in errors for kind in type(error).__mro__}
    told = "\n".join(f"{type(error).__name__}: {error}" for error in errors)
    exception, _ = DEVIATING_ERRORS.get(name, (JAVA_ERRORS.get(program.exception, program.exception), ""))
    expected = {exception, "TypeError", "ValueError"} if exception in UNCHECKED_BY_PYFLINK else {exception}
    assert expected & kinds or any(kind in told for kind in expected)
    assert program.match.lower() in told.lower()


def fail(program):
    with ours.alias():
        env = ours.make_environment("inline", Run(program.mode, 1))
        stream = program.function(env)
        # flintstream may report an error when the program is built, even if PyFlink waits until it runs.
        if program.stage == "run":
            ours.collector(stream)
            env.execute(program.name)


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def test_every_recording_belongs_to_a_program():
    if BROKEN:
        pytest.skip(f"cannot be told while files cannot be loaded: {sorted(BROKEN)}")
    assert {path.stem for path in harness.GOLDENS.glob("*.json")} <= set(PROGRAMS)


def test_there_are_no_two_orders_for_results_that_count_as_equal():
    texts = ["('b', 1)", "('a', 1)", "('b', 0)"]
    assert harness.difference(texts, [texts[1], texts[0], texts[2]], "per_key") == ""
    assert harness.difference(texts, [texts[2], texts[1], texts[0]], "per_key") != ""
    assert harness.difference(texts, [texts[2], texts[1], texts[0]], "multiset") == ""
    assert harness.difference(texts, texts[:2], "multiset") != ""
    assert harness.difference(texts, [texts[1], texts[0], texts[2]], "exact") != ""
