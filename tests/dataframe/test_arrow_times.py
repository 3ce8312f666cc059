"""Timestamps in batches of Arrow have the values of those in rows, whatever their digits, zones and places."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyarrow import orc
from tests.dataframe.conftest import start

import flintstream.dataframe as pf
from flintstream.table import DataTypes
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.translate import calls_functions_in_batches, stays_in_batches

ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]
UNITS = ["s", "ms", "us", "ns"]
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
NARROW = (datetime(1678, 1, 1), datetime(2262, 1, 1))
"""What nanoseconds reach."""
WIDE = (datetime(1, 1, 2), datetime(9999, 12, 30))


def times(unit):
    """Values that a unit has: about some moments, before and after 1970."""
    first, last = NARROW if unit == "ns" else WIDE
    epoch = datetime(1970, 1, 1)
    low, high = (int((end - epoch).total_seconds()) * PER_SECOND[unit] for end in (first, last))
    return st.none() | st.integers(-3, 3) | st.integers(low, high)


@st.composite
def columns(draw):
    """An array of timestamps, perhaps within others, and the type of its column."""
    unit = draw(st.sampled_from(UNITS))
    zone = draw(st.sampled_from([None, "UTC", "Asia/Tokyo"]))
    precision = draw(st.integers(0, 9))
    kind, declared = pa.timestamp(unit, zone), pf.DataType.timestamp(precision)
    if draw(st.booleans()):
        declared = pf.DataType.timestamp_ltz(precision)
    leaves = times("ns" if precision > 6 else unit).map(
        lambda value: value if unit == "ns" or precision <= 6 or value is None else value // (10**9 // PER_SECOND[unit])
    )
    shape = draw(st.sampled_from(["plain", "list", "map", "struct"]))
    if shape == "list":
        kind, declared, leaves = pa.list_(kind), pf.DataType.list(declared), st.none() | st.lists(leaves, max_size=3)
    elif shape == "map":
        kind, declared = pa.map_(pa.string(), kind), pf.DataType.map(pf.DataType.string(), declared)
        leaves = st.none() | st.dictionaries(st.sampled_from("abc"), leaves).map(lambda found: list(found.items()))
    elif shape == "struct":
        kind, declared = pa.struct([("x", kind)]), pf.DataType.struct({"x": declared})
        leaves = st.none() | st.fixed_dictionaries({"x": leaves})
    return pa.array(draw(st.lists(leaves, min_size=1, max_size=5)), kind), declared


def both_ways(make, zone="UTC"):
    """Return what a function makes of the same program in batches and in rows."""
    found = []
    for batches in ("true", "false"):
        t_env = start("streaming")
        t_env.get_config().set("flintstream.table.arrow-batches", batches).set("table.local-time-zone", zone)
        found.append(make(batches == "true"))
    return found


def is_in_batches(frame):
    return stays_in_batches(narrow(frame.to_table()._node), frame.to_table()._executor.env)


def same(batch):
    return dict(batch)


def results(frame):
    table = frame.to_arrow()
    return (
        table.schema,
        [column.cast(_as_numbers(column.type)).to_pylist() for column in table.columns],
        frame.collect(),
    )


def _as_numbers(kind):
    """Return a type with numbers in place of timestamps: Python has no nanoseconds."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct(
            [pa.field(kind.field(i).name, _as_numbers(kind.field(i).type)) for i in range(kind.num_fields)]
        )
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _as_numbers(kind.item_type))
    return pa.list_(_as_numbers(kind.value_type)) if pa.types.is_list(kind) else kind


@settings(max_examples=30, phases=(Phase.generate,))
@given(column=columns(), zone=st.sampled_from(ZONES))
def test_tables_of_arrow_have_the_same_timestamps_in_batches_and_in_rows(column, zone):
    table = pa.table({"id": range(len(column[0])), "at": column[0]})

    def run(batches):
        frame = pf.from_arrow(table).filter(pf.col("id") >= 0)
        assert is_in_batches(frame) is batches
        return results(frame)

    in_batches, in_rows = both_ways(run, zone)
    assert in_batches == in_rows


@settings(max_examples=30, phases=(Phase.generate,))
@given(column=columns(), zone=st.sampled_from(ZONES), kind=st.sampled_from(["pyarrow", "pandas"]))
def test_functions_get_and_return_the_same_timestamps_in_batches_and_in_rows(tmp_path_factory, column, zone, kind):
    array, declared = column
    path = tmp_path_factory.mktemp("files")
    pq.write_table(pa.table({"id": range(len(array)), "at": array}), path / "a.parquet")
    schema = {"id": pf.DataType.int64(), "at": declared}
    flat = kind == "pyarrow" or not pa.types.is_nested(array.type)

    def run(batches):
        frame = pf.read_parquet(str(path), schema=schema)
        result = pf.DataType.struct(schema)
        called = frame.map_batches(same, return_dtype=result, batch_format=kind if flat else "pyarrow")
        assert is_in_batches(called) is batches
        return results(called)

    in_batches, in_rows = both_ways(run, zone)
    assert in_batches == in_rows


@settings(max_examples=20, phases=(Phase.generate,))
@given(column=columns(), kind=st.sampled_from(["parquet", "orc"]), local=st.sampled_from(ZONES))
def test_files_have_the_same_timestamps_in_batches_and_in_rows(tmp_path_factory, column, kind, local):
    array, declared = column
    path, written = tmp_path_factory.mktemp("given"), tmp_path_factory.mktemp("written")
    pq.write_table(pa.table({"id": range(len(array)), "at": array}), path / "a.parquet")
    schema = {"id": pf.DataType.int64(), "at": declared}

    def run(batches):
        made = pf.read_parquet(str(path), schema=schema).map_batches(
            lambda batch: {"id": pc.add(batch["id"], 1)}, return_dtype="ROW<id BIGINT>", batch_format="pyarrow"
        )
        passed = pf.read_parquet(str(path), schema=schema)
        passed = passed.with_column("next", _plus_one(pf.col("id"))).select("next", "at")
        for frame in (made, passed):
            table = frame.to_table()
            assert calls_functions_in_batches(narrow(table._node), table._executor.env) is batches
        out = written / f"{batches}.{kind}"
        passed.write_generic("filesystem", options={"path": str(out), "format": kind})
        read = pq.read_table if kind == "parquet" else orc.read_table
        files = [read(str(file)) for file in out.iterdir() if file.is_file() and not file.name.startswith((".", "_"))]
        table = pa.concat_tables(files).sort_by("next")
        return table.schema, table.to_pylist()

    with _clocks_of(local):
        in_batches, in_rows = both_ways(run)
    assert in_batches == in_rows


@pf.udf(return_dtype=int, func_type="arrow")
def _plus_one(numbers):
    return pc.add(numbers, 1)


@contextmanager
def _clocks_of(zone):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


def test_computed_timestamps_are_those_of_rows():
    table = pa.table({"at": pa.array([-1, 0, 1_500, None], pa.timestamp("ms")), "n": range(4)})

    def run(batches):
        frame = pf.from_arrow(table).filter(pf.col("n") < 4)
        frame = pf.sql(
            "SELECT n, CAST(`at` AS TIMESTAMP(0)) AS a, `at` + INTERVAL '0.001' SECOND AS b, "
            "CAST(`at` AS TIMESTAMP_LTZ(3)) AS c, `at` FROM frame WHERE `at` < TIMESTAMP '1970-01-01 00:00:01'"
        )
        assert is_in_batches(frame) is batches
        return results(frame)

    in_batches, in_rows = both_ways(run, "America/New_York")
    assert in_batches == in_rows
    assert len(in_rows[2]) == 2


def test_computed_nanoseconds_are_computed_in_rows_because_arrow_has_them_for_fewer_years():
    table = pa.table({"at": pa.array([datetime(9999, 12, 31)], pa.timestamp("us"))})

    def run(_):
        frame = pf.from_arrow(table).select(again=pf.col("at").cast(DataTypes.TIMESTAMP(9)))
        assert not is_in_batches(frame)
        return frame.collect()

    assert both_ways(run)[0] == both_ways(run)[1]


def test_pandas_functions_get_points_in_time_in_the_zone_of_the_session():
    def zones(batch):
        return {"text": batch["at"].map(lambda moment: moment.isoformat())}

    def run(batches):
        frame = pf.from_arrow(pa.table({"at": pa.array([0], pa.timestamp("ms"))}))
        frame = frame.select(at=pf.col("at").cast(DataTypes.TIMESTAMP_LTZ(3)))
        called = frame.map_batches(zones, return_dtype="ROW<text STRING>", batch_format="pandas")
        assert is_in_batches(called) is batches
        return [tuple(row) for row in called.collect()]

    in_batches, in_rows = both_ways(run, "America/New_York")
    assert in_batches == in_rows == [("1970-01-01T05:00:00-05:00",)]


def test_digits_before_1970_are_cut_to_the_past(tmp_path):
    pq.write_table(pa.table({"at": pa.array([-1, 1_999_999], pa.timestamp("us"))}), tmp_path / "a.parquet")
    schema = {"at": pf.DataType.timestamp(0)}

    def run(batches):
        frame = pf.read_parquet(str(tmp_path), schema=schema)
        called = frame.map_batches(same, return_dtype=pf.DataType.struct(schema), batch_format="pyarrow")
        assert is_in_batches(called) is batches
        return sorted(row[0] for row in called.collect())

    in_batches, in_rows = both_ways(run)
    assert in_batches == in_rows == [datetime(1969, 12, 31, 23, 59, 59), datetime(1970, 1, 1, 0, 0, 1)]
