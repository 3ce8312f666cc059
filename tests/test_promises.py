"""Each promise of docs/explanation/security.md has tests that name it, and the table lists all of these."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (S\d+) \| (.+?) \| (.+?) \| (.*) \|$", PAGE, re.MULTILINE)


def promises(function):
    """Return the promises that the markers of a test name."""
    calls = [mark for mark in function.decorator_list if isinstance(mark, ast.Call)]
    marks = [mark for mark in calls if ast.unparse(mark.func) == "pytest.mark.promise"]
    return [word.value for mark in marks for word in mark.args if isinstance(word, ast.Constant)]


def never_runs(function):
    """Tell whether a marker skips the test everywhere, or expects it to fail."""
    names = [ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) for mark in function.decorator_list]
    return bool({"pytest.mark.skip", "pytest.mark.xfail"} & {*names})


def marked():
    """Return (promise, test) for each marker of a test."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.promise(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and not never_runs(node):
                place = f"{path.relative_to(ROOT / 'tests').as_posix()}::{node.name}"
                found += [(promise, place) for promise in promises(node)]
    return found


MARKED = marked()


def test_the_table_has_each_promise_once_and_in_order():
    numbers = [int(name[1:]) for name, *_ in ROWS]
    assert numbers == [*range(1, len(ROWS) + 1)]
    assert len(ROWS) > 25


@pytest.mark.parametrize(("name", "tests"), [(name, tests) for name, _, _, tests in ROWS], ids=lambda text: text[:4])
def test_each_promise_has_tests_that_name_it_and_the_table_lists_exactly_these(name, tests):
    listed = re.findall(r"`([^`]+)`", tests)
    assert listed, f"nothing tests {name}"
    assert set(listed) == {place for promise, place in MARKED if promise == name}


ACTS = re.compile(r"\b(?:start_)?as_second_user\(|\bconnect_as_another_user_of_the_group\(|\blook_as_second_user\(")
"""Calls of tests that become another user."""


def test_make_two_users_runs_each_test_that_acts_as_another_user():
    acting = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and ACTS.search(ast.unparse(node)):
                marks = [ast.unparse(mark) for mark in node.decorator_list]
                acting[f"{path.name}::{node.name}"] = "two_users" in marks
    assert len(acting) > 6
    assert [test for test, runs in acting.items() if not runs] == []


def test_no_test_names_a_promise_that_is_not_made():
    assert {promise for promise, _ in MARKED} <= {name for name, *_ in ROWS}
