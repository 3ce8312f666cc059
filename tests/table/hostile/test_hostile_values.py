"""Hostile values in any function give what real PyFlink gave, and never fail or stop a job that PyFlink would run."""

from __future__ import annotations

import sys

import pytest
from tests.conformance.ours import ENGINES
from tests.table.hostile import ours, running
from tests.table.hostile.tables import TABLES

OPEN = ours.load_open()


def cases():
    marks = {"inline": [], "spark": [pytest.mark.spark, pytest.mark.deep, pytest.mark.slow]}
    return [
        pytest.param(table, engine, id=f"{table.name}-{engine}", marks=marks[engine])
        for engine in ENGINES
        for table in TABLES
        if ours.recorded(table)
    ]


@pytest.mark.promise("S41")
@pytest.mark.parametrize(("table", "engine"), cases())
def test_hostile_values_give_what_pyflink_gives(table, engine):
    found = ours.by_expression(ours.differences(table, engine))
    if sys.version_info < (3, 11):  # its module re has no possessive quantifiers
        kept = {expression: [row for row in rows if "a++b" not in row[1]] for expression, rows in found.items()}
        found = {expression: rows for expression, rows in kept.items() if rows}
    failing = {expression: row for expression, rows in found.items() for row in rows if row[2] == running.ERROR}
    assert not failing, "\n".join(f"{expression}: {ours.shown(case)}" for expression, case in failing.items())
    known = OPEN.get(table.name, {})
    counts = {expression: len(rows) for expression, rows in found.items()}
    differing = {expression: rows for expression, rows in found.items() if known.get(expression, (0,))[0] != len(rows)}
    assert not differing, "\n".join(
        f"{expression}: {len(rows)} rows differ; {ours.shown(rows[0])}" for expression, rows in differing.items()
    )
    works = sorted(set(known) - set(counts))
    assert not works, f"remove from {ours.OPEN.name}, it works now: {works}"


def test_what_is_open_has_been_recorded():
    names = {table.name: set(ours.recorded(table)) for table in TABLES}
    assert all(set(expressions) <= names[name] for name, expressions in OPEN.items())
