"""Files in whole programs, on the inline engine and on Spark."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

import pytest
from tests.waiting import wait_for

from flintstream.common import Duration, Encoder, Row, Types, WatermarkStrategy
from flintstream.common.io import InputFormat
from flintstream.datastream import OutputTag, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import (
    BadRecords,
    BucketAssigner,
    DivertBadRecords,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from flintstream.datastream.formats.avro import (
    AvroBulkWriters,
    AvroFileFormat,
    AvroInputFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from flintstream.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from flintstream.datastream.formats.json import JsonRowDeserializationSchema
from flintstream.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from flintstream.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from flintstream.table.types import DataTypes
from flintstream.testing import CollectSink

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
ROWS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())])
ROW_TYPE = Types.ROW_NAMED(["n", "s"], [Types.INT(), Types.STRING()])
CSV = CsvSchema.builder().add_number_column("n", DataTypes.INT()).add_string_column("s").build()
AVRO = AvroSchema(
    {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}, {"name": "s", "type": "string"}]}
)

engines = pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])


def environment(engine, **settings):
    made = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": engine, **settings})
    return made.set_parallelism(2)


def sink_of(directory, factory, compact=None):
    made = FileSink.for_bulk_format(str(directory), factory)
    made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    return (made if compact is None else made.enable_compact(*compact)).build()


def read(engine, source):
    env = environment(engine)
    collected = CollectSink()
    env.from_source(source, NO_WATERMARKS, "files").add_sink(collected)
    env.execute()
    return collected.get_results(is_python_object=True, stringify=False)


FORMATS = {
    "csv": (CsvBulkWriters.for_schema(CSV), CsvReaderFormat.for_schema(CSV), False),
    "parquet": (ParquetBulkWriters.for_row_type(ROWS), ParquetColumnarRowInputFormat(ROWS), True),
    "orc": (OrcBulkWriters.for_row_type(ROWS), OrcColumnarRowInputFormat(ROWS), True),
    "avro": (AvroBulkWriters.for_generic_record(AVRO), AvroFileFormat(AVRO), False),
    "avro parquet": (AvroParquetWriters.for_generic_record(AVRO), AvroParquetReaders.for_generic_record(AVRO), False),
}


@engines
@pytest.mark.parametrize("name", FORMATS)
def test_files_of_every_format_go_out_and_come_in(engine, name, tmp_path):
    factory, reader, bulk = FORMATS[name]
    rows = [(n, f"text {n % 7}") for n in range(5000)]
    env = environment(engine)
    stream = env.from_collection(rows, Types.TUPLE([Types.INT(), Types.STRING()]))
    if name.startswith("avro"):
        kind = GenericRecordAvroTypeInfo(AVRO)
        stream = stream.map(lambda pair: {"n": pair[0], "s": pair[1]}, output_type=kind)
    else:
        stream = stream.map(lambda pair: Row(*pair), output_type=ROW_TYPE)
    stream.sink_to(sink_of(tmp_path / "out", factory))
    env.execute()
    assert not list(tmp_path.rglob(".*"))
    builder: Any = FileSource.for_bulk_file_format if bulk else FileSource.for_record_stream_format
    found = read(engine, builder(reader, str(tmp_path / "out")).build())
    assert sorted((r["n"], r["s"]) for r in found) == rows


def test_rows_of_separated_values_print_as_rows_of_flinks_tables(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("1,ACME,10.5,true\n2,,1e10,false\n")
    builder = CsvSchema.builder().add_number_column("id").add_string_column("name")
    made = builder.add_number_column("price", DataTypes.DOUBLE()).add_boolean_column("ok").build()
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(made), str(tmp_path)).build()
    env = environment("inline")
    env.set_parallelism(1)
    read = env.from_source(source, NO_WATERMARKS, "files")
    read.print()
    read.map(lambda row: row.price, Types.DOUBLE()).print("price")
    env.execute()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "+I(1,ACME,10.5,true)",
        "+I(2,,1.0E10,false)",
        "price> 1.0E10",
        "price> 10.5",
    ]


@engines
def test_lines_of_json_are_rows_and_bad_ones_go_to_a_side_output(engine, tmp_path):
    lines = [json.dumps({"n": n, "s": "x"}) for n in range(50)]
    lines[7] = "{oops"
    (tmp_path / "a.json.gz").write_bytes(gzip.compress("\n".join(lines[:25]).encode()))
    (tmp_path / "b.json").write_text("\n".join(lines[25:]))
    schema = JsonRowDeserializationSchema.builder().type_info(ROW_TYPE).build()
    made = StreamFormat.message_line_format(schema).with_bad_records(BadRecords.KEEP)
    source = FileSource.for_record_stream_format(made, str(tmp_path)).build()
    tag = OutputTag("bad", Types.STRING())
    good, bad = CollectSink(), CollectSink()
    env = environment(engine)
    stream = env.from_source(source, NO_WATERMARKS, "files").process(DivertBadRecords(tag), output_type=ROW_TYPE)
    stream.add_sink(good)
    stream.get_side_output(tag).add_sink(bad)
    env.execute()
    found = good.get_results(is_python_object=True, stringify=False)
    assert sorted(row.n for row in found) == [n for n in range(50) if n != 7]
    (text,) = bad.get_results()
    assert text.startswith(f"{tmp_path}/a.json.gz, line 8: ")
    assert "{oops" in text


@engines
def test_a_bad_line_fails_the_job_and_is_named(engine, tmp_path):
    (tmp_path / "a.csv").write_text("1,a\n2,b\nx,c\n")
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(CSV), str(tmp_path)).build()
    with pytest.raises(Exception, match=r"a\.csv, line 3: .*'x' is not a 32-bit integer"):
        read(engine, source)


@engines
def test_small_files_are_merged_while_the_job_runs(engine, tmp_path):
    compact = (
        FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).set_num_compact_threads(2).build(),
        FileCompactor.concat_file_compactor(),
    )

    def slow(n):
        time.sleep(0.02)
        return str(n)

    env = environment(engine, **{"execution.checkpointing.interval": "50 ms", "flintstream.epoch.idle-duration": "20"})
    made = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder())
    made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    made.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).enable_compact(*compact)
    numbers = env.from_collection(list(range(100)), Types.INT()).map(slow, output_type=Types.STRING())
    numbers.sink_to(made.build())
    env.execute()
    files = list((tmp_path / "out").iterdir())
    assert all(path.name.startswith("compacted-part-") for path in files), files
    assert sorted(int(line) for path in files for line in path.read_text().split()) == list(range(100))


class Countdown(InputFormat):
    def create_splits(self, min_num_splits):
        return [3, 5]

    def read(self, split):
        yield from range(split, 0, -1)

    def get_produced_type(self):
        return Types.INT()


@engines
def test_input_formats_are_read(engine, tmp_path):
    env = environment(engine)
    collected = CollectSink()
    env.create_input(Countdown()).add_sink(collected)
    env.execute()
    assert sorted(collected.get_results()) == sorted("321" + "54321")
    with pytest.raises(TypeError, match="needs an InputFormat, but got AvroFileFormat"):
        env.create_input(AvroFileFormat(AVRO))
    with pytest.raises(FileNotFoundError, match="nothing"):
        env.create_input(AvroInputFormat(f"{tmp_path}/nothing", AVRO))


def test_an_avro_input_is_read_with_its_type(tmp_path):
    env = environment("inline")
    records = env.from_collection([1, 2], Types.INT()).map(
        lambda n: {"n": n, "s": "x"}, output_type=GenericRecordAvroTypeInfo(AVRO)
    )
    records.sink_to(sink_of(tmp_path / "out", AvroBulkWriters.for_generic_record(AVRO)))
    env.execute()
    stream = env.create_input(AvroInputFormat(str(tmp_path / "out"), AVRO))
    assert stream.get_type() == GenericRecordAvroTypeInfo(AVRO)
    with stream.execute_and_collect() as found:
        assert sorted(record["n"] for record in found) == [1, 2]


@engines
def test_new_files_are_read_once_although_the_job_starts_again(engine, tmp_path):
    """Each start reads the new files, and the second continues from the savepoint of the first."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("".join(f"{n},a\n" for n in range(200)))
    monitor = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(CSV), str(tmp_path / "in"))

    def start(savepoint=None):
        settings = {"execution.savepoint.path": savepoint} if savepoint else {}
        env = environment(engine, **{"execution.checkpointing.interval": "100 ms", **settings})
        collected = CollectSink()
        source = monitor.monitor_continuously(Duration.of_millis(50)).build()
        rows = env.from_source(source, NO_WATERMARKS, "files").uid("files")
        rows.map(lambda row: str(row.n), output_type=Types.STRING()).uid("map").add_sink(collected).uid("sink")
        return env.execute_async(), collected

    def found_at_least(number, found, collected):
        found += collected.get_results()
        return len(found) >= number

    job, collected = start()
    first: list[str] = []
    wait_for(lambda: found_at_least(200, first, collected), job)
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    first += collected.get_results()
    (tmp_path / "in" / "b.csv").write_text("1000,b\n1001,b\n")
    job, collected = start(savepoint)
    second: list[str] = []
    try:
        wait_for(lambda: found_at_least(2, second, collected), job)
        time.sleep(0.3)  # time to read something twice
    finally:
        job.cancel().result()
    second += collected.get_results()
    assert sorted(map(int, first)) == list(range(200))
    assert sorted(map(int, second)) == [1000, 1001]
