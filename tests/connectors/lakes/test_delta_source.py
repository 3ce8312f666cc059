"""A source of Delta Lake gives each row once, whatever fails, as another implementation has written it."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import struct
import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="the extra 'delta' is not installed: make setup")

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
from tests.connectors.kafka.jobs import NO_WATERMARKS, checkpointed
from tests.datastream.inline import make_env as inline_env
from tests.engine.conftest import make_env as both_engines
from tests.engine.faults import Faults, FaultyMap

from flintstream.common import Row
from flintstream.connectors.lakes.writer import LakeError
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.lakes import DeltaSink, DeltaSource
from flintstream.errors import PlanError
from flintstream.table import DataTypes

make_env = both_engines


@pytest.fixture
def table(tmp_path):
    return str(tmp_path / "table")


def append(table, numbers, **more):
    deltalake.write_deltalake(table, pa.table({"n": pa.array(numbers, pa.int64())}), mode="append", **more)


def read(source, env=None):
    env = env or inline_env()
    with env.from_source(source, NO_WATERMARKS, "delta").execute_and_collect() as found:
        return list(found)


def numbers(source):
    return sorted(row.n for row in read(source))


def test_both_engines_read_all_columns_and_some(make_env, table):
    words = pa.table({"n": list(range(2000)), "word": [f"w{n}" for n in range(2000)], "day": ["mon", "tue"] * 1000})
    deltalake.write_deltalake(table, words, partition_by=["day"])
    rows = read(DeltaSource.for_bounded_row_data(table).build(), make_env(2))
    assert sorted(tuple(row) for row in rows) == [(n, f"w{n}", ["mon", "tue"][n % 2]) for n in range(2000)]
    rows = read(DeltaSource.for_bounded_row_data(table).column_names(["day"]).build())
    assert sorted(map(str, rows)) == ["Row(day='mon')"] * 1000 + ["Row(day='tue')"] * 1000


def test_values_of_all_types_come_back(table):
    kinds = {
        "day": DataTypes.STRING(), "n": DataTypes.INT(), "price": DataTypes.DECIMAL(10, 2),
        "at": DataTypes.TIMESTAMP(6), "date": DataTypes.DATE(), "ratio": DataTypes.DOUBLE(),
        "tags": DataTypes.ARRAY(DataTypes.STRING()), "sizes": DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()),
        "box": DataTypes.ROW([DataTypes.FIELD("w", DataTypes.BIGINT())]), "flag": DataTypes.BOOLEAN(),
        "data": DataTypes.BYTES(), "small": DataTypes.TINYINT(),
    }  # fmt: skip
    row_type = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in kinds.items()])
    at = dt.datetime(2024, 5, 1, 12, 30, 0, 123456)
    full = ("mon/day 1%", 1, Decimal("2.50"), at, at.date(), 0.5, ["a", None], {"k": 1}, Row(w=7), True, b"\0x", -3)
    rows = [full, ("tue", *[None] * 11)]
    env = inline_env()
    env.from_collection(rows).sink_to(DeltaSink(table, row_type, ["day", "n", "price", "at", "date", "flag"]))
    env.execute()
    assert sorted(map(tuple, read(DeltaSource.for_bounded_row_data(table).build()))) == rows


@pytest.fixture
def five(table):
    """Versions 0 to 4, each with its number, at the seconds 100, 200 and so on."""
    for n in range(5):
        append(table, [n])
        log = Path(table, "_delta_log", f"{n:020d}.json")
        os.utime(log, (100 * (n + 1), 100 * (n + 1)))
    return table


def test_a_version_is_chosen_by_number_or_time(five):
    builder = DeltaSource.for_bounded_row_data(five)
    assert numbers(builder.build()) == [0, 1, 2, 3, 4]
    assert numbers(builder.version_as_of(1).build()) == [0, 1]
    assert numbers(builder.timestamp_as_of("1970-01-01 00:05:00").build()) == [0, 1, 2]
    assert numbers(builder.timestamp_as_of("1970-01-01T00:05:59.999").build()) == [0, 1, 2]
    with pytest.raises(LakeError, match="has no version as old as 99000 ms"):
        numbers(builder.timestamp_as_of("1970-01-01 00:01:39").build())
    with pytest.raises(LakeError, match="cannot open version 7 of"):
        numbers(builder.version_as_of(7).build())


def stream(builder, count, then=lambda seen: None):
    """Return the first numbers of a stream, in order."""
    found = []
    env = inline_env()
    source = builder.update_check_interval_millis(5).build()
    with env.from_source(source, NO_WATERMARKS, "delta").execute_and_collect() as rows:
        for row in rows:
            found.append(row.n)
            then(found)
            if len(found) == count:
                return sorted(found)
    return found


def note_times(table, since):
    """Let the versions from one on note their times, the seconds 1000, 2000 and so on, as Delta's own writers do."""
    for n in range(since, 5):
        log = Path(table, "_delta_log", f"{n:020d}.json")
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        if n == since:
            first = Path(table, "_delta_log", f"{0:020d}.json").read_text().splitlines()
            (metadata,) = (json.loads(line)["metaData"] for line in first if "metaData" in line)
            names = ("EnablementVersion", "EnablementTimestamp")
            enabled = dict(zip((f"delta.inCommitTimestamp{name}" for name in names), (str(n), "1000000"), strict=True))
            metadata["configuration"] = {"delta.enableInCommitTimestamps": "true", **enabled}
            protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["inCommitTimestamp"]}
            actions += [{"protocol": protocol}, {"metaData": metadata}]
        others = [action for action in actions if "commitInfo" not in action]
        info = {"commitInfo": {"inCommitTimestamp": 1_000_000 * (n - since + 1), "operation": "WRITE"}}
        log.write_text("\n".join(map(json.dumps, [info, *others])))
        os.utime(log, (100 * (n + 1), 100 * (n + 1)))


def test_times_that_commits_note_count_from_the_version_that_enables_them(five):
    note_times(five, 2)
    builder = DeltaSource.for_bounded_row_data(five)
    for text, found in {"00:03:20": 1, "00:16:39.999": 1, "00:16:40": 2, "00:50:00": 4}.items():
        assert numbers(builder.timestamp_as_of(f"1970-01-01 {text}").build()) == list(range(found + 1)), text
    begins = DeltaSource.for_continuous_row_data(five).starting_timestamp("1970-01-01 00:33:20")
    assert stream(begins, 2) == [3, 4]


@pytest.mark.parametrize(
    ("choose", "first"),
    [
        (lambda builder: builder, 0),
        (lambda builder: builder.starting_version(3), 3),
        (lambda builder: builder.starting_version("latest"), 4),
        (lambda builder: builder.starting_timestamp("1970-01-01 00:03:20"), 1),
        (lambda builder: builder.starting_timestamp("1970-01-01 00:03:21"), 2),
    ],
)
def test_a_stream_gives_what_versions_add(five, choose, first):
    def add(seen):
        if sorted(seen) == list(range(first, 5)):
            append(five, [5])
        if sorted(seen) == list(range(first, 6)):
            append(five, [6])

    builder = choose(DeltaSource.for_continuous_row_data(five))
    assert stream(builder, 7 - first, add) == list(range(first, 7))


def test_a_stream_from_the_future_gives_the_versions_to_come(five):
    builder = DeltaSource.for_continuous_row_data(five).starting_timestamp("1970-01-02")
    timer = threading.Timer(0.3, append, (five, [5]))
    timer.start()
    assert stream(builder, 1) == [5]
    timer.join()
    with pytest.raises(LakeError, match="has no version 17, only up to 5"):
        stream(DeltaSource.for_continuous_row_data(five).starting_version(17), 1)


class Number(FaultyMap):
    def map(self, value):
        time.sleep(0.0003)
        return super().map(value.n)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_each_row_comes_once_whatever_fails(tmp_path, table, parallelism):
    for start in range(0, 1000, 250):
        append(table, range(start, start + 250))
    faults = Faults(tmp_path / "faults", [("map", number) for number in (100, 999, 1001, 1700)])
    env = checkpointed(tmp_path, parallelism)
    source = DeltaSource.for_continuous_row_data(table).update_check_interval_millis(5).build()
    found = []
    with env.from_source(source, NO_WATERMARKS, "delta").map(Number(faults)).execute_and_collect() as rows:
        for n in rows:
            found.append(n)
            if len(found) % 250 == 0 and len(found) >= 1000:
                append(table, range(len(found), len(found) + 250))
            if len(found) == 2000:
                break
    assert sorted(found) == list(range(2000))
    assert faults.happened() == faults.planned()


def test_a_version_that_removes_rows_fails_a_stream_unless_it_may(five):
    deltalake.DeltaTable(five).delete("n = 1")  # version 5 removes a file
    append(five, [6, 7, 8])
    deltalake.DeltaTable(five).delete("n = 7")  # version 7 replaces a file
    append(five, [9])
    deltalake.DeltaTable(five).optimize.compact()
    append(five, [10])
    builder = DeltaSource.for_continuous_row_data(five).starting_version(4)
    with pytest.raises(LakeError, match=r"version 5 of .* removes rows, .*: set 'ignoreDeletes', or start after"):
        stream(builder, 9)
    with pytest.raises(LakeError, match=r"version 7 of .* replaces rows, .*: set 'ignoreChanges', or start after"):
        stream(builder.ignore_deletes(True), 9)
    assert stream(builder.ignore_changes(True), 8) == [4, 6, 6, 7, 8, 8, 9, 10]
    assert stream(DeltaSource.for_continuous_row_data(five).starting_version(8), 2) == [9, 10]


def test_a_version_that_has_expired_is_an_error(five):
    deltalake.DeltaTable(five).create_checkpoint()
    for n in range(2):
        Path(five, "_delta_log", f"{n:020d}.json").unlink()
    assert numbers(DeltaSource.for_bounded_row_data(five).build()) == [0, 1, 2, 3, 4]
    assert stream(DeltaSource.for_continuous_row_data(five).starting_version(2), 3) == [2, 3, 4]
    expired = DeltaSource.for_continuous_row_data(five).starting_version(1)
    with pytest.raises(LakeError, match="has version 1 no more: it has expired"):
        stream(expired, 1)
    restored = expired.build().create_enumerator(1)
    restored.restore((True, 1))
    with pytest.raises(LakeError, match="has version 1 no more: it has expired"):
        restored.discover()


def test_an_enumerator_goes_on_behind_what_it_has_handed_out(five):
    source = DeltaSource.for_continuous_row_data(five).update_check_interval_millis(1).build()
    first = source.create_enumerator(1)
    assert len(first.discover()) == 5
    state = first.snapshot()
    append(five, [5])
    second = source.create_enumerator(1)
    second.restore(state)
    (split,) = second.discover()
    (found,) = source.create_reader().read(split, Fetch())
    assert str(found) == "[Row(n=5)]"


def test_a_column_that_is_newer_than_a_file_is_null_there(five):
    more = pa.table({"n": [5], "name": ["e"]})
    deltalake.write_deltalake(five, more, mode="append", schema_mode="merge")
    rows = read(DeltaSource.for_bounded_row_data(five).build())
    assert sorted(tuple(row) for row in rows) == [*((n, None) for n in range(5)), (5, "e")]
    rows = read(DeltaSource.for_bounded_row_data(five).column_names(["name"]).build())
    assert sorted(str(row.name) for row in rows) == ["None"] * 5 + ["e"]


def bitmap(numbers):
    """Return small numbers as the log of Delta Lake has deleted rows: a bitmap of 64 bits with an array, as text."""
    packed = struct.pack("<II", 12346, 1) + struct.pack("<HH", 0, len(numbers) - 1) + struct.pack("<I", 16)
    packed += struct.pack(f"<{len(numbers)}H", *numbers)
    whole = struct.pack("<IQI", 1681511377, 1, 0) + packed
    size, whole = len(whole), whole + b"\0" * (-len(whole) % 4)
    return size, base64.b85encode(whole).translate(bytes.maketrans(PYTHON, Z85)).decode()


PYTHON = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def test_rows_that_a_version_marks_as_deleted_are_left_out(table):
    append(table, range(10), configuration={"delta.enableDeletionVectors": "true"})
    log = Path(table, "_delta_log")
    (add,) = (json.loads(line)["add"] for line in (log / f"{0:020d}.json").read_text().splitlines() if '"add"' in line)
    size, text = bitmap([0, 3, 9])
    vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": size, "cardinality": 3}
    remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 1, "extendedFileMetadata": False}
    actions = [{"add": {**add, "deletionVector": vector}}, {"remove": remove}]
    (log / f"{1:020d}.json").write_text("\n".join(map(json.dumps, actions)))
    assert numbers(DeltaSource.for_bounded_row_data(table).build()) == [1, 2, 4, 5, 6, 7, 8]
    assert numbers(DeltaSource.for_bounded_row_data(table).version_as_of(0).build()) == list(range(10))
    changes = DeltaSource.for_continuous_row_data(table).starting_version(1).ignore_changes(True)
    assert stream(changes, 7) == [1, 2, 4, 5, 6, 7, 8]


def rename_columns(log):
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        if "metaData" in action:
            schema = json.loads(action["metaData"]["schemaString"])
            schema["fields"][0]["metadata"] = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "x"}
            action["metaData"]["schemaString"] = json.dumps(schema)
            action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
    log.write_text("\n".join(map(json.dumps, actions)))


def test_what_cannot_be_read_is_refused(table, five):
    with pytest.raises(LakeError, match=r"cannot open the Delta table .*nowhere"):
        DeltaSource.for_bounded_row_data(table + "-nowhere").build()
    with pytest.raises(PlanError, match="has no column 'no': it has n"):
        DeltaSource.for_bounded_row_data(five).column_names(["no"]).build()
    with pytest.raises(PlanError, match=r"the time of the version must be written as .*, got 'yesterday'"):
        DeltaSource.for_bounded_row_data(five).timestamp_as_of("yesterday")
    with pytest.raises(PlanError, match="the first version must be a number or 'latest', got 'first'"):
        DeltaSource.for_continuous_row_data(five).starting_version("first")
    rename_columns(Path(five, "_delta_log", f"{0:020d}.json"))
    with pytest.raises(LakeError, match="maps its columns to other names"):
        DeltaSource.for_bounded_row_data(five).build()


def test_files_of_another_directory_and_whole_types_are_read(tmp_path, five):
    added = {"path": (tmp_path / "other.parquet").as_uri(), "partitionValues": {}, "size": 1, "modificationTime": 1}
    pq.write_table(pa.table({"n": pa.array([5, 6], pa.int32())}), tmp_path / "other.parquet")
    Path(five, "_delta_log", f"{5:020d}.json").write_text(json.dumps({"add": {**added, "dataChange": True}}))
    assert stream(DeltaSource.for_continuous_row_data(five).starting_version(4), 3) == [4, 5, 6]


def test_secrets_are_not_in_the_text_of_a_source(five):
    source = DeltaSource.for_bounded_row_data(five, {"AWS_SECRET_ACCESS_KEY": "very-secret"}).build()
    assert "very-secret" not in f"{source!r}{source._log!r}{source.create_reader()!r}"
