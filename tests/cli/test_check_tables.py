"""``flintstream check`` makes the tables of a program, up to their sinks, and says what of them cannot work."""

from __future__ import annotations

import pytest

TABLES = """
    from pyflink.table import StreamTableEnvironment; from jobs import column, stream, t_env
    t_env.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')")
"""


UNKNOWN_OPTION = "the connector 'filesystem' has no option '%s'"


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ("'format' = 'csv', 'source.path' = 'x'", UNKNOWN_OPTION % "source.path"),
        ("'format' = 'protobuf'", "the format 'protobuf' is not supported for files"),
        ("'format' = 'csv', 'csv.quote-character' = '||'", "the quote character must be a single character"),
    ],
)
@pytest.mark.parametrize(
    "use", ["sql_query('SELECT a FROM f')", "execute_sql('INSERT INTO f SELECT a FROM t')", "from_path('f')"]
)
def test_options_that_files_do_not_have_are_errors(check, options, finding, use):
    more = f"""
    t_env.execute_sql(f"CREATE TABLE f (a INT) WITH ('connector' = 'filesystem', 'path' = '{{path}}', {options})")
    t_env.{use}
    """
    code, lines = check(TABLES.replace("column,", "column, path,") + more)
    assert code == 1, lines
    assert lines[0].startswith("6: error: ")
    assert finding in lines[0]


@pytest.mark.parametrize("option", ["csv.ignore-first-line", "csv.color"])
@pytest.mark.parametrize(
    "use", ["sql_query('SELECT a FROM f')", "execute_sql('INSERT INTO f SELECT a FROM t')", "from_path('f')"]
)
def test_options_that_a_format_of_files_does_not_have_are_notes(check, option, use):
    more = f"""
    options = "'format' = 'csv', '{option}' = 'x'"
    t_env.execute_sql(f"CREATE TABLE f (a INT) WITH ('connector' = 'filesystem', 'path' = '{{path}}', {{options}})")
    t_env.{use}
    """
    code, lines = check(TABLES.replace("column,", "column, path,") + more)
    assert code == 0, lines
    assert f"note: table 'f': the option '{option}' is unknown and has no effect" in lines[0]


@pytest.mark.parametrize(
    ("columns", "finding"),
    [
        ("a INT", "Query schema: [a: BIGINT]"),
        ("a BIGINT, b STRING", "Different number of columns"),
        ("n BIGINT NOT NULL", None),
        ("n BIGINT", None),
    ],
)
@pytest.mark.parametrize(
    "insert",
    [
        "t_env.execute_sql('INSERT INTO s SELECT a FROM big')",
        "t_env.sql_query('SELECT a FROM big').execute_insert('s')",
        "t_env.from_path('big').select(col('a')).execute_insert('s')",
    ],
)
def test_rows_that_do_not_fit_their_sink_are_errors(check, columns, finding, insert):
    code, lines = check(
        TABLES
        + f"""
    from pyflink.table.expressions import col
    t_env.execute_sql("CREATE TABLE big (a BIGINT) WITH ('connector' = 'datagen')")
    t_env.execute_sql("CREATE TABLE s ({columns}) WITH ('connector' = 'print')")
    {insert}
    """
    )
    assert (code, finding is None or finding in "\n".join(lines)) == (int(finding is not None), True), lines


CHANGES = """
    t_env.execute_sql("CREATE TABLE s (b STRING, n BIGINT{key}) "
        "WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:x', 'table-name' = 's')")
    t_env.execute_sql("INSERT INTO s SELECT b, COUNT(*) FROM t GROUP BY b")
"""


def test_changes_for_a_sink_without_a_primary_key_are_an_error(check):
    code, lines = check(TABLES + CHANGES.format(key=""))
    assert (code, "declare primary key" in lines[0]) == (1, True)
    assert check(TABLES + CHANGES.format(key=", PRIMARY KEY (b) NOT ENFORCED"))[0] == 0


TWICE = """
    from pyflink.table import *
    import sys
    def first(t_env): t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen')")
    def second(t_env): t_env.execute_sql("CREATE {more}TABLE t (a INT) WITH ('connector' = 'print')")
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    first(t_env)
    {between}
    second(t_env)
"""


@pytest.mark.parametrize(
    ("more", "between", "code"),
    [
        ("", "", 1),
        ("OR REPLACE ", "", 1),  # as in Flink, only a statement with AS replaces a table
        ("TEMPORARY ", "", 0),
        ("", "t_env.execute_sql('DROP TABLE t')", 0),
        ("", "t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())", 0),
        ("", "if sys.argv: sys.exit(0)", 0),
    ],
)
def test_a_table_that_each_run_creates_twice_is_an_error(check, more, between, code):
    found, lines = check(TWICE.format(more=more, between=between))
    assert found == code, lines
    assert (": error: Could not execute CreateTable in path" in "\n".join(lines)) == bool(code)


def test_tables_in_branches_are_not_created_twice(check):
    program = TWICE.format(more="", between="").replace(
        "    first(t_env)", "    if len(sys.argv) > 1:\n        first(t_env)"
    )
    assert check(program)[0] == 0


KNOWN_TABLES = """
    from pyflink.table import *
    from pyflink.table.expressions import col, lit
    from pyflink.table.udf import udf
    from pyflink.table.window import Tumble
    from jobs import rows
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    double = udf(lambda x: 2 * x, result_type=DataTypes.BIGINT())
    t = t_env.from_elements([(1, 'x')]).alias('n', 's')
    u = t_env.from_elements(rows, DataTypes.ROW([DataTypes.FIELD('k', DataTypes.INT())]))
"""


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("t.select(col('n') + 1, col('m'))", "Column 'm' not found"),
        ("t.select(double(col('n')), col('m'))", "Column 'm' not found"),
        ("t.filter(col('m') == 1)", "Column 'm' not found"),
        ("u.select(col('n'))", "Column 'n' not found; available: k"),
        (
            "t.window(Tumble.over(lit(1).hours).on(col('rowtime')).alias('w')).group_by(col('w')).select(col('w').start)",
            "Column 'rowtime' not found",
        ),
        ("t_env.create_temporary_view('v', t)\n    t_env.sql_query('SELECT m FROM v')", "Column 'm' not found"),
        ("t.select(col('n'), col('s'))", None),
        ("t.select(double(col('n')), col('s')).select(col('anything'))", None),
        ("t.join(u).where(col('n') == col('k')).select(col('s'))", None),
        ("columns = []\n    columns.append('x')\n    t_env.from_elements([(1,)], columns).select(col('x'))", None),
        ("t_env.from_path('made_elsewhere').select(col('x'))", None),
        ("t.select(col(rows[0]))", None),
        ("t.execute().print()\n    t.to_pandas()", None),
    ],
)
def test_columns_that_known_tables_do_not_have_are_errors(check, line, finding):
    code, lines = check(KNOWN_TABLES + f"    {line}\n")
    assert (code, finding is None or finding in lines[0]) == (int(finding is not None), True), lines


def test_options_of_descriptors_are_checked(check):
    descriptor = """
    made = (TableDescriptor.for_connector('filesystem')
        .schema(Schema.new_builder().column('a', DataTypes.INT()).build())
        .format(FormatDescriptor.for_format('json').option('{option}', 'true').build())
        .option('path', '/x').build())
    t_env.create_temporary_table('f', made)
    t_env.from_path('f')
    """
    assert check(KNOWN_TABLES + descriptor.format(option="ignore-parse-errors"))[0] == 0
    code, lines = check(KNOWN_TABLES + descriptor.format(option="field-delimiter"))
    assert (code, "the option 'json.field-delimiter' is unknown" in lines[0]) == (0, True)


@pytest.mark.parametrize(
    "options",
    [
        "'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{path}/lake'",
        "'type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://127.0.0.1:1'",
        "'type' = 'jdbc', 'base-url' = 'jdbc:postgresql://127.0.0.1:1', 'default-database' = 'd', 'username' = 'u'",
    ],
)
def test_a_catalog_of_another_system_is_not_asked(check, tmp_path, options):
    code, lines = check(f"""
    from pyflink.table import EnvironmentSettings, TableEnvironment
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("CREATE CATALOG lake WITH ({options.format(path=tmp_path)})")
    t_env.execute_sql("USE CATALOG lake")
    t_env.execute_sql("CREATE TABLE IF NOT EXISTS made (n INT)")
    t_env.from_path("there")
    """)
    assert code == 0, lines
    assert [line for line in lines if "error: " in line] == []
    assert not (tmp_path / "lake").exists()


FUNCTION = """
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udf


@udf(result_type=DataTypes.STRING(), input_types=[DataTypes.STRING()])
def level(text):
    return text


def run():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("CREATE TABLE quakes (size DOUBLE, name STRING) WITH ('connector' = 'datagen')")
    t_env.create_temporary_function('level', {function})
    t_env.execute_sql("SELECT level({argument}) FROM quakes").print()


run()
"""


@pytest.mark.parametrize("function", ["level", "udf(len, result_type='STRING', input_types=['STRING'])"])
def test_a_function_whose_arguments_have_another_type_is_an_error(check, function):
    code, lines = check(FUNCTION.format(function=function, argument="size"))
    assert (code, "level(DOUBLE) at line 1, column 8 has arguments of the wrong type" in lines[0]) == (1, True), lines
    assert check(FUNCTION.format(function=function, argument="name"))[0] == 0


def test_types_of_a_function_that_the_program_finds_while_it_runs_are_not_checked(check):
    assert check(FUNCTION.format(function="globals()['level']", argument="size"))[0] == 0
