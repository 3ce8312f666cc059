"""Every method of the DataStream API is reached by a program whose results were recorded on PyFlink, or is listed."""

from __future__ import annotations

import pytest
from tests.conformance import coverage, harness
from tests.conformance.test_conformance import BROKEN, PROGRAMS
from tests.conformance.unseen import UNSEEN


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return coverage.run_all(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="module")
def unreached(calls):
    return [name.path for name in coverage.surface() if not calls.reach(name)]


def listed(path):
    """Return the entry of the list that a name belongs to."""
    parts = path.split(".")
    return next((key for n in range(len(parts), 0, -1) if (key := ".".join(parts[:n])) in UNSEEN), None)


@pytest.mark.slow
@pytest.mark.xdist_group("coverage")  # one of the workers runs all programs
def test_every_method_is_reached_by_a_program_or_listed_with_a_reason(unreached, capsys):
    surface = coverage.surface()
    with capsys.disabled():
        print(f"\n{len(PROGRAMS)} programs reach {len(surface) - len(unreached)} of {len(surface)} methods and classes")
    assert [path for path in unreached if listed(path) is None] == []


@pytest.mark.slow
@pytest.mark.xdist_group("coverage")
def test_nothing_is_listed_that_a_program_reaches(unreached):
    assert {entry for path in unreached if (entry := listed(path))} == set(UNSEEN)


def test_there_are_at_least_200_programs_and_all_are_recorded():
    assert not BROKEN
    assert len(PROGRAMS) >= 200
    for program in PROGRAMS.values():
        for run in harness.runs_of(program):
            assert harness.load_golden(program.name, run)


def test_a_method_is_not_reached_by_calls_of_the_engine_alone():
    calls = coverage.Calls()
    with calls.watched():
        coverage.surface()
    assert calls.methods == set()
    assert calls.codes == set()
