"""Tables without DDL: descriptors, names, pipelines and settings."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flintstream.common import Configuration
from flintstream.table import (
    ChangelogMode,
    DataTypes,
    EnvironmentSettings,
    FormatDescriptor,
    Schema,
    SqlDialect,
    TableDescriptor,
    TableEnvironment,
)
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.expressions import col

ID = Schema.new_builder().column("id", DataTypes.BIGINT()).build()


def counted(connector="datagen", **options):
    builder = TableDescriptor.for_connector(connector).schema(ID)
    for key, value in options.items():
        builder.option(key.replace("_", "-"), value)
    return builder


@pytest.fixture
def numbers():
    return (
        counted(number_of_rows=3)
        .option("fields.id.kind", "sequence")
        .option("fields.id.start", 1)
        .option("fields.id.end", 3)
        .build()
    )


def test_a_described_table_is_read_by_name_and_without_one(t_env, numbers):
    t_env.create_temporary_table("numbers", numbers)
    with t_env.from_path("numbers").execute().collect() as rows:
        assert [row[0] for row in rows] == [1, 2, 3]
    with t_env.from_descriptor(numbers).filter(col("id") > 1).execute().collect() as rows:
        assert [row[0] for row in rows] == [2, 3]
    assert t_env.list_tables() == ["numbers"]


def test_rows_go_to_described_tables(t_env, numbers, capfd):
    table = t_env.from_descriptor(numbers)
    sink = counted("print").build()
    table.execute_insert(sink).wait()
    pipeline = table.insert_into(sink)
    assert pipeline.get_sink_identifier() is None
    t_env.create_statement_set().add(pipeline).add_insert(counted("blackhole").build(), table).execute().wait()
    assert sorted(capfd.readouterr().out.split()) == sorted(["+I[1]", "+I[2]", "+I[3]"] * 2)


def test_a_name_is_only_taken_once(t_env, numbers):
    assert t_env.create_table("numbers", numbers)
    assert not t_env.create_table("numbers", numbers, ignore_if_exists=True)
    with pytest.raises(SqlError, match="already exists"):
        t_env.create_table("numbers", numbers)
    assert t_env.drop_table("numbers")
    assert not t_env.drop_table("numbers")
    with pytest.raises(SqlError, match="does not exist"):
        t_env.drop_table("numbers", ignore_if_not_exists=False)


def test_views_have_names_too(t_env, numbers):
    table = t_env.from_descriptor(numbers)
    t_env.register_table("`a.b`", table)
    assert t_env.create_view("c", table)
    assert not t_env.create_view("c", table, ignore_if_exists=True)
    assert t_env.list_views() == ["a.b", "c"]
    assert t_env.from_path("`a.b`").get_schema().get_field_names() == ["id"]
    assert t_env.drop_view("c")


def test_an_unknown_target_is_refused_before_the_job(t_env, numbers):
    t_env.create_table("results", numbers)
    with pytest.raises(SqlError, match="did you mean 'results'"):
        t_env.from_descriptor(numbers).execute_insert("result")


def test_a_descriptor_without_schema_is_refused(t_env):
    with pytest.raises(SqlError, match="'kafka' has no schema"):
        t_env.from_descriptor(TableDescriptor.for_connector("kafka").build())


def test_a_sink_without_schema_takes_the_columns_of_its_rows(t_env, numbers, capfd):
    described = TableDescriptor.for_connector("print").build()
    t_env.from_descriptor(numbers).select(col("id"), (col("id") * 2).alias("twice")).execute_insert(described).wait()
    statements = t_env.create_statement_set()
    statements.add_insert(described, t_env.sql_query("SELECT 'a', CAST(NULL AS INT)"))
    statements.execute().wait()
    assert capfd.readouterr().out.splitlines() == ["+I[1, 2]", "+I[2, 4]", "+I[3, 6]", "+I[a, null]"]


def test_the_text_of_a_table_is_a_name_of_it_in_sql(t_env):
    table = t_env.from_elements([(1, "a"), (2, "b")], ["id", "name"])
    with t_env.execute_sql(f"SELECT name FROM {table} WHERE id > 1").collect() as rows:
        assert [tuple(row) for row in rows] == [("b",)]
    other = t_env.sql_query(f"SELECT l.id FROM {table} AS l JOIN {table} AS r ON l.id = r.id")
    assert (str(other), str(table)) == ("UnnamedTable$1", "UnnamedTable$0")
    assert t_env.list_views() == ["UnnamedTable$0", "UnnamedTable$1"]


def test_options_of_formats_have_the_prefix_of_their_key():
    json = FormatDescriptor.for_format("json").option("ignore-parse-errors", True).build()
    made = TableDescriptor.for_connector("kafka").format(json).format("raw", "key.format").comment("of orders").build()
    assert made.get_options() == {
        "connector": "kafka",
        "format": "json",
        "json.ignore-parse-errors": "true",
        "key.format": "raw",
    }
    assert made.get_comment() == "of orders"
    assert "'key.format' = 'raw'" in str(made)
    with pytest.raises(ValueError, match="must end with 'format'"):
        TableDescriptor.for_connector("kafka").format(json, "value")


def test_settings_name_the_catalog_and_its_database():
    builder = EnvironmentSettings.new_instance().use_blink_planner().in_streaming_mode()
    settings = builder.with_built_in_catalog_name("shop").with_built_in_database_name("sales").build()
    t_env = TableEnvironment.create(settings)
    assert (t_env.get_current_catalog(), t_env.list_databases()) == ("shop", ["sales"])
    t_env.use_catalog("shop")
    with pytest.raises(SqlError, match="does not exist"):
        t_env.use_database("other")


def test_a_configuration_is_enough_for_an_environment():
    configuration = Configuration()
    configuration.set_string("pipeline.name", "mine")
    t_env = TableEnvironment.create(configuration)
    assert t_env.get_config().get("pipeline.name", "") == "mine"


def test_settings_without_a_meaning_here_are_harmless(t_env):
    config = t_env.get_config()
    config.set("pipeline.jars", "file:///nowhere.jar").set("table.exec.mini-batch.enabled", "true")
    config.set_idle_state_retention(timedelta(hours=1))
    assert config.get_idle_state_retention() == timedelta(hours=1)
    config.set_max_generated_code_length(100)
    config.set_sql_dialect(SqlDialect.DEFAULT)
    more = Configuration()
    more.set_string("parallelism.default", "1")
    config.add_configuration(more)
    assert config.to_map()["parallelism.default"] == "1"
    with pytest.warns(UserWarning, match=r"'pipeline\.jars' has no effect here"):
        found = t_env.sql_query("SELECT 1").execute()
    with found.collect() as rows:
        assert [tuple(row) for row in rows] == [(1,)]
    config.set_python_executable("python3")
    assert config.get("python.executable", "") == config.get_python_executable() == "python3"
    config.set_sql_dialect(SqlDialect.HIVE)
    assert config.get_sql_dialect() == SqlDialect.HIVE
    with pytest.raises(UnsupportedClauseError, match="Hive"):
        t_env.execute_sql("SELECT 1")


def test_rows_of_pandas_become_a_table(t_env):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "at": pandas.to_datetime(["2020-01-01", None]), "x": [1.5, None]})
    table = t_env.from_pandas(frame, DataTypes.ROW([
        DataTypes.FIELD("id", DataTypes.BIGINT()),
        DataTypes.FIELD("at", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("x", DataTypes.DOUBLE()),
    ]))  # fmt: skip
    with table.execute().collect() as rows:
        assert [(row[0], str(row[1]), row[2]) for row in rows] == [(1, "2020-01-01 00:00:00", 1.5), (2, "None", None)]


def test_modes_of_changes_compare_by_their_kinds():
    assert ChangelogMode.all() != ChangelogMode.upsert() != ChangelogMode.insert_only()
    assert {ChangelogMode.all(), ChangelogMode.all()} == {ChangelogMode.all()}
