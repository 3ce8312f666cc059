"""Compiled loops keep no reference to what they have handled."""

from __future__ import annotations

import gc
import sys
from itertools import pairwise
from typing import Any

import pytest
from tests.compiled.scenarios import SCENARIOS

from flintstream.compiled import load

if load("exchange") is None:
    pytest.skip("there are no compiled modules here", allow_module_level=True)

ROUNDS = 25


def records(kind: str) -> list[tuple[Any, Any]]:
    value = {"whole": lambda n: n + 10**6, "real": lambda n: n / 7, "text": lambda n: f"text {n}"}[kind]
    return [(f"key {n % 7}" if kind == "text" else n % 7 + 1000, value(n)) for n in range(120)]


def growth(run: Any) -> int:
    """Return how many blocks of memory each call leaves behind; the least of some rounds, as caches fill in some."""
    counts = []
    for _ in range(6):
        for _ in range(ROUNDS):
            run()
        gc.collect()
        counts.append(sys.getallocatedblocks())
    return min(after - before for before, after in pairwise(counts)) // ROUNDS


MOST = 4
"""Python keeps some freed objects for later, more and more of them at first. A leak would be one per key or record."""


@pytest.mark.parametrize(
    ("contents", "kind"),
    [("sum", "whole"), ("sum", "text"), ("last", "text"), ("half", "real"), ("count and sum", "whole")],
)
@pytest.mark.parametrize("assigner", [("sessions", 2), ("tumbling", 10, 0), ("sliding", 10, 5, 0)])
def test_windows_of_columns_leave_nothing_behind(kind, contents, assigner):
    values = records(kind)
    steps: list[Any] = [(values, [n * 7 % 100 for n in range(120)], [50]), 90, (values, [*range(120)], []), 200]
    assert growth(lambda: SCENARIOS["windows_behind_exchange"](assigner, contents, 0, steps)) <= MOST


@pytest.mark.parametrize(
    ("contents", "kind"), [("sum", "whole"), ("sum", "text"), ("sum, other way round", "text"), ("half", "real")]
)
def test_rolling_reduces_of_columns_leave_nothing_behind(kind, contents):
    blocks = [(records(kind), [*range(120)], [50]), (records(kind), None, [])]
    assert growth(lambda: SCENARIOS["running_behind_exchange"]("hashmap", contents, blocks)) <= MOST
