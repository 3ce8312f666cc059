"""Which rows are late, and which time results have: as in PyFlink 2.3, for each operator."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flintstream.common import Configuration
from flintstream.compat import pyflink
from flintstream.table._errors import SqlError

RECORDED = json.loads(Path(__file__).with_name("time_attributes.json").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "table.md"

RACES = {
    "interval join / at once": "+I a 6 10 2020-01-01 00:00:02 @2",
    "window join / at once": "+I a 6 10 2020-01-01 00:00:09.999000 @9",
    "window semi join / at once": "+I a 6 2020-01-01 00:00:09.999000 @9",
}
"""The result of a row that is late only if the other source is read as far: PyFlink reads both at the same time."""


@pytest.fixture
def program():
    was_installed = pyflink.is_installed()
    pyflink.install()
    try:
        from tests.table import time_attributes

        yield time_attributes
    finally:
        if not was_installed:
            pyflink.uninstall()


def run(program, name, directory, engine):
    options = {"flintstream.engine": engine, "restart-strategy.type": "none"}
    return sorted(program.rows(*name.split(" / "), directory, Configuration.from_dict(options)))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_late_rows_and_the_times_of_results_are_those_of_pyflink(name, program, tmp_path):
    if RECORDED[name] == "refused":
        with pytest.raises(SqlError, match="more than one rowtime attribute column"):
            run(program, name, tmp_path, "inline")
        return
    found = run(program, name, tmp_path, "inline")
    if name in RACES:
        found.remove(RACES[name])
    assert found == sorted(RECORDED[name])


@pytest.mark.spark
@pytest.mark.parametrize("query", ["window aggregate", "over rows", "order by more", "top"])
def test_they_are_so_on_spark_too(query, program, tmp_path):
    name = f"{query} / at once"
    assert run(program, name, tmp_path, "spark") == sorted(RECORDED[name])


def test_each_query_has_its_rule_in_the_documentation(program):
    section = PAGE.read_text(encoding="utf-8").partition("## Time attributes")[2].partition("\n## ")[0]
    operators = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")][1:]
    names = [re.sub(r"\(.*?\)", "", name).strip() for cell in operators for name in cell.split(",")]
    assert sorted(names) == sorted(program.QUERIES)
