"""Schemas read, write and refuse the same messages as PyFlink 2.3."""

from __future__ import annotations

import math
import warnings
from itertools import groupby
from typing import Any

import pytest
from tests.formats import ours
from tests.formats.cases import Case
from tests.formats.deviations import DEVIATIONS
from tests.formats.record import recorded

from flintstream.common import Row
from flintstream.connectors.formats.errors import FormatError
from flintstream.errors import PlanError

FAILED: Any = object()


def outcome(case: Case) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* must be a single character")
            return ours.run(case)
    except (FormatError, PlanError, TypeError):
        return FAILED


def expected(case: Case, answer: dict[str, str]) -> Any:
    if "fails" in answer:
        return FAILED
    given = answer["gives"]
    if case.does != "read":
        return given
    if "org.apache" in given:
        return given
    value = ours.value(given)
    try:  # PyFlink's own coders change the value in this way before it reaches a function
        return ours.value(case.type).to_internal_type(value) if case.type else value
    except (TypeError, OverflowError):
        return value


def same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, (Row, list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same([*left.items()], [*right.items()])
    return left == right


GROUPS = [
    (key, list(group))
    for key, group in groupby(recorded(), key=lambda item: (item[0].schema, item[0].does, item[0].type[:120]))
]


@pytest.mark.parametrize("group", [group for _, group in GROUPS], ids=[" ".join(key) for key, _ in GROUPS])
def test_the_outcome_is_that_of_pyflink(group):
    wrong = []
    for case, answer in group:
        got, wanted = outcome(case), expected(case, answer)
        if not same(got, wanted) and not any(item.covers(case) for item in DEVIATIONS):
            wrong.append((case, "ours", got, "PyFlink's", answer))
    assert wrong == []


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=[f"{item.schema} {item.type}" for item in DEVIATIONS])
def test_what_is_said_to_differ_differs(deviation):
    differing = {
        case.given
        for case, answer in recorded()
        if deviation.covers(case) and not same(outcome(case), expected(case, answer))
    }
    assert differing == set(deviation.given)


def test_there_is_much_to_compare_with():
    assert len(recorded()) > 3000
