"""What methods of the Table API return and refuse, as PyFlink 2.3.0 does."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from py4j.protocol import Py4JJavaError

from flintstream.common import ConfigOptions, Configuration, Row
from flintstream.table import (
    DataTypes,
    EnvironmentSettings,
    FormatDescriptor,
    ResultKind,
    Schema,
    TableDescriptor,
    TableEnvironment,
    TableSchema,
)
from flintstream.table.catalog import Column, ObjectIdentifier, ObjectPath, ResolvedSchema, UniqueConstraint
from flintstream.table.expressions import and_, array, call, call_sql, col, concat_ws, lit, log, null_of, range_, row
from flintstream.table.types import _from_java_data_type, create_arrow_schema
from flintstream.table.udf import AggregateFunction, ScalarFunction, TableFunction, udaf, udf, udtaf, udtf

OF_Q = """CREATE TABLE q (a INT NOT NULL, b STRING COMMENT 'hi', c AS a + 1, e TIMESTAMP(3), f AS PROCTIME(),
WATERMARK FOR e AS e - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'datagen')"""


NO_TYPE: Any = 5
NO_NAME: Any = None


class Keep(ScalarFunction):
    def eval(self, value):
        return value


class NoFunction:
    def eval(self, value):
        return value


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("a") == col("b"), "equals(a, b)"),
        (col("a").in_(1, 2), "in(a, 1, 2)"),
        (~(col("a") == 1), "isNotTrue(equals(a, 1))"),
        (lit(None, DataTypes.INT()), "null"),
        (lit(True), "true"),
        (lit("a'b"), "'a''b'"),
        (array(1, 2), "array(1, 2)"),
        (row(1, col("a")), "row(1, a)"),
        (null_of(DataTypes.INT()), "null"),
        (call("f", col("a")), "f(a)"),
        (call_sql("a + 1"), "[a + 1]"),
        (col("a").alias("x"), "as(a, 'x')"),
        (lit(5).seconds + lit(2).hours, "plus(5000, 7200000)"),
        (concat_ws(",", "a", "b"), "concat_ws(',', 'a', 'b')"),
        (range_("a", "c"), "rangeTo(a, c)"),
        (and_(col("a"), col("b"), col("c")), "and(a, b, c)"),
        (-col("a"), "minusPrefix(a)"),
        (col("a").cast(DataTypes.DECIMAL(5, 2)), "cast(a, DECIMAL(5, 2))"),
        (col("a")["x"], "at(a, 'x')"),
        (log(2, 3), "log(3, 2)"),
        (col("a").count.distinct, "distinct(count(a))"),
        (col("a").sum.over(col("w")), "over(sum(a), w)"),
        (col("a").trim(), "trim(true, true, ' ', a)"),
        (col("a").not_between(1, 2), "notBetween(a, 1, 2)"),
        (col("a").regexp_count("b"), "REGEXP_COUNT(a, 'b')"),
        (lit(b"ab", DataTypes.BYTES()), "[97, 98]"),
    ],
)
def test_an_expression_shows_as_in_flink(expression, text):
    assert str(expression) == text


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        (Schema.new_builder().column("id", "INT").column("z", "INT").primary_key("id", "z"),
         ["`id` [INT]", "`z` [INT]", "CONSTRAINT `PK_id_z` PRIMARY KEY (`id`, `z`) NOT ENFORCED"]),
        (Schema.new_builder().column("id", DataTypes.STRING()).column_by_expression("n", col("id") + 1)
         .column_by_metadata("m", "STRING").column_by_expression("k", "a+  1")
         .watermark("m", col("m") - lit(1).minutes),
         ["`id` STRING", "`n` AS plus(id, 1)", "`m` [STRING] METADATA", "`k` AS [a+  1]",
          "WATERMARK FOR `m` AS minus(m, 60000)"]),
        (Schema.new_builder().column_by_metadata("k", DataTypes.INT().not_null(), "kk", True),
         ["`k` INT NOT NULL METADATA FROM 'kk' VIRTUAL"]),
    ],
)  # fmt: skip
def test_a_schema_shows_its_columns_then_watermark_and_key(schema, lines):
    assert str(schema.build()) == "(\n  " + ",\n  ".join(lines) + "\n)"


def test_a_schema_has_one_primary_key():
    with pytest.raises(ValueError, match="Multiple primary keys are not supported"):
        Schema.new_builder().column("a", "INT").primary_key("a").primary_key("a")


def test_the_resolved_schema_of_a_table_has_its_columns_watermark_and_key(t_env):
    t_env.execute_sql(OF_Q)
    schema = t_env.from_path("q").get_resolved_schema()
    assert str(schema) == (
        "(\n  `a` INT NOT NULL,\n  `b` STRING COMMENT 'hi',\n  `c` INT NOT NULL AS `a` + 1,\n"
        "  `e` TIMESTAMP(3) *ROWTIME*,\n  `f` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME(),\n"
        "  WATERMARK FOR `e`: TIMESTAMP(3) AS `e` - INTERVAL '5' SECOND,\n"
        "  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED\n)"
    )
    assert [type(column).__name__ for column in schema.get_columns()] == [
        "PhysicalColumn", "PhysicalColumn", "ComputedColumn", "PhysicalColumn", "ComputedColumn",
    ]  # fmt: skip
    assert schema.get_column("c").explain_extras() == "AS `a` + 1"
    assert schema.get_column("zz") is schema.get_column(77) is None
    assert (schema.get_primary_key().get_columns(), schema.get_primary_key_indexes()) == (["a"], [0])
    assert schema.to_sink_row_data_type().field_names() == ["a", "b", "e"]
    query = t_env.sql_query("SELECT a, c, e FROM q").get_resolved_schema()
    assert str(query) == "(\n  `a` INT NOT NULL,\n  `c` INT NOT NULL,\n  `e` TIMESTAMP(3) *ROWTIME*\n)"
    again = Schema.new_builder().from_resolved_schema(schema).build()
    assert str(again).splitlines()[3:5] == ["  `c` AS [`a` + 1],", "  `e` TIMESTAMP(3),"]


def test_schemas_of_equal_columns_are_equal():
    one, other = (ResolvedSchema.of([Column.physical("a", DataTypes.INT())]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert str(Column.physical("a", DataTypes.INT()).with_comment("x").rename("b")) == "`b` INT COMMENT 'x'"
    key = UniqueConstraint.primary_key("k", ["a", "b`"])
    assert key.as_summary_string() == "CONSTRAINT `k` PRIMARY KEY (`a`, `b```) NOT ENFORCED"


def test_names_of_objects():
    name = ObjectIdentifier.of("a", "b", "c`d")
    assert (str(name), name.as_summary_string()) == ("`a`.`b`.`c``d`", "a.b.c`d")
    assert name.to_object_path() == ObjectPath.from_string("b.c`d")
    assert ObjectPath("a", "b").compare_to(ObjectPath("a", "c")) == -1
    with pytest.raises(ValueError, match="Cannot get split 'a'"):
        ObjectPath.from_string("a")


def test_options_are_shown_in_the_order_of_java():
    option = ConfigOptions.key("a").boolean_type().no_default_value()
    assert str(FormatDescriptor.for_format("f").option(option, False).option("b", "x").option("zz", "1").build()) == (
        "f[{zz=1, a=false, b=x}]"
    )
    keys = ["sink.parallelism", "path", "b-long.name", "topic", "value.format", "properties.bootstrap.servers",
            "scan.startup.mode", "properties.group.id", "json.ignore-parse-errors", "key.fields",
            "sink.delivery-guarantee", "sink.transactional-id-prefix", "x.y", "it's"]  # fmt: skip
    builder = TableDescriptor.for_connector("c")
    for key in keys:
        builder.option(key, "x")
    shown = [line.partition("' =")[0].strip().strip("'") for line in str(builder.build()).splitlines()[2:-1]]
    assert shown == [
        "x.y", "json.ignore-parse-errors", "it''s", "scan.startup.mode", "key.fields", "b-long.name",
        "properties.bootstrap.servers", "path", "connector", "value.format", "sink.transactional-id-prefix", "topic",
        "properties.group.id", "sink.delivery-guarantee", "sink.parallelism",
    ]  # fmt: skip


def test_a_table_schema_refuses_what_is_no_column():
    schema = TableSchema.builder().field("a", DataTypes.INT()).build()
    assert schema == schema.copy() == TableSchema(["a"], [DataTypes.INT()])
    assert not schema.to_row_data_type()._nullable
    with pytest.raises(TypeError, match="Expected field index or field name, got <class 'NoneType'>"):
        schema.get_field_data_type(NO_NAME)
    with pytest.raises(TypeError, match="Unsupported data type: 5"):
        TableSchema.builder().field("a", NO_TYPE)
    with pytest.raises(ValueError, match=r"Field names must be unique\. Duplicate field: 'a'"):
        TableSchema(["a", "a"], [DataTypes.INT(), DataTypes.INT()])


def test_the_mode_is_part_of_the_configuration():
    assert EnvironmentSettings.in_batch_mode().get_configuration().to_dict() == {"execution.runtime-mode": "BATCH"}
    batch = Configuration.from_dict({"execution.runtime-mode": "batch"})
    assert not EnvironmentSettings.new_instance().with_configuration(batch).build().is_streaming_mode()
    later = EnvironmentSettings.new_instance().with_configuration(batch).in_streaming_mode().build()
    assert later.is_streaming_mode()


def test_an_insert_has_a_row_for_each_sink(t_env):
    t_env.execute_sql("CREATE TABLE out1 (n INT) WITH ('connector' = 'blackhole')")
    pipeline = t_env.sql_query("SELECT 1 AS n").insert_into("out1")
    assert pipeline.get_sink_identifier().to_list() == ["default_catalog", "default_database", "out1"]
    result = pipeline.execute()
    result.wait()
    assert result.get_result_kind() is ResultKind.SUCCESS_WITH_CONTENT
    assert result.get_resolved_schema().get_column_names() == ["default_catalog.default_database.out1"]
    assert [tuple(row) for row in result.collect()] == [(-1,)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (partial(udf, 5, result_type="INT"), TypeError, r"not a function or callable \(__call__ is not defined\): <class 'int'>"),
        (partial(udf, NoFunction(), result_type="INT"), TypeError, "Invalid function: not a function or callable"),
        (partial(udf, Keep, result_type="INT"), TypeError, r"Invalid function: .*; create it first: Keep\(\)"),
        (partial(udf, str, result_type=NO_TYPE), TypeError, "Invalid"),
        (partial(udf, len, result_type=NO_TYPE), TypeError, "returnType should be DataType or str but is 5"),
        (partial(udf, len), TypeError, "Invalid returnType"),
        (partial(udf, len, func_type="no", result_type="INT"), ValueError, "must be one of 'general, pandas', got no."),
        (partial(udf, Keep(), deterministic=False, result_type="INT"), ValueError, "Inconsistent deterministic: False and True"),
        (partial(udtf, 5, result_types="INT"), TypeError, "Invalid function"),
        (partial(udaf, len, func_type="no", result_type="INT"), ValueError, "must be one of 'general, pandas', got no."),
        (partial(udaf, len, result_type=DataTypes.MAP(DataTypes.INT(), DataTypes.INT()), func_type="pandas"),
         TypeError, "Pandas UDAF doesn't support DataType type MAP currently"),
        (partial(udtaf, len, func_type="pandas", result_type="INT"), ValueError, "must be 'general', got pandas."),
        (ScalarFunction, TypeError, "abstract"),
        (TableFunction, TypeError, "abstract"),
        (AggregateFunction, TypeError, "abstract"),
    ],
)  # fmt: skip
def test_what_is_no_function_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_collected_rows_are_unnamed_and_survive_pickling(t_env):
    with t_env.sql_query("SELECT 1 AS n, ROW('a', CAST(1.1 AS FLOAT)) AS r").execute().collect() as rows:
        (row,) = rows
    assert row == Row(1, Row("a", 1.1))
    assert (repr(row), type(row).__name__, isinstance(row, Row)) == ("<Row(1, <Row('a', 1.1)>)>", "Row", True)
    for found in (row, pickle.loads(pickle.dumps(row)), copy.copy(row)):
        assert found == row
        assert (found.n, found["n"], found.as_dict()["n"]) == (1, 1, 1)
    assert not hasattr(row, "missing")


def test_what_libraries_reach_behind_tables_has_javas_names():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql("CREATE TABLE pairs (id INT NOT NULL, word STRING) WITH ('connector' = 'datagen')")
    assert t_env._j_tenv.listTables() == ["pairs"]
    assert t_env._j_tenv.listTables("default_catalog", "default_database") == ["pairs"]
    schema = t_env.from_path("pairs").get_schema()
    types = [_from_java_data_type(kind) for kind in schema._j_table_schema.getFieldDataTypes()]
    assert types == [DataTypes.INT(False), DataTypes.STRING()]
    arrow = create_arrow_schema(schema.get_field_names(), types)
    assert [(str(field.type), field.nullable) for field in arrow] == [("int32", False), ("string", True)]


def test_a_table_declared_twice_names_flinks_error():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    declare = "CREATE TABLE pairs (id INT) WITH ('connector' = 'datagen')"
    t_env.execute_sql(declare)
    with pytest.raises(Py4JJavaError, match=r"catalog\.exceptions\.TableAlreadyExistException"):
        t_env.execute_sql(declare)


def test_a_missing_table_has_flinks_words_in_its_java_exception():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with pytest.raises(Py4JJavaError) as missing:
        t_env.from_path("nowhere")
    assert missing.value.java_exception.toString().endswith("Table `nowhere` was not found.")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("BatchTableEnvironment", r"does not have this name: create a TableEnvironment with .*in_batch_mode\(\)"),
        ("CsvTableSource", "does not have this name: declare a table with CREATE TABLE"),
        ("Tabel", "Tabel: pyflink.table of PyFlink 2.3 does not have this name$"),
    ],
)
def test_a_name_that_pyflink_does_not_have_is_refused_with_what_to_do(name, message):
    with pytest.raises(ImportError, match=message):
        getattr(import_module("flintstream.table"), name)
