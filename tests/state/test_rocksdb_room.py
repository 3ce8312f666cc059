"""Entries of RocksDB that are kept as objects: how many, and what a delta takes from them."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from tests.state.test_rocksdb_backend import group_of

from flintstream.common import Types
from flintstream.datastream.functions import AggregateFunction
from flintstream.datastream.state import AggregatingStateDescriptor, ListStateDescriptor, ValueStateDescriptor
from flintstream.state.rocksdb.backend import RocksDBStateBackend
from flintstream.state.rocksdb.options import RocksDBOptions
from flintstream.state.rocksdb.room import FEW, Room

BYTES = ValueStateDescriptor("bytes", Types.PICKLED_BYTE_ARRAY())
CACHED = "flintstream.state.rocksdb.cached-"


class Mean(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def add(self, value, accumulator):
        accumulator[0] += value
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return [acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]]


@contextmanager
def backend_with(tmp_path, **cached):
    options = RocksDBOptions.of({f"{CACHED}{key}": value for key, value in cached.items()})
    backend = RocksDBStateBackend(str(tmp_path / "db"), group_of, options)
    backend.tracking = True
    try:
        yield backend
    finally:
        backend.close()


def test_there_is_room_for_fewer_entries_if_they_are_large():
    room = Room(5000, 1 << 20)
    assert room.entries == FEW
    room.saw(1000, 1000 * 10)
    room.adapt()
    assert room.entries == 2 * FEW
    for _ in range(2):
        room.saw(1000, 1000 * 10)
        room.adapt()
    assert room.entries == 5000
    room.saw(1000, 1000 * 10_000)
    room.adapt()
    assert 100 < room.entries < 105
    room.saw(200, 200 * (2 << 20))
    room.adapt()
    assert room.entries == 1


def test_a_few_rows_do_not_change_the_room():
    room = Room(5000, 1 << 20)
    room.saw(10, 10 << 20)
    room.adapt()
    assert room.entries == FEW
    room.saw(90, 90 << 20)
    room.adapt()
    assert room.entries == 1


@pytest.mark.parametrize("read", [False, True])
def test_large_values_in_memory_have_a_limited_size(tmp_path, read):
    with backend_with(tmp_path, bytes="1 mb") as backend:
        state = backend.state(BYTES)
        for backend.key in range(4000):
            state.update(bytes(10_000))
        if read:
            table = backend.tables["bytes", False]
            backend._begin_delta()
            table.values.forget()
            for backend.key in range(4000):
                assert len(state.value()) == 10_000
        table = backend.tables["bytes", False]
        assert len(table.values.young) + len(table.values.old) <= 110


def test_elements_of_lists_in_memory_have_a_limited_size(tmp_path):
    with backend_with(tmp_path, bytes="1 mb") as backend:
        state = backend.state(ListStateDescriptor("list", Types.PICKLED_BYTE_ARRAY()))
        for n in range(4000):
            backend.key = n % 500
            state.add(bytes(10_000))
        assert sum(len(known.added) for known in backend.tables["list", False].values.lists.values()) <= 110


@pytest.mark.parametrize("value", [0, 1, False, None, "a", (1, 2), [1], 0.0])
def test_a_delta_has_the_last_value_of_each_key_wherever_it_is(tmp_path, value):
    with backend_with(tmp_path, entries="8") as backend:
        state = backend.state(ValueStateDescriptor("any", Types.PICKLED_BYTE_ARRAY()))
        for backend.key in range(100):
            state.update("before")
        for backend.key in range(50):
            state.update(value)
        for backend.key in range(100, 120):  # others leave the memory
            state.update("other")
        (change,) = backend.take_delta()
        expected = dict.fromkeys(range(50), value) if value is not None else {}
        expected |= dict.fromkeys(range(50, 100), "before") | dict.fromkeys(range(100, 120), "other")
        found = dict(zip(change.keys, change.values, strict=True))
        assert found == expected
        assert all(type(found[key]) is type(expected[key]) for key in found)
        assert sorted(change.deleted) == (list(range(50)) if value is None else [])
        assert backend.take_delta() == []


def test_a_delta_has_only_what_the_program_has_stored(tmp_path):
    with backend_with(tmp_path, entries="8") as backend:
        state = backend.state(ValueStateDescriptor("any", Types.PICKLED_BYTE_ARRAY()))
        for backend.key in range(50):
            value = [backend.key]
            state.update(value)
            value.append("not stored")
        (change,) = backend.take_delta()
        assert sorted(change.values) == [[n] for n in range(50)]


def test_a_delta_has_the_accumulator_as_it_was_stored(tmp_path):
    with backend_with(tmp_path, entries="8") as backend:
        state = backend.state(AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY()))
        for n in range(300):
            backend.key = n % 50
            state.add(n)
        (change,) = backend.take_delta()
        assert dict(zip(change.keys, change.values, strict=True)) == {
            key: [sum(range(key, 300, 50)), 6] for key in range(50)
        }
