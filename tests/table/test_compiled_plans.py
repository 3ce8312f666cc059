"""Compiled plans: COMPILE PLAN, EXECUTE PLAN and what they are in Python."""

from __future__ import annotations

import json
import os
import stat

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import PlanReference, StreamTableEnvironment
from flintstream.table._compiled.contents import PlanFileError
from flintstream.table._errors import SqlError
from flintstream.table._unopened import UnopenedEnvironment
from flintstream.table.udf import udf

QUERY = "SELECT a, UPPER(b) FROM src WHERE a > 1"


def environment(engine="inline"):
    options = {"flintstream.engine": engine, "parallelism.default": "1", "table.dml-sync": "true"}
    return StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(options))


def declare(t_env, folder, kind="TABLE", out="out"):
    (folder / "in.csv").write_text("1,x\n2,y\n3,z\n")
    for name, path in ("src", "in.csv"), ("snk", out):
        t_env.execute_sql(
            f"CREATE {kind} {name} (a INT, b STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
            f"'path' = '{folder / path}')"
        )
    return t_env


def written(folder, out="out"):
    return sorted(line for path in (folder / out).glob("[!.]*") for line in path.read_text().split())


@pytest.fixture
def t_env(tmp_path):
    return declare(environment(), tmp_path)


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_session_without_tables_runs_a_plan(tmp_path, engine):
    file = tmp_path / "plans" / "p.json"
    result = declare(environment(engine), tmp_path).execute_sql(f"COMPILE PLAN '{file}' FOR INSERT INTO snk {QUERY}")
    assert [tuple(row) for row in result.collect()] == [("OK",)]
    assert written(tmp_path) == []
    other = environment(engine)
    other.execute_sql(f"EXECUTE PLAN '{file}'").wait()
    assert written(tmp_path) == ["2,Y", "3,Z"]
    assert other.list_tables() == []


def test_a_plan_is_not_replaced_unless_an_option_says_so(t_env, tmp_path):
    statement = f"COMPILE PLAN '{tmp_path}/p.json' FOR INSERT INTO snk SELECT a, b FROM src WHERE a > "
    t_env.execute_sql(statement + "1")
    with pytest.raises(PlanFileError, match=r"Cannot overwrite the plan file .*'table.plan.force-recompile' to true"):
        t_env.execute_sql(statement + "2")
    t_env.execute_sql((statement + "2").replace(" FOR", " IF NOT EXISTS FOR"))
    assert "a > 1" in (tmp_path / "p.json").read_text()
    t_env.get_config().set("table.plan.force-recompile", "true")
    t_env.execute_sql(statement + "2")
    assert "a > 2" in (tmp_path / "p.json").read_text()


def test_the_umask_decides_who_reads_a_plan(t_env, tmp_path):
    before = os.umask(0o027)
    try:
        t_env.compile_plan_sql(f"INSERT INTO snk {QUERY}").write_to_file(tmp_path / "p.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "p.json").stat().st_mode) == 0o640


def test_only_the_user_reads_a_plan_with_passwords(t_env, tmp_path):
    jdbc = "'connector' = 'jdbc', 'url' = 'jdbc:postgresql://localhost/db', 'table-name' = 't', 'password' = 'abc'"
    t_env.execute_sql(f"CREATE TABLE secret (a INT, b STRING) WITH ({jdbc})")
    path = tmp_path / "p.json"
    path.write_text("{}")
    path.chmod(0o644)
    t_env.get_config().set("table.plan.force-recompile", "true")
    t_env.compile_plan_sql(f"INSERT INTO secret {QUERY}").write_to_file(path)
    assert "abc" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_compile_and_execute_uses_a_file_that_is_there(t_env, tmp_path):
    for least in (2, 3):
        t_env.execute_sql(
            f"COMPILE AND EXECUTE PLAN 'file://{tmp_path}/p.json' FOR STATEMENT SET BEGIN "
            f"INSERT INTO snk SELECT a, b FROM src WHERE a >= {least}; INSERT INTO snk SELECT 9, 'n'; END"
        ).wait()
    assert written(tmp_path) == sorted(["2,y", "3,z", "9,n"] * 2)


def test_views_functions_time_zone_and_current_database_are_part_of_a_plan(tmp_path):
    t_env = environment()
    t_env.get_config().set_local_timezone("Asia/Tokyo")
    t_env.execute_sql("CREATE FUNCTION shout AS 'tests.table.test_compiled_plans.shout' LANGUAGE PYTHON")
    t_env.execute_sql("CREATE DATABASE d")
    t_env.execute_sql("USE d")
    declare(t_env, tmp_path)
    t_env.execute_sql("CREATE VIEW later (n, t) AS SELECT a, b FROM src WHERE a > 2")
    t_env.execute_sql("CREATE TEMPORARY VIEW shouted AS SELECT n, shout(t) AS t FROM later")
    text = t_env.compile_plan_sql(
        "INSERT INTO snk SELECT n, t || CAST(CAST(TO_TIMESTAMP_LTZ(0, 3) AS TIMESTAMP(0)) AS STRING) FROM shouted"
    ).as_json_string()
    other = environment()
    other.execute_plan(PlanReference.from_json_string(text)).wait()
    assert written(tmp_path) == ['09:00:00"', '3,"z!1970-01-01']
    assert other.get_config().get_local_timezone() == "UTC"
    assert other.get_current_database() == "default_database"


@udf(result_type="STRING")
def shout(text):
    return f"{text}!"


def test_a_function_of_the_session_must_be_there_again(t_env):
    t_env.create_temporary_system_function("shout", shout)
    plan = t_env.compile_plan_sql("INSERT INTO snk SELECT a, shout(b) FROM src").as_json_string()
    with pytest.raises(PlanFileError, match="calls the function 'shout', which is not in the session"):
        environment().execute_plan(PlanReference.from_json_string(plan))


def test_temporary_tables_are_those_of_the_session_that_runs_the_plan(tmp_path):
    plan = declare(environment(), tmp_path, "TEMPORARY TABLE").compile_plan_sql(f"INSERT INTO snk {QUERY}")
    reference = PlanReference.from_json_string(plan.as_json_string())
    assert "csv" not in reference.get_content()
    with pytest.raises(PlanFileError, match=r"only the name of the table 'default_catalog.default_database"):
        environment().execute_plan(reference)
    declare(environment(), tmp_path, "TEMPORARY TABLE", "other").execute_plan(reference).wait()
    assert written(tmp_path, "other") == ["2,Y", "3,Z"]
    assert written(tmp_path) == []


@pytest.mark.parametrize("compiled", ["ALL", "SCHEMA", "IDENTIFIER"])
@pytest.mark.parametrize("restored", ["ALL", "ALL_ENFORCED", "IDENTIFIER"])
def test_options_choose_what_a_plan_holds_and_what_the_catalog_gives(tmp_path, compiled, restored):
    t_env = declare(environment(), tmp_path)
    t_env.get_config().set("table.plan.compile.catalog-objects", compiled)
    reference = PlanReference.from_json_string(t_env.compile_plan_sql(f"INSERT INTO snk {QUERY}").as_json_string())
    empty, full = environment(), declare(environment(), tmp_path, out="other")
    for other, is_enough in (
        (empty, compiled == "ALL" and restored != "IDENTIFIER"),
        (full, compiled == "ALL" or restored != "ALL_ENFORCED"),
    ):
        other.get_config().set("table.plan.restore.catalog-objects", restored)
        if is_enough:
            other.execute_plan(reference).wait()
        else:
            with pytest.raises(PlanFileError, match=r"of the table|hold the table"):
                other.execute_plan(reference)


def test_a_table_that_has_changed_since_is_refused(tmp_path):
    t_env = declare(environment(), tmp_path)
    t_env.get_config().set("table.plan.compile.catalog-objects", "IDENTIFIER")
    reference = PlanReference.from_json_string(t_env.compile_plan_sql(f"INSERT INTO snk {QUERY}").as_json_string())
    other = environment()
    other.execute_sql("CREATE TABLE src (a BIGINT, b STRING) WITH ('connector' = 'datagen')")
    other.execute_sql("CREATE TABLE snk (a BIGINT, b STRING) WITH ('connector' = 'print')")
    with pytest.raises(PlanFileError, match=r"has the step Calc\(a INT.* plans Calc\(a BIGINT"):
        other.execute_plan(reference)


def test_tables_from_sql_are_stored(t_env, tmp_path):
    for table in (t_env.sql_query(QUERY), t_env.from_path("src")):
        plan = t_env.load_plan(PlanReference.from_json_string(table.insert_into("snk").compile_plan().as_json_string()))
        plan.execute().wait()
    assert written(tmp_path) == ["1,x", "2,Y", "2,y", "3,Z", "3,z"]


def test_a_statement_set_is_a_plan(t_env, tmp_path):
    inserts = (
        t_env.create_statement_set()
        .add_insert_sql(f"INSERT INTO snk {QUERY}")
        .add_insert("snk", t_env.from_path("src"))
    )
    text = inserts.compile_plan().as_json_string()
    assert len(json.loads(text)["inserts"]) == 2
    environment().execute_plan(PlanReference.from_json_string(text)).wait()
    assert len(written(tmp_path)) == 5
    with pytest.raises(PlanFileError, match="needs a statement"):
        t_env.create_statement_set().compile_plan()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "is not JSON"),
        ("{}", "is not a compiled plan"),
        ("[]", "is not a compiled plan"),
        ('{"flinkVersion": "2.3", "nodes": [], "edges": []}', "made by Flink"),
        ('{"format": "flintstream compiled plan", "version": 7}', "has version 7"),
        ('{"format": "flintstream compiled plan", "version": 1, "inserts": [3]}', "damaged: 'sql'"),
    ],
)
def test_what_is_not_a_plan_is_refused(t_env, text, message):
    with pytest.raises(PlanFileError, match=message):
        t_env.load_plan(PlanReference.from_json_string(text))


def test_a_plan_whose_parts_are_damaged_is_refused(t_env):
    whole = json.loads(t_env.compile_plan_sql(f"INSERT INTO snk {QUERY}").as_json_string())
    for key in ("inserts", "tables", "views", "calls", "functions", "options"):
        for wrong in (None, 3, "x", [3], {"a": 3}):
            with pytest.raises(PlanFileError):
                t_env.load_plan(PlanReference.from_json_string(json.dumps({**whole, key: wrong})))


def test_only_inserts_are_compiled(t_env, tmp_path):
    with pytest.raises(PlanFileError, match=r"compilePlanSql\(\) only accepts a single SQL statement of type INSERT"):
        t_env.compile_plan_sql("SELECT 1")
    with pytest.raises(SqlError, match="expected INSERT"):
        t_env.execute_sql(f"COMPILE PLAN '{tmp_path}/p.json' FOR SELECT 1")
    with pytest.raises(PlanFileError, match="Cannot load Plan from file"):
        t_env.execute_sql(f"EXECUTE PLAN '{tmp_path}/none.json'")


def test_references_are_equal_if_they_name_the_same_plan(tmp_path):
    reference = PlanReference.from_file(tmp_path / "p.json")
    assert (str(reference), reference.get_file()) == (f"Plan from file '{tmp_path}/p.json'", tmp_path / "p.json")
    assert hash(reference) == hash(PlanReference.from_file(str(tmp_path / "p.json")))
    assert reference != PlanReference.from_json_string(str(tmp_path / "p.json"))
    assert str(PlanReference.from_json_string("{}")) == "Plan:\n{}"


def test_a_check_of_a_program_writes_no_plan(tmp_path):
    t_env = declare(UnopenedEnvironment(batch=False), tmp_path)
    t_env.plan(f"COMPILE PLAN '{tmp_path}/p.json' FOR INSERT INTO snk {QUERY}")
    assert not (tmp_path / "p.json").exists()
