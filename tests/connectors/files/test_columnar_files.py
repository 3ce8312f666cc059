from __future__ import annotations

import datetime as dt
import decimal
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.calls import calls_of
from tests.connectors.files.reading import (
    read_file,
    read_split,
    read_with_interruptions,
    write_file,
    write_through_sink,
)

from flintstream.common import Configuration, Instant, Row
from flintstream.connectors.files.reader import FileSplit
from flintstream.datastream.connectors.file_system import FileSource
from flintstream.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from flintstream.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from flintstream.errors import FlintstreamError, PlanError
from flintstream.table.types import DataTypes, RowType

pytestmark = pytest.mark.slow

PARQUET = (ParquetBulkWriters.for_row_type, ParquetColumnarRowInputFormat)
ORC = (OrcBulkWriters.for_row_type, OrcColumnarRowInputFormat)
BOTH = pytest.mark.parametrize(("writers", "reads"), [PARQUET, ORC], ids=["parquet", "orc"])

INT32 = st.integers(-(2**31), 2**31 - 1)
TIMESTAMPS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
POINT = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT()), DataTypes.FIELD("y", DataTypes.STRING())])

FIELDS = {
    "text": (DataTypes.STRING(), st.text(st.characters(exclude_categories=["Cs"]))),
    "char": (DataTypes.CHAR(3), st.text("abc", min_size=3, max_size=3)),
    "flag": (DataTypes.BOOLEAN(), st.booleans()),
    "tiny": (DataTypes.TINYINT(), st.integers(-128, 127)),
    "small": (DataTypes.SMALLINT(), st.integers(-(2**15), 2**15 - 1)),
    "number": (DataTypes.INT(), INT32),
    "long": (DataTypes.BIGINT(), st.integers(-(2**63), 2**63 - 1)),
    "float": (DataTypes.FLOAT(), st.floats(width=32, allow_nan=False)),
    "double": (DataTypes.DOUBLE(), st.floats(allow_nan=False)),
    "decimal": (DataTypes.DECIMAL(12, 3), st.decimals(-(10**8), 10**8, places=3)),
    "bytes": (DataTypes.BYTES(), st.binary()),
    "date": (DataTypes.DATE(), st.dates()),
    "timestamp": (DataTypes.TIMESTAMP(6), TIMESTAMPS),
    "instant": (
        DataTypes.TIMESTAMP_LTZ(6),
        st.builds(lambda s, u: Instant(s, u * 1000), st.integers(-(10**9), 4 * 10**9), st.integers(0, 999_999)),
    ),
    "array": (DataTypes.ARRAY(DataTypes.INT()), st.lists(INT32)),
    "map": (DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT()), st.dictionaries(st.text("ab"), INT32)),
    "row": (POINT, st.builds(lambda x, y: Row(x=x, y=y), INT32, st.text("xyz"))),
}
TIME = (DataTypes.TIME(), st.times().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)))


def row_type(fields) -> RowType:
    return DataTypes.ROW([DataTypes.FIELD(name, kind) for name, (kind, _) in fields.items()])


def rows(fields):
    return st.lists(st.builds(Row, **{name: st.none() | values for name, (_, values) in fields.items()}), max_size=20)


def bulk(reads, kind, **options):
    return (
        reads(kind, **options) if reads is OrcColumnarRowInputFormat else reads(kind, is_utc_timestamp=True, **options)
    )


def writers_of(writers, kind):
    return writers(kind) if writers is OrcBulkWriters.for_row_type else writers(kind, utc_timestamp=True)


@BOTH
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_values_of_every_type_come_back_as_they_were(writers, reads, data):
    fields = FIELDS if writers is OrcBulkWriters.for_row_type else {**FIELDS, "time": TIME}
    written = data.draw(rows(fields))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "f")
        write_file(writers_of(writers, row_type(fields)), path, written)
        assert read_file(bulk(reads, row_type(fields)), path) == written


SMALL = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())])


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_no_row_is_lost_or_doubled_wherever_splits_are_cut_and_reading_stops(tmp_path, writers, reads, seed):
    rng = random.Random(seed)
    path = tmp_path / "f"
    with path.open("wb") as stream:
        writer = writers(SMALL).create(stream)
        for group in range(7):
            writer.add_elements([Row(group * 100 + n, "x" * n) for n in range(rng.randint(1, 60))])
            writer.flush()
        writer.finish()
    expected = read_file(bulk(reads, SMALL), path)
    assert len({row.n // 100 for row in expected}) == 7
    size = path.stat().st_size
    cuts = sorted({0, *(rng.randrange(size) for _ in range(rng.randrange(6)))})
    splits = [FileSplit(str(a), str(path), a, b) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]
    source = bulk(reads, SMALL, batch_size=16)
    assert [row for split in splits for row in read_with_interruptions(source, split, rng)] == expected
    assert sum(len(read_split(source, FileSplit("0", s.path, s.start, s.end))) > 0 for s in splits) <= 7


@BOTH
def test_only_the_columns_that_are_asked_for_are_read_in_their_order(tmp_path, writers, reads):
    write_file(writers(SMALL), tmp_path / "f", [(1, "a"), (2, "b")])
    wanted = DataTypes.ROW([DataTypes.FIELD("s", DataTypes.STRING()), DataTypes.FIELD("more", DataTypes.DOUBLE())])
    assert read_file(reads(wanted), tmp_path / "f") == [Row(s="a", more=None), Row(s="b", more=None)]
    nothing = DataTypes.ROW([DataTypes.FIELD("more", DataTypes.DOUBLE())])
    assert read_file(reads(nothing), tmp_path / "f") == [Row(more=None)] * 2


@BOTH
def test_names_are_matched_with_or_without_case(tmp_path, writers, reads):
    write_file(writers(SMALL), tmp_path / "f", [(1, "a")])
    upper = DataTypes.ROW([DataTypes.FIELD("N", DataTypes.INT())])
    assert read_file(reads(upper), tmp_path / "f") == [Row(N=None)]
    assert read_file(reads(upper, is_case_sensitive=False), tmp_path / "f") == [Row(N=1)]
    both = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("N", DataTypes.INT())])
    write_file(writers(both), tmp_path / "g", [(1, 2)])
    with pytest.raises(FlintstreamError, match=r"column 'N' is ambiguous"):
        read_file(reads(upper, is_case_sensitive=False), tmp_path / "g")


@BOTH
def test_columns_of_other_types_are_brought_to_the_declared_one_or_named(tmp_path, writers, reads):
    write_file(writers(SMALL), tmp_path / "f", [(1, "a")])
    wide = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
    assert read_file(reads(wide), tmp_path / "f") == [Row(n=1)]
    other = DataTypes.ROW([DataTypes.FIELD("s", DataTypes.INT())])
    with pytest.raises(FlintstreamError, match=r"f: column 's' is not int32"):
        read_file(reads(other), tmp_path / "f")


@BOTH
def test_a_file_of_another_format_is_named(tmp_path, writers, reads):
    (tmp_path / "f").write_bytes(b"something else that is long enough to have a footer")
    with pytest.raises(FlintstreamError, match=r"cannot read .*/f: "):
        read_file(reads(SMALL), tmp_path / "f")


@BOTH
def test_a_value_that_does_not_fit_is_named_with_its_column(tmp_path, writers, reads):
    with pytest.raises((FlintstreamError, TypeError, OverflowError), match="'n'"):
        write_file(writers(SMALL), tmp_path / "f", [(2**40, "a")])
    assert not list(tmp_path.glob("*.crc"))


@BOTH
def test_the_sink_writes_what_the_source_reads(tmp_path, writers, reads):
    write_through_sink(writers(SMALL), tmp_path, [Row(1, "a"), (2, "b")], [Row(s="c", n=3)])
    source = FileSource.for_bulk_file_format(reads(SMALL), str(tmp_path)).build()
    found = [row for split in source.create_enumerator(2).discover() for row in read_split(reads(SMALL), split)]
    assert sorted(found, key=lambda row: row.n) == [Row(n=1, s="a"), Row(n=2, s="b"), Row(n=3, s="c")]
    assert str(source.produced_type) == "RowTypeInfo(n: Integer, s: String)"


@pytest.fixture
def berlin():
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_timestamps_are_local_times_in_parquet_files_unless_told_otherwise(tmp_path):
    moment = dt.datetime(2024, 7, 1, 12)
    nested = DataTypes.ROW([DataTypes.FIELD("at", DataTypes.TIMESTAMP())])
    kind = DataTypes.ROW(
        [
            DataTypes.FIELD("at", DataTypes.TIMESTAMP()),
            DataTypes.FIELD("all", DataTypes.ARRAY(nested)),
            DataTypes.FIELD("by", DataTypes.MAP(DataTypes.STRING(), DataTypes.TIMESTAMP())),
        ]
    )
    row = Row(at=moment, all=[Row(at=moment)], by={"a": moment})
    write_file(ParquetBulkWriters.for_row_type(kind), tmp_path / "local", [row])
    assert row == Row(at=moment, all=[Row(at=moment)], by={"a": moment}), "the record stays as it was"
    assert read_file(ParquetColumnarRowInputFormat(kind), tmp_path / "local") == [row]
    utc = moment - dt.timedelta(hours=2)
    in_utc = read_file(ParquetColumnarRowInputFormat(kind, is_utc_timestamp=True), tmp_path / "local")
    assert in_utc == [Row(at=utc, all=[Row(at=utc)], by={"a": utc})]


def test_timestamps_have_96_bits_as_flinks_unless_told_otherwise(tmp_path):
    kind = DataTypes.ROW([DataTypes.FIELD("at", DataTypes.TIMESTAMP())])
    for key, physical in [("false", "INT96"), ("true", "INT64")]:
        config = Configuration().set_string("parquet.write.int64.timestamp", key)
        write_file(ParquetBulkWriters.for_row_type(kind, config, True), tmp_path / key, [(dt.datetime(2024, 1, 2),)])
        assert pq.ParquetFile(tmp_path / key).schema.column(0).physical_type == physical
        read = read_file(ParquetColumnarRowInputFormat(kind, is_utc_timestamp=True), tmp_path / key)
        assert read == [Row(at=dt.datetime(2024, 1, 2))]


def test_nanoseconds_of_others_are_cut_to_what_python_has(tmp_path):
    table = pa.table({"at": pa.array([1_000_000_001_999], pa.timestamp("ns"))})
    pq.write_table(table, tmp_path / "f")
    kind = DataTypes.ROW([DataTypes.FIELD("at", DataTypes.TIMESTAMP(9))])
    (row,) = read_file(ParquetColumnarRowInputFormat(kind, is_utc_timestamp=True), tmp_path / "f")
    assert row.at == dt.datetime(1970, 1, 1, 0, 16, 40, 1)
    assert type(row.at) is dt.datetime


@pytest.mark.parametrize(("value", "codec"), [("gzip", "GZIP"), ("SNAPPY", "SNAPPY"), ("uncompressed", "UNCOMPRESSED")])
def test_compression_is_that_of_the_hadoop_configuration(tmp_path, value, codec):
    config = Configuration().set_string("parquet.compression", value)
    write_file(ParquetBulkWriters.for_row_type(SMALL, config), tmp_path / "f", [(1, "a")])
    assert pq.ParquetFile(tmp_path / "f").metadata.row_group(0).column(0).compression == codec
    orc = Configuration().set_string("orc.compress", "zstd").set_string("orc.stripe.size", "65536")
    write_file(OrcBulkWriters.for_row_type(SMALL, orc), tmp_path / "g", [(1, "a")])
    from pyarrow.orc import ORCFile

    assert ORCFile(tmp_path / "g").compression == "ZSTD"


def test_wrong_arguments_are_refused_when_the_program_is_built():
    with pytest.raises(TypeError, match="needs a row type"):
        ParquetColumnarRowInputFormat(DataTypes.INT())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a row type"):
        OrcBulkWriters.for_row_type(DataTypes.INT())  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="at least one field"):
        ParquetBulkWriters.for_row_type(DataTypes.ROW([]))
    with pytest.raises(PlanError, match=r"batch size .* must be positive"):
        ParquetColumnarRowInputFormat(SMALL, batch_size=0)
    with pytest.raises(PlanError, match=r"field 'at' has the type TimeType.* which the file format does not support"):
        OrcBulkWriters.for_row_type(DataTypes.ROW([DataTypes.FIELD("at", DataTypes.TIME())]))
    with pytest.raises(PlanError, match=r"parquet\.compression must be one of .*, but got 'zip'"):
        ParquetBulkWriters.for_row_type(SMALL, Configuration().set_string("parquet.compression", "zip"))
    with pytest.raises(PlanError, match=r"orc\.stripe\.size must be a positive number, but got '64mb'"):
        OrcBulkWriters.for_row_type(SMALL, Configuration().set_string("orc.stripe.size", "64mb"))


@pytest.mark.parametrize(("make", "extra"), [(PARQUET[1], "parquet"), (PARQUET[0], "parquet"), (ORC[0], "orc")])
def test_without_pyarrow_the_error_says_what_to_install(monkeypatch, make, extra):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=rf"needs the package pyarrow: pip install 'flintstream\[{extra}\]'"):
        make(SMALL)


def test_decimals_keep_their_scale(tmp_path):
    kind = DataTypes.ROW([DataTypes.FIELD("d", DataTypes.DECIMAL(6, 2))])
    write_file(ParquetBulkWriters.for_row_type(kind), tmp_path / "f", [(decimal.Decimal("1.5"),)])
    (row,) = read_file(ParquetColumnarRowInputFormat(kind), tmp_path / "f")
    assert str(row.d) == "1.50"


def test_rows_are_made_of_whole_columns(tmp_path):
    """An Arrow scalar for each value would take about ten calls per row."""
    write_file(ParquetBulkWriters.for_row_type(SMALL), tmp_path / "f", [(n, "x") for n in range(200_000)])
    count = calls_of(lambda: read_file(ParquetColumnarRowInputFormat(SMALL), tmp_path / "f", 4096))
    assert count / 200_000 < 3
