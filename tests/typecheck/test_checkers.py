"""Type checkers accept the programs, and find the mistakes that their lines announce."""

from __future__ import annotations

import runpy

import pytest
from tests.typecheck import checkers
from tests.typecheck.checkers import PROGRAMS

import flintstream.dataframe as pf
from flintstream.datastream import StreamExecutionEnvironment


@pytest.mark.slow
def test_mypy_finds_the_mistakes_in_the_programs_and_nothing_else():
    assert checkers.mypy() == checkers.expected()["mypy"]


@pytest.mark.slow
@pytest.mark.skipif(checkers.why_no_pyright() is not None, reason=str(checkers.why_no_pyright()))
def test_pyright_finds_the_mistakes_in_the_programs_and_nothing_else():
    assert checkers.pyright() == checkers.expected()["pyright"]


def test_many_mistakes_are_announced_for_both():
    announced = checkers.expected()
    assert len(announced["mypy"]) > 40
    assert all(announced["mypy"].values())
    assert all(announced["pyright"].values())


@pytest.mark.parametrize("name", ["streams", "functions", "windows", "connectors"])
def test_what_type_checkers_accept_builds_a_program(name):
    runpy.run_path(str(PROGRAMS / "annotated" / f"{name}.py"))["build"](inline())


def test_what_type_checkers_accept_runs():
    assert runpy.run_path(str(PROGRAMS / "annotated" / "streams.py"))["run"](inline()) == ["<1>", "<2>"]


def test_what_type_checkers_accept_of_dataframes_builds_a_plan():
    pf.set_table_environment(None)
    pf.config.set("flintstream.engine", "inline")
    frame = runpy.run_path(str(PROGRAMS / "annotated" / "dataframes.py"))["build"]()
    assert frame.columns == ["f0"]
    pf.set_table_environment(None)


def inline():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
