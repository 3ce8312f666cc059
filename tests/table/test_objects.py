"""Documents, bitmaps and objects with a class: what the recorded cases do not show."""

from __future__ import annotations

import pickle

import pytest

from flintstream.common._java_exceptions import JavaException
from flintstream.table import DataTypes, EnvironmentSettings, ModelDescriptor, Schema, TableEnvironment
from flintstream.table._catalog.identifiers import ObjectPath
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._expressions.objects.bitmaps import bitmap_from_bytes, bitmap_of, bitmap_to_bytes
from flintstream.table._expressions.objects.variants import parse_json, variant_member
from flintstream.table._types.reader import data_type_of
from flintstream.table._types.rules import sql_name
from flintstream.table.udf import udf


@pytest.fixture
def t_env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def test_equal_documents_pickle_alike_so_that_they_are_one_key_on_all_workers():
    a, b = parse_json(' {"k": [1, 2.50]}'), parse_json('{"k":[1,2.50] }')
    assert a == b
    assert hash(a) == hash(b)
    assert pickle.dumps(a) == pickle.dumps(b)
    assert pickle.loads(pickle.dumps(a)) == a


def test_a_member_of_a_document_is_a_document():
    member = variant_member(parse_json('{"a":{"x":1e3,"w":[true]}}'), "a")
    assert str(member) == '{"w":[true],"x":1000.0}'


@pytest.mark.parametrize(
    "values", [[], [0], range(5000), range(0, 100_000, 2), [-1, 2**31 - 1, -(2**31)], [*range(70_000), 900_000]]
)
def test_a_bitmap_survives_its_bytes(values):
    bitmap = bitmap_of(values)
    assert bitmap_from_bytes(bitmap_to_bytes(bitmap)) == bitmap
    assert pickle.loads(pickle.dumps(bitmap)) == bitmap


@pytest.mark.parametrize("data", ["", "3a30", "3a300000ffffffff", "3b30000001000000000100ffffffff", "00" * 20])
def test_bytes_of_something_else_are_refused(data):
    with pytest.raises(ValueError, match="Failed to deserialize bitmap from bytes"):
        bitmap_from_bytes(bytes.fromhex(data))


def test_a_python_function_takes_no_document(t_env):
    t_env.create_temporary_function("f", udf(lambda value: f"{value}", result_type="STRING"))
    with pytest.raises(SqlError, match="Python functions take no VARIANT NOT NULL"):
        t_env.sql_query("SELECT f(PARSE_JSON('1'))")


def test_a_collected_column_of_documents_is_refused_with_the_way_out(t_env):
    with pytest.raises(TypeError, match=r"Unsupported type: VARIANT NOT NULL.*JSON_STRING"):
        t_env.execute_sql("SELECT PARSE_JSON('1') AS v").collect()


def test_types_are_read_and_written():
    for name in ("VARIANT", "BITMAP", "STRUCTURED<'a.B', `x` INT, `y` ARRAY<VARIANT>>", "MAP<STRING, BITMAP>"):
        assert sql_name(data_type_of(name)) == name
    assert sql_name(data_type_of("INTERVAL DAY(3) TO SECOND(3)")) == "INTERVAL DAY TO SECOND"
    with pytest.raises(SqlError, match="INTERVAL needs one of the units"):
        data_type_of("INTERVAL WEEK")


def test_an_interval_that_does_not_fit_says_what_to_write(t_env):
    with pytest.raises(SqlError, match=r"exceeds precision of HOUR\(2\) field.*HOUR\(3\)"):
        t_env.sql_query("SELECT INTERVAL '100' HOUR")


def test_models_are_declared_in_sql_and_python_alike(t_env):
    text = Schema.new_builder().column("text", DataTypes.STRING()).build()
    model = ModelDescriptor.for_provider("openai").input_schema(text).output_schema(text).comment("echo").build()
    t_env.create_model("m", model)
    t_env.create_temporary_model("n", model)
    assert (t_env.list_models(), t_env.list_temporary_models()) == (["m"], ["n"])
    assert [tuple(row) for row in t_env.execute_sql("DESCRIBE MODEL m").collect()] == [
        ("text", "STRING", True, True),
        ("text", "STRING", True, False),
    ]
    stored = t_env.get_catalog("default_catalog").get_model(ObjectPath("default_database", "m"))
    assert (stored.get_options(), stored.input_schema, stored.get_comment()) == ({"provider": "openai"}, text, "echo")
    t_env.execute_sql("ALTER MODEL m RENAME TO k")
    with pytest.raises(JavaException, match="already exists"):
        t_env.create_model("k", model)
    t_env.create_model("k", model, ignore_if_exists=True)
    assert t_env.drop_model("k")
    assert t_env.drop_temporary_model("n")
    assert not t_env.drop_model("k")
    assert t_env.list_models() == []


@pytest.mark.parametrize("units", ["SECOND TO MINUTE", "DAY TO DAY", "MONTH TO YEAR", "DAY TO MONTH"])
def test_an_interval_of_units_in_the_wrong_order_is_refused(t_env, units):
    with pytest.raises(SqlError, match=rf"INTERVAL at line 1, column \d+ has no units {units}: .*parentheses"):
        t_env.sql_query(f"SELECT INTERVAL '1' {units}")


def test_materialized_tables_are_listed_as_a_kind_of_their_own(t_env):
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS x")
    t_env.execute_sql("CREATE MATERIALIZED TABLE m WITH ('connector' = 'blackhole') AS SELECT x FROM v")
    catalog = t_env.get_catalog("default_catalog")
    assert t_env.list_materialized_tables() == catalog.list_materialized_tables("default_database") == ["m"]
    assert (t_env.list_tables(), t_env.list_views()) == (["m", "v"], ["v"])
    assert not t_env.drop_table("m", ignore_if_not_exists=True)
    with pytest.raises(UnsupportedClauseError, match=r"ALTER MATERIALIZED TABLE at line 1, column 1 .* drop it"):
        t_env.execute_sql("ALTER MATERIALIZED TABLE m SUSPEND")
    t_env.execute_sql("DROP MATERIALIZED TABLE m")
    assert t_env.list_materialized_tables() == []


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELECT * FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a))", "a provider of models, which is a class of Java"),
        ("SELECT * FROM t, LATERAL TABLE(VECTOR_SEARCH(TABLE t, DESCRIPTOR(a), a, 3))", "a class of Java"),
    ],
)
def test_what_needs_java_says_so(t_env, statement, reason):
    with pytest.raises(UnsupportedClauseError, match=reason):
        t_env.execute_sql(statement)
