"""Aggregates over hostile values give what real PyFlink gave, and never fail where it returns."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.ours import alias
from tests.table.conformance.ours import Flintstream
from tests.table.hostile import aggregates, ours, running

from flintstream.table._expressions.aggregation.helpers import both_spread, less_spread, more_spread, spread

OPEN = ours.load_open(Path(__file__).with_name("open_aggregates.txt"))


@pytest.mark.parametrize("kind", aggregates.GROUPS)
def test_aggregates_of_hostile_values_give_what_pyflink_gives(kind):
    recorded = aggregates.recorded()[kind]
    with alias():
        found = aggregates.results(kind, Flintstream("inline"))
    failing = {call: row for call, row in found.items() if "error" in str(row) and "error" not in str(recorded[call])}
    assert not failing
    assert set(found) == set(recorded)
    counts = {
        call: sum(not running.same(wanted, got) for wanted, got in zip(recorded[call], row, strict=True))
        for call, row in found.items()
    }
    known = {call: count for call, (count, _) in OPEN.get(kind, {}).items()}
    differing = {call: count for call, count in counts.items() if count}
    assert differing == known, {call: (recorded[call], found[call]) for call in set(differing) ^ set(known)}


def variance(values: list[float]) -> tuple[int, float, float]:
    start: tuple[int, float, float] = (0, 0.0, 0.0)
    for value in values:
        start = more_spread(*start, value)
    return start


def test_a_variance_is_that_of_the_values_left_and_of_both_parts():
    one, other = variance([1e9 + 4, 1e9 + 7]), variance([1e9 + 13, 1e9 + 16])
    assert spread(both_spread(*one, *other)[0], both_spread(*one, *other)[2], True, False) == pytest.approx(30)
    less = less_spread(*less_spread(*variance([5, 104, 7, 107]), 5), 7)
    assert less[0] == 2
    assert spread(less[0], less[2], False, True) == pytest.approx(1.5, rel=1e-6)
    assert less_spread(*less_spread(*less, 104), 107) == (0, 0.0, 0.0)
    assert both_spread(0, 0.0, 0.0, *one) == both_spread(*one, 0, 0.0, 0.0) == one
