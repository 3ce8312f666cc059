"""Functions of programs in DataFrames, and SQL over them."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import flintstream.dataframe as pf
from flintstream.common import Row
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table.udf import AggregateFunction, AsyncScalarFunction, ScalarFunction, TableFunction


class Labeled(TypedDict):
    """A row."""

    n: int
    label: str


@dataclass
class Pair:
    """A row as an object."""

    n: int
    label: str


class NamedPair(NamedTuple):
    """A row as a tuple with names."""

    n: int
    label: str


@pytest.fixture
def numbers(batch):
    return pf.range(4)


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def plain(n: int) -> int:
    return n + 1


class Offset:
    """An object that is called."""

    def __init__(self, offset: int = 10):
        self.offset = offset

    def __call__(self, n: int) -> int:
        return n + self.offset


class Scaled(ScalarFunction):
    """A function of the Table API, which is opened."""

    def open(self, function_context):
        self.factor = 3

    def eval(self, n: int) -> int:
        return n * self.factor


class Waiting(AsyncScalarFunction):
    """One that is awaited."""

    async def eval(self, n: int) -> int:
        return n - 1


async def waits(n: int) -> int:
    return n - 1


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (plain, [1, 2, 3, 4]),
        (functools.partial(lambda step, n: n + step, 5), [5, 6, 7, 8]),
        (Offset, [10, 11, 12, 13]),
        (Offset(2), [2, 3, 4, 5]),
        (Scaled, [0, 3, 6, 9]),
        (Scaled(), [0, 3, 6, 9]),
        (Waiting, [-1, 0, 1, 2]),
        (waits, [-1, 0, 1, 2]),
    ],
)
def test_functions_objects_and_classes_are_called_for_values(numbers, function, expected):
    dtype = int if isinstance(function, functools.partial) else None
    declared = pf.udf(function, return_dtype=dtype)
    assert declared.return_dtype == pf.DataType.int64().not_null()
    assert sorted(row[0] for row in numbers.select(n=declared(pf.col("id"))).collect()) == sorted(expected)


def test_rows_of_functions_are_dicts_objects_and_tuples(numbers):
    @dataclass
    class Result:
        n: int
        label: str

    @pf.udf
    def describe(n: int) -> Labeled | None:
        return {0: {"n": n, "label": "dict"}, 1: (n, "tuple"), 2: Result(n, "object")}.get(n)  # type: ignore[return-value]

    found = [row[0] for row in numbers.select(r=describe(pf.col("id"))).sort(pf.col("r").get("n")).collect()]
    assert {None if row is None else tuple(row) for row in found} == {(0, "dict"), (1, "tuple"), (2, "object"), None}


def test_a_function_whose_annotation_has_no_none_must_not_return_it(numbers):
    @pf.udf
    def odd(n: int) -> int:
        return n if n % 2 else None  # type: ignore[return-value]

    with pytest.raises(Exception, match=r"'odd' returned None.*\| None"):
        numbers.select(n=odd(pf.col("id"))).collect()


def test_annotations_may_name_classes_within_the_class_of_the_function(numbers):
    class Describe:
        class Output(TypedDict):
            n: int

        def __call__(self, n: int) -> "Output":  # noqa: UP037
            return {"n": n}

    declared = pf.udf(Describe)
    assert declared.return_dtype == pf.DataType.struct({"n": pf.DataType.int64().not_null()}).not_null()
    assert sorted(row[0][0] for row in numbers.select(n=declared(pf.col("id"))).collect()) == [0, 1, 2, 3]


@pytest.mark.parametrize("made", [Pair, NamedPair, tuple[int, str]])
def test_rows_are_inferred_from_data_classes_named_tuples_and_tuples(made):
    fields = [("f0" if made == tuple[int, str] else "n", pf.DataType.int64().not_null())]
    fields.append(("f1" if made == tuple[int, str] else "label", pf.DataType.string().not_null()))
    assert pf.DataType._from_type_hint(made) == pf.DataType.struct(fields).not_null()


def test_annotations_of_pandas_and_arrow_in_one_function_are_an_error():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")

    def mixed(values):
        return values

    mixed.__annotations__ = {"values": pd.Series, "return": pa.Int64Array}
    with pytest.raises(ValueError, match="choose one by func_type"):
        pf.udf(mixed, return_dtype=int)
    mixed.__annotations__ = {"values": "NoSuchName", "return": pa.Int64Array}
    assert pf.udf(mixed, return_dtype=int)._func_type == "arrow"


@pytest.mark.parametrize("hint", [int, tuple[int], Row])
def test_flat_map_needs_a_function_of_a_dict(numbers, hint):
    def expand(row):
        return [row]

    expand.__annotations__ = {"row": hint, "return": list[int]}
    with pytest.raises(ValueError, match="dict row argument"):
        numbers.flat_map(expand)
    with pytest.raises(ValueError, match="dict row argument"):
        numbers.flat_map(lambda left, right: [left, right], return_dtype=int)


def test_importing_the_module_of_a_function_does_not_hide_the_function():
    code = (
        "from flintstream.compat.pyflink import install; install(); import pyflink.dataframe as pf, importlib; "
        "importlib.import_module('pyflink.dataframe.udf'); importlib.import_module('pyflink.dataframe.sql'); "
        "print(callable(pf.udf), callable(pf.sql))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert found.stdout.split() == ["True", "True"]


def test_the_last_row_that_arrived_is_kept(streaming):
    pf.get_or_create_table_environment().get_config().set("table.exec.resource.default-parallelism", "1")
    rows = pf.from_records([(1, "a"), (1, "b"), (2, "c"), (1, "d")], schema=["id", "name"])
    kept: dict[object, object] = {}
    for row in rows.drop_duplicates("id", keep="last").collect():
        kept[row[0]] = row[1]
    assert kept == {1: "d", 2: "c"}


def test_containers_in_annotations_choose_the_kind(numbers):
    def by_series(n: pd.Series) -> pd.Series:
        return n * 2

    def by_arrays(n: pa.Array) -> pa.Array:
        return pc.multiply(n, 2)

    series, arrays = (pf.udf(f, return_dtype=int, batch_size=2) for f in (by_series, by_arrays))
    assert (series._func_type, arrays._func_type) == ("pandas", "arrow")
    assert rows(numbers.select(a=series(pf.col("id")), b=arrays(series(pf.col("id"))))) == [
        (0, 0), (2, 4), (4, 8), (6, 12),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("declare", "error", "message"),
    [
        (lambda: pf.udf(lambda n: n), TypeError, "return_dtype"),
        (lambda: pf.udf(5, return_dtype=int), TypeError, "callable"),  # type: ignore[call-overload]
        (lambda: pf.udf(plain, func_type="spark"), ValueError, "func_type"),
        (lambda: pf.udf(waits, func_type="pandas", return_dtype=int), ValueError, "Async scalar functions"),
        (lambda: pf.udf(plain, batch_size=2), ValueError, "batch_size"),
        (lambda: pf.udf(plain, concurrency=0), ValueError, "concurrency"),
        (lambda: pf.udf(plain, name=""), ValueError, "empty"),
        (lambda: pf.udtf(waits, return_dtype=int), TypeError, "synchronous"),
        (lambda: pf.udaf(plain), TypeError, "AggregateFunction"),
        (lambda: pf.udf(type("Needs", (), {"__init__": lambda self, x: None, "__call__": plain})), TypeError, "zero"),
    ],
)
def test_a_wrong_declaration_is_refused_at_once(declare, error, message):
    with pytest.raises(error, match=message):
        declare()


def test_rows_are_mapped_as_dicts(numbers):
    def describe(row: dict[str, int]) -> Labeled:
        return {"n": row["id"], "label": f"no. {row['id']}"}

    mapped = numbers.map(describe)
    assert mapped.columns == ["n", "label"]
    assert rows(mapped)[3] == (3, "no. 3")
    assert numbers.map(lambda row: row["id"] * 2, return_dtype=int).columns == ["f0"]


def test_async_functions_are_mapped(numbers):
    async def later(row: dict[str, int]) -> int:
        return row["id"] + 1

    assert rows(numbers.map(later)) == [(1,), (2,), (3,), (4,)]


@pytest.mark.parametrize("batch_format", ["pandas", "pyarrow"])
def test_batches_are_mapped_as_dicts_of_columns(numbers, batch_format):
    sizes = []

    def scale(batch):
        kind = pd.Series if batch_format == "pandas" else pa.Array
        assert isinstance(batch["id"], kind)
        sizes.append(len(batch["id"]))
        double = batch["id"] * 2 if batch_format == "pandas" else pc.multiply(batch["id"], 2)
        return {"unused": batch["id"], "twice": double, "id": batch["id"]}

    kind = pf.DataType.struct({"id": pf.DataType.int64(), "twice": pf.DataType.float64()})
    found = numbers.map_batches(scale, return_dtype=kind, batch_format=batch_format, batch_size=3)
    assert rows(found) == [(0, 0.0), (1, 2.0), (2, 4.0), (3, 6.0)]


def test_a_batch_that_misses_a_column_or_row_fails_the_job(numbers):
    kind = "ROW<a BIGINT>"
    with pytest.raises(Exception, match="no column 'a'"):
        numbers.map_batches(lambda b: {"b": b["id"]}, return_dtype=kind, batch_format="pandas").collect()
    with pytest.raises(Exception, match="length"):
        numbers.map_batches(lambda b: {"a": b["id"][:1]}, return_dtype=kind, batch_format="pyarrow").collect()


class Opened:
    """Tells of its life in a file."""

    path = ""

    def __init__(self):
        self._tell("made")

    def open(self, context):
        self._tell("opened")

    def __call__(self, batch):
        return {"id": batch["id"]}

    def close(self):
        self._tell("closed")

    def _tell(self, word):
        with Path(os.environ["DATAFRAME_TEST_LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{word}\n")


@pytest.mark.parametrize("concurrency", [1, 3])
def test_each_subtask_makes_opens_and_closes_one_object(numbers, tmp_path, monkeypatch, concurrency):
    log = tmp_path / "log"
    monkeypatch.setenv("DATAFRAME_TEST_LOG", str(log))
    mapped = numbers.map_batches(
        Opened, return_dtype="ROW<id BIGINT>", batch_format="pandas", concurrency=concurrency, batch_size=1
    )
    assert len(mapped.collect()) == 4
    words = log.read_text().split()
    assert [words.count(word) for word in ("made", "opened", "closed")] == [concurrency] * 3


def test_rows_are_mapped_to_many(numbers):
    def repeat(row: dict[str, int]) -> Iterator[Labeled]:
        for _ in range(row["id"]):
            yield {"n": row["id"], "label": "x"}

    found = numbers.flat_map(repeat)
    assert found.columns == ["n", "label"]
    assert [row[0] for row in rows(found)] == [1, 2, 2, 3, 3, 3]
    assert numbers.flat_map(lambda row: None, return_dtype=int).collect() == []
    assert rows(numbers.flat_map(lambda row: row["id"], return_dtype=int)) == [(0,), (1,), (2,), (3,)]
    with pytest.raises(ValueError, match="named output fields"):
        numbers.flat_map(_pairs)


def _pairs(row: dict[str, int]) -> Iterator[tuple[int, int]]:
    yield row["id"], row["id"]


class Split(TableFunction):
    """A table function of the Table API."""

    def eval(self, text: str) -> Iterator[str]:
        yield from text.split()


def test_rows_join_those_of_a_function(batch):
    lines = pf.from_dict({"line": ["to be", ""]})
    words = pf.udtf(Split)
    assert rows(lines.join_lateral(words(pf.col("line")).alias("word"))) == [("to be", "be"), ("to be", "to")]
    assert len(rows(lines.join_lateral(words(pf.col("line")).alias("word"), how="left"))) == 3
    with pytest.raises(ValueError, match="output names"):
        lines.join_lateral(words(pf.col("line")))
    with pytest.raises(ValueError, match="conflict"):
        lines.join_lateral(words(pf.col("line")).alias("line"))


class Total(AggregateFunction):
    """A sum that takes rows back."""

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, n):
        accumulator[0] += n

    def retract(self, accumulator, n):
        accumulator[0] -= n

    def get_value(self, accumulator) -> int:
        return accumulator[0]


def test_groups_are_aggregated(streaming):
    total = pf.udaf(Total, accumulator_type=list[int])
    frame = pf.from_records([("a", 1), ("a", 2), ("b", 3)], schema=["k", "n"])
    found = frame.group_by("k").agg(total=total(pf.col("n"))).to_pandas()
    assert sorted(zip(found["k"], found["total"], strict=True)) == [("a", 3), ("b", 3)]


def test_groups_are_aggregated_as_series(batch):
    frame = pf.from_records([("a", 1), ("a", 2), ("b", 3)], schema=["k", "n"])

    class Mean:
        def __call__(self, n: pd.Series) -> float:
            return n.mean()

    mean = pf.udaf(Mean, func_type="pandas")
    assert rows(frame.group_by("k").agg(mean=mean(pf.col("n")))) == [("a", 1.5), ("b", 3.0)]


def test_sql_finds_variables_and_forgets_them(numbers, batch):
    add = pf.udf(plain)
    pairs = pf.udtf(lambda n: [(n, n)], return_dtype="ROW<x BIGINT, y BIGINT>")
    found = pf.sql("SELECT add(id), y FROM numbers, LATERAL TABLE(pairs(id)) AS t(x, y) WHERE id > 2")
    assert rows(found) == [(4, 3)]
    assert "numbers" not in batch.list_temporary_views()
    assert not {"add", "pairs"} & set(batch.list_user_defined_functions())
    assert (add.__name__, pairs.__name__) == ("plain", "<lambda>")


def test_sql_warns_of_names_that_are_taken(numbers, batch):
    batch.create_temporary_view("taken", pf.from_dict({"a": [100]}).to_table())
    taken = numbers
    with pytest.warns(UserWarning, match="skipped 'taken'"):
        assert rows(pf.sql("SELECT a FROM taken")) == [(100,)]
    with pytest.raises(ValueError, match=r"'taken'.*already exists"):
        pf.sql("SELECT 1", auto_bind=False, taken=taken)
    assert "taken" in batch.list_temporary_views()


@pytest.mark.parametrize("statement", ["INSERT INTO t VALUES (1)", "DROP TABLE t", "EXPLAIN SELECT 1"])
def test_sql_takes_queries_only(numbers, statement):
    with pytest.raises(ValueError, match="only supports queries that return a result"):
        pf.sql(statement)


def test_sql_runs_in_the_environment_of_its_frames(numbers):
    other = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    foreign = pf.DataFrame(other.from_elements([(1,)], DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT())])))
    with pytest.raises(ValueError, match="different TableEnvironments"):
        pf.sql("SELECT 1")
    with pytest.warns(UserWarning, match="skipped 'foreign'"):
        assert rows(pf.sql("SELECT id FROM source WHERE id = 1", source=numbers)) == [(1,)]
    assert foreign is not None
    with pytest.raises(TypeError, match="must be a DataFrame"):
        pf.sql("SELECT 1", auto_bind=False, x=5)
