"""Small files that stand for gigabytes, and files that promise what they do not have: a clear error, little memory."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
import zlib
from itertools import islice
from typing import Any

import pytest
from tests.calls import calls_of

from flintstream.common import Types
from flintstream.connectors.files import avro, csv, text
from flintstream.connectors.files.bad_records import BadRecords
from flintstream.connectors.files.byte_streams import open_bytes
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.file_system import StreamFormat
from flintstream.datastream.formats.avro import AvroFileFormat, AvroSchema
from flintstream.datastream.formats.csv import CsvReaderFormat, CsvSchema
from flintstream.errors import FlintstreamError

MB = 1 << 20
COMPRESS: dict[str, Any] = {
    ".gz": gzip.compress,
    ".deflate": zlib.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pytest.importorskip("zstandard").ZstdCompressor().compress(data),
}


def reading(made, path, size=10):
    reader = made.create_reader()
    return (record for batch in reader.read(FileSplit(str(path), str(path)), Fetch(size)) for record in batch)


def peak_of(work):
    """Return the most bytes that Python's objects take while ``work`` runs."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_file_is_decompressed_little_by_little(tmp_path, suffix):
    path = tmp_path / f"zeros{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(24 * MB)))
    stream = open_bytes(str(path), "UTF-8")
    assert peak_of(lambda: stream.read(1 << 16)) < 16 * MB
    assert 24 * MB - sum(map(len, iter(lambda: stream.read(MB), b""))) == 1 << 16
    stream.close()


def test_an_xz_file_that_demands_much_memory_is_refused(tmp_path):
    path = tmp_path / "much.xz"
    path.write_bytes(lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]))
    stream = open_bytes(str(path), "UTF-8")
    with pytest.raises(OSError, match=r"cannot decompress .*much.xz: Memory usage limit exceeded"):
        stream.read(1)
    stream.close()


@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
def test_a_line_without_an_end_is_refused_by_place(tmp_path, monkeypatch, suffix, start):
    monkeypatch.setattr(text, "LONGEST_LINE", MB)
    path = tmp_path / f"line.txt{suffix}"
    path.write_bytes(COMPRESS.get(suffix, bytes)(b"first\n" + bytes(8 * MB)))
    split = FileSplit("s", str(path), start)
    with pytest.raises(FlintstreamError, match=rf"{path}: the line at byte \d+ has more than 1 MB: is it text?"):
        list(StreamFormat.text_line_format().create_reader().read(split, Fetch(10)))


# -- CSV ---------------------------------------------------------------------------------------------------------------


def schema(escape=None):
    builder = CsvSchema.builder().add_string_column("a").add_string_column("b")
    return (builder if escape is None else builder.set_escape_char(escape)).build()


def csv_format(escape=None, bad=BadRecords.FAIL):
    made = CsvReaderFormat(schema(escape))
    made.bad_records = bad
    return made


@pytest.mark.parametrize("escape", [None, "\\"])
def test_the_work_for_an_open_quote_grows_with_the_file_and_not_with_its_square(tmp_path, escape):
    def work(lines):
        path = tmp_path / f"{lines}.csv"
        path.write_text('"open,1\n' + 'x,"y" z\n' * lines)

        def read():
            with pytest.raises(FlintstreamError, match=r"line 1: its closing|line 1: .* follows a closing quote"):
                list(reading(csv_format(escape), path))

        return calls_of(read)

    assert work(2000) < 2.5 * work(1000)


@pytest.mark.parametrize("escape", [None, "\\"])
def test_an_open_quote_ends_a_record_after_some_megabytes(tmp_path, monkeypatch, escape):
    monkeypatch.setattr(csv, "LONGEST_RECORD", 1000)
    path = tmp_path / "open.csv"
    path.write_text("first,1\n" + '"open,1\n' + "x,y\n" * 1000 + "last,2\n")
    with pytest.raises(FlintstreamError, match=r"open.csv, line 2: it has more than 1000 characters: is a closing"):
        list(reading(csv_format(escape), path))
    rows = [tuple(row) for row in reading(csv_format(escape, BadRecords.SKIP), path)]
    assert rows[0] == ("first", "1")
    assert rows[-1] == ("last", "2"), "reading goes on after the record that is too long"
    assert 700 < len(rows) < 1000


def test_a_number_that_no_decimal_column_has_is_none(tmp_path):
    from flintstream.table.types import DataTypes

    path = tmp_path / "numbers.csv"
    numbers = ["123456789012345678901.5", "1E+999999", "1E-99999999", "9" * 5000, "0.1234567890123456789"]
    path.write_text("".join(f"{number}\n" for number in numbers))
    made = CsvReaderFormat(CsvSchema.builder().add_number_column("a", DataTypes.DECIMAL(38, 17)).build())
    found = [row[0] for row in reading(made, path)]
    assert list(map(str, found[:3])) == ["123456789012345678901.50000000000000000", "None", "0E-17"]
    assert list(map(str, found[3:])) == ["None", "0.12345678901234568"]


# -- Avro --------------------------------------------------------------------------------------------------------------

fastavro = pytest.importorskip("fastavro")
RECORD = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}
EMPTY = {"type": "record", "name": "r", "fields": []}
LIST = {"type": "record", "name": "r", "fields": [{"name": "next", "type": ["null", "r"]}]}
MARK = b"m" * 16


def header(written, codec="null"):
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(written), [], codec=codec, sync_marker=MARK)
    return out.getvalue()


def number(value):
    value = value << 1 if value >= 0 else (-value << 1) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def avro_file(path, written, count, content, *, size=None, codec="null"):
    length = len(content) if size is None else size
    path.write_bytes(header(written, codec) + number(count) + number(length) + content + MARK)
    return path


def avro_format(read):
    return AvroFileFormat(AvroSchema.parse_string(json.dumps(read)))


@pytest.mark.parametrize("size", [1 << 33, 1 << 62, -1])
def test_an_avro_block_that_promises_gigabytes_is_refused(tmp_path, size):
    path = avro_file(tmp_path / "a.avro", RECORD, 1, b"\2x", size=size)
    with pytest.raises(FlintstreamError, match=rf"a.avro: in the block at byte \d+: .*claims to have {size} bytes"):
        list(reading(avro_format(RECORD), path))


def test_an_avro_value_that_promises_gigabytes_is_refused(tmp_path):
    path = avro_file(tmp_path / "a.avro", RECORD, 1, number(1 << 40) + b"x")
    with pytest.raises(FlintstreamError, match=r"a.avro: in the block at byte \d+: EOFError"):
        list(reading(avro_format(RECORD), path))


def test_an_avro_header_that_promises_gigabytes_is_refused(tmp_path):
    path = tmp_path / "a.avro"
    path.write_bytes(b"Obj\1" + number(1) + number(1 << 40) + b"avro.schema")
    with pytest.raises(FlintstreamError, match=r"cannot read .*a.avro as an Avro file: .*have 1099511627776 bytes"):
        list(reading(avro_format(RECORD), path))


@pytest.mark.parametrize("codec", ["deflate", "bzip2"])
def test_an_avro_block_that_becomes_large_is_refused(tmp_path, monkeypatch, codec):
    monkeypatch.setattr(avro, "LARGEST_BLOCK", MB)
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(8 * MB)
    content = raw.compress(zeros) + raw.flush() if codec == "deflate" else bz2.compress(zeros)
    path = avro_file(tmp_path / "a.avro", RECORD, 1, content, codec=codec)
    with pytest.raises(FlintstreamError, match="more than 1 MB after decompression"):
        list(reading(avro_format(RECORD), path))


def test_records_without_fields_are_read_as_they_are_asked_for(tmp_path):
    path = avro_file(tmp_path / "a.avro", EMPTY, 1 << 40, b"")
    reader = avro_format(EMPTY).create_reader()
    batches = reader.read(FileSplit("s", str(path)), Fetch(10))
    assert list(islice(batches, 3)) == [[{}] * 10] * 3
    batches.close()
    reader.close()


@pytest.mark.parametrize("read", [LIST, EMPTY])
@pytest.mark.parametrize("depth", [20_000, 200_000])
def test_deeply_nested_avro_records_do_not_end_the_process(tmp_path, read, depth):
    path = avro_file(tmp_path / "a.avro", LIST, 1, b"\2" * depth + b"\0")
    with pytest.raises(FlintstreamError, match=r"a.avro: in the block at byte \d+: RecursionError"):
        list(reading(avro_format(read), path))


def test_records_that_contain_each_other_are_read(tmp_path):
    path = avro_file(tmp_path / "a.avro", LIST, 1, b"\2" * 50 + b"\0")
    (record,) = reading(avro_format(LIST), path)
    depth = 0
    while record["next"] is not None:
        record, depth = record["next"], depth + 1
    assert depth == 50


def test_an_avro_file_that_ends_within_a_block_is_refused(tmp_path):
    path = avro_file(tmp_path / "a.avro", RECORD, 1000, number(1) + b"x")
    whole = path.read_bytes()
    start = len(header(RECORD))
    for end in range(start + 1, len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(FlintstreamError, match="in the block at byte"):
            list(reading(avro_format(RECORD), path))


# -- columns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "orc"])
@pytest.mark.parametrize("end", [b"\0" * 8, b"\xff" * 8, b"", *(n + b"PAR1" for n in (b"\xff\xff\xff\x7f", bytes(4)))])
def test_a_columnar_file_whose_footer_lies_is_refused_by_name(tmp_path, kind, end):
    pytest.importorskip("pyarrow")
    from tests.connectors.files.reading import write_file

    from flintstream.common import Row
    from flintstream.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
    from flintstream.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
    from flintstream.table.types import DataTypes

    row = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])
    writers: Any = {"parquet": ParquetBulkWriters, "orc": OrcBulkWriters}[kind]
    formats: Any = {"parquet": ParquetColumnarRowInputFormat, "orc": OrcColumnarRowInputFormat}[kind]
    path = tmp_path / "x"
    write_file(writers.for_row_type(row), path, [Row(a=1)] * 100)
    path.write_bytes(path.read_bytes()[:-8] + end)
    with pytest.raises(FlintstreamError, match=f"cannot read {path}"):
        list(reading(formats(row), path))


def test_texts_in_parquet_files_that_are_not_utf8_are_refused_by_place(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat
    from flintstream.table.types import DataTypes

    path = tmp_path / "x.parquet"
    column = pa.Array.from_buffers(pa.string(), 1, [None, *pa.array([b"\xff"], pa.binary()).buffers()[1:]])
    pq.write_table(pa.table({"a": column}), path)
    made = ParquetColumnarRowInputFormat(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING())]))
    with pytest.raises(FlintstreamError, match=f"cannot read {path}: in row group 0: .*invalid start byte"):
        list(reading(made, path))


def test_json_lines_that_are_nested_deeply_are_refused_by_line(tmp_path):
    from flintstream.connectors.files.lines import RecordLineReader
    from flintstream.datastream.formats.json import JsonRowDeserializationSchema

    kind = Types.ROW_NAMED(["a"], [Types.STRING()])
    reader = RecordLineReader(JsonRowDeserializationSchema.builder().type_info(kind).build())
    path = tmp_path / "x.json"
    path.write_text('{"a": "b"}\n{"a": ' + "[" * 100_000 + "\n")
    with pytest.raises(FlintstreamError, match=r"x.json, line 2: .*RecursionError"):
        list(reader.read(FileSplit("s", str(path)), Fetch(10)))
