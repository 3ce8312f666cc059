"""PyFlink's objects have no public attribute that ours lack, except those that are listed with the reason."""

from __future__ import annotations

import pytest
from tests.parity.objects import absent, ours, recorded
from tests.parity.statuses import NOT_HANDED_OUT


def test_all_objects_are_looked_at():
    assert recorded().keys() <= ours().keys()
    assert len(recorded()) > 120


def test_every_attribute_is_here_or_listed():
    assert {name: objects for name, objects in absent().items() if name not in NOT_HANDED_OUT} == {}


def test_only_what_is_absent_is_listed():
    assert NOT_HANDED_OUT.keys() == absent().keys()


@pytest.mark.parametrize("attribute", ["get_internal_state", "name", "namespace"])
def test_states_have_what_programs_reach_for(attribute):
    assert attribute in recorded()["MapState"]
    assert attribute in ours()["MapState"]
