"""Files that sources read: text, CSV, Avro, Parquet and ORC, also compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.connectors.files.reading import write_file
from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, EQUAL, Target, Violation, same
from tests.fuzz.targets.messages import AVRO, SIMPLE, row, row_type

from flintstream.connectors.files.csv import CsvReader
from flintstream.connectors.files.lines import RecordLineReader
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.file_system import StreamFormat
from flintstream.datastream.formats.avro import AvroSchema
from flintstream.datastream.formats.csv import CsvReaderFormat, CsvSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema
from flintstream.table.types import DataTypes

if TYPE_CHECKING:
    from random import Random

ROW = DataTypes.ROW([
    DataTypes.FIELD("a", DataTypes.INT()),
    DataTypes.FIELD("b", DataTypes.STRING()),
    DataTypes.FIELD("c", DataTypes.ARRAY(DataTypes.BIGINT())),
    DataTypes.FIELD("d", DataTypes.TIMESTAMP(3)),
    DataTypes.FIELD("e", DataTypes.DECIMAL(38, 18)),
    DataTypes.FIELD("f", DataTypes.MAP(DataTypes.STRING(), DataTypes.DOUBLE())),
    DataTypes.FIELD("g", DataTypes.DATE()),
])  # fmt: skip


def read_split(file_format: Any, split: FileSplit, size: int) -> list[Any]:
    """Read a part of a file."""
    reader = file_format.create_reader()
    try:
        return [record for batch in reader.read(split, Fetch(size)) for record in batch]
    finally:
        reader.close()


def records(count: int) -> list[Any]:
    """Return rows of :data:`ROW`."""
    import datetime as dt
    from decimal import Decimal

    from flintstream.common import Row

    names = "abcdefg"
    many = []
    for n in range(count):
        at = dt.datetime(2024, 2, 29, 1, 2, 3) + dt.timedelta(hours=n)
        values = (n, f"é {n}", [n, -n], at, Decimal(n) / 8, {"k": n / 3}, at.date())
        many.append(Row(**dict(zip(names, values if n % 5 else (None,) * 7, strict=True))))
    return many


class _Files(Target):
    """A file that is read whole gives the same records in small pieces."""

    suffix = ""
    share = 2

    def format(self) -> Any:
        raise NotImplementedError

    def read(self, path: str, size: int) -> list[Any]:
        return read_split(self.format(), FileSplit(path, path), size)

    def check(self, data: bytes) -> str:
        path = self.file(data, f"input{self.suffix}")
        found = self.read(path, 1000)
        if not same(self.read(path, 3), found):
            raise Violation("records depend on the number that is read at once")
        return EQUAL if data in self.corpus else ACCEPTED


LINES = "first,1\nsecond,2\r\n\néé,3\rlast".encode()
COMPRESSED = {
    "": LINES,
    ".gz": gzip.compress(LINES, mtime=0) + b"\0\0" + gzip.compress(LINES * 50, mtime=0),
    ".deflate": zlib.compress(LINES * 50),
    ".bz2": bz2.compress(LINES * 50) + bz2.compress(LINES),
    ".xz": lzma.compress(LINES * 50),
}


class TextFile(Target):
    """Lines of text, also compressed: the splits of a file together have all its lines."""

    name = "text-file"
    share = 6
    refusals = (*Target.refusals, OSError, EOFError)

    def valid(self) -> list[bytes]:
        import zstandard

        files = {**COMPRESSED, ".zst": zstandard.ZstdCompressor().compress(LINES * 50)}
        return [suffix.ljust(8).encode() + data for suffix, data in files.items()]

    def mutated(self, random: Random) -> bytes:
        data = random.choice(self.corpus)
        return data[:8] + mutated(random, data[8:], [item[8:] for item in self.corpus])

    def check(self, data: bytes) -> str:
        path = self.file(data[8:], "input" + data[:8].decode().strip())
        whole = read_split(StreamFormat.text_line_format(), FileSplit(path, path), 1000)
        cuts = [0, 5, 6, 17, None]
        parts = [FileSplit(str(cut), path, cut, end) for cut, end in pairwise(cuts) if cut is not None]
        if [line for part in parts for line in read_split(StreamFormat.text_line_format(), part, 2)] != whole:
            raise Violation("the splits do not have the lines of the file")
        return EQUAL if data in self.corpus else ACCEPTED


class JsonLines(_Files):
    """A record from each line, decoded by a schema."""

    name = "json-lines"
    share = 3

    def read(self, path: str, size: int) -> list[Any]:
        schema = JsonRowDeserializationSchema.builder().type_info(row_type(SIMPLE)).build()
        return [item for part in RecordLineReader(schema).read(FileSplit(path, path), Fetch(size)) for item in part]

    def valid(self) -> list[bytes]:
        from flintstream.datastream.formats.json import JsonRowSerializationSchema

        line = JsonRowSerializationSchema.builder().with_type_info(row_type(SIMPLE)).build().serialize(row(SIMPLE))
        return [b"\n".join([line] * 4) + b"\n"]


class CsvFile(_Files):
    """CSV whose values may span lines: the size of what is read at once does not matter."""

    name = "csv-file"
    share = 8
    escape: str | None = None

    def schema(self) -> CsvSchema:
        builder = CsvSchema.builder().add_string_column("a").add_number_column("b", DataTypes.INT())
        builder = builder.add_number_column("c", DataTypes.DECIMAL(38, 18)).add_array_column("d", ";")
        builder = builder.set_allow_comments()
        return (builder.set_escape_char(self.escape) if self.escape else builder).build()

    def read(self, path: str, size: int) -> list[Any]:
        made = CsvReaderFormat(self.schema()).create_reader()
        assert isinstance(made, CsvReader)
        made._chunk = 7 if size < 10 else made._chunk
        return [item for part in made.read(FileSplit(path, path), Fetch(size)) for item in part]

    def valid(self) -> list[bytes]:
        text = '"a ""quoted"" one",1,1.5,x;y\n# a comment\n"two\nlines",-2,0.1,\r\nplain,3,1e3,z\n"é,",4,-0,"a;b"'
        return [text.encode(), b"\xef\xbb\xbf" + (text + "\n").encode() * 3, b"x,1,2,\n" * 30]


class EscapedCsvFile(CsvFile):
    """As above, with an escape character."""

    name = "csv-file-escaped"
    share = 4
    escape = "\\"


class AvroFile(_Files):
    """Avro files: blocks with the codecs null and deflate. Two splits together have all records."""

    name = "avro-file"
    share = 8
    suffix = ".avro"

    def format(self) -> Any:
        from flintstream.datastream.formats.avro import AvroFileFormat

        return AvroFileFormat(AvroSchema.parse_string(json.dumps(AVRO)))

    def valid(self) -> list[bytes]:
        import fastavro
        from tests.fuzz.targets.messages import Avro

        from flintstream.datastream.formats.avro import AvroBulkWriters

        (message,) = Avro(self.directory).corpus
        record = fastavro.schemaless_reader(io.BytesIO(message), fastavro.parse_schema(AVRO))
        made = []
        for codec in ("null", "deflate", "bzip2"):
            out = io.BytesIO()
            fastavro.writer(
                out, fastavro.parse_schema(AVRO), [record] * 20, codec=codec, sync_interval=400, sync_marker=b"m" * 16
            )
            made.append(out.getvalue())
        write_file(
            AvroBulkWriters.for_generic_record(AvroSchema.parse_string(json.dumps(AVRO))),
            self.directory / "w",
            [record],
        )
        (self.directory / "w").unlink()
        return made


class ParquetFile(_Files):
    """Parquet files with several row groups and all kinds of columns."""

    name = "parquet-file"
    share = 4
    suffix = ".parquet"

    def format(self) -> Any:
        from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat

        return ParquetColumnarRowInputFormat(ROW)

    def valid(self) -> list[bytes]:
        from flintstream.common.configuration import Configuration
        from flintstream.datastream.formats.parquet import ParquetBulkWriters

        made = []
        for codec in ("snappy", "uncompressed"):
            options = Configuration().set_string("parquet.compression", codec)
            write_file(ParquetBulkWriters.for_row_type(ROW, options), self.directory / "w", records(40))
            made.append((self.directory / "w").read_bytes())
        return made


class OrcFile(_Files):
    """ORC files."""

    name = "orc-file"
    share = 4
    of_libraries = frozenset({"died"})  # pyarrow's reader, on some damaged files
    suffix = ".orc"

    def format(self) -> Any:
        from flintstream.datastream.formats.orc import OrcColumnarRowInputFormat

        return OrcColumnarRowInputFormat(ROW)

    def valid(self) -> list[bytes]:
        from flintstream.common.configuration import Configuration
        from flintstream.datastream.formats.orc import OrcBulkWriters

        made = []
        for codec in ("none", "zlib"):
            options = Configuration().set_string("orc.compress", codec)
            write_file(OrcBulkWriters.for_row_type(ROW, options), self.directory / "w", records(40))
            made.append((self.directory / "w").read_bytes())
        return made


class ArrowFile(Target):
    """Files of Arrow, which hold the data of a DataFrame between Spark and a job."""

    name = "arrow-file"
    share = 4

    def valid(self) -> list[bytes]:
        import pyarrow as pa

        made = []
        for count in (3, 40):
            table = pa.table(
                {"a": list(range(count)), "b": [f"é {n}" for n in range(count)], "c": [[n] for n in range(count)]}
            )
            out = io.BytesIO()
            with pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table, max_chunksize=20)
            made.append(out.getvalue())
        return made

    def check(self, data: bytes) -> str:
        from flintstream.connectors.files.arrow import ArrowReader, ArrowSplit
        from flintstream.storage.stores import file_store

        self.file(data, "input")
        split = ArrowSplit("s", file_store(str(self.directory)), "input", 0, 1)
        for _ in ArrowReader(("a", "b", "c")).read(split, Fetch(7)):
            pass
        return EQUAL if data in self.corpus else ACCEPTED


TARGETS: tuple[type[Target], ...] = (
    *(TextFile, JsonLines, CsvFile, EscapedCsvFile, AvroFile, ParquetFile, OrcFile, ArrowFile),
)
