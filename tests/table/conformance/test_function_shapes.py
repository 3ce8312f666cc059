"""The shapes of Python functions that are recorded from PyFlink, and how many of them."""

from __future__ import annotations

from tests.table.conformance import harness
from tests.table.conformance.shapes import FAILS

PREFIX = "shapes_of_"


def recorded():
    """Return each shape with what PyFlink gave, by case, mode and name."""
    found = {}
    for path in sorted(harness.GOLDENS.glob(f"{PREFIX}*.json")):
        for mode in ("STREAMING", "BATCH"):
            for item in harness.load_golden(path.stem, mode):
                name, result = item["value"]["tuple"]
                found[path.stem, mode, name] = result
    return found


def test_each_shape_is_recorded_in_both_modes_and_most_of_them_work_on_pyflink():
    shapes = recorded()
    names = {(case, name) for case, _, name in shapes}
    assert len(names) >= 132
    assert all((case, mode, name) in shapes for case, name in names for mode in ("STREAMING", "BATCH"))
    working = {(case, name) for (case, _, name), result in shapes.items() if result != FAILS}
    assert len(working) > 0.85 * len(names)


def test_where_pyflink_gives_rows_no_other_rows_are_given_here():
    open_shapes = [
        (case, mode, where)
        for (case, mode), places in harness.load_open().items()
        if case.startswith(PREFIX)
        for where in places
    ]
    for case, mode, where in open_shapes:
        _, result = harness.load_golden(case, mode)[int(where)]["value"]["tuple"]
        assert result == FAILS
