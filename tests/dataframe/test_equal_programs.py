"""Programs with DataFrames have the rows that the Table API of PyFlink has for the same programs."""

from __future__ import annotations

import json

import pytest
from tests.dataframe.equal_programs import PROGRAMS, RECORDED, frames, rows_of

import flintstream.dataframe as pf

ROWS = json.loads(RECORDED.read_text(encoding="utf-8"))


def test_all_programs_are_recorded_and_none_failed_on_pyflink():
    assert list(ROWS) == list(PROGRAMS)
    assert all(isinstance(rows, list) and rows for rows in ROWS.values())


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_rows_are_those_of_pyflink(batch, name):
    made, _ = PROGRAMS[name]
    assert rows_of(made(pf, frames(pf)).to_table()) == ROWS[name]


@pytest.mark.spark
def test_the_rows_on_spark_are_those_of_pyflink():
    pf.set_table_environment(None)
    pf.config._buffered.clear()
    pf.config.set("execution.runtime-mode", "batch").set("flintstream.master", "local[2]")
    found = {name: rows_of(made(pf, frames(pf)).to_table()) for name, (made, _) in PROGRAMS.items()}
    assert found == ROWS
    pf.set_table_environment(None)
    pf.config._buffered.clear()
