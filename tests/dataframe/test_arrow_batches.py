"""Batches of Arrow from readers through functions to results and writers, and the same programs row by row."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.dataframe.conftest import start

import flintstream.dataframe as pf
from flintstream.connectors.files.columnar import BatchReader, RowGroupReader
from flintstream.connectors.files.reader import FileSplit
from flintstream.connectors.source import Fetch
from flintstream.datastream.formats._columnar_files import in_batches
from flintstream.datastream.formats.parquet import ParquetColumnarRowInputFormat
from flintstream.table import DataTypes
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.translate import calls_functions_in_batches, stays_in_batches
from flintstream.table.udf import udf

TYPES = {
    "id": (pa.int64(), pf.DataType.int64(), [0, 1, None, 3, 4]),
    "small": (pa.int8(), pf.DataType.int8(), [1, None, -3, 4, 5]),
    "ratio": (pa.float64(), pf.DataType.float64(), [0.5, None, float("inf"), -1.0, 2.0]),
    "single": (pa.float32(), pf.DataType.float32(), [0.1, 0.2, None, 3.5, 4.5]),
    "flag": (pa.bool_(), pf.DataType.bool(), [True, None, False, True, False]),
    "text": (pa.string(), pf.DataType.string(), ["a", None, "ä", "", "e"]),
    "bytes": (pa.binary(), pf.DataType.binary(), [b"a", None, b"", b"\x00", b"e"]),
    "day": (pa.date32(), pf.DataType.date(), [date(2026, 5, 17), None, date(1, 1, 1), date(9999, 12, 31), date.min]),
    "price": (pa.decimal128(10, 2), pf.DataType.decimal(10, 2), [Decimal("1.50"), None, Decimal(0), Decimal(-1), None]),
    "vector": (pa.list_(pa.float64()), pf.DataType.list(pf.DataType.float64()), [[1.0], None, [], [None, 2.0], [3.0]]),
    "point": (
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        pf.DataType.struct({"x": pf.DataType.int32(), "y": pf.DataType.string()}),
        [{"x": 1, "y": "a"}, None, {"x": None, "y": None}, {"x": 4, "y": "d"}, {"x": 5, "y": ""}],
    ),
    "clock": (pa.time32("ms"), pf.DataType.time(3), [time(1, 2, 3, 456000), None, time(0), time(23, 59, 59), None]),
    "at": (
        pa.timestamp("us"),
        pf.DataType.timestamp(6),
        [datetime(1, 1, 1), None, datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31), None],
    ),
    "counts": (
        pa.map_(pa.string(), pa.int64()),
        pf.DataType.map(pf.DataType.string(), pf.DataType.int64()),
        [[("a", 1)], None, [], [("b", None), ("c", 2)], [("ä", 3)]],
    ),
    "days": (pa.list_(pa.date32()), pf.DataType.list(pf.DataType.date()), [[date.min], None, [], [None], [date.max]]),
    "points": (
        pa.list_(pa.struct([("x", pa.int64()), ("at", pa.time32("ms"))])),
        pf.DataType.list(pf.DataType.struct({"x": pf.DataType.int64(), "at": pf.DataType.time(3)})),
        [[{"x": 1, "at": time(1)}, None], None, [], [{"x": None, "at": None}], [{"x": 2, "at": None}]],
    ),
    "whole": (
        pa.list_(pa.int64()),
        pf.DataType.list(pf.DataType.int64().not_null()),
        [[1, 2], None, [], [3], [4, 5]],
    ),
}
EVERYTHING = pa.table({name: pa.array(values, kind) for name, (kind, _, values) in TYPES.items()})
SCHEMA = {name: kind for name, (_, kind, _) in TYPES.items()}
RESULT = pf.DataType.struct(SCHEMA)


def same(batch):
    return dict(batch)


class Reversed:
    """Each column in the other order, so that a batch can be told from a part of it."""

    def __call__(self, batch):
        return {name: column.take(pa.array(range(len(column))[::-1])) for name, column in batch.items()}


@pytest.fixture(params=["true", "false"], ids=["batches", "rows"])
def way(request):
    """The environment, with and without batches."""
    t_env = start("streaming")
    t_env.get_config().set("flintstream.table.arrow-batches", request.param)
    t_env.get_config().set("python.fn-execution.bundle.time", "600000")  # a slow machine fills bundles, too
    yield request.param == "true"
    pf.set_table_environment(None)
    pf.config._buffered.clear()


@pytest.fixture
def files(tmp_path):
    """A directory with two files of two row groups."""
    pq.write_table(EVERYTHING, tmp_path / "a.parquet", row_group_size=3)
    pq.write_table(EVERYTHING.slice(1, 3), tmp_path / "b.parquet", row_group_size=2)
    return str(tmp_path)


def is_in_batches(frame):
    node, env = narrow(frame.to_table()._node), frame.to_table()._executor.env
    return calls_functions_in_batches(node, env)


def rows_of(table):
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("batch_format", ["pyarrow", "pandas"])
def test_all_types_pass_through_functions_unchanged_in_batches_and_in_rows(way, files, batch_format):
    frame = pf.read_parquet(files, schema=SCHEMA).map_batches(same, return_dtype=RESULT, batch_format=batch_format)
    if batch_format == "pandas":  # which shows structs as columns of their own
        kept = {name: kind for name, kind in SCHEMA.items() if name != "point"}
        frame = pf.read_parquet(files, schema=kept).map_batches(
            same, return_dtype=pf.DataType.struct(kept), batch_format=batch_format
        )
    assert is_in_batches(frame) is way
    wanted = pa.concat_tables([EVERYTHING, EVERYTHING.slice(1, 3)]).select(frame.columns)
    assert rows_of(frame.to_arrow()) == rows_of(wanted)
    assert len(frame.collect()) == 8


def test_rows_made_of_batches_have_the_values_of_rows(files):
    found = {}
    for batches in ("true", "false"):
        start("streaming").get_config().set("flintstream.table.arrow-batches", batches)
        frame = pf.read_parquet(files, schema=SCHEMA).map_batches(same, return_dtype=RESULT, batch_format="pyarrow")
        found[batches] = sorted(repr((tuple(row), [type(value) for value in row])) for row in frame.collect())
    assert found["true"] == found["false"]


def test_tables_of_arrow_come_back_as_they_are(way):
    frame = pf.from_arrow(EVERYTHING)
    assert rows_of(frame.to_arrow()) == rows_of(EVERYTHING)
    assert stays_in_batches(frame.to_table()._node, frame.to_table()._executor.env) is way


def test_functions_get_batches_of_at_most_a_size(way):
    def measure(batch):
        return {"id": batch["id"], "size": pa.array([len(batch["id"])] * len(batch["id"]))}

    numbers = pf.from_arrow(pa.table({"id": range(10)}))
    kind = "ROW<id BIGINT, size BIGINT>"
    found = numbers.map_batches(measure, return_dtype=kind, batch_format="pyarrow", batch_size=4)
    assert [tuple(row) for row in found.collect()] == [(i, 4 if i < 8 else 2) for i in range(10)]


def test_functions_follow_each_other_and_columns_may_be_chosen_between_them(way):
    numbers = pf.from_arrow(pa.table({"id": range(6), "unused": ["x"] * 6, "name": list("abcdef")}))
    doubled = numbers.select("name", "id").map_batches(
        lambda batch: {"n": pc.multiply(batch["id"], 2), "name": batch["name"]},
        return_dtype="ROW<n BIGINT, name STRING>",
        batch_format="pyarrow",
        batch_size=3,
    )
    shouted = doubled.rename("name", "who").map_batches(
        lambda batch: {"who": batch["who"].str.upper(), "n": batch["n"] + 1},
        return_dtype="ROW<who STRING, n BIGINT>",
        batch_format="pandas",
        batch_size=2,
    )
    chosen = shouted.select("n", "who")
    assert is_in_batches(chosen) is way
    assert [tuple(row) for row in chosen.collect()] == [(2 * i + 1, "ABCDEF"[i]) for i in range(6)]
    assert chosen.to_arrow().to_pydict() == {"n": [1, 3, 5, 7, 9, 11], "who": list("ABCDEF")}


def test_functions_in_expressions_get_batches_too_with_literals_and_other_functions(way):
    @pf.udf(return_dtype=int, func_type="pandas")
    def add(numbers, more):
        return numbers + more

    @pf.udf(return_dtype=int, func_type="arrow")
    def square(numbers):
        return pc.multiply(numbers, numbers)

    frame = pf.from_arrow(pa.table({"id": [1, 2, 3]})).select("id", n=square(add(pf.col("id"), pf.lit(10))))
    assert is_in_batches(frame) is way
    assert [tuple(row) for row in frame.collect()] == [(1, 121), (2, 144), (3, 169)]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(lambda frame: frame.group_by("id").agg(n=pf.col("id").count), id="groups"),
        pytest.param(lambda frame: frame.union_all(frame), id="union"),
    ],
)
def test_what_needs_rows_gets_them_from_batches(way, more):
    frame = pf.from_arrow(pa.table({"id": [1, 2, 3]})).map_batches(
        same, return_dtype="ROW<id BIGINT>", batch_format="pyarrow"
    )
    assert not is_in_batches(more(frame))
    expected = sorted(tuple(row) for row in more(pf.from_records([(1,), (2,), (3,)], schema=["id"])).collect())
    assert sorted(tuple(row) for row in more(frame).collect()) == expected


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_writers_take_batches(way, tmp_path, kind):
    numbers = pf.from_arrow(pa.table({"id": range(10), "name": [None, "b"] * 5}))
    made = numbers.map_batches(Reversed, return_dtype="ROW<id BIGINT, name STRING>", batch_format="pyarrow")
    made.write_generic("filesystem", options={"path": str(tmp_path / "out"), "format": kind})
    back = pf.read_generic(
        "filesystem",
        schema={"id": pf.DataType.int64(), "name": pf.DataType.string()},
        options={"path": str(tmp_path / "out"), "format": kind},
    )
    assert sorted(tuple(row) for row in back.collect()) == [(i, "b" if i % 2 else None) for i in range(10)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_inserted_columns_are_those_of_the_same_positions_whatever_their_names(way, tmp_path, kind):
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "a.parquet")
    t_env = pf.get_table_environment()
    assert t_env is not None
    t_env.create_temporary_function("plus", udf(lambda n: n + 1, result_type=DataTypes.BIGINT(), func_type="pandas"))
    for name, columns, path, form in (
        ("source", "n BIGINT", tmp_path / "a.parquet", "parquet"),
        ("target", "m BIGINT, n BIGINT", tmp_path / "out", kind),
    ):
        t_env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}')"
        )
    t_env.execute_sql("INSERT INTO target SELECT n, plus(n) FROM source").wait()
    with t_env.execute_sql("SELECT m, n FROM target").collect() as rows:
        assert sorted(tuple(row) for row in rows) == [(1, 2), (2, 3)]


def test_a_column_that_a_file_lacks_is_null(way, tmp_path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "a.parquet")
    frame = pf.read_parquet(str(tmp_path), schema={"id": pf.DataType.int64(), "name": pf.DataType.string()})
    made = frame.map_batches(same, return_dtype="ROW<id BIGINT, name STRING>", batch_format="pyarrow")
    assert sorted(tuple(row) for row in made.collect()) == [(1, None), (2, None)]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        pytest.param({"id": ["x"]}, "pyarrow.Array", id="type"),
        pytest.param({"id": [1, 2]}, "length", id="length"),
        pytest.param({"other": [1]}, "no column 'id'", id="column"),
    ],
)
def test_wrong_results_of_functions_are_errors_in_both_ways(way, made, message):
    def wrong(_):
        return {name: pa.array(values) for name, values in made.items()}

    frame = pf.from_arrow(pa.table({"id": [1]})).map_batches(
        wrong, return_dtype="ROW<id BIGINT>", batch_format="pyarrow"
    )
    with pytest.raises(Exception, match=message):
        frame.collect()


def test_iter_batches_has_batches_of_the_size_that_is_asked_for(way):
    frame = pf.from_arrow(pa.table({"id": range(10)})).map_batches(
        same, return_dtype="ROW<id BIGINT>", batch_format="pyarrow", batch_size=3
    )
    with frame.iter_batches(batch_size=4, batch_format="pyarrow") as batches:
        assert [batch.num_rows for batch in batches] == [4, 4, 2]
    with frame.iter_batches(batch_size=4) as batches:
        assert pd.concat(batches)["id"].tolist() == list(range(10))


def test_an_empty_table_has_no_rows_but_its_columns(way):
    frame = pf.from_arrow(pa.table({"id": pa.array([], pa.int64())}))
    made = frame.map_batches(same, return_dtype="ROW<id BIGINT>", batch_format="pyarrow")
    assert made.to_arrow().schema.names == ["id"]
    assert made.collect() == []


def test_positions_in_files_are_rows_so_that_either_way_resumes_where_the_other_stopped(tmp_path):
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(10)}), path, row_group_size=6)
    form = ParquetColumnarRowInputFormat(DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())]))
    by_rows, by_batches = form.create_reader(), in_batches(form, ["id"], 4).create_reader()
    assert isinstance(by_rows, RowGroupReader)
    assert isinstance(by_batches, BatchReader)
    split = FileSplit("a", path, 0, None)
    fetch = Fetch(size=3)
    first = next(by_rows.read(split, fetch))
    by_rows.close()
    assert [row[0] for row in first] == [0, 1, 2]
    rest = FileSplit("a", path, 0, None, position=split.position, skip=split.skip)
    found = [item.batch.column(0).to_pylist() for items in by_batches.read(rest, fetch) for item in items]
    assert found[0][0] == 3
    assert [item for part in found for item in part] == list(range(3, 10))


def test_filters_and_computed_columns_leave_other_columns_in_batches(way):
    table = pa.table(
        {
            "id": range(10),
            "text": [None if i == 3 else "x" * i for i in range(10)],
            "vector": [[float(i)] for i in range(10)],
        }
    )
    frame = pf.from_arrow(table).filter((pf.col("id") % 3 > 0) | pf.col("text").is_null)
    frame = frame.with_columns(double=pf.col("id") * 2, flag=pf.col("text") == "x")
    called = frame.map_batches(
        lambda batch: {
            "id": batch["double"],
            "vector": batch["vector"],
            "size": pa.array([len(batch["id"])] * len(batch["id"])),
        },
        return_dtype="ROW<id BIGINT, vector ARRAY<DOUBLE>, size BIGINT>",
        batch_format="pyarrow",
        batch_size=4,
    )
    last = called.filter(pf.col("id") > 4)
    assert is_in_batches(last) is way
    assert stays_in_batches(narrow(frame.to_table()._node), frame.to_table()._executor.env) is way
    found = frame.to_arrow().to_pylist()
    assert [row["id"] for row in found] == [1, 2, 3, 4, 5, 7, 8]
    assert [row["double"] for row in found] == [2, 4, 6, 8, 10, 14, 16]
    assert [row["flag"] for row in found] == [True, False, None, False, False, False, False]
    assert [row["vector"] for row in found] == [[float(i)] for i in (1, 2, 3, 4, 5, 7, 8)]
    expected = [(6, [3.0], 4), (8, [4.0], 4), (10, [5.0], 3), (14, [7.0], 3), (16, [8.0], 3)]
    assert [tuple(row) for row in last.collect()] == expected


def test_expressions_are_evaluated_for_the_rows_that_a_condition_leaves(way):
    frame = pf.from_arrow(pa.table({"n": [0, 1, 2]})).filter(pf.col("n") > 0).with_columns(part=6 / pf.col("n"))
    assert stays_in_batches(narrow(frame.to_table()._node), frame.to_table()._executor.env) is way
    assert frame.to_arrow().to_pylist() == [{"n": 1, "part": 6}, {"n": 2, "part": 3}]


def test_computed_columns_have_the_values_of_rows(files):
    found = {}
    for batches in ("true", "false"):
        start("streaming").get_config().set("flintstream.table.arrow-batches", batches)
        frame = pf.read_parquet(files, schema=SCHEMA).filter(pf.col("small").is_not_null)
        frame = frame.with_columns(
            a=pf.col("id") + pf.col("small"),
            b=pf.col("price") * 3,
            c=pf.col("ratio") > 0,
            d=pf.col("single") * 2,
            e=pf.col("day"),
            f=pf.col("text").is_null,
            g=pf.lit("x"),
        )
        found[batches] = sorted(map(repr, frame.to_arrow().to_pylist()))
    assert found["true"] == found["false"]
    assert len(found["true"]) == 6
