"""Streams become tables by fields or by a schema, and tables become streams with the names of a type."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.errors import PlanError
from flintstream.table import DataTypes, Schema
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._sql.dialect import Parsed, Tokens
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table.expressions import col


def pairs(env):
    return env.from_collection([("a", 1000), ("b", 2000)], Types.TUPLE([Types.STRING(), Types.LONG()]))


def rows(table):
    with table.execute().collect() as found:
        return [list(row) for row in found]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_fields_are_found_by_name_in_any_order(env, t_env):
    table = t_env.from_data_stream(pairs(env), col("f1"), col("f0").alias("name"))
    assert table.get_schema().get_field_names() == ["f1", "name"]
    assert rows(table) == [[1000, "a"], [2000, "b"]]


def test_other_names_are_given_by_position(env, t_env):
    assert rows(t_env.from_data_stream(pairs(env), col("x"), col("y")).select(col("y"))) == [[1000], [2000]]


def test_a_rowtime_field_is_the_timestamp_of_the_record(env, t_env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    stream = pairs(env).assign_timestamps_and_watermarks(strategy)
    table = t_env.from_data_stream(stream, col("f0"), col("ts").rowtime)
    assert "ts: TIMESTAMP(3) *ROWTIME*" in repr(table.get_schema())
    assert [row[1].isoformat() for row in rows(table)] == ["1970-01-01T00:00:01", "1970-01-01T00:00:02"]


def test_a_rowtime_field_of_records_without_timestamps_is_an_error(env, t_env):
    with pytest.raises(ValueError, match="need timestamps"):
        rows(t_env.from_data_stream(pairs(env), col("f0"), col("ts").rowtime))


def test_a_field_that_the_stream_lacks_is_named(env, t_env):
    with pytest.raises(SqlError, match="Field 'f7' not found in the stream"):
        t_env.from_data_stream(pairs(env), col("f0"), col("f7"))


def test_a_schema_computes_columns_and_reads_timestamps(env, t_env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    schema = (
        Schema.new_builder()
        .column("f1", DataTypes.BIGINT())
        .column_by_expression("loud", "UPPER(f0)")
        .column_by_metadata("at", "TIMESTAMP(3)", "rowtime")
        .watermark("at", "SOURCE_WATERMARK()")
        .build()
    )
    table = t_env.from_data_stream(pairs(env).assign_timestamps_and_watermarks(strategy), schema)
    assert table.get_schema().get_field_names() == ["f1", "loud", "at"]
    assert [(n, text, at.second) for n, text, at in rows(table)] == [(1000, "A", 1), (2000, "B", 2)]


def test_a_schema_with_a_column_that_the_stream_lacks_names_it(env, t_env):
    schema = Schema.new_builder().column("name", "STRING").build()
    with pytest.raises(SqlError, match="Column 'name' of the schema is not in the stream; available: f0, f1"):
        t_env.from_data_stream(pairs(env), schema)


def test_an_append_stream_has_the_names_of_its_type(env, t_env):
    t_env.create_temporary_view("pairs", t_env.from_data_stream(pairs(env)).alias("a", "b"))
    stream = t_env.to_append_stream(t_env.from_path("pairs"), Types.ROW([Types.STRING(), Types.LONG()]))
    with stream.map(lambda row: row.f1 + 1, Types.LONG()).execute_and_collect() as found:
        assert list(found) == [1001, 2001]


def test_a_function_of_rows_maps_a_table(t_env):
    from flintstream.table.udf import udf

    kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())])
    twice = udf(lambda n: Row(n * 2, str(n)), result_type=kind)
    table = t_env.from_elements([(1,), (2,)], ["n"]).map(twice(col("n")))
    assert table.get_schema().get_field_names() == ["n", "s"]
    assert rows(table) == [[2, "1"], [4, "2"]]


def test_types_of_elements_are_those_of_their_values(t_env):
    table = t_env.from_elements([(None, "x", 1.5), (1, "y", None)], ["n", "s", "d"])
    assert repr(table.get_schema()).split("\n")[1:4] == [" |-- n: BIGINT", " |-- s: STRING", " |-- d: DOUBLE"]
    with pytest.raises(PlanError, match="the type of column 'n' cannot be inferred"):
        t_env.from_elements([(None,)], ["n"])


@pytest.mark.parametrize("condition", ["s NOT LIKE 'a%'", "NOT s LIKE 'a%'", "s NOT LIKE 'a!%' ESCAPE '!'"])
def test_a_negated_pattern_is_negated(t_env, condition):
    query = f"SELECT s FROM (VALUES ('ab'), ('b')) AS T(s) WHERE {condition}"
    assert rows(t_env.sql_query(query)) == ([["ab"], ["b"]] if "ESCAPE" in condition else [["b"]])


def test_a_part_of_an_expression_that_is_not_read_is_refused():
    parsed = Parsed("SELECT s LIKE 'a'", Tokens("SELECT s LIKE 'a'").all)
    (node,) = parsed.tree.expressions
    node.args["new_in_a_later_parser"] = True
    with pytest.raises(SqlError, match="line 1, column 15 has a part that flintstream does not support"):
        ExpressionReader(parsed).read(node)


def test_a_test_of_another_kind_is_not_taken_for_is_true(t_env):
    with pytest.raises(UnsupportedClauseError, match=r"IS JSON.* at line 1"):
        t_env.sql_query("SELECT s IS JSON WITH UNIQUE KEYS FROM (VALUES ('{}')) AS T(s)")
