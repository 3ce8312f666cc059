"""DataFrames to and from other libraries."""

from __future__ import annotations

import sys
from functools import partial

import pyarrow as pa
import pytest

import flintstream.dataframe as pf
from flintstream.errors import MissingDependencyError
from flintstream.table._logical.nodes import Scan

NUMBERS = pa.table({"id": range(1000), "vector": [[float(i)] for i in range(1000)]})


def addresses(table):
    return [buffer.address for buffer in table.column("id").chunk(0).buffers() if buffer is not None]


def test_a_relation_of_duckdb_is_read_and_made(batch):
    duckdb = pytest.importorskip("duckdb")
    made = pf.from_arrow(
        duckdb.sql("SELECT range AS id, CAST(range AS VARCHAR) AS name FROM range(5)").to_arrow_table()
    )
    assert [tuple(row) for row in made.filter("id > 3").collect()] == [(4, "4")]
    with duckdb.connect() as connection:
        relation = made.to_duckdb(connection)
        assert relation.aggregate("sum(id)").fetchall() == [(10,)]


def test_a_frame_of_polars_is_read_and_made(batch):
    polars = pytest.importorskip("polars")
    made = pf.from_arrow(polars.DataFrame({"id": [1, 2], "name": ["a", None]}))
    assert made.to_polars().rows() == [(1, "a"), (2, None)]


def test_what_exports_a_stream_of_arrow_is_read(batch):
    class Exporter:
        def __arrow_c_stream__(self, requested_schema=None):
            return NUMBERS.__arrow_c_stream__(requested_schema)

    assert pf.from_arrow(Exporter()).to_arrow().equals(NUMBERS)


def test_a_stream_of_arrow_is_exported_for_any_library(batch):
    assert pa.table(pf.from_arrow(NUMBERS)).equals(NUMBERS)


def test_tables_of_arrow_are_not_copied_on_their_way_to_a_source(batch):
    node = pf.from_arrow(NUMBERS).to_table()._node
    assert isinstance(node, Scan)
    assert node.batches is not None
    opened = node.batches((0, 1), 5000)
    assert isinstance(opened, partial)
    assert addresses(opened.args[0]) == addresses(NUMBERS)


@pytest.mark.parametrize("data", [[1], {"id": [1]}, None])
def test_other_things_are_refused(batch, data):
    with pytest.raises(TypeError, match="must be a pyarrow"):
        pf.from_arrow(data)


def test_a_missing_library_is_an_error_that_names_it(batch, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="polars"):
        pf.range(1).to_polars()


@pytest.mark.spark
def test_a_frame_of_spark_is_read_and_made():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    pf.set_table_environment(None)
    given = spark.sql("SELECT id, CAST(id AS STRING) AS name, CAST(id AS DOUBLE) / 2 AS half FROM range(100)")
    frame = pf.from_spark(given)
    assert frame.columns == ["id", "name", "half"]
    made = frame.filter("id >= 98").to_spark()
    assert sorted(tuple(row) for row in made.collect()) == [(98, "98", 49.0), (99, "99", 49.5)]
    pf.set_table_environment(None)
