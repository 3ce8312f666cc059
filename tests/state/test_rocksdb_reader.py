from __future__ import annotations

from dataclasses import dataclass

import pytest

from flintstream.checkpoint.codec import Opaque
from flintstream.common import Time
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from flintstream.errors import CorruptCheckpointError
from flintstream.runtime.keys import freeze_key, key_group
from flintstream.state.backend import PIECE, Scope
from flintstream.state.factory import create_backend
from flintstream.state.rocksdb.reader import RocksDBFiles
from flintstream.state.settings import StateSettings

SETTINGS = StateSettings("rocksdb")


@dataclass
class Point:
    x: int


@pytest.fixture
def backend():
    backend = create_backend(SETTINGS, "op", lambda key: key_group(key, 16))
    yield backend
    backend.close()


def snapshot(changes):
    """Return the entries by state and key; those of a list of rows are one."""
    return {
        (change.table, key): value for change in changes for key, value in zip(change.keys, change.values, strict=True)
    }


def with_ttl(descriptor, ttl):
    if ttl:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    return descriptor


def read(directory, *, allow_pickle=True):
    files = RocksDBFiles(SETTINGS, str(directory), "op")
    try:
        return list(files.changes(allow_pickle=allow_pickle))
    finally:
        files.close()


@pytest.mark.parametrize("ttl", [False, True])
def test_the_files_hold_what_the_backend_hands_out(ttl, backend, tmp_path):
    windows = Scope()
    value = backend.state(with_ttl(ValueStateDescriptor("value", None), ttl))
    of_window = backend.state(with_ttl(ListStateDescriptor("of window", None), ttl), windows)
    elements = backend.state(with_ttl(ListStateDescriptor("list", None), ttl))
    entries = backend.state(with_ttl(MapStateDescriptor("map", None, None), ttl))
    for key in (1, 1.5, True, "a", ("b", 2), [3, {"c": 4}]):
        backend.key = freeze_key(key)
        windows.key = (backend.key, (0, 10))
        value.update({"key": key})
        of_window.add(key)
        entries.put("x", [key])
        entries.put(2, None)
        for _ in range(3):
            elements.add((key, [1]))
            list(backend.take_snapshot())  # what was added so far becomes a row
    expected = snapshot(backend.take_snapshot())
    backend.write_native(str(tmp_path / "files"))
    assert snapshot(read(tmp_path / "files")) == expected
    assert len(expected) == 5 * 5  # 1 and True are one key


def test_large_state_comes_piece_by_piece(backend, tmp_path):
    value = backend.state(ValueStateDescriptor("value", None))
    for key in range(PIECE + 10):
        backend.key = key
        value.update(-key)
    backend.write_native(str(tmp_path / "files"))
    changes = read(tmp_path / "files")
    assert sorted(len(change.keys) for change in changes) == [10, PIECE]
    assert {key: value for (_, key), value in snapshot(changes).items()} == {key: -key for key in range(PIECE + 10)}


def test_without_pickle_objects_stay_bytes(backend, tmp_path):
    backend.key = "a"
    backend.state(ListStateDescriptor("list", None)).add(Point(1))
    backend.state(MapStateDescriptor("map", None, None)).put("k", (1, Point(2)))
    backend.write_native(str(tmp_path / "files"))
    found = {info.name: value for (info, _), value in snapshot(read(tmp_path / "files", allow_pickle=False)).items()}
    assert isinstance(found["list"][0], Opaque)
    assert (found["map"][0], type(found["map"][1])) == (1, Opaque)
    assert {str(value) for value in snapshot(read(tmp_path / "files")).values()} == {"[Point(x=1)]", "(1, Point(x=2))"}


def test_other_files_are_no_state(tmp_path):
    (tmp_path / "CURRENT").write_text("nothing")
    with pytest.raises(CorruptCheckpointError, match="no state of operator op"):
        read(tmp_path)
