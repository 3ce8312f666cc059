"""Panes: access to the contents of windows without a state object. Both backends have them."""

from __future__ import annotations

import pytest
from tests.state.test_appends import KINDS, new_backend
from tests.state.test_hash_map_backend import (
    aggregating_state,
    list_state,
    map_state,
    reducing_state,
    value_state,
)

from flintstream.common import Time
from flintstream.datastream.state import ReducingStateDescriptor, StateTtlConfig
from flintstream.state.backend import Scope

KEY, WINDOW, OTHER = "a", (0, 10), (5, 15)


@pytest.fixture(params=KINDS)
def backend(request, tmp_path):
    backend = new_backend(request.param, str(tmp_path / "rocksdb"))
    yield backend
    backend.close()


def state_and_panes(backend, descriptor):
    scope = Scope()
    return backend.state(descriptor, scope), backend.panes(descriptor, scope), scope


def at(scope, window):
    scope.key = (KEY, window)


@pytest.mark.parametrize(
    ("described", "expected"), [(list_state, [1, 2, 3]), (reducing_state, 6), (aggregating_state, 2.0)]
)
def test_panes_hold_what_the_state_object_of_key_and_window_has(backend, described, expected):
    state, panes, scope = state_and_panes(backend, described())
    at(scope, WINDOW)
    state.add(1)
    add = panes.adder()
    add(KEY, (WINDOW,), [2])
    state.add(3)
    assert panes.get(KEY, WINDOW) == state.get() == expected
    assert panes.pop(KEY, WINDOW) == expected
    assert not state.get()
    assert not panes.get(KEY, WINDOW)


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
def test_a_value_goes_into_each_of_its_windows_and_new_ones_are_told(backend, described):
    _, panes, _ = state_and_panes(backend, described())
    opened = []
    add = panes.adder(lambda key, window: opened.append((key, window)))
    add(KEY, (WINDOW,), [1])
    add(KEY, (OTHER, WINDOW), [2])
    assert {(KEY, WINDOW), (KEY, OTHER)} == set(opened)
    assert opened.index((KEY, WINDOW)) < opened.index((KEY, OTHER))
    assert panes.get(KEY, WINDOW) != panes.get(KEY, OTHER)


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
@pytest.mark.parametrize("values", [[1, 2, 3], [1, None, 2, 3], [2, None], [None, None, 4]])
def test_values_together_are_added_as_one_after_the_other(backend, described, values):
    if described is list_state:
        values = [value for value in values if value is not None]
    descriptor = described()
    scope = Scope()
    panes = backend.panes(descriptor, scope)
    add = panes.adder()
    add(KEY, (WINDOW, OTHER), [5])
    for value in values:
        add(KEY, (WINDOW,), [value])
    add(KEY, (OTHER,), values)
    assert panes.get(KEY, OTHER) == panes.get(KEY, WINDOW)


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
def test_a_cleared_pane_is_empty_and_others_stay(backend, described):
    _, panes, _ = state_and_panes(backend, described())
    panes.adder()(KEY, (WINDOW, OTHER), [2])
    panes.clear(KEY, WINDOW)
    assert not panes.get(KEY, WINDOW)
    assert panes.get(KEY, OTHER)


@pytest.mark.parametrize("described", [reducing_state, aggregating_state])
def test_none_empties_a_pane_where_values_are_reduced(backend, described):
    _, panes, _ = state_and_panes(backend, described())
    opened = []
    add = panes.adder(lambda key, window: opened.append(window))
    add(KEY, (WINDOW,), [2])
    add(KEY, (WINDOW,), [None])
    assert panes.get(KEY, WINDOW) is None
    add(KEY, (WINDOW,), [4])
    assert panes.get(KEY, WINDOW) == 4
    assert opened[-1] == WINDOW


def test_a_list_takes_none_as_an_element(backend):
    _, panes, _ = state_and_panes(backend, list_state())
    panes.adder()(KEY, (WINDOW,), [None])
    assert panes.get(KEY, WINDOW) == [None]


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
def test_every_method_makes_its_key_the_current_one(backend, described):
    _, panes, _ = state_and_panes(backend, described())
    add = panes.adder()
    calls = [
        lambda key: add(key, (WINDOW,), [1]),
        lambda key: panes.get(key, WINDOW),
        lambda key: panes.pop(key, WINDOW),
        lambda key: panes.clear(key, WINDOW),
    ]
    for number, call in enumerate(calls):
        call(f"key {number}")
        assert backend.key == f"key {number}"


def test_a_list_from_a_pane_is_the_callers_own(backend):
    _, panes, _ = state_and_panes(backend, list_state())
    panes.adder()(KEY, (WINDOW,), [1])
    panes.get(KEY, WINDOW).append(2)
    assert panes.get(KEY, WINDOW) == [1]


def test_a_reduce_function_that_works_in_place_gets_a_copy_of_the_first_value(backend):
    def in_place(one, other):
        one[0] += other[0]
        return one

    _, panes, _ = state_and_panes(backend, ReducingStateDescriptor("r", in_place, None))
    add = panes.adder(copied=list)
    add(KEY, (WINDOW, OTHER), [[1]])
    add(KEY, (WINDOW,), [[10]])
    assert (panes.get(KEY, WINDOW), panes.get(KEY, OTHER)) == ([11], [1])


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
def test_deltas_tell_what_panes_changed(backend, described, tmp_path):
    descriptor = described()
    _, panes, _ = state_and_panes(backend, descriptor)
    replica = new_backend("hashmap", "")
    _, of_replica, _ = state_and_panes(replica, descriptor)

    def replicate():
        replica.apply(backend.take_delta())
        for window in (WINDOW, OTHER):
            assert (of_replica.get(KEY, window) or None) == (panes.get(KEY, window) or None)

    backend.tracking = True
    add = panes.adder()
    add(KEY, (WINDOW, OTHER), [1])
    replicate()
    add(KEY, (WINDOW,), [2])
    replicate()
    add(KEY, (OTHER,), [3])
    panes.pop(KEY, WINDOW)
    replicate()
    panes.clear(KEY, OTHER)
    replicate()
    assert of_replica.get(KEY, OTHER) in (None, [])


@pytest.mark.parametrize("described", [list_state, reducing_state, aggregating_state])
def test_state_that_expires_has_no_panes(backend, described):
    descriptor = described()
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
    assert backend.panes(descriptor, Scope()) is None
    assert backend.cells(descriptor, Scope()) is None


@pytest.mark.parametrize("described", [value_state, map_state])
def test_values_and_maps_have_no_panes(backend, described):
    assert backend.panes(described(), Scope()) is None


def test_cells_are_what_the_state_object_has(backend):
    descriptor = value_state()
    state, cells = backend.state(descriptor), backend.cells(descriptor)
    backend.key, backend.tracking = KEY, True
    state.update(1)
    assert cells.values.get(KEY) == 1
    cells.values[KEY] = 2
    cells.dirty[KEY] = 0
    assert state.value() == 2
    assert [(change.keys, change.values) for change in backend.take_delta()] == [([KEY], [2])]
