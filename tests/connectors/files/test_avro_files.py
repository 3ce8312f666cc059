from __future__ import annotations

import datetime as dt
import json
import random
import tempfile
from copy import deepcopy
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connectors.files.reading import (
    read_file,
    read_split,
    read_with_interruptions,
    write_file,
    write_through_sink,
)

from flintstream.connectors.files.enumerator import plan_splits
from flintstream.connectors.files.reader import FileSplit
from flintstream.datastream.connectors.file_system import FileSource
from flintstream.datastream.formats.avro import (
    AvroBulkWriters,
    AvroFileFormat,
    AvroInputFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from flintstream.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters
from flintstream.errors import FlintstreamError, PlanError

SCHEMA = AvroSchema.parse_string(
    json.dumps(
        {
            "type": "record",
            "name": "All",
            "namespace": "tests",
            "fields": [
                {"name": "flag", "type": "boolean"},
                {"name": "number", "type": "int"},
                {"name": "long", "type": ["null", "long"]},
                {"name": "float", "type": "float"},
                {"name": "double", "type": ["double", "null"]},
                {"name": "bytes", "type": "bytes"},
                {"name": "text", "type": ["null", "string"], "default": None},
                {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}},
                {"name": "fixed", "type": {"type": "fixed", "name": "Two", "size": 2}},
                {
                    "name": "inner",
                    "type": {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]},
                },
                {"name": "list", "type": {"type": "array", "items": ["null", "Inner"]}},
                {"name": "map", "type": {"type": "map", "values": "tests.Inner"}},
                {"name": "date", "type": {"type": "int", "logicalType": "date"}},
                {"name": "time", "type": {"type": "long", "logicalType": "time-micros"}},
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
                {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
                {"name": "money", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
                {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
            ],
        }
    )
)

MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
INNER = st.fixed_dictionaries({"x": st.integers(-(2**31), 2**31 - 1)})
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "flag": st.booleans(),
            "number": st.integers(-(2**31), 2**31 - 1),
            "long": st.none() | st.integers(-(2**63), 2**63 - 1),
            "float": st.floats(width=32, allow_nan=False),
            "double": st.none() | st.floats(allow_nan=False),
            "bytes": st.binary(),
            "text": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
            "colour": st.sampled_from(["RED", "BLUE"]),
            "fixed": st.binary(min_size=2, max_size=2),
            "inner": INNER,
            "list": st.lists(st.none() | INNER, max_size=3),
            "map": st.dictionaries(st.text("abc"), INNER, max_size=3),
            "date": st.dates(),
            "time": st.times(),
            "at": MOMENTS.map(lambda value: value.replace(tzinfo=dt.timezone.utc)),
            "local": MOMENTS,
            "money": st.decimals(-(10**6), 10**6, places=2),
            "id": st.uuids(),
        }
    ),
    max_size=10,
)

AVRO = (AvroBulkWriters.for_generic_record, AvroFileFormat)
PARQUET = (AvroParquetWriters.for_generic_record, AvroParquetReaders.for_generic_record)
BOTH = pytest.mark.parametrize(("writers", "reads"), [AVRO, PARQUET], ids=["avro", "parquet"])

NUMBERS = AvroSchema({"type": "record", "name": "N", "fields": [{"name": "n", "type": "int"}]})


@BOTH
@settings(max_examples=40, deadline=None)
@given(records=RECORDS)
def test_records_of_every_type_come_back_as_they_were(writers, reads, records):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "f")
        written = deepcopy(records)
        write_file(writers(SCHEMA), path, records)
        assert records == written, "written records do not change"
        assert read_file(reads(SCHEMA), path) == written


@pytest.mark.parametrize("codec", ["null", "deflate"])
@pytest.mark.parametrize("seed", range(5))
def test_no_record_is_lost_or_doubled_wherever_splits_are_cut_and_reading_stops(tmp_path, codec, seed):
    rng = random.Random(seed)
    path = tmp_path / "f.avro"
    expected = [{"n": rng.randrange(10**6)} for _ in range(2000)]
    with path.open("wb") as stream:
        fastavro.writer(stream, NUMBERS.parsed, expected, codec=codec, sync_interval=rng.choice([50, 300]))
    size = path.stat().st_size
    cuts = sorted({0, *(rng.randrange(size) for _ in range(rng.randrange(8)))})
    splits = [FileSplit(str(a), str(path), a, b) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]
    assert [n for split in splits for n in read_with_interruptions(AvroFileFormat(NUMBERS), split, rng)] == expected


def test_splits_cut_anywhere_in_a_small_file_give_each_record_once(tmp_path):
    path = tmp_path / "f.avro"
    with path.open("wb") as stream:
        fastavro.writer(stream, NUMBERS.parsed, [{"n": n} for n in range(9)], sync_interval=1)
    for cut in range(1, path.stat().st_size):
        splits = [FileSplit("a", str(path), 0, cut), FileSplit("b", str(path), cut, None)]
        found = [record["n"] for split in splits for record in read_split(AvroFileFormat(NUMBERS), split)]
        assert found == list(range(9)), cut


@pytest.mark.slow
def test_a_large_file_is_read_by_several_subtasks(tmp_path):
    path = tmp_path / "f.avro"
    write_file(AVRO[0](NUMBERS), path, [{"n": n} for n in range(3_000_000)])
    splits = plan_splits([(str(path), path.stat().st_size)], 2, splittable=AvroFileFormat(NUMBERS).splittable)
    assert len(splits) == 2
    counts = [len(read_split(AvroFileFormat(NUMBERS), split, 4096)) for split in splits]
    assert sum(counts) == 3_000_000
    assert min(counts) > 1_000_000


def test_files_of_another_schema_are_brought_to_the_one_asked_for(tmp_path):
    more = AvroSchema(
        {
            "type": "record",
            "name": "N",
            "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": "string", "default": "?"}],
        }
    )
    write_file(AVRO[0](NUMBERS), tmp_path / "f", [{"n": 1}])
    assert read_file(AvroFileFormat(more), tmp_path / "f") == [{"n": 1, "s": "?"}]


@BOTH
def test_the_sink_writes_what_the_source_reads(tmp_path, writers, reads):
    write_through_sink(writers(NUMBERS), tmp_path, [{"n": 1}, {"n": 2}], [{"n": 3}])
    source = FileSource.for_record_stream_format(reads(NUMBERS), str(tmp_path)).build()
    found = [r["n"] for split in source.create_enumerator(2).discover() for r in read_split(reads(NUMBERS), split)]
    assert sorted(found) == [1, 2, 3]
    assert source.produced_type == GenericRecordAvroTypeInfo(NUMBERS)


def test_an_input_format_reads_the_same_in_parts(tmp_path):
    write_file(AVRO[0](NUMBERS), tmp_path / "f", [{"n": n} for n in range(10)])
    made = AvroInputFormat(str(tmp_path), NUMBERS)
    assert made.get_produced_type() == GenericRecordAvroTypeInfo(NUMBERS)
    splits = made.create_splits(2)
    for _ in range(2):
        assert [record["n"] for split in splits for record in made.read(split)] == list(range(10))


def test_parquet_files_of_records_tell_java_their_schema(tmp_path):
    write_file(PARQUET[0](SCHEMA), tmp_path / "f", [])
    assert pq.ParquetFile(tmp_path / "f").schema_arrow.metadata[b"parquet.avro.schema"].decode() == str(SCHEMA)


@BOTH
@pytest.mark.parametrize("bad", [{"n": "x"}, {"m": 1}, 7])
def test_a_record_that_does_not_fit_is_refused(tmp_path, writers, reads, bad):
    with pytest.raises(FlintstreamError, match=r"does not fit"):
        write_file(writers(NUMBERS), tmp_path / "f", [{"n": 1}, bad])


@BOTH
def test_broken_files_are_named(tmp_path, writers, reads):
    (tmp_path / "other").write_bytes(b"something else that is long enough to have a footer")
    with pytest.raises(FlintstreamError, match=r"cannot read .*/other"):
        read_file(reads(NUMBERS), tmp_path / "other")


def test_a_block_that_is_cut_off_is_named_by_its_place(tmp_path):
    write_file(AVRO[0](NUMBERS), tmp_path / "f", [{"n": n} for n in range(1000)])
    content = (tmp_path / "f").read_bytes()
    (tmp_path / "f").write_bytes(content[:-100])
    with pytest.raises(FlintstreamError, match=r"cannot read .*/f: in the block at byte \d+"):
        read_file(AvroFileFormat(NUMBERS), tmp_path / "f")


def test_what_no_column_can_be_is_refused_when_the_program_is_built():
    def field(kind):
        return AvroSchema({"type": "record", "name": "R", "fields": [{"name": "f", "type": kind}]})

    with pytest.raises(PlanError, match=r"field 'f' has the union type \[\"int\", \"string\"\]"):
        PARQUET[0](field(["int", "string"]))
    with pytest.raises(PlanError, match="'R' contains itself"):
        PARQUET[1](field(["null", "R"]))
    with pytest.raises(PlanError, match="must be a record"):
        PARQUET[0](AvroSchema('"string"'))
    for make in (AVRO[0], AVRO[1], PARQUET[0], PARQUET[1]):
        with pytest.raises(TypeError, match="needs an AvroSchema"):
            make('{"type": "record"}')  # type: ignore[arg-type]
