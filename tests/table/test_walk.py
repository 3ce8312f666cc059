"""A reader can follow a SELECT: it passes the rooms of the compiler in their order, in few steps."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from tests.walk import planning, walk


def test_a_select_is_read_then_planned_then_translated():
    steps = walk()
    plan = planning(steps)
    read, translate = steps[: steps.index(plan[0])], steps[steps.index(plan[-1]) + 1 :]
    assert {step.module.partition(".")[0] for step in read} == {"_sql"}
    assert not {step.module.partition(".")[0] for step in (*plan, *translate)} & {"_sql"}
    assert len(read) <= 4
    assert len(plan) <= 14
    assert len(translate) <= 6
    assert sum(step.back for step in steps) <= 4
