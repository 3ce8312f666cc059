"""The log of a list costs only the additions, not the whole list."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.state.test_ttl import TTL, Clock, clock, config  # noqa: F401 - the fixture

from flintstream.checkpoint.state_file import StateFile, to_bytes
from flintstream.common import Types
from flintstream.datastream.state import ListStateDescriptor
from flintstream.options.rocksdb import CACHED_ENTRIES
from flintstream.state import ttl
from flintstream.state.backend import Change, Scope, TableInfo
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.rocksdb.backend import RocksDBStateBackend
from flintstream.state.rocksdb.lists import Lists
from flintstream.state.rocksdb.options import RocksDBOptions

pytestmark = pytest.mark.slow


def no_group(key):
    return 0


def new_backend(kind: str, directory: str) -> Any:
    if kind == "hashmap":
        return HashMapStateBackend()
    cache = {"cached": "1000", "hardly cached": "1"}[kind]
    return RocksDBStateBackend(directory, no_group, RocksDBOptions.of({CACHED_ENTRIES.key: cache}))


KINDS = ["hashmap", "cached", "hardly cached"]


@pytest.fixture(params=KINDS)
def backend(request, tmp_path):
    backend = new_backend(request.param, str(tmp_path / "own"))
    backend.key = "a"
    backend.tracking = True
    yield backend
    backend.close()


def list_state(*, expires=False, on_read=False):
    descriptor = ListStateDescriptor("l", Types.LONG())
    if expires:
        descriptor.enable_time_to_live(config(on_read=on_read))
    return descriptor


def delta_of(backend) -> tuple[dict, list, dict]:
    """Return the entries that the delta sets, deletes and appends."""
    (change,) = backend.take_delta()
    return dict(zip(change.keys, change.values, strict=True)), change.deleted, dict(change.appended)


@pytest.fixture
def state(backend):
    state = backend.state(list_state())
    state.update([1, 2])
    backend.take_delta()
    return state


# -- what a delta says -------------------------------------------------------------------------------------------------


def test_what_was_added_is_all_that_is_told(backend, state):
    state.add(3)
    state.add_all([4, 5])
    assert delta_of(backend) == ({}, [], {"a": [3, 4, 5]})
    state.add(6)
    assert delta_of(backend) == ({}, [], {"a": [6]})
    assert backend.take_delta() == []
    assert list(state.get()) == [1, 2, 3, 4, 5, 6]


def test_adding_nothing_changes_nothing(backend, state):
    state.add_all([])
    assert backend.take_delta() == []


def test_reading_in_between_makes_no_difference(backend, state):
    for number in range(3):
        state.add(number)
        assert list(state.get()) == [1, 2, *range(number + 1)]
    assert delta_of(backend) == ({}, [], {"a": [0, 1, 2]})


def test_other_keys_in_between_make_no_difference(backend, state):
    for number in range(3):
        for backend.key in ("a", "b", "c"):
            state.add(number)
            state.get()
    sets, deleted, appended = delta_of(backend)
    assert ({**sets, **appended}, deleted) == ({"a": [0, 1, 2], "b": [0, 1, 2], "c": [0, 1, 2]}, [])
    assert "a" in appended


@pytest.mark.parametrize("how", ["update", "clear"])
def test_a_list_that_was_set_or_cleared_is_told_as_a_whole(backend, state, how):
    state.add(3)
    if how == "update":
        state.update([8])
    else:
        state.clear()
        state.add(8)
    state.add(9)
    assert delta_of(backend) == ({"a": [8, 9]}, [], {})


def test_a_list_that_was_cleared_is_deleted(backend, state):
    state.add(3)
    state.clear()
    assert delta_of(backend) == ({}, ["a"], {})


def test_what_a_snapshot_or_a_restore_has_is_no_part_of_the_delta(backend, state):
    state.add(3)
    list(backend.take_snapshot())
    state.add(4)
    assert delta_of(backend) == ({}, [], {"a": [4]})
    state.add(5)
    backend.apply([Change(TableInfo("l", "list"), [], [], [], [("a", [6])])])
    state.add(7)
    assert delta_of(backend) == ({}, [], {"a": [7]})
    assert list(state.get()) == [1, 2, 3, 4, 5, 6, 7]


def test_what_files_have_is_no_part_of_the_delta(tmp_path):
    backend, other = (new_backend("cached", str(tmp_path / name)) for name in ("one", "other"))
    backend.key = other.key = "a"
    backend.state(list_state()).add_all([1, 2])
    backend.write_native(str(tmp_path / "files"))
    other.tracking = True
    other.restore_native(str(tmp_path / "files"))
    other.state(list_state()).add(3)
    assert delta_of(other) == ({}, [], {"a": [3]})
    backend.close()
    other.close()


def test_a_merge_tells_what_was_moved(backend):
    scope = Scope()
    state = backend.state(list_state(), scope)
    for window in (1, 2, 3):
        scope.key = ("a", window)
        state.add_all([window, window])
    backend.take_delta()
    state.merge_into(("a", 1), [("a", 2), ("a", 3), ("a", 4)])
    sets, deleted, appended = delta_of(backend)
    assert (sets, sorted(deleted), appended) == ({}, [("a", 2), ("a", 3)], {("a", 1): [2, 2, 3, 3]})


def test_elements_are_added_with_their_times(backend, clock):  # noqa: F811
    state = backend.state(list_state(expires=True))
    state.add(1)
    backend.take_delta()
    clock.now += 10
    state.add_all([2, 3])
    assert delta_of(backend) == ({}, [], {"a": [(2, clock.now), (3, clock.now)]})


@pytest.mark.parametrize("how", ["read", "cleanup"])
def test_elements_that_expire_let_the_list_be_told_as_a_whole(backend, clock, how):  # noqa: F811
    state = backend.state(list_state(expires=True))
    state.add(1)
    clock.now += 60
    state.add(2)
    backend.take_delta()
    state.add(3)
    now = clock.now
    clock.now += 60
    if how == "read":
        assert state.get() == [2, 3]
    else:
        backend.cleanup(clock.now)
    state.add(4)
    assert delta_of(backend) == ({"a": [(2, now), (3, now), (4, clock.now)]}, [], {})


def test_reading_that_prolongs_lives_lets_the_list_be_told_as_a_whole(backend, clock):  # noqa: F811
    state = backend.state(list_state(expires=True, on_read=True))
    state.add(1)
    backend.take_delta()
    state.add(2)
    clock.now += 10
    state.get()
    assert delta_of(backend) == ({"a": [(1, clock.now), (2, clock.now)]}, [], {})


def test_what_was_handed_out_does_not_grow_with_the_list(backend, state):
    (base,) = backend.take_snapshot()
    state.update([7])
    (delta,) = backend.take_delta()
    state.add(8)
    assert (base.values, delta.values) == ([[1, 2]], [[7]])


# -- what it costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expires", [False, True])
def test_the_log_does_not_grow_with_the_list(backend, expires, clock):  # noqa: F811
    state = backend.state(list_state(expires=expires))
    sizes = []
    for size in (10, 100, 10_000):
        state.update([10_000] * size)
        backend.take_delta()
        state.add_all([20_000, 30_000])
        sizes.append(len(to_bytes([("op", change) for change in backend.take_delta()], log=True)))
    assert sizes[0] == sizes[1] == sizes[2]


def test_many_small_rows_are_joined_although_each_epoch_adds_to_the_list(tmp_path):
    backend = new_backend("hardly cached", str(tmp_path / "own"))
    backend.tracking, backend.key = True, "a"
    state = backend.state(list_state())
    for number in range(200):
        state.add(number)
        assert list(state.get()) == list(range(number + 1))
        assert delta_of(backend)[2] == {"a": [number]}
        backend.tables["l", False].values.forget()
    assert len(list(backend._store.rows())) <= 18
    backend.close()


# -- and back ----------------------------------------------------------------------------------------------------------


def test_in_one_change_deletions_come_first_and_additions_last(backend):
    state = backend.state(list_state())
    state.add(1)
    backend.apply([Change(TableInfo("l", "list"), ["a"], [[2]], ["a"], [("a", [3]), ("b", [4]), ("a", [5])])])
    assert list(state.get()) == [2, 3, 5]
    backend.apply([Change(TableInfo("l", "list"), [], [], ["a"], [("a", [6])])])
    assert list(state.get()) == [6]
    backend.key = "b"
    assert list(state.get()) == [4]


@pytest.mark.parametrize("expires", [False, True])
def test_what_was_added_gets_or_loses_its_time_as_the_state_has_it(tmp_path, expires, clock, monkeypatch):  # noqa: F811
    monkeypatch.setattr("flintstream.state.rocksdb.backend.wall_clock", clock)
    backend = new_backend("cached", str(tmp_path / "own"))
    backend.key = "a"
    state = backend.state(list_state(expires=expires))
    element = 5 if expires else (5, 1)
    backend.apply([Change(TableInfo("l", "list", ttl=not expires), [], [], [], [("a", [element])])])
    assert list(state.get()) == [5]
    backend.close()


WINDOWS = st.tuples(st.sampled_from("ab"), st.integers(0, 1))
NUMBERS = st.integers(0, 9)


class AgainstLists(RuleBasedStateMachine):
    """Drive a backend and plain lists side by side; now and then continue in another backend restored from the log."""

    @initialize(kind=st.sampled_from(KINDS), expires=st.booleans())
    def start(self, kind, expires):
        self.directory = tempfile.mkdtemp(prefix="flintstream-test-")
        self.patch = pytest.MonkeyPatch()
        self.clock = Clock()
        self.patch.setattr(ttl._Ttl, "clock", self.clock)
        self.patch.setattr(Lists, "MOST_ROWS", 2)
        self.expires = expires
        self.scope = Scope()
        self.scope.key = ("a", 0)
        self.model: dict[Any, list[tuple[int, int]]] = {}
        self.log: list[bytes] = []
        self.numbers = itertools.count()
        self.backend: Any = None
        self.go_on_with(self.opened(kind))
        self.snapshot()

    def teardown(self):
        if hasattr(self, "patch"):
            self.backend.close()
            self.patch.undo()
            shutil.rmtree(self.directory)

    def opened(self, kind):
        backend = new_backend(kind, f"{self.directory}/{next(self.numbers)}")
        backend.tracking = True
        return backend

    def go_on_with(self, backend):
        if self.backend is not None:
            self.backend.close()
        self.backend = backend
        self.state = backend.state(list_state(expires=self.expires), self.scope)

    def put(self, key, values, before=()):
        self.model[key] = [*before, *((value, self.clock.now) for value in values)]

    @rule(key=WINDOWS)
    def select(self, key):
        self.scope.key = key

    @rule(value=NUMBERS)
    def add(self, value):
        self.state.add(value)
        self.put(self.scope.key, [value], self.model.get(self.scope.key, ()))

    @rule(values=st.lists(NUMBERS, max_size=3))
    def add_all(self, values):
        self.state.add_all(values)
        self.put(self.scope.key, values, self.model.get(self.scope.key, ()))

    @rule(values=st.lists(NUMBERS, max_size=3))
    def update(self, values):
        self.state.update(values)
        self.put(self.scope.key, values)

    @rule()
    def clear(self):
        self.state.clear()
        self.put(self.scope.key, ())

    @rule(key=st.sampled_from("ab"), into=st.integers(0, 1))
    def merge(self, key, into):
        source, target = (key, 1 - into), (key, into)
        self.state.merge_into(target, [source])
        self.model[target] = [*self.model.get(target, ()), *self.model.pop(source, ())]

    @rule(wait=st.sampled_from([30, 70]))
    def time_passes(self, wait):
        self.clock.now += wait
        self.backend.cleanup(self.clock.now)

    @rule()
    def delta(self):
        self.log.append(to_bytes([("op", change) for change in self.backend.take_delta()], log=True))

    @rule()
    def snapshot(self):
        self.log = [to_bytes([("op", change) for change in self.backend.take_snapshot()])]

    @rule(kind=st.sampled_from(KINDS))
    def move(self, kind):
        self.delta()
        other = self.opened(kind)
        for data in self.log:
            other.apply(StateFile(data).changes("op"))
        self.go_on_with(other)

    @rule()
    def move_by_files(self):
        if hasattr(self.backend, "write_native"):
            self.delta()
            files = f"{self.directory}/{next(self.numbers)}"
            self.backend.write_native(files)
            other = self.opened("hardly cached")
            other.restore_native(files)
            self.go_on_with(other)

    @invariant()
    def the_lists_are_as_they_should_be(self):
        limit = self.clock.now - TTL
        live = [v for v, time in self.model.get(self.scope.key, ()) if not self.expires or time > limit]
        assert list(self.state.get()) == live


AgainstLists.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAgainstLists = AgainstLists.TestCase
