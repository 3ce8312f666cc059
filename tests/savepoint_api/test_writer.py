from __future__ import annotations

import functools
import shutil
import time
from pathlib import Path

import pytest
from tests.savepoint_api.programs import COUNT, PRICES, SEEN, checkpoint, remembered, rows
from tests.savepoint_api.test_reader import Point
from tests.savepoints.everything import build, collected, sinks
from tests.savepoints.test_matrix import BACKENDS, configuration, final, joined, resume, savepoint

from flintstream.common import Time, Types
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from flintstream.errors import CheckpointError
from flintstream.savepoint import Savepoint, SavepointWriter, StateEntry

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    sink = sinks()
    build(configuration(tmp_path_factory.mktemp("whole"), "hashmap"), 2, sink).execute("everything")
    return final(collected(sink))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The savepoint at the gate and the output before it, by backend and parallelism."""
    return functools.cache(lambda *kind: savepoint(tmp_path_factory.mktemp("written"), *kind))


def by_key(entries):
    return {entry.key: entry.value for entry in entries}


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_what_is_not_changed_is_restored_as_it_was(parallelism, written, whole, tmp_path):
    path, before = written("hashmap", 2)
    copy = SavepointWriter.from_existing(path).write(str(tmp_path / "copy"))
    assert final(joined(before, resume(tmp_path, copy, "hashmap", parallelism))) == whole


@pytest.mark.parametrize("state", BACKENDS)
def test_a_job_starts_with_a_changed_value(state, written, whole, tmp_path):
    path, before = written(state, 2)
    edited = (
        SavepointWriter.from_existing(path)
        .transform_state("tally", "count", lambda entry: entry.value + 1000)
        .write(str(tmp_path / "edited"))
    )
    after = final(joined(before, resume(tmp_path, edited, state, 3)))
    assert {key: row[1] for key, row in after["rows"].items()} == {
        key: row[1] + 1000 for key, row in whole["rows"].items()
    }
    assert {key: row[2:] for key, row in after["rows"].items()} == {key: row[2:] for key, row in whole["rows"].items()}
    assert {name: after[name] for name in after if name != "rows"} == {n: whole[n] for n in whole if n != "rows"}


@pytest.mark.parametrize("state", BACKENDS)
def test_a_checkpoint_becomes_a_savepoint_that_needs_no_file_of_it(state, whole, tmp_path):
    path, before = checkpoint(tmp_path, state, 2)
    copy = SavepointWriter.from_existing(path, allow_pickle=True).write(str(tmp_path / "copy"))
    shutil.rmtree(tmp_path / "checkpoints")
    assert Savepoint.load(copy).metadata.purpose == "savepoint"
    assert final(joined(before, resume(tmp_path, copy, "hashmap", 1))) == whole


def test_a_renamed_operator_takes_its_state_along(written, whole, tmp_path):
    path, before = written("hashmap", 2)
    writer = SavepointWriter.from_existing(path).rename_operator("watermarks", "w").rename_operator("tally", "t")
    renamed = writer.write(str(tmp_path / "renamed"))
    with pytest.raises(CheckpointError, match=r"uid t\)"):
        resume(tmp_path, renamed, "hashmap", 2)
    senders = [value.value[0][0][0] for value in Savepoint.load(renamed).values("t") if value.name == "channels"]
    assert senders == ["w", "w"]
    writer = SavepointWriter.from_existing(renamed).rename_operator("t", "tally").rename_operator("w", "watermarks")
    back = writer.write(str(tmp_path / "back"))
    assert final(joined(before, resume(tmp_path, back, "hashmap", 2))) == whole


def test_a_removed_operator_is_gone_and_starts_anew(written, whole, tmp_path):
    path, before = written("hashmap", 2)
    removed = SavepointWriter.from_existing(path).remove_operator("tally").write(str(tmp_path / "removed"))
    assert "tally" not in {operator.uid for operator in Savepoint.load(removed).operators()}
    after = final(joined(before, resume(tmp_path, removed, "hashmap", 2)))
    assert {key: row[1] for key, row in after["rows"].items()} == {0: 5, 1: 5, 2: 5, 3: 5, 4: 5}
    assert after["ttl"] == whole["ttl"]


def test_entries_for_which_the_function_returns_none_are_gone(written, tmp_path):
    path, _ = written("hashmap", 2)
    writer = SavepointWriter.from_existing(path)
    writer.transform_state("tally", "last", lambda entry: None if entry.map_key == "1" else entry.value)
    writer.transform_state("ttl", "list with ttl", lambda entry: entry.value[:2]).remove_state("tally", "seen")
    edited = Savepoint.load(writer.write(str(tmp_path / "edited")))
    assert {entry.map_key for entry in edited.read("tally", "last")} == {"0", "2"}
    assert {len(entry.value) for entry in edited.read("ttl", "list with ttl")} == {2}
    assert all(entry.last_access_ms for entry in edited.read("ttl", "list with ttl"))
    assert "seen" not in {state.name for state in edited.operator("tally").states}


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_a_job_starts_with_state_made_from_data(backend, parallelism, tmp_path):
    keys = [f"key {n}" for n in range(40)]
    path = (
        SavepointWriter.new(max_parallelism=32)
        .with_state("remember", COUNT, ((key, index) for index, key in enumerate(keys)), parallelism=3)
        .with_state("remember", SEEN, [(key, [key, "x"]) for key in keys])
        .with_state("remember", PRICES, [(key, {"apple": 1.5, "pear": 2}) for key in keys[:5]])
        .write(str(tmp_path / "made"))
    )
    found = remembered(path, keys, parallelism, **{"state.backend.type": backend})
    assert found == {
        key: (index, [key, "x"], {"apple": 1.5, "pear": 2.0} if index < 5 else {}) for index, key in enumerate(keys)
    }


def test_keys_that_python_cannot_hash_are_found_again(tmp_path):
    keys = [(1, [2, 3]), (4, [])]
    path = SavepointWriter.new(32).with_state("remember", COUNT, [(keys[0], 7)]).write(str(tmp_path / "made"))
    assert [entry.key for entry in Savepoint.load(path).read("remember", "count")] == keys[:1]
    writer = SavepointWriter.from_existing(path).transform_state("remember", "count", lambda entry: entry.value + 1)
    counts = [row[:2] for row in rows(writer.write(str(tmp_path / "copy")), keys)]
    assert sorted(counts) == [(keys[0], 8), (keys[1], None)]


def with_ttl(descriptor):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    return descriptor


def test_state_with_a_time_to_live_is_stamped(tmp_path):
    now = time.time_ns() // 1_000_000
    count = with_ttl(ValueStateDescriptor("count", Types.LONG()))
    seen = with_ttl(ListStateDescriptor("seen", Types.STRING()))
    prices = with_ttl(MapStateDescriptor("prices", Types.STRING(), Types.DOUBLE()))
    old = StateEntry("b", None, None, 2, now - 7_200_000)
    writer = SavepointWriter.new(32).with_state("remember", count, [("a", 1), old])
    writer.with_state("remember", seen, [("a", ["x"])]).with_state(
        "remember", prices, [("a", {"apple": 1.0})], last_access_ms=now - 7_200_000
    )
    path = writer.write(str(tmp_path / "made"))
    assert remembered(path, ["a", "b"], descriptors=(count, seen, prices)) == {
        "a": (1, ["x"], {}),
        "b": (None, [], {}),
    }


def test_state_is_copied_from_one_savepoint_to_another(written, tmp_path):
    path, _ = written("hashmap", 2)
    source = Savepoint.load(path)
    last = MapStateDescriptor("last", Types.STRING(), Types.LONG())
    made = SavepointWriter.new(64).with_state("other", last, source.read("tally", "last")).write(str(tmp_path / "made"))
    assert sorted(Savepoint.load(made).read("other", "last")) == sorted(source.read("tally", "last"))


def test_new_state_takes_the_place_of_what_there_was(written, tmp_path):
    path, _ = written("rocksdb", 3)
    count = ValueStateDescriptor("count", Types.LONG())
    writer = SavepointWriter.from_existing(path).with_state("tally", count, [(1, 7), (2, 8)])
    edited = Savepoint.load(writer.write(str(tmp_path / "edited")))
    assert by_key(edited.read("tally", "count")) == {1: 7, 2: 8}
    assert by_key(edited.read("tally", "sum")) == by_key(Savepoint.load(path).read("tally", "sum"))


def test_pickled_values_are_copied_as_bytes_but_not_changed_unseen(tmp_path):
    data = [("a", Point(1)), ("b", Point(2))]
    path = (
        SavepointWriter.new(8)
        .with_state("points", ValueStateDescriptor("point", None), data)
        .write(str(tmp_path / "made"))
    )
    copied = SavepointWriter.from_existing(path).rename_operator("points", "p").write(str(tmp_path / "copied"))
    assert by_key(Savepoint.load(copied, allow_pickle=True).read("p", "point")) == dict(data)
    move = lambda entry: Point(entry.value.x + 1)  # noqa: E731
    with pytest.raises(CheckpointError, match=r"'point' holds pickled objects.*allow_pickle"):
        SavepointWriter.from_existing(path).transform_state("points", "point", move).write(str(tmp_path / "no"))
    writer = SavepointWriter.from_existing(path, allow_pickle=True).transform_state("points", "point", move)
    moved = Savepoint.load(writer.write(str(tmp_path / "moved")), allow_pickle=True)
    assert by_key(moved.read("points", "point")) == {"a": Point(2), "b": Point(3)}


def test_pickled_keys_are_copied_with_their_file_but_not_rewritten_unseen(tmp_path):
    data = [(Point(1), 1), ((2, Point(2)), 2)]
    path = SavepointWriter.new(8).with_state("points", COUNT, data).write(str(tmp_path / "made"))
    copied = SavepointWriter.from_existing(path).write(str(tmp_path / "copied"))
    for item in (path, copied):
        assert [(e.key, e.value) for e in Savepoint.load(item, allow_pickle=True).read("points", "count")] == data
    with pytest.raises(CheckpointError, match=r"points: a key holds pickled objects.*allow_pickle"):
        SavepointWriter.from_existing(path).rename_operator("points", "p").write(str(tmp_path / "no"))
    renamed = SavepointWriter.from_existing(path, allow_pickle=True).rename_operator("points", "p")
    source = Savepoint.load(renamed.write(str(tmp_path / "renamed")), allow_pickle=True)
    assert [entry.value for entry in source.read("p", "count", key=Point(1))] == [1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([("a", 1), ("a", 2)], "duplicate key 'a'"),
        ([("a", "x")], "key 'a': the declared type is Long"),
        ([("a", None)], "key 'a' has no value"),
        (["abc"], "'abc' is not a pair of key and value"),
    ],
)
def test_data_that_does_not_fit_is_refused_with_its_key(data, message, tmp_path):
    writer = SavepointWriter.new(8).with_state("remember", COUNT, data)
    with pytest.raises(CheckpointError, match=f"state 'count' for operator remember: {message}"):
        writer.write(str(tmp_path / "made"))
    assert not Path(tmp_path, "made", "_metadata").exists()


def test_mistakes_are_answered_with_what_there_is(written, tmp_path):
    path, _ = written("hashmap", 2)
    writer = SavepointWriter.from_existing(path)
    with pytest.raises(CheckpointError, match=r"no operator with the uid 'x'; its uids are .*'tally'"):
        writer.remove_operator("x")
    with pytest.raises(CheckpointError, match="no state 'x'; it has 'count'"):
        writer.transform_state("tally", "x", lambda entry: entry.value)
    with pytest.raises(CheckpointError, match="that uid is already in use"):
        writer.rename_operator("tally", "ttl")
    with pytest.raises(CheckpointError, match="not keyed"):
        writer.with_state("numbers", COUNT, [])
    with pytest.raises(CheckpointError, match="already"):
        writer.write(path)
    with pytest.raises(CheckpointError, match="'count' failed for key 0: ZeroDivisionError"):
        writer.transform_state("tally", "count", lambda entry: 1 / entry.key).write(str(tmp_path / "failed"))
