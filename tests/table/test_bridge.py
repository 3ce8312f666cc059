"""Tables and streams, SQL statements, and their errors."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, RowKind, Types
from flintstream.table import ChangelogMode, DataTypes, Schema
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.expressions import col
from flintstream.table.udf import udf, udtf


def rows(result):
    with result.collect() as found:
        return [tuple(row) for row in found]


def value(t_env, expression):
    ((found,),) = rows(t_env.execute_sql(f"SELECT {expression}"))
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 1", 2),
        ("2147483647 + 1", -2147483648),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("UPPER('x') || 'y'", "Xy"),
        ("TRY_CAST('q' AS INT)", None),
        ("CAST('12' AS BIGINT)", 12),
        ("CAST(NULL AS INT) = 1 OR TRUE", True),
        ("CAST(NULL AS INT) = 1 AND TRUE", None),
        ("CAST(NULL AS INT) = 1 AND FALSE", False),
        ("CASE WHEN CAST(NULL AS BOOLEAN) THEN 1 ELSE 2 END", 2),
        ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "b"),
        ("COALESCE(CAST(NULL AS INT), 3)", 3),
        ("SUBSTRING('hello' FROM 2 FOR 3)", "ell"),
        ("'abc' LIKE 'a%'", True),
        ("3 NOT IN (1, 2)", True),
        ("NULL IS NULL", True),
        ("ARRAY[1, 2][2]", 2),
        ("EXTRACT(YEAR FROM DATE '2020-03-01')", 2020),
        ("CAST(TIMESTAMP '2020-01-31 00:00:00' + INTERVAL '1' MONTH AS STRING)", "2020-02-29 00:00:00"),
        ("CAST(CAST(1.005 AS DECIMAL(10, 2)) AS STRING)", "1.01"),
    ],
)
def test_an_expression_has_the_value_that_flink_gives(t_env, expression, expected):
    assert value(t_env, expression) == expected


def test_a_generated_table_reaches_a_printed_one(t_env, capsys):
    t_env.execute_sql(
        "CREATE TABLE numbers (n INT, twice AS n * 2) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '3')"
    )
    t_env.execute_sql("CREATE TABLE printed (n INT, twice INT) WITH ('connector' = 'print', 'print-identifier' = 'p')")
    t_env.execute_sql("INSERT INTO printed SELECT n, twice FROM numbers WHERE n > 1").wait()
    assert capsys.readouterr().out == "p> +I[2, 4]\np> +I[3, 6]\n"


def test_a_stream_becomes_a_table_and_a_stream_again(env, t_env):
    stream = env.from_collection([(1, "a"), (2, "b")], Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]))
    t_env.create_temporary_view("v", t_env.from_data_stream(stream))
    table = t_env.sql_query("SELECT name FROM v WHERE id = 2 UNION ALL SELECT 'c'")
    with t_env.to_data_stream(table).execute_and_collect() as found:
        assert sorted(row.name for row in found) == ["b", "c"]


def test_kinds_of_changes_pass_through_a_projection(env, t_env):
    changes = [Row.of_kind(RowKind.INSERT, 1), Row.of_kind(RowKind.DELETE, 1)]
    stream = env.from_collection(changes, Types.ROW_NAMED(["id"], [Types.INT()]))
    table = t_env.from_changelog_stream(stream).select(col("id") + 1)
    with table.execute().collect() as found:
        assert [(str(row.get_row_kind()), row[0]) for row in found] == [("+I", 2), ("-D", 2)]
    with pytest.raises(SqlError, match="to_changelog_stream"):
        t_env.to_data_stream(table)


def test_the_key_of_a_stream_of_upserts_finds_the_rows_that_they_replace(env, t_env):
    changes = [
        Row.of_kind(RowKind.INSERT, "Alice", 12),
        Row.of_kind(RowKind.INSERT, "Bob", 5),
        Row.of_kind(RowKind.UPDATE_AFTER, "Alice", 100),
        Row.of_kind(RowKind.DELETE, "Bob", None),
    ]
    stream = env.from_collection(changes, Types.ROW([Types.STRING(), Types.INT()]))
    schema = Schema.new_builder().primary_key("f0").build()
    table = t_env.from_changelog_stream(stream, schema, ChangelogMode.upsert())
    t_env.create_temporary_view("v", table)
    with t_env.execute_sql("SELECT f0, SUM(f1) FROM v GROUP BY f0").collect() as found:
        last = {row[0]: (row[1], row.get_row_kind() is RowKind.DELETE) for row in found}
    assert last == {"Alice": (100, False), "Bob": (5, True)}
    with pytest.raises(SqlError, match="the schema needs a primary key"):
        t_env.from_changelog_stream(stream, changelog_mode=ChangelogMode.upsert())
    wrong = Schema.new_builder().primary_key("f9").build()
    with pytest.raises(SqlError, match="'f9' of the primary key is not in the stream"):
        t_env.from_changelog_stream(stream, wrong, ChangelogMode.upsert())


def test_python_functions_run_in_sql(t_env):
    t_env.create_temporary_function("twice", udf(lambda x: 2 * x, result_type=DataTypes.INT()))
    t_env.create_temporary_function("words", udtf(lambda line: line.split(), result_types=[DataTypes.STRING()]))
    source = "(VALUES (1, 'a b'), (2, '')) AS T(n, line)"
    assert rows(t_env.execute_sql(f"SELECT twice(n) FROM {source}")) == [(2,), (4,)]
    lateral = f"SELECT n, w FROM {source} LEFT JOIN LATERAL TABLE(words(line)) AS W(w) ON TRUE"
    assert rows(t_env.execute_sql(lateral)) == [(1, "a"), (1, "b"), (2, None)]


@pytest.mark.parametrize("name", ["csv", "json", "parquet"])
def test_files_are_written_and_read(t_env, tmp_path, name):
    options = f"'connector' = 'filesystem', 'format' = '{name}', 'path' = '{tmp_path / name}'"
    t_env.execute_sql(f"CREATE TABLE files (a INT, b STRING) WITH ({options})")
    t_env.execute_sql("INSERT INTO files VALUES (1, 'x'), (2, CAST(NULL AS STRING))").wait()
    nothing = "" if name == "csv" else None
    assert sorted(rows(t_env.execute_sql("SELECT * FROM files"))) == [(1, "x"), (2, nothing)]
    assert all(path.is_file() for path in (tmp_path / name).iterdir())  # unlike those of a FileSink, by hour


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT idd FROM (VALUES (1)) AS T(id)", "Column 'idd' not found at line 1, column 8; did you mean 'id'"),
        ("SELECT UPER('a')", "No match found for function 'UPER' at line 1, column 8; did you mean 'UPPER'"),
        (
            "SELECT UPPER(1)",
            r"UPPER\(INT NOT NULL\) at line 1, column 8 has arguments of the wrong type: it takes \(STRING\)",
        ),
        ("SELEC 1", "unknown statement SELEC at line 1, column 1; did you mean 'SELECT'"),
        ("SELECT * FROM nowhere", "Object 'nowhere' not found at line 1, column 15"),
    ],
)
def test_an_error_names_the_place_and_the_nearest_name(t_env, statement, message):
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql(statement)


@pytest.mark.parametrize(
    ("statement", "clause"),
    [
        ("SELECT x FROM (VALUES (1)) AS t (x) TABLESAMPLE RESERVOIR (5)", "TABLESAMPLE RESERVOIR at line 1, column"),
    ],
)
def test_a_clause_that_is_missing_is_named_with_its_place(t_env, statement, clause):
    with pytest.raises(UnsupportedClauseError, match=f"{clause}.* is not supported yet"):
        t_env.execute_sql(statement)


def test_columns_are_attributes_of_their_table(t_env):
    table = t_env.sql_query("SELECT 1 AS price, 2 AS amount")
    assert rows(table.select(table.price + table.amount).execute()) == [(3,)]
    with pytest.raises(AttributeError, match="did you mean 'price'"):
        table.pricce  # noqa: B018 - the attribute


def test_steps_on_the_table_of_a_stream_have_its_parallelism_and_those_after_it_any(env, t_env):
    env.set_parallelism(4)
    table = t_env.from_data_stream(env.from_collection([(i,) for i in range(50)], Types.TUPLE([Types.INT()])))
    chosen = table.filter(col("f0") >= 0)
    with t_env.to_data_stream(chosen).map(lambda row: row[0]).set_parallelism(1).execute_and_collect() as found:
        assert list(found) == list(range(50))
    with t_env.to_data_stream(chosen).set_parallelism(3).execute_and_collect() as found:
        assert sorted(row[0] for row in found) == list(range(50))
