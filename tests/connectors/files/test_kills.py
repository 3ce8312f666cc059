"""From files through keyed state into files, while processes are killed; a lost driver is started again."""

from __future__ import annotations

import gzip

import pyarrow.parquet as pq
import pytest
from tests.faults.counting import check, counted
from tests.faults.rounds import Course, Round, RoundError, run_round

from flintstream.datastream.formats.parquet import ParquetBulkWriters
from flintstream.table.types import DataTypes

RECORDS = 240
KEYS = 6

PROGRAM = """
import sys, time
from pyflink.common import Encoder, Row, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    BucketAssigner, FileCompactor, FileCompactStrategy, FileSink, FileSource, RollingPolicy,
)
from pyflink.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.table import DataTypes

output, files = sys.argv[1:]
number = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
counted = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("seen", DataTypes.BIGINT())])
counted_type = Types.ROW_NAMED(["n", "seen"], [Types.INT(), Types.LONG()])


class Count(KeyedProcessFunction):
    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, context):
        seen = (self.seen.value() or 0) + 1
        self.seen.update(seen)
        yield Row(value.n, seen)


def slow(row):
    time.sleep(0.01)
    return row


def sink(builder):
    return builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
schema = CsvSchema.builder().add_number_column("n", DataTypes.INT()).build()
csv = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), files + "/csv").build()
parquet = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(number), files + "/parquet").build()
none = WatermarkStrategy.no_watermarks()
one = Types.ROW_NAMED(["n"], [Types.INT()])
numbers = env.from_source(csv, none, "csv").map(slow, output_type=one)
numbers = numbers.union(env.from_source(parquet, none, "parquet").map(slow, output_type=one))
rows = numbers.key_by(lambda row: row.n % 6, key_type=Types.INT()).process(Count(), output_type=counted_type)
lines = FileSink.for_row_format(output + "/lines", Encoder.simple_string_encoder())
lines.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
compact = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2).build()
lines.enable_compact(compact, FileCompactor.concat_file_compactor())
rows.map(lambda row: f"{row.n} {row.seen}", output_type=Types.STRING()).sink_to(sink(lines))
rows.sink_to(sink(FileSink.for_bulk_format(output + "/parquet", ParquetBulkWriters.for_row_type(counted))))
env.execute("counting")
"""


class FilesCourse(Course):
    """Read CSV, compressed and not, and Parquet, and write merged lines and Parquet."""

    program = PROGRAM

    def _arguments(self) -> list[str]:
        files = self.directory / "files"
        if not files.exists():
            for name in ("csv", "parquet"):
                (files / name).mkdir(parents=True)
            third = RECORDS // 3
            (files / "csv" / "a.csv.gz").write_bytes(gzip.compress("".join(f"{n}\n" for n in range(third)).encode()))
            (files / "csv" / "b.csv").write_text("".join(f'"{n}"\r\n' for n in range(third, 2 * third)))
            kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
            with (files / "parquet" / "c.parquet").open("wb") as stream:
                writer = ParquetBulkWriters.for_row_type(kind).create(stream)
                for start in range(2 * third, RECORDS, 20):
                    writer.add_elements([(n,) for n in range(start, start + 20)])
                    writer.flush()
                writer.finish()
        return [str(files)]

    def _settings(self):
        settings = dict(super()._settings())
        if self.plan.place == "local" and all(victim == "driver" for victim, _ in self.plan.kills):
            settings["flintstream.engine"] = "inline"
        return settings

    def _check(self) -> None:
        lines = [line for path in self._of("lines") for line in path.read_text().splitlines()]
        rows = [row for path in self._of("parquet") for row in pq.ParquetFile(path).read().to_pylist()]
        check(counted(lines), RECORDS, KEYS)
        check([(row["n"], row["seen"]) for row in rows], RECORDS, KEYS)
        if not all(path.name.startswith("compacted-") for path in self._of("lines")):
            raise RoundError("there are lines that were not merged")

    def _of(self, name):
        return [path for path in self.files if path.parent.name == name]


@pytest.mark.kills
@pytest.mark.timeout(300)
def test_records_are_in_files_once_whatever_is_killed_without_spark():
    plan = Round(3, "local", "hashmap", False, (("driver", 0.3),), (2, 1))
    assert run_round(plan, kind=FilesCourse) == {"driver": 1}


@pytest.mark.kills
@pytest.mark.nightly
def test_records_are_in_files_once_although_several_drivers_are_killed_without_spark():
    plan = Round(5, "local", "hashmap", False, (("driver", 0.2), ("driver", 0.4)), (2, 1, 2))
    assert run_round(plan, kind=FilesCourse) == {"driver": 2}


@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_records_are_in_files_once_whatever_is_killed():
    plan = Round(4, "local", "rocksdb", True, (("worker", 0.3), ("tree", 0.5)), (2, 1, 2))
    assert run_round(plan, kind=FilesCourse) == {"worker": 1, "tree": 1}
