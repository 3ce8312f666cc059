from __future__ import annotations

import bz2
import gzip
import lzma
import random
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.calls import calls_of
from tests.connectors.files.reading import read_with_interruptions

from flintstream.connectors.files.byte_streams import compression_of, open_bytes
from flintstream.connectors.files.enumerator import plan_splits
from flintstream.connectors.files.text import FileSplit, TextLineReader
from flintstream.connectors.source import Fetch

pytestmark = pytest.mark.slow

LINES = ["first", "", "zweite äöü", "third\x0bwith\x0c\u2028odd breaks", "語", "last"]


def read_all(split, *, charset="UTF-8", size=3, chunk=1 << 20):
    reader = TextLineReader(charset, chunk)
    lines = [line for batch in reader.read(split, Fetch(size)) for line in batch]
    reader.close()
    return lines


class Lines:
    """Text as a format that creates readers."""

    def __init__(self, chunk):
        self.chunk = chunk

    def create_reader(self):
        return TextLineReader("UTF-8", self.chunk)


def read_interrupted(split, rng, *, chunk, same_reader=0.5):
    return read_with_interruptions(Lines(chunk), split, rng, same_reader, largest=4)


def reference_lines(data: bytes) -> list[str]:
    """The lines of Java's BufferedReader; bytes.splitlines has the same three line ends."""
    return [line.decode("utf-8", "replace") for line in data.splitlines()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("charset", ["UTF-8", "GB18030", "UTF-16", "utf-16-le", "UTF-32", "cp037"])
def test_every_line_end_and_charset_gives_the_same_lines(tmp_path, end, final, charset):
    lines = LINES if charset != "cp037" else ["first", "", "zweite äöü", "last"]
    path = tmp_path / "a.txt"
    path.write_bytes((end.join(lines) + end * final).encode(charset))
    assert read_all(FileSplit("a", str(path)), charset=charset, chunk=5) == lines


def test_utf_16_without_a_byte_order_mark_is_big_endian_as_in_java(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("ab\ncd\n".encode("utf-16-be"))
    assert read_all(FileSplit("a", str(path)), charset="UTF-16") == ["ab", "cd"]


def test_malformed_bytes_become_replacement_characters(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\xfeg\nok\n")
    assert read_all(FileSplit("a", str(path))) == ["\ufffd\ufffdg", "ok"]


def test_an_empty_file_has_no_lines(tmp_path):
    (tmp_path / "a.txt").touch()
    assert read_all(FileSplit("a", str(tmp_path / "a.txt"))) == []


COMPRESSED = {
    ".gz": gzip.compress,
    ".gzip": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]) + b"\0" * 100,
    ".bz2": lambda data: bz2.compress(data[:9]) + bz2.compress(data[9:]),
    ".xz": lambda data: lzma.compress(data[:9]) + lzma.compress(data[9:]),
    ".deflate": zlib.compress,
    ".zst": zstandard.compress,
}


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_files_are_decompressed_by_suffix_and_resumed_anywhere(tmp_path, suffix):
    lines = [f"line {n} {'x' * (n % 50)}" for n in range(500)]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSED[suffix]("\n".join(lines).encode()))
    for seed in range(5):
        split = FileSplit("a", str(path))
        assert read_interrupted(split, random.Random(seed), chunk=300) == lines


@pytest.mark.parametrize(
    "behind", [b"rubbish", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\0\0x", b"\x1f\x8b\x07" + bytes(9)]
)
@pytest.mark.parametrize("chunk", [1, 3, 1 << 16])
def test_bytes_behind_the_last_member_of_a_gzip_file_mean_nothing(tmp_path, behind, chunk, monkeypatch):
    monkeypatch.setattr("flintstream.connectors.files.byte_streams.RAW_CHUNK", chunk)
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n") + behind)
    assert read_all(FileSplit("a", str(path))) == ["a", "bc", "d"]


def test_zstandard_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    for name in ("zstandard", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "a.zst"
    path.write_bytes(b"anything")
    with pytest.raises(ImportError, match=r"pip install 'flintstream\[zstd\]'"):
        read_all(FileSplit("a", str(path)))


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"not gzip at all", "cannot decompress"), (gzip.compress(b"x" * 1000, mtime=0)[:-12], "ends in the middle")],
)
def test_broken_compressed_files_are_named(tmp_path, data, message):
    path = tmp_path / "broken.gz"
    path.write_bytes(data)
    with pytest.raises((OSError, EOFError), match=message) as raised:
        read_all(FileSplit("a", str(path)))
    assert "broken.gz" in str(raised.value)


@settings(max_examples=300, deadline=None)
@given(
    data=st.lists(
        st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bcd", b"\n\n", "ü".encode(), b"e" * 20]), max_size=40
    ),
    borders=st.lists(st.integers(0, 60), max_size=5),
    chunk=st.integers(1, 16),
    seed=st.integers(0, 1000),
)
def test_no_line_is_lost_or_doubled_wherever_splits_are_cut_and_reading_stops(data, borders, chunk, seed):
    content = b"".join(data)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "f")
        path.write_bytes(content)
        cuts = sorted({0, *(border for border in borders if border < len(content))})
        splits = [FileSplit(str(a), str(path), a, b) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]
        rng = random.Random(seed)
        found = [line for split in splits for line in read_interrupted(split, rng, chunk=chunk)]
    assert found == reference_lines(content)


def test_a_line_longer_than_many_chunks_is_read_once_by_the_split_it_starts_in(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"short\n" + b"x" * 100_000 + b"\nend\n")
    splits = [FileSplit(str(n), str(path), n * 20_000, (n + 1) * 20_000) for n in range(6)]
    assert [[len(line) for line in read_all(s, chunk=1000)] for s in splits] == [[5, 100_000], [], [], [], [], [3]]


def test_a_reader_that_stays_does_not_decompress_the_file_again(tmp_path, monkeypatch):
    opened = []

    def counting(path, charset):
        opened.append(path)
        return open_bytes(path, charset)

    monkeypatch.setattr("flintstream.connectors.files.text.open_bytes", counting)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % n for n in range(1000))))
    found = read_interrupted(FileSplit("a", str(path)), random.Random(1), chunk=500, same_reader=1)
    assert found == [str(n) for n in range(1000)]
    assert len(opened) == 1


def test_several_splits_may_be_read_in_turns(tmp_path):
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text("".join(f"{path.stem}{n}\n" for n in range(20)))
    reader = TextLineReader(chunk=16)
    splits = {path.stem: FileSplit(path.stem, str(path)) for path in paths}
    found = []
    while splits:
        for name, split in list(splits.items()):
            batch = next(reading := reader.read(split, Fetch(3)), None)
            if batch is None:
                del splits[name]
            else:
                found += batch
                reading.close()
    reader.close()
    assert sorted(found) == sorted(f"{name}{n}" for name in "abc" for n in range(20))
    assert [line for line in found if line[0] == "b"] == [f"b{n}" for n in range(20)]


def test_no_function_is_called_for_a_line(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("".join(f"{n}\n" for n in range(1_000_000)))
    split = plan_splits([(str(path), path.stat().st_size)], 1, splittable=True)[0]
    count = calls_of(lambda: sum(map(len, TextLineReader().read(split, Fetch(4096)))))
    assert 0 < count / 1_000_000 < 0.01


@pytest.mark.parametrize(("path", "suffix"), [("a.csv.gz", ".gz"), ("a.gz.csv", None), ("x.zst", ".zst"), ("gz", None)])
def test_compression_is_told_by_the_suffix_alone(path, suffix):
    assert compression_of(path) == suffix
