"""Every name of PyFlink is here with its parameters, or listed with the reason why not."""

from __future__ import annotations

import pytest
from tests.parity.__main__ import PAGE
from tests.parity.parity import names, page, rows, share, unaccepted
from tests.parity.statuses import IMPOSSIBLE, NO_OPS, OTHERWISE


def test_no_name_is_missing():
    assert [row.name.full for row in rows() if row.status == "missing"] == []


def test_whatever_parameters_pyflink_takes_are_taken():
    refused = [f"{row.name.full}({row.name.parameters}): {row.note}" for row in rows()]
    assert [text for row, text in zip(rows(), refused, strict=True) if row.status == "other parameters"] == []


def test_every_documented_name_is_supported_or_a_no_op():
    found, all_ = share(rows(), release=False)
    assert found == all_ > 300


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "regenerate the page: python -m tests.parity"


@pytest.mark.parametrize("table", [NO_OPS, IMPOSSIBLE, OTHERWISE], ids=["no-ops", "impossible", "otherwise"])
def test_only_names_of_pyflink_are_listed(table):
    assert table.keys() <= {name.path for name in names()}


def test_all_of_the_release_that_is_no_java_object_and_no_internal_is_there(capsys):
    found, all_ = share(rows(), release=True)
    with capsys.disabled():
        print(f"\n{found} of {all_} names of PyFlink 2.3 are there ({found / all_:.1%})")
    assert all_ - found == len([row for row in rows() if row.status == "impossible here" and row.name.in_release]) < 100


@pytest.mark.parametrize(
    ("function", "theirs", "refused"),
    [
        (lambda self, a, b=1: 0, "a b?", ""),
        (lambda self, a: 0, "a b?", "b"),
        (lambda self, b, a: 0, "a b", "a as parameter 1"),
        (lambda self, a, b: 0, "a b?", "b left out"),
        (lambda self, a, b: 0, "a", "without b"),
        (lambda self, *, a: 0, "a", "a as parameter 1"),
        (lambda self, *, a=1: 0, "=a?", ""),
        (lambda self, *a: 0, "*a", ""),
        (lambda self, a: 0, "*a", "*a"),
        (lambda self, **a: 0, "a =b **c", "a as parameter 1"),
        (lambda self, a: 0, "a **c", "**c"),
    ],
)
def test_parameters_are_compared_as_calls_would_be(function, theirs, refused):
    assert unaccepted(function, theirs) == refused
