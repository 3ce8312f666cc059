from __future__ import annotations

import hashlib
import io
import itertools
import random
import struct
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.checkpoint.strategies import Point, hashables, same, values

from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.registry import Opaque
from flintstream.checkpoint.state_file import StateFile, StateFileWriter, to_bytes
from flintstream.errors import CorruptCheckpointError

TOTAL = TableInfo("total", "value", "LONG", ttl=True)
SEEN = TableInfo("seen", "map", namespaced=True)
TIMERS = TableInfo("timers", "timers")
HISTORY = TableInfo("history", "list")

CHANGES = [
    ("a", Change(TOTAL, ["x", "y"], [1, 2.5], [])),
    ("b", Change(SEEN, [(("k", None), "m")], [["v"]], [(("k", None), "gone")])),
    ("a", Change(TIMERS, [(1000, "x", None)], [], [])),
    ("a", Change(TOTAL, [], [], ["y"])),
]
LOGGED = [
    ("a", Change(HISTORY, ["x"], [[1, 2]], ["y"], [("z", [3, None]), ("w", ["v"])])),
    ("a", Change(HISTORY, [], [], [], [("x", [4])])),
    ("b", Change(TOTAL, ["x"], [5], [], [])),
]
VALUES = [("a", "watermark", -1), ("source", "operator", {"split": (1, b"x")})]


def read_all(data, path="f"):
    file = StateFile(data, path)
    changes = [(operator, change) for operator in file.operators for change in file.changes(operator)]
    return changes, [(operator, name, v) for operator in file.operators for name, v in file.values(operator).items()]


def test_what_was_written_comes_back_in_order():
    file = StateFile(to_bytes(CHANGES, VALUES))
    assert file.operators == ["a", "b", "source"]
    assert list(file.changes("a")) == [change for operator, change in CHANGES if operator == "a"]
    assert list(file.changes("b")) == [CHANGES[1][1]]
    assert list(file.changes("source")) == list(file.changes("nobody")) == []
    assert file.values("a") == {"watermark": -1}
    assert file.value("source", "operator") == {"split": (1, b"x")}
    assert file.values("nobody") == {}
    with pytest.raises(KeyError):
        file.value("a", "nothing")


def test_chunks_of_other_tables_are_not_even_read():
    data = bytearray(to_bytes(CHANGES, VALUES))
    (offset,) = [offset for table, offset in StateFile(bytes(data))._chunks["a"] if table == TIMERS]
    data[offset + 20] ^= 1
    with pytest.raises(CorruptCheckpointError):
        list(StateFile(bytes(data)).changes("a"))
    changes = StateFile(bytes(data)).changes("a", lambda table: table == TOTAL)
    assert list(changes) == [change for operator, change in CHANGES if operator == "a" and change.table == TOTAL]


def test_a_large_change_comes_back_in_pieces_of_the_same_entries():
    rows = [(number, ("row", number)) for number in range(10_000)]
    given = [
        Change(SEEN, rows, [(row, 1) for row in rows], [(number, "gone") for number in range(5_000)]),
        Change(TIMERS, [(number, "x", None) for number in range(9_000)], [], []),
        Change(HISTORY, [], [], ["y"], [(number, [number]) for number in range(8_193)]),
    ]
    buffer = io.BytesIO()
    writer = StateFileWriter(buffer, log=True)
    for change in given:
        writer.write("a", change)
    writer.finish()
    found = list(StateFile(buffer.getvalue()).changes("a"))
    assert [change.table for change in found] == [SEEN] * 3 + [TIMERS] * 3 + [HISTORY] * 3
    for change in given:
        pieces = [piece for piece in found if piece.table == change.table]
        for part in ("keys", "values", "deleted", "appended"):
            assert [item for piece in pieces for item in getattr(piece, part)] == list(getattr(change, part)), part


def test_the_index_counts_entries():
    file = StateFile(to_bytes(CHANGES, VALUES))
    assert file.sections == [("a", TOTAL, 2, 1, 0), ("b", SEEN, 1, 1, 0), ("a", TIMERS, 1, 0, 0)]
    assert StateFile(to_bytes(LOGGED, log=True)).sections == [("a", HISTORY, 1, 1, 3), ("b", TOTAL, 1, 0, 0)]


def test_a_log_has_what_is_appended():
    file = StateFile(to_bytes(LOGGED, VALUES, log=True))
    assert [(uid, change) for uid in ("a", "b") for change in file.changes(uid)] == LOGGED
    assert file.values("a") == {"watermark": -1}


def test_only_a_log_needs_a_later_version_than_the_first():
    assert [to_bytes(CHANGES, VALUES, log=log)[8:10] for log in (False, True)] == [b"\0\1", b"\0\2"]
    with pytest.raises(ValueError, match="state 'history' of operator a: only a log"):
        to_bytes(LOGGED)


@given(
    st.lists(st.tuples(hashables, values), max_size=5),
    st.lists(hashables, max_size=3),
    st.lists(st.tuples(hashables, st.lists(values, min_size=1, max_size=3)), max_size=3),
    values,
)
def test_any_state_comes_back(entries, deleted, appended, value):
    change = Change(TOTAL, [key for key, _ in entries], [value for _, value in entries], deleted, appended)
    file = StateFile(to_bytes([("op", change)], [("op", "own", value)], log=True))
    assert same(list(file.changes("op")), [change] if entries or deleted or appended else [])
    assert same(file.value("op", "own"), value)


some_changes = st.lists(
    st.tuples(st.sampled_from("ab"), st.lists(hashables, max_size=4), st.lists(hashables, max_size=4)), max_size=4
)


@given(st.lists(some_changes, max_size=4), st.booleans())
def test_a_copy_has_what_was_written_to_several_files(files, log):
    written = [[(uid, Change(TOTAL, keys, keys, deleted)) for uid, keys, deleted in changes] for changes in files]
    buffer = io.BytesIO()
    writer = StateFileWriter(buffer, log=log)
    for changes in written:
        writer.copy(StateFile(to_bytes(changes, log=log)))
    writer.finish()
    copy, whole = StateFile(buffer.getvalue()), StateFile(to_bytes(itertools.chain(*written), log=log))
    assert copy.sections == whole.sections
    for uid in "ab":
        assert same(list(copy.changes(uid)), list(whole.changes(uid)))


def test_a_copy_refuses_a_file_of_another_version():
    writer = StateFileWriter(io.BytesIO())
    with pytest.raises(ValueError, match="a file of version 2 into one of version 1"):
        writer.copy(StateFile(to_bytes(LOGGED, log=True)))


def test_a_damaged_file_is_not_copied():
    data = bytearray(to_bytes(CHANGES))
    data[60] ^= 1
    with pytest.raises(CorruptCheckpointError):
        StateFileWriter(io.BytesIO()).copy(StateFile(bytes(data)))


def test_an_empty_file_is_a_file():
    assert read_all(to_bytes()) == ([], [])
    assert StateFile(to_bytes([("a", Change(TOTAL, [], [], []))])).operators == []


def test_the_summary_is_that_of_the_bytes():
    buffer = io.BytesIO()
    writer = StateFileWriter(buffer)
    writer.write(*CHANGES[0])
    summary = writer.finish()
    data = buffer.getvalue()
    assert summary == (len(data), hashlib.sha256(data).hexdigest())


def test_equal_state_gives_equal_bytes():
    assert to_bytes(CHANGES, VALUES) == to_bytes(CHANGES, VALUES)


@pytest.mark.parametrize(("changes", "log"), [(CHANGES, False), (LOGGED, True)])
def test_every_damaged_byte_is_noticed(changes, log):
    data = to_bytes(changes, VALUES, log=log)
    for position in range(len(data)):
        for flip in (1, 0x80, 0xFF, random.Random(position).randrange(1, 256)):
            damaged = bytearray(data)
            damaged[position] ^= flip
            with pytest.raises(CorruptCheckpointError, match=r"^f: "):
                read_all(bytes(damaged))


def test_every_truncation_and_what_hangs_over_is_noticed():
    data = to_bytes(CHANGES, VALUES)
    for length in range(len(data)):
        with pytest.raises(CorruptCheckpointError, match=r"^f: it "):
            read_all(data[:length])
    for more in (b"\0", data):
        with pytest.raises(CorruptCheckpointError):
            read_all(data + more)


def test_pieces_that_lie_elsewhere_are_noticed():
    data = to_bytes(CHANGES, VALUES)
    with pytest.raises(CorruptCheckpointError):
        read_all(data[:32] + data[40:])
    with pytest.raises(CorruptCheckpointError):
        read_all(data[:32] + b"\0" * (len(data) - 64) + data[-32:])


def test_check_finds_damage_without_decoding():
    data = bytearray(to_bytes(CHANGES, VALUES))
    StateFile(bytes(data)).check()
    for place in (60, data.index(b"split")):
        data[place] ^= 1
        with pytest.raises(CorruptCheckpointError, match="chunk at byte"):
            StateFile(bytes(data)).check()
        data[place] ^= 1


@pytest.mark.parametrize("data", [b"", b"x", b"PAR1" * 40, b'{"format": "flintstream checkpoint"}' * 3])
def test_something_else_is_no_state_file(data):
    with pytest.raises(CorruptCheckpointError, match=r"^s3://b/k: it is not a state file$"):
        StateFile(data, "s3://b/k")


def test_a_file_of_a_later_release_names_it():
    header = struct.pack(">8sHH16s", b"FLSTATE\n", 3, 0, b"7.1.0")
    data = header + struct.pack(">I", crc32(header)) + to_bytes()[32:]
    with pytest.raises(
        CorruptCheckpointError, match=r"version 3, but .* reads 1 and 2: use flintstream 7\.1\.0 or later"
    ):
        StateFile(data)


def test_one_chunk_is_read_at_a_time():
    class Counting(io.BytesIO):
        asked: list[int] = []  # noqa: RUF012

        def read(self, size=-1, /):
            self.asked.append(size)
            return super().read(size)

    changes = [("a", Change(TOTAL, list(range(1000)), list(range(1000)), [])) for _ in range(50)]
    data = to_bytes(changes)
    file = StateFile(Counting(data))
    stream = file.changes("a")
    Counting.asked.clear()
    next(stream)
    assert sum(Counting.asked) < len(data) / 40
    assert len(list(stream)) == 49


def test_values_of_classes_stay_closed_when_pickle_is_not_wanted():
    data = to_bytes([("a", Change(TOTAL, ["k"], [Point(1, 2)], []))])
    (change,) = StateFile(data, allow_pickle=False).changes("a")
    assert (change.keys, type(change.values[0])) == (["k"], Opaque)


def test_a_class_that_is_gone_is_named_with_the_state_that_needs_it(monkeypatch):
    data = to_bytes([("a", Change(TOTAL, ["k"], [Point(1, 2)], []))])
    monkeypatch.delattr("tests.checkpoint.strategies.Point")
    with pytest.raises(CorruptCheckpointError, match=r"state 'total' of operator a: .*Point"):
        list(StateFile(data).changes("a"))


def test_a_file_closes_what_it_reads_from():
    buffer = io.BytesIO(to_bytes())
    with StateFile(buffer):
        pass
    assert buffer.closed
