from __future__ import annotations

import hashlib
import io

import pytest

from flintstream.checkpoint.changes import Change, TableInfo
from flintstream.checkpoint.checked_file import checked_file
from flintstream.checkpoint.state_file import StateFile, to_bytes
from flintstream.errors import CorruptCheckpointError

TOTAL = TableInfo("total", "value")


class Counting(io.BytesIO):
    """A file that counts the bytes read."""

    total = 0

    def read(self, size=-1):
        data = super().read(size)
        self.total += len(data)
        return data


def content(*values):
    changes = [(uid, Change(TOTAL, list(range(2000)), [value] * 2000, [])) for uid, value in values]
    return to_bytes([*changes, *changes], [(uid, "offset", value) for uid, value in values])


DATA = content(("a", 1), ("b", 2), ("c", 3))
CHECKSUM = hashlib.sha256(DATA).hexdigest()


def opened(data, **settings):
    return checked_file(data, "the file", len(DATA), CHECKSUM, **settings)


@pytest.mark.parametrize("read", [["a", "b", "c"], ["c", "a"], ["b"], []])
def test_a_file_is_what_it_is_whatever_is_read_of_it(read):
    with opened(Counting(DATA)) as file:
        for uid in read:
            assert list(file.changes(uid)) == list(StateFile(DATA).changes(uid))
            assert file.values(uid) == StateFile(DATA).values(uid)


@pytest.mark.parametrize("read", [["a", "b", "c"], ["c", "a"], ["b"], []])
def test_another_good_file_of_the_same_size_is_found_out_whatever_is_read_of_it(read):
    other = content(("a", 1), ("b", 2), ("c", 4))
    assert len(other) == len(DATA)
    found_out = pytest.raises(CorruptCheckpointError, match=r"^the file: its content differs from what was stored$")
    with found_out, opened(Counting(other)) as file:
        for uid in read:
            list(file.changes(uid))


def test_another_size_is_found_out_before_anything_is_read():
    file = Counting(DATA + b"\0")
    message = rf"it has {len(DATA) + 1} bytes, but {len(DATA)} were stored"
    with pytest.raises(CorruptCheckpointError, match=message), opened(file, whole=False):
        pass
    assert file.total == 0


def test_what_is_read_in_order_is_not_read_twice():
    data = to_bytes([("a", Change(TOTAL, list(range(i, i + 2000)), [0] * 2000, [])) for i in range(0, 40_000, 2000)])
    stream = Counting(data)
    with checked_file(stream, "the file", len(data), hashlib.sha256(data).hexdigest()) as file:
        assert sum(len(change.keys) for change in file.changes("a")) == 40_000
    assert stream.total < 1.1 * len(data), "only the index is read again"


def test_only_a_part_is_read_where_someone_else_checks_the_whole():
    stream = Counting(DATA)
    with opened(stream, whole=False) as file:
        file.values("a")
    assert stream.total < len(DATA) / 2


def test_what_does_not_fit_because_it_is_another_file_is_told_so():
    other = content(("a", 1), ("b", 2), ("c", 4))
    with pytest.raises(CorruptCheckpointError, match="differs from what was stored"), opened(Counting(other)):
        raise ValueError("state 'total' is a list")
    with (
        pytest.raises(CorruptCheckpointError, match=r"the file: its content cannot.*is a list"),
        opened(Counting(DATA)),
    ):
        raise ValueError("state 'total' is a list")
