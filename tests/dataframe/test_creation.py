"""Creation, results, readers, writers and settings of DataFrames."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pytest

import flintstream.dataframe as pf
from flintstream.compat import pyflink
from flintstream.dataframe._options.kafka import sink_options, source_options
from flintstream.table import DataTypes, StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.types import LocalZonedTimestampType, TimestampType


class Point(NamedTuple):
    """A record with names."""

    x: int
    y: str


def test_programs_import_it_from_pyflink():
    before = pyflink.is_installed()
    pyflink.install()
    try:
        import pyflink.dataframe as upstream

        assert upstream.DataFrame is pf.DataFrame
        from pyflink.dataframe.io import read_json

        assert read_json is pf.read_json
    finally:
        if not before:
            pyflink.uninstall()


@pytest.mark.parametrize(
    ("data", "schema", "columns"),
    [
        ([{"a": 1, "b": "x"}], None, ["a", "b"]),
        ([{"a": 1, "b": "x"}], ["b"], ["b"]),
        ([Point(1, "x")], None, ["x", "y"]),
        ([(1, "x"), Point(2, "y")], ["n", "t"], ["n", "t"]),
        ([[1, "x"]], ["n", "t"], ["n", "t"]),
    ],
)
def test_records_bring_names_or_get_them(batch, data, schema, columns):
    assert pf.from_records(data, schema=schema).columns == columns


@pytest.mark.parametrize(
    ("data", "schema", "error", "message"),
    [
        ([], None, ValueError, "must not be empty"),
        ("text", None, TypeError, "sequence of records"),
        ([(1,)], None, ValueError, "schema is required"),
        ([(1,), (1, 2)], ["a"], ValueError, "index 1"),
        ([{"a": 1}, {"b": 1}], None, ValueError, "index 1"),
        ([{"a": 1}, (1,)], None, TypeError, "index 1"),
        ([5], ["a"], TypeError, "index 0"),
        ([(1, 2)], ["a", "a"], ValueError, "unique"),
    ],
)
def test_records_that_differ_are_refused(batch, data, schema, error, message):
    with pytest.raises(error, match=message):
        pf.from_records(data, schema=schema)


def test_pandas_and_arrow_keep_types_and_get_names_by_position(batch):
    frame = pd.DataFrame([[1, "a"], [2, None]], columns=["same", "same"])
    assert [tuple(row) for row in pf.from_pandas(frame, schema=["id", "name"]).collect()] == [(1, "a"), (2, None)]
    table = pa.table(
        {
            "small": pa.array([1], pa.int8()),
            "list": pa.array([[1, None]]),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
            "struct": pa.array([{"a": 1, "b": [{"c": 2}]}]),
            "day": pa.array([20000], pa.date32()),
            "money": pa.array([1], pa.decimal128(10, 2)),
        }
    )
    found = pf.from_arrow(table)
    assert found.to_arrow().to_pydict() == table.to_pydict()
    assert found.schema.get_field_data_types()[0] == DataTypes.TINYINT()
    assert pf.from_arrow(table.slice(0, 0)).columns == table.column_names


def test_points_in_time_of_arrow_are_local(batch):
    batch.get_config().set_local_timezone("America/New_York")
    at = pa.array([datetime(2026, 11, 1, 5, 30, tzinfo=timezone.utc)], pa.timestamp("ms", "UTC"))
    assert pf.from_arrow(pa.table({"at": at})).collect()[0][0] == datetime(2026, 11, 1, 1, 30)


@pytest.mark.parametrize(
    ("create", "kind"),
    [
        (lambda marks: pf.from_records([(datetime(2026, 1, 1),)], ["at"], marks), LocalZonedTimestampType),
        (lambda marks: pf.from_dict({"at": [datetime(2026, 1, 1)]}, watermark=marks), LocalZonedTimestampType),
        (lambda marks: pf.from_pandas(pd.DataFrame({"at": [datetime(2026, 1, 1)]}), watermark=marks), TimestampType),
    ],
)
def test_a_watermark_makes_event_time_of_milliseconds(streaming, create, kind):
    schema = create(("at", "at - INTERVAL '1' SECOND")).to_table().get_resolved_schema()
    assert isinstance(schema.get_column_data_types()[0], kind)
    assert schema.get_column_data_types()[0].precision == 3
    assert schema.get_watermark_specs()[0].get_rowtime_attribute() == "at"
    with pytest.raises(ValueError, match="not present"):
        create(("other", "other"))


def test_a_range_counts_as_pythons(batch):
    assert [row[0] for row in pf.range(3).collect()] == [0, 1, 2]
    assert [row[0] for row in pf.range(5, 0, -2).collect()] == [5, 3, 1]
    assert pf.range(0).collect() == []
    with pytest.raises(ValueError, match="zero"):
        pf.range(1, 2, 0)


def test_rows_come_as_dicts_with_their_kinds(streaming):
    counts = pf.from_records([("a",), ("a",)], ["name"]).group_by("name").agg(n=pf.col("name").count)
    assert counts.take(9, include_row_kind=True, row_kind_field="op") == [
        {"name": "a", "n": 1, "op": "+I"},
        {"name": "a", "n": 1, "op": "-U"},
        {"name": "a", "n": 2, "op": "+U"},
    ]
    with counts.iter_batches(batch_size=2, batch_format="pyarrow", include_row_kind=True) as batches:
        assert [batch.num_rows for batch in batches] == [2, 1]


def test_rows_of_an_unbounded_table_are_taken_until_the_time_is_over(streaming):
    endless = pf.read_generic("datagen", schema={"x": pf.DataType.int64()}, options={"rows-per-second": "1"})
    assert len(endless.take(1)) == 1
    begin = time.monotonic()
    assert len(endless.take(10_000, timeout=0.5)) < 10_000
    assert time.monotonic() - begin < 60


def test_arguments_are_checked_before_a_job_runs(batch):
    frame = pf.range(3)
    for error, call in (
        (ValueError, lambda: frame.take(-1)),
        (TypeError, lambda: frame.take(True)),
        (ValueError, lambda: frame.take(1, timeout=-1)),
        (ValueError, lambda: frame.iter_batches(batch_size=0)),
        (ValueError, lambda: frame.iter_batches(batch_format="polars")),  # type: ignore[arg-type]  # what it refuses
        (ValueError, lambda: frame.iter_rows(include_row_kind=True, row_kind_field="id")),
    ):
        with pytest.raises(error):
            call()


def test_notebooks_show_columns_and_no_markup_of_names(batch):
    frame = pf.from_dict({"<b>|": [1]})
    assert "&lt;b&gt;" in frame._repr_html_()
    assert "\\|" in frame._repr_markdown_()
    assert repr(pf.range(1)) == "DataFrame[id: BIGINT]"


def test_rows_are_written_and_read_again(batch, tmp_path):
    frame = pf.from_records([(1, "a"), (2, "b")], ["id", "name"])
    kinds = {"id": pf.DataType.int64(), "name": pf.DataType.string()}
    for form in ("json", "parquet"):
        place = str(tmp_path / form)
        getattr(frame, f"write_{form}")(place, partition_by="name")
        getattr(frame.filter("id > 1"), f"write_{form}")(place, mode="overwrite", partition_by="name")
        read = getattr(pf, f"read_{form}")(place, schema=kinds, partition_by="name")
        assert sorted(tuple(row) for row in read.collect()) == [(1, "a"), (2, "b")]


def test_staged_writes_run_as_one_job(batch, tmp_path):
    statements = pf.create_statement_set()
    frame = pf.range(3)
    frame.write_json(str(tmp_path / "all"), statement_set=statements)
    frame.filter("id > 1").write_json(str(tmp_path / "few"), statement_set=statements)
    assert not (tmp_path / "all").exists()
    statements.execute().wait()
    read = pf.read_json(str(tmp_path / "few"), schema={"id": pf.DataType.int64()})
    assert [tuple(row) for row in read.collect()] == [(2,)]
    with pytest.raises(TypeError, match="StatementSet"):
        frame.write_json(str(tmp_path / "few"), statement_set=object())  # type: ignore[arg-type]


def test_what_a_connector_refuses_is_a_value_error(batch):
    for call in (
        lambda: pf.read_generic("no-such", schema={"x": pf.DataType.int64()}, options={}),
        lambda: pf.read_catalog_table("no_such"),
        lambda: pf.range(1).write_catalog_table("no_such"),
        lambda: pf.read_json("", schema={"x": pf.DataType.int64()}),
        lambda: pf.read_json("p", schema={"x": pf.DataType.int64()}, connector_options={"path": "q"}),
    ):
        with pytest.raises(ValueError):
            call()


ID = {"id": pf.DataType.int64()}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pf.read_catalog_table("a.b.no_such"), "Table `a`.`b`.`no_such` was not found."),
        (lambda: pf.read_catalog_table("a.b.c.d"), "Invalid SQL identifier a.b.c.d."),
        (
            lambda: pf.range(1).write_catalog_table("no_such"),
            "Cannot find table '`default_catalog`.`default_database`.`no_such`'",
        ),
        (
            lambda: pf.read_generic("datagen", schema=ID, options={}, computed_columns={"bad": "NO_SUCH(id)"}),
            "Invalid expression for computed column 'bad'.",
        ),
        (
            lambda: pf.read_generic("datagen", schema=ID, options={}, computed_columns={"id": "id + 1"}),
            "Schema must not contain duplicate column names. Found duplicates: [id]",
        ),
        (
            lambda: pf.read_generic("datagen", schema=ID, options={}, watermark=("no_such", "no_such")),
            "Invalid column name 'no_such' for rowtime attribute",
        ),
    ],
)
def test_errors_of_sources_have_the_words_of_flink_and_a_cause_that_says_more(batch, call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(words)
    assert isinstance(error.value.__cause__, SqlError)


def test_tables_of_catalogs_get_columns_and_watermarks(streaming):
    streaming.execute_sql("CREATE TABLE t (ms BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    marks = ("at", "at - INTERVAL '1' SECOND")
    found = pf.read_catalog_table("t", computed_columns={"at": "TO_TIMESTAMP_LTZ(ms, 3)"}, watermark=marks)
    assert found.columns == ["ms", "at"]
    assert found.to_table().get_resolved_schema().get_watermark_specs()[0].get_rowtime_attribute() == "at"
    streaming.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(ValueError, match="view"):
        pf.read_catalog_table("v", computed_columns={"x": "ms + 1"})


def test_settings_reach_the_environment_and_then_stop():
    pf.set_table_environment(None)
    pf.config._buffered.clear()
    pf.config.set("pipeline.name", "mine")
    environment = pf.get_or_create_table_environment()
    assert environment.get_config().get("pipeline.name", "") == "mine"
    assert isinstance(environment, StreamTableEnvironment)
    with pytest.raises(RuntimeError, match="before"):
        pf.config.set("pipeline.name", "other")
    pf.set_table_environment(None)
    pf.config._buffered.clear()


def test_options_of_kafka():
    common = {
        "topic": "events", "format_options": None, "value_format_options": None, "value_format": "json",
        "key_format": None, "key_format_options": None, "key_fields": None, "value_fields_include": "ALL",
        "properties": {"client.id": "me"},
    }  # fmt: skip
    made = sink_options("b:1", delivery_guarantee="none", sink_parallelism=2, **common)
    assert made["properties.client.id"] == "me"
    assert made["sink.parallelism"] == "2"
    with pytest.raises(ValueError, match="transactional-id-prefix"):
        sink_options("b:1", delivery_guarantee="exactly-once", sink_parallelism=None, **common)
    source = {
        **common, "topic_pattern": None, "group_id": None, "key_fields_prefix": None, "startup_specific_offsets": None,
        "startup_timestamp_millis": None, "topic_partition_discovery_interval": None, "bounded_mode": "unbounded",
        "bounded_timestamp_millis": None, "bounded_specific_offsets": None,
    }  # fmt: skip
    with pytest.raises(ValueError, match="startup_timestamp_millis"):
        source_options("b:1", startup_mode="timestamp", **source)
    assert source_options("b:1", startup_mode="earliest-offset", **source)["scan.startup.mode"] == "earliest-offset"
