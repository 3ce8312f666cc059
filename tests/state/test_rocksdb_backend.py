"""The RocksDB backend behaves like the hash map backend, and also has files."""

from __future__ import annotations

import itertools
import os
import pickle
import shutil
import tempfile
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.state import test_hash_map_backend as of_hash_map
from tests.state import test_ttl as of_ttl
from tests.state.test_hash_map_backend import (
    ALL_KINDS,
    KEYS,
    MAP_KEYS,
    VALUES,
    aggregating_state,
    fill,
    list_state,
    map_state,
    reducing_state,
    value_state,
)
from tests.state.test_ttl import TTL, Clock, clock, every_kind  # noqa: F401 - a fixture
from tests.waiting import wait_for

from flintstream.common import Duration, Row, Time
from flintstream.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from flintstream.errors import StateMigrationError
from flintstream.options.rocksdb import CACHED_ENTRIES
from flintstream.runtime.keys import freeze_key, key_group
from flintstream.state import ttl
from flintstream.state.backend import PIECE, Scope, loading
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.rocksdb import backend as rocksdb
from flintstream.state.rocksdb.backend import RocksDBStateBackend
from flintstream.state.rocksdb.options import RocksDBOptions

pytestmark = pytest.mark.slow

# They inspect the dicts of the hash map, have windows without a key, or exhaust an iterator.
INSIDE_A_HASH_MAP = {
    "test_updating_a_value_to_none_removes_it",
    "test_updating_a_list_to_nothing_removes_it",
    "test_removing_the_last_entry_of_a_map_leaves_nothing_behind",
    "test_merging_moves_the_contents_of_the_sources",
    "test_merging_into_an_empty_window_keeps_the_contents",
    "test_value_and_map_state_cannot_be_merged",
    "test_merged_state_lives_on_with_the_latest_time",
    "test_put_all_takes_a_dict_and_pairs",
    "test_an_expired_value_is_removed_when_it_is_met",
    "test_cleanup_removes_what_has_expired",
    "test_cleanup_gets_round_to_every_entry_although_most_of_them_live",
}

globals().update(
    {
        name: member
        for module in (of_hash_map, of_ttl)
        for name, member in vars(module).items()
        if name.startswith("test_") and "backend" in member.__code__.co_varnames and name not in INSIDE_A_HASH_MAP
    }
)

GROUPS = 16
TINY = RocksDBOptions.of({CACHED_ENTRIES.key: "2"})


def group_of(key):
    return key_group(key, GROUPS)


@pytest.fixture
def options():
    """Keep almost nothing in memory, so that rows are written and read."""
    return TINY


with_and_without_memory = pytest.mark.parametrize("options", [RocksDBOptions(), TINY], ids=["cached", "hardly cached"])


@pytest.fixture
def opened(tmp_path, options):
    """Open backends and close them after the test."""
    backends: list[RocksDBStateBackend] = []

    def open_one(operator="op"):
        backends.append(RocksDBStateBackend(str(tmp_path / f"own-{len(backends)}"), group_of, options, operator))
        backends[-1].key = "a"
        return backends[-1]

    yield open_one
    for backend in backends:
        backend.close()


@pytest.fixture
def backend(opened):
    return opened()


def contents(backend):
    """Return the contents of any backend, by state and key."""
    found: dict[tuple[str, bool], dict] = {}
    for change in backend.take_snapshot():
        assert len(change.keys) <= PIECE
        table = found.setdefault((change.table.name, change.table.namespaced), {})
        table.update(zip(change.keys, change.values, strict=True))
    return found


@pytest.fixture(autouse=True)
def contents_of_any_backend(monkeypatch):
    monkeypatch.setattr(
        of_hash_map, "contents", lambda backend: {name: found for (name, _), found in contents(backend).items()}
    )


# -- nothing is left behind --------------------------------------------------------------------------------------------


@with_and_without_memory
@pytest.mark.parametrize("describe", ALL_KINDS)
@pytest.mark.parametrize("written", [False, True])
def test_nothing_is_left_of_what_is_cleared(backend, describe, written):
    fill(backend)
    if written:
        backend.take_delta()
    backend.state(describe()).clear()
    assert (describe().name, False) not in contents(backend)


def test_updating_to_nothing_removes(backend):
    fill(backend)
    backend.take_delta()
    backend.state(value_state()).update(None)
    backend.state(list_state()).update([])
    backend.state(map_state()).remove("x")
    assert {name for name, _ in contents(backend)} == {"r", "a"}


def test_a_closed_backend_holds_no_entries_even_if_something_refers_to_it(tmp_path):
    closed = RocksDBStateBackend(str(tmp_path / "db"), group_of)
    closed.key = "a"
    closed.tracking = True
    fill(closed)
    held = closed.tables["v", False].values
    assert held.young
    closed.close()
    assert not held.young
    assert not held.old
    assert not any(table.dirty for table in closed.tables.values())


def test_close_removes_the_files(tmp_path):
    backend = RocksDBStateBackend(str(tmp_path / "db"), group_of)
    assert list((tmp_path / "db").iterdir())
    backend.close()
    assert not (tmp_path / "db").exists()


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "same"),
    [
        (1, 1.0),
        (1.0, True),
        ((1, "x"), (1.0, "x")),
        (freeze_key([1, 2]), freeze_key([1.0, 2])),
        (freeze_key({"a": 1, "b": {2}}), freeze_key({"b": {2.0}, "a": 1})),
        (freeze_key(Row(x=1, y=[2])), freeze_key(Row(y=[2], x=1))),
        ("a", "a"),
    ],
)
def test_equal_keys_are_one_key_that_stays_as_it_was_first(opened, key, same):
    backend = opened()
    state = backend.state(value_state())
    backend.key = key
    state.update(5)
    backend.take_delta()
    other = opened()
    other.apply(backend.take_snapshot())
    other.take_delta()
    other.tables["v", False].values.forget()
    other.key = same
    assert other.state(value_state()).value() == 5
    assert repr(backend.keys("v")) == repr([key])
    assert type(backend.keys("v")[0]) is type(key)


def test_map_keys_come_back_as_they_were(backend):
    given = {
        1.0: "float",
        2: "int",
        "2": "str",
        (1, "x"): "tuple",
        True and (True,): "bool",
        b"x": "bytes",
        None: "none",
    }
    state = backend.state(MapStateDescriptor("m", None, None))
    state.put_all(given)
    backend.take_delta()
    backend.tables["m", False].values.forget()
    assert sorted(map(repr, state.items())) == sorted(map(repr, given.items()))


def test_keys_that_begin_alike_have_maps_and_lists_of_their_own(backend):
    for key in (b"", b"a", b"a\xff", b"a\xff\xff", b"aa", "a", ("a",), (b"a", b"")):
        backend.key = key
        backend.state(list_state()).add(len(key))
        backend.state(MapStateDescriptor("m", None, None)).put(key, key)
    for key in (b"", b"a", b"a\xff", b"a\xff\xff", b"aa", "a", ("a",), (b"a", b"")):
        backend.key = key
        assert list(backend.state(list_state()).get()) == [len(key)]
        assert list(backend.state(MapStateDescriptor("m", None, None)).items()) == [(key, key)]


@pytest.mark.parametrize("describe", ALL_KINDS)
def test_keys_names_each_key_once(backend, describe):
    scope = Scope()
    plain, windowed = backend.state(describe()), backend.state(describe(), scope)
    for backend.key in range(20):
        scope.key = (backend.key, (0, 10))
        for state in (plain, windowed):
            if hasattr(state, "put"):
                state.put_all({"x": 1, "y": 2})
            elif hasattr(state, "add"):
                state.add(1)
                backend.take_delta()
                state.add(2)
            else:
                state.update(1)
    expected = [*range(20), *((key, (0, 10)) for key in range(20))]
    assert sorted(backend.keys(describe().name), key=str) == sorted(expected, key=str)


# -- values that a program changes -------------------------------------------------------------------------------------


@with_and_without_memory
@pytest.mark.parametrize("written", [False, True])
def test_a_value_changes_by_update_alone(backend, written):
    state = backend.state(ValueStateDescriptor("v", None))
    given = [1]
    state.update(given)
    if written:
        backend.take_delta()
    given.append(2)
    state.value().append(3)
    assert state.value() == [1]
    assert contents(backend)["v", False] == {"a": [1]}


@with_and_without_memory
def test_elements_of_lists_and_maps_change_by_adding_alone(backend):
    elements, entries = (
        backend.state(ListStateDescriptor("l", None)),
        backend.state(MapStateDescriptor("m", None, None)),
    )
    elements.add([1])
    entries.put("x", [1])
    for element in (*elements.get(), *entries.values(), entries.get("x")):
        element.append(2)
    assert list(elements.get()) == list(entries.values()) == [[1]]
    assert contents(backend) == {("l", False): {"a": [[1]]}, ("m", False): {("a", "x"): [1]}}


# -- lists -----------------------------------------------------------------------------------------------------------


@with_and_without_memory
@pytest.mark.parametrize("read_between", [False, True])
def test_a_list_keeps_its_order_over_many_epochs(backend, read_between):
    state = backend.state(list_state())
    for number in range(100):
        state.add(number)
        if number % 2:
            backend.take_delta()
            backend.tables["l", False].values.forget()
        if read_between:
            assert list(state.get()) == list(range(number + 1))
    assert list(state.get()) == list(range(100))


def test_a_restored_list_goes_on_at_its_end(opened, tmp_path):
    backend, other = opened(), opened()
    for number in range(5):
        backend.state(list_state()).add(number)
        backend.take_delta()
    backend.write_native(str(tmp_path / "files"))
    other.restore_native(str(tmp_path / "files"))
    other.state(list_state()).add(5)
    other.take_delta()
    other.tables["l", False].values.forget()
    assert list(other.state(list_state()).get()) == [0, 1, 2, 3, 4, 5]


# -- maps ------------------------------------------------------------------------------------------------------------


def test_an_access_to_one_entry_reads_that_entry_alone(backend, monkeypatch):
    state = backend.state(map_state())
    state.put_all({str(number): number for number in range(100)})
    backend.take_delta()
    backend.tables["m", False].values.forget()
    read, get = [], backend._store.get

    def recorded(row):
        read.append(row)
        return get(row)

    monkeypatch.setattr(backend._store, "get", recorded)
    monkeypatch.setattr(backend._store, "rows", None)
    assert state.get("7") == 7
    state.put("8", 9)
    state.remove("9")
    assert len(read) <= 2


@pytest.mark.parametrize("given", [dict, list, iter])
def test_put_all_takes_a_dict_and_pairs_of_any_kind(backend, given):
    state = backend.state(map_state())
    state.put_all(given([("x", 1), ("y", 2)]))
    assert dict(state.items()) == {"x": 1, "y": 2}


def test_an_iterator_sees_the_map_as_it_was_when_it_began(backend):
    state = backend.state(map_state())
    state.put_all({"x": 1, "y": 2})
    iterator = state.items()
    backend.key = "b"
    state.get("x")
    assert sorted(iterator) == [("x", 1), ("y", 2)]


# -- windows that merge ------------------------------------------------------------------------------------------------


@with_and_without_memory
@pytest.mark.parametrize(
    ("describe", "values", "merged"),
    [(list_state, [[1], [2], [3]], [1, 2, 3]), (reducing_state, [1, 2, 3], 6), (aggregating_state, [1, 2, 6], 3.0)],
)
@pytest.mark.parametrize("written", [False, True])
def test_merging_moves_what_the_windows_have(backend, describe, values, merged, written):
    scope = Scope()
    backend.tracking = True
    state = backend.state(describe(), scope)
    for window, value in enumerate(values):
        scope.key = ("a", window)
        for item in value if isinstance(value, list) else [value]:
            state.add(item)
    if written:
        backend.take_delta()
    state.merge_into(("a", 0), [("a", 1), ("a", 2), ("a", "unknown")])
    scope.key = ("a", 0)
    assert state.get() == merged
    (change,) = backend.take_delta()
    assert [*change.keys, *(key for key, _ in change.appended)] == [("a", 0)]
    assert sorted(change.deleted) == [("a", 1), ("a", 2)]
    assert list(contents(backend)[describe().name, True]) == [("a", 0)]


def test_a_map_moves_to_an_empty_window_and_merges_with_none(backend):
    scope = Scope()
    state = backend.state(map_state(), scope)
    for window in (1, 2):
        scope.key = ("a", window)
        state.put("x", window)
    state.merge_into(("a", 0), [("a", 1)])
    assert contents(backend)["m", True] == {(("a", 0), "x"): 1, (("a", 2), "x"): 2}
    with pytest.raises(Exception, match="merge"):
        state.merge_into(("a", 0), [("a", 2)])


# -- what was restored before it is declared ---------------------------------------------------------------------------


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("declared_first", [False, True])
@pytest.mark.parametrize("first", ALL_KINDS)
@pytest.mark.parametrize("second", [value_state, map_state])
def test_state_of_another_kind_is_refused(opened, tmp_path, first, second, native, declared_first):
    if first is second:
        return
    backend, other = opened(), opened("counts")
    fill(backend)
    renamed = first("s")
    uniform(backend.state(renamed)).write(1)
    backend.write_native(str(tmp_path / "files"))

    def restore():
        if native:
            other.restore_native(str(tmp_path / "files"))
        else:
            other.apply(backend.take_snapshot())

    steps = [restore, lambda: other.state(second("s"))]
    if declared_first:
        steps.reverse()
    steps[0]()
    kind = backend.states["s"][0]
    wanted = {value_state: "value", map_state: "map"}[second]
    with pytest.raises(StateMigrationError, match=rf"operator 'counts': .*'s'.* a {kind} state, .* a {wanted} state"):
        steps[1]()


def ttl_config(*, on_read=False):
    builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
    return (builder.update_ttl_on_read_and_write() if on_read else builder).build()


@with_and_without_memory
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("declared_first", [False, True])
@pytest.mark.parametrize("describe", ALL_KINDS)
@pytest.mark.parametrize("expires", [False, True])
def test_a_time_to_live_can_be_added_and_dropped(
    opened, tmp_path, monkeypatch, describe, expires, declared_first, native
):
    ticking = Clock()
    monkeypatch.setattr(ttl._Ttl, "clock", ticking)
    monkeypatch.setattr(rocksdb, "wall_clock", ticking)

    def descriptor(expires):
        made = describe()
        if expires:
            made.enable_time_to_live(ttl_config())
        return made

    backend, other = opened(), opened()
    uniform(backend.state(descriptor(not expires))).write(5)
    if native:
        backend.write_native(str(tmp_path / "files"))
    ticking.now += TTL // 2
    if declared_first:
        other.state(descriptor(expires))
    if native:
        other.restore_native(str(tmp_path / "files"))
    else:
        other.apply(backend.take_snapshot())
    state = uniform(other.state(descriptor(expires)))
    ticking.now += TTL - 1
    assert state.read() == 5
    ticking.now += 1
    assert state.read() == (None if expires else 5)


class uniform:  # noqa: N801
    """One face for all kinds of state."""

    def __init__(self, state):
        self.state = state

    def write(self, value):
        if hasattr(self.state, "put"):
            self.state.put("x", value)
        elif hasattr(self.state, "add"):
            self.state.add(value)
        else:
            self.state.update(value)

    def read(self):
        if hasattr(self.state, "put"):
            return self.state.get("x")
        if hasattr(self.state, "add_all"):
            return next(iter(self.state.get()), None)
        return self.state.get() if hasattr(self.state, "get") else self.state.value()


# -- time-to-live ------------------------------------------------------------------------------------------------------


@with_and_without_memory
@every_kind
def test_cleanup_really_deletes_what_has_expired(backend, clock, describe):  # noqa: F811
    state = of_ttl.Uniform(backend, describe)
    for backend.key in range(1000):
        state.write(5)
    backend.take_delta()
    clock.now += TTL - 1
    backend.cleanup(clock.now)
    assert len(list(backend._store.rows())) == 1000
    clock.now += 1
    backend.cleanup(clock.now)
    backend.take_delta()
    assert not list(backend._store.rows())


@every_kind
def test_cleanup_is_part_of_the_delta(backend, clock, describe):  # noqa: F811
    backend.tracking = True
    of_ttl.Uniform(backend, describe).write(5)
    backend.take_delta()
    clock.now += TTL
    backend.cleanup(clock.now)
    (change,) = backend.take_delta()
    assert change.deleted == ([("a", 1)] if describe is of_ttl.map_state else ["a"])


def test_what_has_expired_leaves_the_disk(backend, clock):  # noqa: F811
    descriptor = ValueStateDescriptor("v", None)
    descriptor.enable_time_to_live(ttl_config())
    state = backend.state(descriptor)
    for backend.key in range(20_000):
        state.update(os.urandom(50))

    def size():
        backend.take_delta()
        backend._store.db.flush()
        return sum(file["size"] for file in backend._store.db.live_files())

    before = size()
    assert before > 1_000_000
    clock.now += TTL
    for _ in range(3):
        backend.cleanup(clock.now)
    wait_for(size, until=lambda now: now <= before / 10)


def test_cleanup_goes_on_where_it_stopped(backend, clock, monkeypatch):  # noqa: F811
    monkeypatch.setattr(rocksdb, "CLEANED_AT_ONCE", 100)
    state = backend.state(of_ttl.value_state())
    for backend.key in range(1000):
        state.update(0)
    clock.now += TTL - 1
    for backend.key in range(990):
        state.update(1)
    backend.take_delta()
    for _ in range(11):
        backend.cleanup(clock.now + 1)
    assert sorted(contents(backend)["v", False]) == list(range(990))


@pytest.mark.parametrize(
    ("period", "wait"),
    [(None, 3_600_000), (60_000, 60_000), (1, 1000), (0, 3_600_000), (7_200_000, 3_600_000)],
    ids=["default", "a minute", "a moment", "none", "two hours"],
)
def test_a_stream_does_not_rest_longer_than_the_period_of_compactions(backend, clock, period, wait):  # noqa: F811
    descriptor = ValueStateDescriptor("v", None)
    descriptor.enable_time_to_live(
        StateTtlConfig.new_builder(Time.hours(5))
        .cleanup_in_rocksdb_compact_filter(1000, None if period is None else Duration.of_millis(period))
        .build()
    )
    backend.state(descriptor).update(1)
    assert backend.next_cleanup(clock.now) == clock.now + wait


def test_cleanup_keeps_what_was_changed_since_it_was_written(backend, clock):  # noqa: F811
    state = backend.state(of_ttl.value_state())
    state.update(1)
    backend.take_delta()
    clock.now += TTL
    state.update(2)
    backend.cleanup(clock.now)
    assert state.value() == 2


def test_merged_windows_live_on_with_the_latest_time(backend, clock):  # noqa: F811
    scope = Scope()
    state = backend.state(of_ttl.reducing_state(), scope)
    scope.key = ("a", 1)
    state.add(1)
    clock.now += 60
    scope.key = ("a", 2)
    state.add(2)
    state.merge_into(("a", 1), [("a", 2)])
    clock.now += 60
    scope.key = ("a", 1)
    assert state.get() == 3


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_hold_everything_and_stay_as_they_are(opened, tmp_path):
    backend, other = opened(), opened()
    fill(backend)
    backend.write_native(str(tmp_path / "made" / "files"))
    before = {file.name: file.read_bytes() for file in (tmp_path / "made" / "files").iterdir()}
    other.restore_native(str(tmp_path / "made" / "files"))
    assert contents(other) == contents(backend)
    other.clear_all()
    fill(other)
    other.write_native(str(tmp_path / "second"))
    assert {file.name: file.read_bytes() for file in (tmp_path / "made" / "files").iterdir()} == before
    backend.clear_all()
    backend.restore_native(str(tmp_path / "second"))
    assert contents(backend) == contents(other)


def test_a_second_checkpoint_shares_the_files_of_rows_that_did_not_change(backend, tmp_path):
    state = backend.state(value_state())
    for backend.key in range(1000):
        state.update(0)
    backend.write_native(str(tmp_path / "first"))
    backend.key = 5
    state.update(1)
    backend.write_native(str(tmp_path / "second"))
    first, second = ({f.name: f.stat().st_ino for f in (tmp_path / n).glob("*.sst")} for n in ("first", "second"))
    assert first
    assert first.items() < second.items()


def test_restoring_files_replaces_states_that_they_do_not_know(opened, tmp_path):
    backend, other = opened(), opened()
    backend.state(value_state("kept")).update(1)
    backend.write_native(str(tmp_path / "files"))
    for name in ("x", "y", "kept"):
        other.state(value_state(name)).update(2)
    other.restore_native(str(tmp_path / "files"))
    assert [other.state(value_state(name)).value() for name in ("x", "y", "kept")] == [None, None, 1]
    other.state(value_state("y")).update(3)
    assert contents(other) == {("kept", False): {"a": 1}, ("y", False): {"a": 3}}


def test_files_start_the_delta_anew(backend, tmp_path):
    backend.tracking = True
    fill(backend)
    backend.write_native(str(tmp_path / "files"))
    assert not backend.take_delta()


def test_other_files_are_refused(backend, tmp_path):
    rows = backend._store
    rows.checkpoint(str(tmp_path / "files"))
    with pytest.raises(ValueError, match="format 1"):
        backend.restore_native(str(tmp_path / "files"))


def test_a_snapshot_is_read_piece_by_piece(backend):
    state = backend.state(value_state())
    for backend.key in range(3 * PIECE):
        state.update(backend.key)
    pieces = [len(change.keys) for change in backend.take_snapshot()]
    assert pieces == [PIECE] * 3


# -- against the hash map ----------------------------------------------------------------------------------------------

NAMES = ["v", "l", "m", "r", "a"]


class AgainstTheHashMap(RuleBasedStateMachine):
    """Drive both backends in the same way, with epochs, moves and restores in between."""

    @initialize(expires=st.booleans(), on_read=st.booleans(), cache=st.sampled_from(["1", "3", "1000"]))
    def start(self, expires, on_read, cache):
        self.directory = tempfile.mkdtemp(prefix="flintstream-test-")
        self.patch = pytest.MonkeyPatch()
        self.clock = Clock()
        self.patch.setattr(ttl._Ttl, "clock", self.clock)
        self.expires = ttl_config(on_read=on_read) if expires else None
        self.options = RocksDBOptions.of({CACHED_ENTRIES.key: cache})
        self.used, self.numbers = [], itertools.count()
        self.rocks: Any = self.open_rocks()
        self.plain: Any = HashMapStateBackend()
        self.open(self.rocks)
        self.open(self.plain)
        self.base, self.deltas = [], []

    def open_rocks(self):
        self.used.append(RocksDBStateBackend(f"{self.directory}/{next(self.numbers)}", group_of, self.options))
        return self.used[-1]

    def open(self, backend):
        backend.tracking = True
        backend.key = "a"
        backend.scope = Scope()
        backend.scope.key = ("a", 0)
        backend.all = {}
        for describe, name in zip(ALL_KINDS, NAMES, strict=True):
            for scope in (None, backend.scope):
                descriptor = describe(name)
                if self.expires is not None:
                    descriptor.enable_time_to_live(self.expires)
                backend.all[name, scope is not None] = backend.state(descriptor, scope)

    def teardown(self):
        if hasattr(self, "patch"):
            for backend in self.used:
                backend.close()
            self.patch.undo()
            shutil.rmtree(self.directory)

    def both(self, name, windowed, method, *arguments):
        results = [getattr(backend.all[name, windowed], method)(*arguments) for backend in (self.rocks, self.plain)]
        if method in {"items", "keys", "values", "get"} and name in "ml" and not isinstance(results[0], int | None):
            results = [sorted(result) if name == "m" else list(result) for result in results]
        assert results[0] == results[1]

    @rule(key=KEYS, window=st.integers(0, 2))
    def select(self, key, window):
        for backend in (self.rocks, self.plain):
            backend.key = key
            backend.scope.key = (key, window)

    @rule(windowed=st.booleans(), value=st.none() | VALUES)
    def update(self, windowed, value):
        self.both("v", windowed, "update", value)

    @rule(name=st.sampled_from("lra"), windowed=st.booleans(), value=VALUES)
    def add(self, name, windowed, value):
        self.both(name, windowed, "add", value)

    @rule(windowed=st.booleans(), values=st.lists(VALUES, max_size=3))
    def add_all(self, windowed, values):
        self.both("l", windowed, "add_all", values)

    @rule(windowed=st.booleans(), values=st.lists(VALUES, max_size=3))
    def update_list(self, windowed, values):
        self.both("l", windowed, "update", values)

    @rule(windowed=st.booleans(), key=MAP_KEYS, value=VALUES)
    def put(self, windowed, key, value):
        self.both("m", windowed, "put", key, value)

    @rule(windowed=st.booleans(), key=MAP_KEYS)
    def remove(self, windowed, key):
        self.both("m", windowed, "remove", key)

    @rule(name=st.sampled_from(NAMES), windowed=st.booleans())
    def clear(self, name, windowed):
        self.both(name, windowed, "clear")

    @rule(name=st.sampled_from("lra"), into=st.integers(0, 2), sources=st.sets(st.integers(0, 2)))
    def merge(self, name, into, sources):
        key = self.plain.key
        found = [(key, source) for source in sorted(sources - {into})]
        self.both(name, True, "merge_into", (key, into), found)

    @rule(wait=st.integers(0, 70), sweep=st.booleans())
    def time_passes(self, wait, sweep):
        self.clock.now += wait
        if sweep:
            for backend in (self.rocks, self.plain):
                backend.cleanup(self.clock.now)

    @rule(full=st.booleans())
    def end_epoch(self, full):
        if full:
            self.base, self.deltas = pickle.loads(pickle.dumps(list(self.rocks.take_snapshot()))), []
            list(self.plain.take_snapshot())
        else:
            self.deltas.append(pickle.loads(pickle.dumps(self.rocks.take_delta())))
            self.plain.take_delta()

    def agree(self, one, other):
        assert self.alive(one) == self.alive(other)

    def alive(self, backend):
        found = {}
        for (name, windowed), entries in contents(backend).items():
            for key, value in entries.items():
                seen = value
                if self.expires is not None:
                    limit = self.clock.now - TTL
                    if name == "l":
                        seen = [element for element in value if element[1] > limit] or None
                    elif value[1] <= limit:
                        seen = None
                if seen is not None:
                    found[name, windowed, key] = seen
        return found

    @rule(native=st.booleans(), take=st.sampled_from(["replay", "snapshot", "loading"]))
    def move(self, native, take):
        fresh = self.open_rocks()
        self.open(fresh)
        if native:
            path = f"{self.directory}/files-{next(self.numbers)}"
            self.rocks.write_native(path)
            fresh.restore_native(path)
        elif take == "snapshot":
            fresh.apply(self.rocks.take_snapshot())
        else:
            self.deltas.append(pickle.loads(pickle.dumps(self.rocks.take_delta())))
            with loading(fresh) if take == "loading" else nullcontext():
                for changes in (self.base, *self.deltas):
                    fresh.apply(changes)
        self.go_on_with(fresh)

    @rule()
    def move_to_the_hash_map_and_back(self):
        there: Any = HashMapStateBackend()
        self.open(there)
        there.apply(self.rocks.take_snapshot())
        self.agree(there, self.plain)
        fresh = self.open_rocks()
        self.open(fresh)
        fresh.apply(there.take_snapshot())
        self.go_on_with(fresh)

    @rule(parallelism=st.integers(2, 3))
    def rescale_and_back(self, parallelism):
        snapshot = list(self.rocks.take_snapshot())
        parts = []
        for index in range(parallelism):
            part = self.open_rocks()
            for change in snapshot:
                levels = change.table.namespaced + (change.table.kind == "map")
                chosen = []
                for key, value in zip(change.keys, change.values, strict=True):
                    own = key
                    for _ in range(levels):
                        own = own[0]
                    if group_of(own) * parallelism // GROUPS == index:
                        chosen.append((key, value))
                part.apply([change._replace(keys=[k for k, _ in chosen], values=[v for _, v in chosen])])
            parts.append(part)
        fresh = self.open_rocks()
        self.open(fresh)
        for part in parts:
            fresh.apply(part.take_snapshot())
        self.go_on_with(fresh)

    def go_on_with(self, fresh):
        fresh.take_delta()
        fresh.key, fresh.scope.key = self.plain.key, self.plain.scope.key
        for backend in self.used:
            if backend is not fresh:
                backend.close()
        self.used = [fresh]
        self.rocks = fresh
        self.base, self.deltas = pickle.loads(pickle.dumps(list(fresh.take_snapshot()))), []
        self.agree(self.rocks, self.plain)

    @invariant()
    def the_current_key_reads_alike(self):
        for windowed in (False, True):
            self.both("v", windowed, "value")
            self.both("m", windowed, "is_empty")
            for name in "lra":
                self.both(name, windowed, "get")
            self.both("m", windowed, "items")


AgainstTheHashMap.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestAgainstTheHashMap = AgainstTheHashMap.TestCase
