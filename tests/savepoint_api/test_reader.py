from __future__ import annotations

import functools
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.savepoint_api.programs import COUNTS, checkpoint
from tests.savepoints.test_matrix import BACKENDS, savepoint

from flintstream.checkpoint.codec import Opaque
from flintstream.checkpoint.json_text import to_json
from flintstream.checkpoint.metadata import StatePiece
from flintstream.checkpoint.state_file import to_bytes
from flintstream.common import Row
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.datastream.window import TimeWindow
from flintstream.errors import CheckpointError, CorruptCheckpointError
from flintstream.savepoint import Savepoint, SavepointWriter, StateEntry, Timer
from flintstream.savepoint.entries import entries_of
from flintstream.savepoint.subtask_files import SubtaskFiles
from flintstream.state.backend import Change, TableInfo

pytestmark = pytest.mark.slow

WRITTEN = {"savepoint": savepoint, "checkpoint": checkpoint}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Savepoints and checkpoints by kind, backend and parallelism, created on request."""
    return functools.cache(
        lambda kind, state, parallelism: WRITTEN[kind](tmp_path_factory.mktemp("read"), state, parallelism)[0]
    )


@pytest.fixture
def plain(written):
    return Savepoint.load(written("savepoint", "hashmap", 2))


def by_key(entries):
    return {entry.key: entry.value for entry in entries}


@pytest.mark.parametrize("state", BACKENDS)
@pytest.mark.parametrize("kind", WRITTEN)
def test_what_any_backend_has_written_is_shown_as_it_is_now(kind, state, written):
    found = Savepoint.load(written(kind, state, 2))
    assert by_key(found.read("tally", "count")) == COUNTS
    assert {key: sorted(seen) for key, seen in by_key(found.read("tally", "seen")).items()} == {
        key: [n for n in range(23) if n % 5 == key] for key in range(5)
    }
    lasts = {(entry.key, entry.map_key) for entry in found.read("tally", "last")}
    assert lasts == {(key, f"{split}") for key in range(5) for split in range(3)}
    assert {entry.key: entry.value[0] for entry in found.read("ttl", "value with ttl")} == COUNTS
    windows = {(entry.key, entry.namespace): entry.value for entry in found.read("tumbling", "window-contents")}
    assert windows["k1", TimeWindow(0, 10)] == 1 + 4 + 7
    assert sorted(timer.key for timer in found.timers("waits")) == list(range(5))


@pytest.mark.parametrize("state", BACKENDS)
def test_entries_with_a_time_to_live_tell_their_last_access(state, written):
    found = Savepoint.load(written("savepoint", state, 2))
    for name in ("value with ttl", "list with ttl", "map with ttl"):
        times = [entry.last_access_ms or 0 for entry in found.read("ttl", name)]
        assert times
        assert all(abs(time - found.metadata.created_ms) < 600_000 for time in times)
    assert {entry.last_access_ms for entry in found.read("tally", "count")} == {None}


def test_operators_are_listed_with_their_states(plain):
    operators = {operator.uid: operator for operator in plain.operators()}
    tally = operators["tally"]
    assert (tally.name, tally.parallelism, tally.max_parallelism, tally.keyed) == ("KEYED PROCESS", 2, 16, True)
    assert [(s.name, s.kind, s.type, s.ttl, s.namespaced, s.entries) for s in tally.states] == [
        ("count", "value", "Long", False, False, 5),
        ("last", "map", "MapTypeInfo<String, Long>", False, False, 15),
        ("mean", "aggregating", "Long", False, False, 5),
        ("seen", "list", "ListTypeInfo<Long>", False, False, 5),
        ("sum", "reducing", "Long", False, False, 5),
    ]
    assert tally.timers == 23
    assert tally.bytes > sum(state.bytes for state in tally.states) > 0
    assert [s.namespaced for s in operators["tumbling"].states] == [True]
    assert operators["numbers"].states == ()


def test_one_key_is_read_from_the_files_of_its_subtask_alone(plain, monkeypatch):
    opened = []
    states = SubtaskFiles.states

    def opening(files, *arguments):
        opened.append(files)
        return states(files, *arguments)

    monkeypatch.setattr(SubtaskFiles, "states", opening)
    assert [entry.value for entry in plain.read("tally", "count", key=3)] == [4]
    assert len(opened) == 1


def test_timers_come_with_their_time_and_domain(plain):
    assert {timer.domain for timer in plain.timers("waits")} == {"processing time"}
    assert {timer.domain for timer in plain.timers("tally")} == {"event time"}
    assert Timer(9, "k1", TimeWindow(0, 10), "event time") in list(plain.timers("tumbling"))


def test_what_an_operator_holds_beside_keyed_state_is_shown_by_subtask(written):
    path = written("savepoint", "hashmap", 2)
    rules = [value for value in Savepoint.load(path).values("rule") if value.name == "operator"]
    assert [(value.subtask, value.value) for value in rules] == [
        (subtask, {"rules": {n: f"rule {n}" for n in range(3)}}) for subtask in (0, 1)
    ]
    numbers = Savepoint.load(path, allow_pickle=True).values("numbers")
    positions = [split.position for value in numbers if value.name == "operator" for split in value.value[0]]
    assert sorted(positions) == [23, 24, 25]
    assert [value.subtask for value in numbers if value.name == "enumerator"] == [None]


def test_operators_and_states_that_do_not_exist_are_answered_with_those_that_do(plain):
    with pytest.raises(CheckpointError, match=r"no operator with the uid 'talley'; it has .*'tally' \(KEYED PROCESS\)"):
        plain.read("talley", "count")
    with pytest.raises(CheckpointError, match=r"'KEYED PROCESS' \(uid tally\).* no state 'cuont'; it has 'count'"):
        list(plain.read("tally", "cuont"))
    with pytest.raises(CheckpointError, match="no checkpoint or savepoint"):
        Savepoint.load("/nowhere")


@dataclass
class Point:
    x: int


@pytest.fixture
def pickled(tmp_path):
    descriptor = ValueStateDescriptor("point", None)
    writer = SavepointWriter.new(8).with_state("points", descriptor, [("a", Point(1)), ("b", (2, Point(3)))])
    return writer.write(str(tmp_path / "pickled"))


@pytest.mark.promise("S1")
def test_objects_of_classes_stay_bytes_unless_pickle_is_allowed(pickled):
    values = by_key(Savepoint.load(pickled).read("points", "point"))
    assert isinstance(values["a"], Opaque)
    assert isinstance(values["b"][1], Opaque)
    assert by_key(Savepoint.load(pickled, allow_pickle=True).read("points", "point")) == {
        "a": Point(1),
        "b": (2, Point(3)),
    }


def test_a_damaged_or_missing_file_is_named(pickled):
    (file,) = [file for file in Path(pickled).iterdir() if file.name != "_metadata"]
    data = file.read_bytes()
    file.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    with pytest.raises(CorruptCheckpointError, match=file.name):
        list(Savepoint.load(pickled).read("points", "point"))
    file.unlink()
    with pytest.raises(CorruptCheckpointError, match=f"{file.name}.*missing"):
        list(Savepoint.load(pickled).read("points", "point"))


def test_a_missing_file_of_the_backend_is_named(written, tmp_path):
    path = Path(written("checkpoint", "rocksdb", 1))
    copy = shutil.copytree(path.parent, tmp_path / "copy")
    for file in (copy / "shared").iterdir():
        file.unlink()
    with pytest.raises(CorruptCheckpointError, match=str(copy / "shared")):
        list(Savepoint.load(str(copy / path.name), allow_pickle=True).read("tally", "count"))


def test_another_file_in_the_place_of_one_is_named(tmp_path):
    descriptor = ValueStateDescriptor("count", None)

    def written(name, value):
        writer = SavepointWriter.new(8).with_state("counts", descriptor, [("a", value)])
        path = Path(writer.write(str(tmp_path / name)))
        return path, next(file for file in path.iterdir() if file.name != "_metadata")

    path, file = written("one", 1)
    _, other = written("other", 2)
    assert file.stat().st_size == other.stat().st_size
    shutil.copy(other, file)
    savepoint = Savepoint.load(str(path))
    for _ in range(2):
        with pytest.raises(CorruptCheckpointError, match=f"{file.name}: its content differs from what was stored"):
            list(savepoint.read("counts", "count"))
    with pytest.raises(CorruptCheckpointError, match=file.name):
        SavepointWriter.from_existing(str(path)).write(str(tmp_path / "copy"))


def piece(*changes):
    log = any(change.appended for change in changes)
    data = to_bytes([("uid", change) for change in changes], log=log)
    return StatePiece("", len(data), hashlib.sha256(data).hexdigest(), data)


def test_changes_replace_and_remove_what_a_changelog_had_before():
    count, last = TableInfo("count", "value"), TableInfo("last", "map")
    files = SubtaskFiles(
        None,
        (
            piece(Change(count, ["a", "b", "c"], [1, 1, 1], []), Change(last, [("a", 1), ("a", 2)], [1, 1], [])),
            piece(Change(count, ["a", "d"], [2, 2], ["b"])),
            piece(Change(count, ["b"], [3], ["d"]), Change(last, [], [], [("a", 1)])),
            piece(),
        ),
    )
    changes = list(files.states("uid"))
    assert {key: value for c in changes if c.table == count for key, value in zip(c.keys, c.values, strict=True)} == {
        "a": 2,
        "b": 3,
        "c": 1,
    }
    assert [key for c in changes if c.table == last for key in c.keys] == [("a", 2)]
    assert sum(len(c.keys) for c in changes) == 4


def test_what_a_changelog_appends_follows_what_was_there():
    seen = TableInfo("seen", "list", "", ttl=True)
    keys = ["kept", "longer", "set", "gone", "again"]
    files = SubtaskFiles(
        None,
        (
            piece(Change(seen, keys, [[(0, 1)]] * len(keys), [])),
            piece(Change(seen, ["set"], [[(1, 2)]], ["gone", "again"], [("longer", [(1, 2)]), ("new", [(1, 2)])])),
            piece(),
            piece(Change(seen, [], [], [], [(key, [(2, 3), (3, 3)]) for key in ("set", "longer", "new", "again")])),
        ),
    )
    entries = [entry for change in files.states("uid") for entry in entries_of(change)]
    assert {entry.key: (entry.value, entry.last_access_ms) for entry in entries} == {
        "kept": ([0], 1),
        "longer": ([0, 1, 2, 3], 3),
        "set": ([1, 2, 3], 3),
        "new": ([1, 2, 3], 3),
        "again": ([2, 3], 3),
    }
    assert len(entries) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (StateEntry(1, TimeWindow(0, 5), None, Row(a=1), None), '[1, {"start": 0, "end": 5}, null, {"a": 1}, null]'),
        ({1: float("nan")}, '[[1, "nan"]]'),
        ({"b", "a"}, '["a", "b"]'),
        (b"ab", '"YWI="'),
        (Point(3), '{"x": 3}'),
        (Opaque(8, b"abc"), '{"pickled": 3}'),
    ],
)
def test_values_have_a_form_as_json(value, text):
    assert to_json(value) == text
