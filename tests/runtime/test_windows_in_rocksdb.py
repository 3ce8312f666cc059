"""Windows with contents in RocksDB also take the fast path, with the same results as windows in a hash map."""

from __future__ import annotations

import collections
import shutil
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.test_window_operator import (
    RECORD,
    Add,
    AddInPlace,
    Average,
    Driver,
    Listing,
    Summing,
    sessions,
    sliding,
    tumbling,
)

from flintstream.datastream.window import CountTumblingWindowAssigner
from flintstream.options.rocksdb import CACHED_ENTRIES
from flintstream.runtime.operators.timers import InternalTimerService
from flintstream.runtime.times import MAX_TIMESTAMP
from flintstream.state.rocksdb.backend import RocksDBStateBackend
from flintstream.state.rocksdb.options import RocksDBOptions

TINY = RocksDBOptions.of({CACHED_ENTRIES.key: "2"})


@pytest.fixture
def backend(tmp_path):
    backend = RocksDBStateBackend(str(tmp_path / "rocksdb"), lambda _: 0)
    yield backend
    backend.close()


@pytest.mark.parametrize("assigner", [tumbling(10), sliding(10, 5), CountTumblingWindowAssigner.of(3)])
def test_windows_of_one_length_take_the_fast_way(assigner, backend):
    assert Driver(assigner, Listing(), backend=backend).operator.fast_path is not None


def test_sessions_take_the_general_way(backend):
    assert Driver(sessions(5), Listing(), backend=backend).operator.fast_path is None


def test_a_reduce_function_that_works_in_place_changes_one_window_only(backend):
    driver = Driver(sliding(10, 5), incremental=AddInPlace(), backend=backend)
    driver.operator.process([["a", 1], ["a", 10]], [3, 7])
    assert driver.watermark(MAX_TIMESTAMP) == [["a", 1], ["a", 11], ["a", 10]]


@given(
    st.lists(st.tuples(st.booleans(), st.lists(RECORD, max_size=6), st.integers(0, 12)), max_size=6),
    st.sampled_from([tumbling(10), sliding(10, 5), sessions(5), CountTumblingWindowAssigner.of(3)]),
    st.sampled_from([Add(), Average(), None]),
    st.sampled_from([0, 4]),
)
def test_either_way_in_rocksdb_gives_what_a_hash_map_gives(epochs, assigner, incremental, lateness):
    function = None if incremental is not None else Summing()

    def drive(**more):
        return Driver(assigner, function, incremental=incremental, lateness=lateness, **more)

    def passes(driver, now):
        """Advance both kinds of time; events that are due at the same time have no defined order."""
        return collections.Counter(map(str, driver.watermark(now) + driver.time(now)))

    whole = drive(fast=False)
    directory = tempfile.mkdtemp()
    backend, timers = RocksDBStateBackend(f"{directory}/rocksdb", lambda _: 0, TINY), InternalTimerService()
    try:
        now = 0
        for fast, records, passed in epochs:
            part = drive(backend=backend, timers=timers, fast=fast)
            part.now = now
            assert (part.add(*records) if records else []) == (whole.add(*records) if records else [])
            now += passed
            assert passes(part, now) == passes(whole, now)
        part = drive(backend=backend, timers=timers)
        assert passes(part, MAX_TIMESTAMP) == passes(whole, MAX_TIMESTAMP)
        left = {change.table.name: change.keys for change in backend.take_snapshot() if change.keys}
        assert left.keys() == whole.contents().keys()
    finally:
        backend.close()
        shutil.rmtree(directory)
