"""Entries of maps that come and go between two deltas, on the hash map."""

from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.common.time import Time
from flintstream.datastream.state import MapStateDescriptor, StateTtlConfig
from flintstream.state.hash_map import HashMapStateBackend


@pytest.fixture(params=[False, True], ids=["forever", "with a time-to-live"])
def backend(request):
    backend = HashMapStateBackend()
    backend.key, backend.tracking = "a", True
    descriptor = MapStateDescriptor("m", Types.STRING(), Types.LONG())
    if request.param:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    backend.map = backend.state(descriptor)
    return backend


@pytest.mark.parametrize("remove", [lambda state: state.remove("x"), lambda state: state.clear()])
def test_entries_that_come_and_go_leave_no_trace(backend, remove):
    backend.map.put("x", 1)
    backend.map.put("x", 2)
    remove(backend.map)
    assert not backend.take_delta()


@pytest.mark.parametrize("remove", [lambda state: state.remove("x"), lambda state: state.clear()])
def test_an_entry_that_an_earlier_delta_has_is_deleted_however_often_it_comes_back(backend, remove):
    backend.map.put("x", 3)
    backend.take_delta()
    remove(backend.map)
    backend.map.put("x", 4)
    remove(backend.map)
    [change] = backend.take_delta()
    assert (change.keys, change.deleted) == ([], [("a", "x")])
