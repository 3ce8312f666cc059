"""State restored into RocksDB in bulk is the state that applying the same changes one by one restores."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.test_rocksdb_backend import contents, group_of

from flintstream.checkpoint.pickles import refusing
from flintstream.common import Types
from flintstream.datastream.state import ListStateDescriptor, ValueStateDescriptor
from flintstream.errors import PickleRefusedError
from flintstream.state.backend import Change, TableInfo, loading
from flintstream.state.hash_map import HashMapStateBackend
from flintstream.state.rocksdb import loading as rocksdb_loading
from flintstream.state.rocksdb.backend import RocksDBStateBackend
from flintstream.state.rocksdb.options import RocksDBOptions

pytestmark = pytest.mark.slow

KEYS = st.integers(0, 5) | st.sampled_from(["", "a", "b" * 40, b"a", 1.5, True, 2**70, ("a", 1), ("a", None), "\ud800"])
VALUES = (
    st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2) | st.sampled_from([None, {"a": [1]}, {2}])
)
TIMES = st.integers(0, 10**13)
KINDS = ["value", "list", "map", "reducing", "aggregating"]


@st.composite
def changes_of(draw):
    """Return changes to states of some kinds, as a snapshot and deltas hold them."""
    tables = draw(
        st.lists(
            st.builds(
                TableInfo, st.sampled_from("xyz"), st.sampled_from(KINDS), st.just(""), st.booleans(), st.booleans()
            ),
            min_size=1,
            unique_by=lambda info: (info.name, info.namespaced),
        )
    )
    return [draw(change_of(info)) for info in draw(st.lists(st.sampled_from(tables), max_size=8))]


def change_of(info):
    keys = st.tuples(KEYS, st.integers(0, 2)) if info.namespaced else KEYS
    if info.kind == "map":
        keys = st.tuples(keys, KEYS)
    value = st.tuples(VALUES, TIMES) if info.ttl else VALUES
    elements = st.lists(value, min_size=1, max_size=3)
    entries = st.lists(
        st.tuples(keys, elements if info.kind == "list" else value), max_size=4, unique_by=lambda e: e[0]
    )
    appended = st.lists(st.tuples(keys, elements), max_size=3) if info.kind == "list" else st.just([])
    return st.builds(
        lambda set_, deleted, more: Change(info, [k for k, _ in set_], [v for _, v in set_], deleted, more),
        entries, st.lists(keys, max_size=3), appended,
    )  # fmt: skip


@contextmanager
def opened(options=None):
    with tempfile.TemporaryDirectory() as directory:
        backend = RocksDBStateBackend(str(Path(directory, "db")), group_of, options or RocksDBOptions())
        yield backend
        backend.close()


SIZES = [(0, -1), (0, 1 << 20), (2000, -1), (1 << 20, 1 << 20)]
"""A file or a batch is written after each change, after some, or at the end."""


@contextmanager
def sizes_of(file, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rocksdb_loading, "FILE_BYTES", file)
        patch.setattr(rocksdb_loading, "SMALL_BYTES", small)
        yield


@given(before=changes_of(), loaded=changes_of(), cleared=st.booleans(), sizes=st.sampled_from(SIZES))
def test_loading_restores_what_applying_restores(before, loaded, cleared, sizes):
    known: dict[tuple[str, bool], TableInfo] = {}
    for change in before + loaded:  # a name has one description
        known.setdefault((change.table.name, change.table.namespaced), change.table)
    before, loaded = (
        [item for item in some if known[item.table.name, item.table.namespaced] == item.table]
        for some in (before, loaded)
    )
    with opened() as one, opened() as other:
        for backend in (one, other):
            backend.apply(before)
            if cleared:
                backend.clear_all()
        with sizes_of(*sizes), loading(one):
            for change in loaded:
                one.apply((change,))
        other.apply(loaded)
        assert contents(one) == contents(other)
        assert one.take_delta() == []
        for backend in (one, other):  # lists go on at their ends
            backend.apply(loaded)
        assert contents(one) == contents(other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("had", [True, False])
@pytest.mark.parametrize("sizes", SIZES[:2])
def test_loading_adds_and_drops_times(kind, had, sizes):
    key = ("a", "x") if kind == "map" else "a"
    value = [(1, 5)] if kind == "list" else (1, 5)
    bare = [1] if kind == "list" else 1
    info = TableInfo("x", kind, "", had)
    with opened() as backend:
        backend._new_table(TableInfo("x", kind, "", not had))
        with sizes_of(*sizes), loading(backend):
            backend.apply([Change(info, [key], [value if had else bare], [])])
        found = contents(backend)["x", False][key]
        assert found == bare if had else (found[0][0] if kind == "list" else found[0]) == 1


def test_a_cached_value_gives_way_to_a_loaded_one():
    with opened() as backend:
        backend.key = "a"
        state = backend.state(ValueStateDescriptor("v", Types.INT()))
        state.update(1)
        info = backend.tables["v", False].info
        with loading(backend):
            backend.apply([Change(info, ["a"], [2], [])])
        assert state.value() == 2


def test_what_was_loaded_before_the_state_was_cleared_is_gone():
    info = TableInfo("v", "value")
    with opened() as backend:
        with loading(backend):
            backend.apply([Change(info, ["a"], [1], [])])
            backend.clear_all()
            backend.apply([Change(info, ["b"], [2], [])])
        assert contents(backend) == {("v", False): {"b": 2}}


def test_files_replace_what_was_loaded_before(tmp_path):
    info = TableInfo("v", "value")
    with opened() as backend, opened() as other:
        other.apply([Change(info, ["a"], [1], [])])
        other.write_native(str(tmp_path / "files"))
        with loading(backend):
            backend.apply([Change(info, ["b"], [2], [])])
            backend.restore_native(str(tmp_path / "files"))
            backend.apply([Change(info, ["c"], [3], [])])
        assert contents(backend) == {("v", False): {"a": 1, "c": 3}}


def test_a_value_that_cannot_be_written_names_its_state():
    refused = pytest.raises(PickleRefusedError, match="state 'v'")
    with opened() as backend, refusing(True), refused, loading(backend):
        backend.apply([Change(TableInfo("v", "value"), ["a"], [lambda: 1], [])])


def test_a_list_whose_elements_are_in_a_file_goes_on_behind_them(monkeypatch):
    monkeypatch.setattr(rocksdb_loading, "FILE_BYTES", 0)
    monkeypatch.setattr(rocksdb_loading, "SMALL_BYTES", -1)
    info = TableInfo("l", "list")
    with opened() as backend:
        with loading(backend):
            backend.apply([Change(info, ["a"], [[1]], [])])
            backend.apply([Change(info, [], [], [], [("a", [2])])])
        backend.key = "a"
        state = backend.state(ListStateDescriptor("l", Types.INT()))
        state.add(3)
        assert list(state.get()) == [1, 2, 3]


def test_backends_without_bulk_loading_are_restored_as_before():
    backend = HashMapStateBackend()
    with loading(backend):
        backend.apply([Change(TableInfo("v", "value"), ["a"], [1], [])])
    assert [change.values for change in backend.take_snapshot()] == [[1]]
