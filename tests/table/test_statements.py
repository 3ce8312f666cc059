"""Hints, static partitions, SHOW CREATE TABLE and schemas as texts, beyond what was recorded from PyFlink."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import DataTypes, ExplainDetail, Schema, TableDescriptor
from flintstream.table._errors import SqlError
from flintstream.table.expressions import call_sql, col

NUMBERS = "'connector' = 'datagen', 'number-of-rows' = '3', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '9'"


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return [list(item) for item in found]


def test_options_of_a_query_count_for_that_query_alone(t_env):
    t_env.execute_sql(f"CREATE TABLE g (id INT) WITH ({NUMBERS})")
    assert rows(t_env, "SELECT id FROM g /*+ OPTIONS('number-of-rows' = '1') */ AS t WHERE id > 0") == [[1]]
    assert rows(t_env, "SELECT id FROM g") == [[1], [2], [3]]


def test_options_of_a_view_are_refused(t_env):
    t_env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
    with pytest.raises(SqlError, match=r"OPTIONS at line 1.*'v' is a view"):
        t_env.sql_query("SELECT a FROM v /*+ OPTIONS('a' = 'b') */")


def test_a_partition_without_such_a_column_is_refused(t_env, tmp_path):
    t_env.execute_sql(
        f"CREATE TABLE f (a INT, p INT) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    with pytest.raises(SqlError, match="not partitioned by 'a'"):
        t_env.execute_sql("INSERT INTO f PARTITION (a = 1) SELECT 1")
    t_env.execute_sql("INSERT INTO f PARTITION (p = '7') SELECT 1").wait()
    assert rows(t_env, "SELECT a, p FROM f") == [[1, 7]]


def test_a_column_is_inserted_once(t_env):
    t_env.execute_sql("CREATE TABLE s (a INT, b INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(SqlError, match="names column 'a' twice"):
        t_env.execute_sql("INSERT INTO s (a, a) SELECT 1, 2")


def test_the_statement_that_is_shown_declares_the_same_table(t_env):
    t_env.execute_sql(
        "CREATE TABLE g (id BIGINT NOT NULL, name STRING COMMENT 'it''s', ts AS TO_TIMESTAMP_LTZ(id, 3), twice AS id * 2 + 1, "
        "WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'numbers' WITH ('connector' = 'datagen')"
    )
    ((shown,),) = rows(t_env, "SHOW CREATE TABLE g")
    t_env.execute_sql("DROP TABLE g")
    t_env.execute_sql(shown)
    assert rows(t_env, "SHOW CREATE TABLE g") == [[shown]]


def test_the_schema_of_a_declared_table_has_its_expressions(t_env):
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.BIGINT())
        .column_by_expression("odd", call_sql("id * (2 + 1)"))
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(id, 3)")
        .watermark("ts", col("ts") - call_sql("INTERVAL '1' SECOND"))
        .build()
    )
    t_env.create_temporary_table("t", TableDescriptor.for_connector("datagen").schema(schema).build())
    assert str(t_env.from_path("t").get_schema()).splitlines() == [
        "root",
        " |-- id: BIGINT",
        " |-- odd: BIGINT AS `id` * (2 + 1)",
        " |-- ts: TIMESTAMP_LTZ(3) *ROWTIME* AS `TO_TIMESTAMP_LTZ`(`id`, 3)",
        " |-- WATERMARK FOR ts: TIMESTAMP_LTZ(3) AS `ts` - INTERVAL '1' SECOND",
    ]


def test_a_printed_schema_has_a_line_for_each_column_and_clause_as_in_pyflink(t_env, capsys):
    t_env.execute_sql(
        "CREATE TABLE t (id INT, `a ``b` STRING, ts TIMESTAMP(3), twice AS id * 2, now AS PROCTIME(), "
        "PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'datagen')"
    )
    t_env.from_path("t").print_schema()
    assert capsys.readouterr().out.splitlines() == [
        "(",
        "  `id` INT NOT NULL,",
        "  `a ``b` STRING,",
        "  `ts` TIMESTAMP(3) *ROWTIME*,",
        "  `twice` INT NOT NULL AS `id` * 2,",
        "  `now` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME(),",
        "  WATERMARK FOR `ts`: TIMESTAMP(3) AS `ts` - INTERVAL '1' SECOND,",
        "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
        ")",
    ]


def test_several_columns_are_counted_where_none_is_null(t_env):
    values = "(VALUES (1, 'a'), (1, 'a'), (1, 'b'), (CAST(NULL AS INT), 'b')) AS t (a, b)"
    found = rows(t_env, f"SELECT COUNT(DISTINCT a, b), COUNT(a, b), APPROX_COUNT_DISTINCT(b) FROM {values}")
    assert found[-1] == [2, 3, 2]


def test_a_statement_set_runs_all_inserts(t_env, capfd):
    t_env.execute_sql("CREATE TABLE p (a INT, b STRING) WITH ('connector' = 'print')")
    text = "EXECUTE STATEMENT SET BEGIN INSERT INTO p SELECT 1, 'x;y'; INSERT INTO p VALUES (2, 'z'); END;"
    t_env.execute_sql(text).wait()
    assert sorted(capfd.readouterr().out.splitlines()) == ["+I[1, x;y]", "+I[2, z]"]
    with pytest.raises(SqlError, match="expected INSERT"):
        t_env.execute_sql("EXECUTE STATEMENT SET BEGIN SELECT 1; END")
    with pytest.raises(SqlError, match="expected INSERT but found the end"):
        t_env.execute_sql("EXECUTE STATEMENT SET BEGIN")


def test_explain_has_the_sections_and_details_of_flink(t_env):
    t_env.execute_sql("CREATE TABLE numbers (k INT, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3')")
    query = "SELECT k, SUM(v) AS s FROM numbers GROUP BY k"
    ((plain,),) = rows(t_env, f"EXPLAIN {query}")
    assert re.findall(r"== (.*) ==", plain) == [
        "Abstract Syntax Tree",
        "Optimized Physical Plan",
        "Optimized Execution Plan",
    ]
    assert plain == t_env.explain_sql(query) == t_env.sql_query(query).explain()
    details = "CHANGELOG_MODE, PLAN_ADVICE, ESTIMATED_COST, JSON_EXECUTION_PLAN"
    ((detailed,),) = rows(t_env, f"EXPLAIN {details} {query}")
    physical = detailed.partition("== Optimized Physical Plan With Advice ==\n")[2].splitlines()
    assert physical[1].endswith("changelogMode=[I,UA])")
    assert physical[2] == "   +- Exchange(distribution=[hash[k]], changelogMode=[I])"
    assert physical[1].startswith("+- GroupAggregate(advice=[1], groupBy=[k], select=[k, SUM(v) AS ")
    assert "'table.exec.mini-batch.enabled' to 'true'" in physical[6]
    assert "No available advice..." in t_env.explain_sql("SELECT k FROM numbers", ExplainDetail.PLAN_ADVICE)
    steps = json.loads(detailed.partition("== Physical Execution Plan ==")[2])["nodes"]
    assert [step["type"] for step in steps][-1] == "Sink: Collect"
    assert "changelogMode" not in detailed.partition("== Optimized Execution Plan ==")[2]
    assert "Exchange" not in plain.partition("== Optimized Physical Plan ==")[0]


def test_explain_of_statements_together_has_all_of_them(t_env):
    t_env.execute_sql("CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')")
    inserts = "INSERT INTO nowhere SELECT 1; INSERT INTO nowhere SELECT 2;"
    ((text,),) = rows(t_env, f"EXPLAIN STATEMENT SET BEGIN {inserts} END")
    together = t_env.create_statement_set().add_insert_sql("INSERT INTO nowhere SELECT 1")
    assert text == together.add_insert_sql("INSERT INTO nowhere SELECT 2").explain()
    assert text.count("Values(") == 6
    plan = json.loads(together.explain(ExplainDetail.JSON_EXECUTION_PLAN).partition("== Physical Execution Plan ==")[2])
    assert sum(step["pact"] == "Data Sink" for step in plan["nodes"]) == 2


def test_explain_runs_nothing_and_leaves_the_program_as_it_was(t_env, capfd):
    t_env._env.from_collection([7]).print()
    t_env.execute_sql("CREATE TABLE shown (n INT) WITH ('connector' = 'print')")
    t_env.explain_sql("INSERT INTO shown SELECT 1", ExplainDetail.JSON_EXECUTION_PLAN)
    t_env._env.execute()
    assert [line.rpartition(" ")[2] for line in capfd.readouterr().out.split("\n") if line] == ["7"]


@pytest.mark.parametrize("statement", ["EXPLAIN", "EXPLAIN PLAN FOR", "EXPLAIN CHANGELOG_MODE", "EXECUTE"])
def test_a_statement_that_ends_too_early_is_refused(t_env, statement):
    with pytest.raises(SqlError, match="a query or an INSERT is missing"):
        t_env.execute_sql(statement)


def test_execute_runs_a_query_or_an_insert(t_env, capfd):
    assert rows(t_env, "EXECUTE SELECT 1 AS one") == [[1]]
    t_env.execute_sql("CREATE TABLE shown (n INT) WITH ('connector' = 'print')")
    t_env.execute_sql("EXECUTE INSERT INTO shown SELECT 5").wait()
    assert "+I[5]" in capfd.readouterr().out


def test_reset_gives_options_their_first_values(t_env):
    first = t_env.get_config().get("parallelism.default", "")
    t_env.execute_sql("SET 'parallelism.default' = '7'")
    t_env.execute_sql("SET 'pipeline.name' = 'mine'")
    t_env.execute_sql("RESET 'parallelism.default'")
    assert t_env.get_config().get("parallelism.default", "") == first
    assert t_env.get_config().get("pipeline.name", "") == "mine"
    t_env.execute_sql("RESET")
    assert t_env.get_config().get("pipeline.name", "") == ""


def test_jars_are_listed_and_run_nothing(t_env):
    t_env.execute_sql("ADD JAR 'a.jar'")
    t_env.execute_sql("ADD JAR 'b.jar'")
    t_env.execute_sql("REMOVE JAR 'a.jar'")
    assert rows(t_env, "SHOW JARS") == [["b.jar"]]
    with pytest.raises(SqlError, match=r"REMOVE JAR at line 1, column 12: 'c.jar' has not been added"):
        t_env.execute_sql("REMOVE JAR 'c.jar'")


def test_the_options_and_comment_of_a_catalog_change(t_env):
    t_env.execute_sql("CREATE CATALOG c COMMENT 'old' WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("ALTER CATALOG c COMMENT 'new'")
    t_env.execute_sql("ALTER CATALOG c SET ('default-database' = 'd')")
    told = dict(rows(t_env, "DESCRIBE CATALOG EXTENDED c"))
    assert (told["comment"], told["option:default-database"]) == ("new", "d")
    t_env.execute_sql("ALTER CATALOG c RESET ('default-database')")
    assert "option:default-database" not in dict(rows(t_env, "DESCRIBE CATALOG EXTENDED c"))
    with pytest.raises(SqlError, match="RESET does not support changing 'type'"):
        t_env.execute_sql("ALTER CATALOG c RESET ('type')")
