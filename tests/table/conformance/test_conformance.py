"""Statements and programs of tables give what was recorded on real PyFlink."""

from __future__ import annotations

import pytest
from tests.conformance import ours
from tests.table.conformance import harness
from tests.table.conformance.ours import Flintstream

pytestmark = pytest.mark.slow

with ours.alias():
    CASES = harness.load_cases()

OPEN = harness.load_open()


def engines():
    marks = {"inline": [], "spark": [pytest.mark.spark, pytest.mark.deep]}
    return [pytest.param(engine, marks=marks[engine]) for engine in ours.ENGINES]


def runs():
    """Return the recorded cases."""
    return [
        pytest.param(case, mode, id=f"{case.name}-{mode}")
        for case in CASES.values()
        for mode in case.modes
        if harness.is_recorded(case.name, mode)
    ]


def found(case, mode, engine):
    with ours.alias():
        return harness.found(case, mode, Flintstream(engine))


@pytest.mark.filterwarnings("ignore:.*, as in Flink. :UserWarning")
@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize(("case", "mode"), runs())
def test_a_case_gives_what_pyflink_gives(case, mode, engine):
    reasons = OPEN.get((case.name, mode), {})
    differing = found(case, mode, engine)
    unknown = {where: text for where, text in differing.items() if where not in reasons and "*" not in reasons}
    assert not unknown, "\n".join(f"{where}\n  {text}" for where, text in unknown.items())
    works = sorted(set(reasons) - set(differing)) if "*" not in reasons else [] if differing else ["*"]
    assert not works, f"remove from {harness.OPEN.name}, it works now: {works}"
    if reasons:
        pytest.xfail("; ".join(f"{where}: {reason}" for where, reason in reasons.items()))


def test_every_recording_belongs_to_a_case():
    assert {path.stem for path in harness.GOLDENS.glob("*.json")} <= set(CASES)


def test_what_is_open_is_recorded():
    assert {name for name, _ in OPEN} <= {path.stem for path in harness.GOLDENS.glob("*.json")}
