"""A file source estimates how many records wait in the files that it has found."""

from __future__ import annotations

import pytest

from flintstream.connectors.files.enumerator import FileMonitor
from flintstream.connectors.files.text import TextLineReader
from flintstream.connectors.source import Fetch

LINES = 1000


@pytest.fixture
def splits(tmp_path):
    """Three files of as many lines each."""
    for name in "abc":
        (tmp_path / name).write_text("".join(f"{number:05}\n" for number in range(LINES)))
    return list(FileMonitor([str(tmp_path)], 2, 1000, splittable=True).discover())


def test_splits_have_the_sizes_of_their_pieces(splits, tmp_path):
    assert [split.size for split in splits] == [6 * LINES] * 3
    large = tmp_path / "large"
    large.write_bytes(b"x" * 9_000_000)
    pieces = FileMonitor([str(large)], 2, 1000, splittable=True).discover()
    assert [(piece.start, piece.size) for piece in pieces] == [(0, 4_500_000), (4_500_000, 4_500_000)]


def test_what_waits_follows_from_the_files_that_were_read(splits):
    reader = TextLineReader("utf-8")
    assert reader.pending_records(splits) is None
    first = splits.pop(0)
    assert sum(map(len, reader.read(first, Fetch(size=100)))) == LINES
    assert reader.pending_records(splits) == 2 * LINES
    batches = reader.read(splits[0], Fetch(size=100))
    read = len(next(batches)) + len(next(batches))
    batches.close()  # the epoch is over
    assert reader.pending_records(splits) == 2 * LINES - read
    assert sum(map(len, reader.read(splits.pop(0), Fetch(size=100)))) == LINES - read
    assert reader.pending_records(splits) == LINES
    assert reader.pending_records([]) == 0
    reader.close()


def test_a_file_that_another_reader_has_begun_says_nothing_of_lines_per_byte(splits):
    begun, reader = TextLineReader("utf-8"), TextLineReader("utf-8")
    batches = begun.read(splits[0], Fetch(size=100))
    next(batches)
    batches.close()
    assert sum(map(len, reader.read(splits.pop(0), Fetch(size=100)))) < LINES
    assert reader.pending_records(splits) is None
    begun.close()
    reader.close()
