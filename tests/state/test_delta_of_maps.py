"""Entries of maps that come and go between two deltas, on the hash map."""

from __future__ import annotations

import pytest

from flintstream.common import Types
from flintstream.common.time import Time
from flintstream.datastream.state import MapStateDescriptor, StateTtlConfig
from flintstream.state.hash_map import HashMapStateBackend


@pytest.fixture
def backend():
    backend = HashMapStateBackend()
    backend.key, backend.tracking = "a", True
    return backend


@pytest.fixture(params=[False, True], ids=["forever", "with a time-to-live"])
def entries(backend, request):
    descriptor = MapStateDescriptor("m", Types.STRING(), Types.LONG())
    if request.param:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    return backend.state(descriptor)


@pytest.mark.parametrize("remove", [lambda state: state.remove("x"), lambda state: state.clear()])
def test_entries_that_come_and_go_leave_no_trace(backend, entries, remove):
    entries.put("x", 1)
    entries.put("x", 2)
    remove(entries)
    assert not backend.take_delta()


@pytest.mark.parametrize("remove", [lambda state: state.remove("x"), lambda state: state.clear()])
def test_an_entry_that_an_earlier_delta_has_is_deleted_however_often_it_comes_back(backend, entries, remove):
    entries.put("x", 3)
    backend.take_delta()
    remove(entries)
    entries.put("x", 4)
    remove(entries)
    [change] = backend.take_delta()
    assert (change.keys, change.deleted) == ([], [("a", "x")])


def test_only_entries_that_are_there_or_were_there_are_in_a_delta(backend, entries):
    entries.put("a", 1)
    entries.put("b", 1)
    backend.take_delta()
    for name in "abcde":
        entries.put(name, 2)
    for name in "acd":
        entries.remove(name)
    entries.put("a", 3)
    entries.remove("a")
    entries.put("d", 4)
    [change] = backend.take_delta()
    assert [item for _, item in change.keys] == ["b", "e", "d"]
    assert change.deleted == [("a", "a")]
