from __future__ import annotations

import pickle

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from flintstream.common import Types
from flintstream.datastream.functions import AggregateFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from flintstream.state.backend import Scope
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.tables import restore

LONG = Types.LONG()


class Average(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


def value_state(name="v"):
    return ValueStateDescriptor(name, LONG)


def list_state(name="l"):
    return ListStateDescriptor(name, LONG)


def map_state(name="m"):
    return MapStateDescriptor(name, Types.STRING(), LONG)


def reducing_state(name="r"):
    return ReducingStateDescriptor(name, lambda a, b: a + b, LONG)


def aggregating_state(name="a"):
    return AggregatingStateDescriptor(name, Average(), Types.TUPLE([LONG, LONG]))


ALL_KINDS = [value_state, list_state, map_state, reducing_state, aggregating_state]


@pytest.fixture
def backend():
    backend = HashMapStateBackend()
    backend.key = "a"
    return backend


# -- single states -----------------------------------------------------------------------------------------------------


def test_state_of_a_new_key_is_empty(backend):
    assert backend.state(value_state()).value() is None
    assert list(backend.state(list_state()).get()) == []
    assert backend.state(map_state()).get("x") is None
    assert backend.state(map_state()).is_empty()
    assert backend.state(reducing_state()).get() is None
    assert backend.state(aggregating_state()).get() is None


def test_every_key_has_its_own_value(backend):
    state = backend.state(value_state())
    state.update(1)
    backend.key = "b"
    assert state.value() is None
    state.update(2)
    backend.key = "a"
    assert state.value() == 1


def test_updating_a_value_to_none_removes_it(backend):
    state = backend.state(value_state())
    state.update(1)
    state.update(None)
    assert state.value() is None
    assert not backend.tables["v", False].values


@pytest.mark.parametrize("falsy", [0, "", False, [], {}])
def test_a_falsy_value_is_a_value(backend, falsy):
    state = backend.state(value_state())
    state.update(falsy)
    assert state.value() == falsy
    assert state.value() is not None


def test_list_state_appends_replaces_and_iterates(backend):
    state = backend.state(list_state())
    state.add(1)
    state.add_all([2, 3])
    assert list(state.get()) == list(state) == [1, 2, 3]
    state.update([9])
    assert list(state.get()) == [9]
    state.clear()
    assert list(state.get()) == []


@pytest.mark.parametrize("nothing", [[], None])
def test_updating_a_list_to_nothing_removes_it(backend, nothing):
    state = backend.state(list_state())
    state.add(1)
    state.update(nothing)
    assert list(state.get()) == []
    assert not backend.tables["l", False].values


def test_a_list_that_was_read_does_not_change_when_the_state_does(backend):
    state = backend.state(list_state())
    state.add(1)
    read = state.get()
    state.add(2)
    assert list(read) == [1]


def test_a_list_given_to_update_is_not_shared_with_the_state(backend):
    state = backend.state(list_state())
    given = [1]
    state.update(given)
    given.append(2)
    assert list(state.get()) == [1]


def test_reducing_state_combines_in_order(backend):
    state = backend.state(ReducingStateDescriptor("r", lambda a, b: a + b, Types.STRING()))
    for letter in "xyz":
        state.add(letter)
    assert state.get() == "xyz"


def test_aggregating_state_returns_the_result_of_its_accumulator(backend):
    state = backend.state(aggregating_state())
    state.add(1)
    state.add(2)
    assert state.get() == 1.5


def test_adding_none_clears_an_aggregating_state(backend):
    state = backend.state(aggregating_state())
    state.add(1)
    state.add(None)
    assert state.get() is None


def test_each_key_gets_an_accumulator_of_its_own(backend):
    class Collect(Average):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            accumulator.append(value)
            return accumulator

        def get_result(self, accumulator):
            return list(accumulator)

    state = backend.state(AggregatingStateDescriptor("c", Collect(), None))
    state.add(1)
    backend.key = "b"
    state.add(2)
    assert state.get() == [2]


# -- map state ---------------------------------------------------------------------------------------------------------


def test_map_state_works_like_a_dict(backend):
    state = backend.state(map_state())
    state.put("x", 1)
    state["y"] = 2
    assert state["x"] == 1
    assert "y" in state
    assert state.contains("x")
    assert sorted(state.items()) == [("x", 1), ("y", 2)]
    assert sorted(state.keys()) == sorted(state) == ["x", "y"]
    assert sorted(state.values()) == [1, 2]
    del state["x"]
    assert not state.contains("x")
    assert not state.is_empty()
    state.remove("y")
    assert state.is_empty()


@pytest.mark.parametrize("given", [{"x": 1, "y": 2}, [("x", 1), ("y", 2)], iter([("x", 1), ("y", 2)])])
def test_put_all_takes_a_dict_and_pairs(backend, given):
    state = backend.state(map_state())
    state.put_all(given)
    assert dict(state.items()) == {"x": 1, "y": 2}


def test_removing_a_map_key_that_is_not_there_does_nothing(backend):
    state = backend.state(map_state())
    state.remove("x")
    state.put("y", 1)
    state.remove("x")
    assert dict(state.items()) == {"y": 1}


def test_a_map_key_with_the_value_none_is_not_contained_but_listed(backend):
    state = backend.state(map_state())
    state.put("x", None)
    assert not state.contains("x")
    assert list(state.keys()) == ["x"]
    assert not state.is_empty()


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.put("x", 5),
        lambda state: state.put("new", 5),
        lambda state: state.put_all({"new": 5}),
        lambda state: state.remove("y"),
        lambda state: state.clear(),
    ],
)
@pytest.mark.parametrize("view", ["items", "keys", "values"])
def test_changing_a_map_while_iterating_over_it_raises(backend, view, change):
    state = backend.state(map_state())
    state.put_all({"x": 1, "y": 2, "z": 3})
    iterator = getattr(state, view)()
    next(iterator)
    change(state)
    with pytest.raises(RuntimeError, match="Concurrent modification detected"):
        next(iterator)


def test_reading_a_map_while_iterating_over_it_is_fine(backend):
    state = backend.state(map_state())
    state.put_all({"x": 1, "y": 2})
    assert [state.get(key) for key in state if key in state] == [1, 2]


@pytest.mark.parametrize("view", ["items", "keys", "values"])
def test_an_iterator_can_remove_what_it_returned(backend, view):
    state = backend.state(map_state())
    state.put_all({"x": 1, "y": 2, "z": 3})
    iterator = getattr(state, view)()
    for element in iterator:
        if element in (("y", 2), "y", 2):
            iterator.remove()
    assert dict(state.items()) == {"x": 1, "z": 3}


def test_an_iterator_removes_each_element_once_and_none_before_the_first(backend):
    state = backend.state(map_state())
    state.put_all({"x": 1, "y": 2})
    iterator = state.items()
    with pytest.raises(RuntimeError, match="next"):
        iterator.remove()
    next(iterator)
    iterator.remove()
    with pytest.raises(RuntimeError, match="next"):
        iterator.remove()


def test_removing_the_last_entry_of_a_map_leaves_nothing_behind(backend):
    state = backend.state(map_state())
    state.put("x", 1)
    state.remove("x")
    assert not backend.tables["m", False].values


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("describe", ALL_KINDS)
def test_the_same_name_means_the_same_state(backend, describe):
    assert backend.state(describe("s")) is backend.state(describe("s"))


@pytest.mark.parametrize("first", ALL_KINDS)
@pytest.mark.parametrize("second", ALL_KINDS)
def test_a_name_cannot_be_used_for_another_kind_of_state(backend, first, second):
    if first is second:
        return
    backend.state(first("s"))
    with pytest.raises(Exception, match="'s' is already in use"):
        backend.state(second("s"))


def test_a_name_cannot_be_used_for_another_type(backend):
    backend.state(ValueStateDescriptor("s", Types.LONG()))
    with pytest.raises(Exception, match="State name corrupted: 's'"):
        backend.state(ValueStateDescriptor("s", Types.STRING()))


# -- scopes: the windows of a key --------------------------------------------------------------------------------------


def test_a_scope_separates_state_of_the_same_name(backend):
    scope = Scope()
    windowed, keyed = backend.state(value_state(), scope), backend.state(value_state())
    scope.key = ("a", 10)
    windowed.update(1)
    assert keyed.value() is None
    keyed.update(2)
    scope.key = ("a", 20)
    assert windowed.value() is None
    scope.key = ("a", 10)
    assert windowed.value() == 1


@pytest.mark.parametrize(
    ("describe", "values", "merged"),
    [(list_state, [[1], [2], [3]], [1, 2, 3]), (reducing_state, [1, 2, 3], 6), (aggregating_state, [1, 2, 6], 3.0)],
)
def test_merging_moves_the_contents_of_the_sources(backend, describe, values, merged):
    scope = Scope()
    state = backend.state(describe(), scope)
    for window, value in enumerate(values):
        scope.key = window
        for item in value if isinstance(value, list) else [value]:
            state.add(item)
    state.merge_into(0, [1, 2, "unknown"])
    scope.key = 0
    assert state.get() == merged
    for source in (1, 2):
        scope.key = source
        assert not state.get()


def test_merging_into_an_empty_window_keeps_the_contents(backend):
    scope = Scope()
    state = backend.state(reducing_state(), scope)
    scope.key = 1
    state.add(5)
    state.merge_into(0, [1])
    scope.key = 0
    assert state.get() == 5


@pytest.mark.parametrize("describe", [value_state, map_state])
def test_value_and_map_state_cannot_be_merged(backend, describe):
    scope = Scope()
    state = backend.state(describe(), scope)
    for scope.key in (0, 1):
        (state.update if describe is value_state else lambda v: state.put("x", v))(1)
    with pytest.raises(Exception, match="merge"):
        state.merge_into(0, [1])


# -- between epochs ----------------------------------------------------------------------------------------------------


def fill(backend):
    backend.state(value_state()).update(1)
    backend.state(list_state()).add(2)
    backend.state(map_state()).put("x", 3)
    backend.state(reducing_state()).add(4)
    backend.state(aggregating_state()).add(5)


def contents(backend):
    return {name: dict(table.values) for (name, _), table in backend.tables.items() if table.values}


def clone(snapshot, deltas=()):
    other = HashMapStateBackend()
    for describe in ALL_KINDS:
        other.state(describe())
    restore(other, pickle.loads(pickle.dumps(snapshot)), pickle.loads(pickle.dumps(list(deltas))))
    return other


def test_a_closed_backend_holds_no_memory_even_if_something_refers_to_it():
    closed = HashMapStateBackend()
    closed.key = "a"
    fill(closed)
    assert contents(closed)
    closed.close()
    assert not contents(closed)
    assert not any(table.dirty for table in closed.tables.values())


def test_a_snapshot_restores_all_kinds_of_state(backend):
    fill(backend)
    other = clone(list(backend.take_snapshot()))
    other.key = "a"
    assert other.state(value_state()).value() == 1
    assert list(other.state(list_state()).get()) == [2]
    assert other.state(map_state()).get("x") == 3
    assert other.state(reducing_state()).get() == 4
    assert other.state(aggregating_state()).get() == 5


def test_state_objects_made_before_restore_see_what_was_restored(backend):
    state = backend.state(value_state())
    state.update(1)
    snapshot = list(backend.take_snapshot())
    state.update(2)
    restore(backend, snapshot, [])
    assert state.value() == 1


def test_a_delta_holds_what_changed_and_nothing_else(backend):
    backend.tracking = True
    state = backend.state(value_state())
    for backend.key in range(100):
        state.update(0)
    base = list(backend.take_snapshot())
    backend.key = 7
    state.update(1)
    backend.key = 8
    state.clear()
    delta = backend.take_delta()
    assert len(pickle.dumps(delta)) < 200
    assert contents(clone(base, [delta])) == contents(backend)


def test_a_delta_restores_changes_of_every_kind_and_deletions(backend):
    fill(backend)
    base = list(backend.take_snapshot())
    backend.tracking = True
    fill(backend)
    first = backend.take_delta()
    assert contents(clone(base, [first])) == contents(backend)
    for describe in ALL_KINDS:
        backend.state(describe()).clear()
    assert contents(clone(base, [first, backend.take_delta()])) == contents(backend) == {}


def test_deltas_can_be_applied_without_a_snapshot(backend):
    backend.tracking = True
    backend.state(value_state()).update(1)
    backend.take_delta()
    backend.key = "b"
    backend.state(value_state()).update(2)
    other = HashMapStateBackend()
    other.key = "a"
    other.state(value_state()).update(9)
    restore(other, None, [backend.take_delta()])
    assert contents(other) == {"v": {"a": 9, "b": 2}}


def test_nothing_is_remembered_while_tracking_is_off(backend):
    fill(backend)
    assert not backend.take_delta()


def test_a_second_delta_is_empty(backend):
    backend.tracking = True
    fill(backend)
    assert backend.take_delta()
    assert not backend.take_delta()


def test_a_snapshot_starts_the_delta_anew(backend):
    backend.tracking = True
    fill(backend)
    list(backend.take_snapshot())
    assert not backend.take_delta()


@pytest.mark.parametrize("value", ["gone", "\0gone", None, False])
def test_any_value_survives_a_delta(backend, value):
    backend.tracking = True
    state = backend.state(ListStateDescriptor("l", None))
    state.add(value)
    plain = backend.state(ValueStateDescriptor("p", None))
    plain.update(value)
    other = clone(None, [backend.take_delta()])
    other.key = "a"
    assert list(other.state(list_state()).get()) == [value]
    assert other.tables["p", False].values.get("a") == (value if value is not None else None)


def test_clear_all_drops_everything(backend):
    fill(backend)
    backend.clear_all()
    assert contents(backend) == {}


# -- against a model ---------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", 1, (1, "x")])
VALUES = st.integers(-3, 3)
MAP_KEYS = st.sampled_from("pqr")


class AgainstDicts(RuleBasedStateMachine):
    """Drive all kinds of state and plain dicts side by side, with epochs in between."""

    @initialize()
    def start(self):
        self.model: dict[str, dict] = {kind: {} for kind in "vlmra"}
        self.open(HashMapStateBackend())
        self.base, self.deltas = list(self.backend.take_snapshot()), []

    def open(self, backend):
        self.backend = backend
        backend.tracking = True
        backend.key = "a"
        self.v, self.l, self.m, self.r, self.a = (backend.state(describe()) for describe in ALL_KINDS)

    @rule(key=KEYS)
    def switch_key(self, key):
        self.backend.key = key

    @rule(value=st.none() | VALUES)
    def update_value(self, value):
        self.v.update(value)
        self.put("v", value)

    @rule(value=VALUES)
    def append(self, value):
        self.l.add(value)
        self.put("l", [*self.get("l", []), value])

    @rule(values=st.lists(VALUES, max_size=2))
    def replace_list(self, values):
        self.l.update(values)
        self.put("l", values or None)

    @rule(key=MAP_KEYS, value=VALUES)
    def put_entry(self, key, value):
        self.m.put(key, value)
        self.put("m", {**self.get("m", {}), key: value})

    @rule(key=MAP_KEYS)
    def remove_entry(self, key):
        self.m.remove(key)
        self.put("m", {k: v for k, v in self.get("m", {}).items() if k != key} or None)

    @rule(value=VALUES)
    def reduce(self, value):
        self.r.add(value)
        self.put("r", self.get("r", 0) + value)

    @rule(value=st.none() | VALUES)
    def aggregate(self, value):
        self.a.add(value)
        total, count = self.get("a", (0, 0))
        self.put("a", None if value is None else (total + value, count + 1))

    @rule(kind=st.sampled_from("vlmra"))
    def clear(self, kind):
        getattr(self, kind).clear()
        self.put(kind, None)

    @rule(full=st.booleans())
    def end_epoch(self, full):
        if full:
            self.base = pickle.loads(pickle.dumps(list(self.backend.take_snapshot())))
            self.deltas = []
        else:
            self.deltas.append(pickle.loads(pickle.dumps(self.backend.take_delta())))

    @rule()
    def move_to_another_worker(self):
        self.deltas.append(pickle.loads(pickle.dumps(self.backend.take_delta())))
        fresh = HashMapStateBackend()
        self.open(fresh)
        restore(fresh, pickle.loads(pickle.dumps(self.base)), pickle.loads(pickle.dumps(self.deltas)))

    def get(self, kind, default=None):
        return self.model[kind].get(self.backend.key, default)

    def put(self, kind, value):
        if value is None:
            self.model[kind].pop(self.backend.key, None)
        else:
            self.model[kind][self.backend.key] = value

    @invariant()
    def current_key_reads_as_the_model_says(self):
        assert self.v.value() == self.get("v")
        assert list(self.l.get()) == self.get("l", [])
        assert dict(self.m.items()) == self.get("m", {})
        assert self.m.is_empty() == (not self.get("m"))
        assert self.r.get() == self.get("r")
        accumulator = self.get("a")
        assert self.a.get() == (accumulator and accumulator[0] / accumulator[1])


AgainstDicts.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAgainstDicts = AgainstDicts.TestCase
