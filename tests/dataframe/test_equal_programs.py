"""Programs with DataFrames have the rows that the Table API of PyFlink has for the same programs."""

from __future__ import annotations

import json

import pytest
from tests.dataframe import equal_programs_more  # noqa: F401 - adds its programs
from tests.dataframe.conftest import start
from tests.dataframe.equal_programs import PROGRAMS, RECORDED, frames, rows_of

import flintstream.dataframe as pf

ROWS = json.loads(RECORDED.read_text(encoding="utf-8"))


def test_all_programs_are_recorded_and_none_failed_on_pyflink():
    assert list(ROWS) == list(PROGRAMS)
    assert all(isinstance(rows, list) and rows for rows in ROWS.values())


@pytest.fixture
def ended():
    """Leave no environment behind."""
    yield
    pf.set_table_environment(None)
    pf.config._buffered.clear()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_rows_are_those_of_pyflink(ended, name):
    made, _, mode = PROGRAMS[name]
    start(mode).get_config().set("parallelism.default", "1" if mode == "streaming" else "2")
    assert rows_of(made(pf, frames(pf)).to_table(), mode) == ROWS[name]


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_the_rows_on_spark_are_those_of_pyflink(ended, mode):
    pf.set_table_environment(None)
    pf.config._buffered.clear()
    pf.config.set("execution.runtime-mode", mode).set("flintstream.master", "local[2]")
    pf.config.set("parallelism.default", "1" if mode == "streaming" else "2")
    chosen = {name: made for name, (made, _, own) in PROGRAMS.items() if own == mode}
    found = {name: rows_of(made(pf, frames(pf)).to_table(), mode) for name, made in chosen.items()}
    assert found == {name: ROWS[name] for name in chosen}
