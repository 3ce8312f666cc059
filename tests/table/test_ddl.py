"""CREATE TABLE: columns, LIKE, and what DESCRIBE shows."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common._java_exceptions import CatalogException
from flintstream.table import DataTypes, Schema, TableDescriptor, TableSchema
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table.catalog import CatalogBaseTable, ObjectPath

BASE = """CREATE TABLE base (
    id INT NOT NULL COMMENT 'the key', v STRING, twice AS id * 2, ts TIMESTAMP(3),
    WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"""


def described(t_env, name):
    with t_env.execute_sql(f"DESCRIBE {name}").collect() as rows:
        return [tuple(row) for row in rows]


def test_a_schema_of_a_program_has_each_column_once(t_env):
    schema = Schema.new_builder().column("a", DataTypes.INT()).column_by_expression("a", "a + 1").build()
    with pytest.raises(SqlError, match=r"Found duplicates: \[a\]"):
        t_env.from_descriptor(TableDescriptor.for_connector("datagen").schema(schema).build())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" ;", "SQL parse failed.* there is none"),
        ("-- nothing", "only single statement supported: there is none"),
        ("SELECT 1; SELECT 2", "only single statement supported: split the text"),
    ],
)
def test_a_text_without_one_statement_is_refused(t_env, text, words):
    with pytest.raises(SqlError, match=words):
        t_env.sql_query(text)


def test_a_table_like_another_has_its_columns_and_more(t_env):
    t_env.execute_sql(BASE)
    t_env.execute_sql("CREATE TABLE more (extra INT) WITH ('number-of-rows' = '2') LIKE base")
    assert [row[0] for row in described(t_env, "more")] == ["id", "v", "twice", "ts", "extra"]
    with t_env.execute_sql("SELECT id FROM more").collect() as rows:
        assert len(list(rows)) == 2


def test_parts_of_the_other_table_can_be_left_out(t_env):
    t_env.execute_sql(BASE)
    t_env.execute_sql(
        "CREATE TABLE bare WITH ('connector' = 'print') LIKE base (EXCLUDING OPTIONS EXCLUDING GENERATED EXCLUDING WATERMARKS EXCLUDING CONSTRAINTS)"
    )
    assert described(t_env, "bare") == [
        ("id", "INT", False, None, None, None, "the key"),
        ("v", "STRING", True, None, None, None, None),
        ("ts", "TIMESTAMP(3)", True, None, None, None, None),
    ]


def test_keys_computed_columns_and_watermarks_are_described(t_env):
    t_env.execute_sql(BASE)
    assert [row[3:6] for row in described(t_env, "base")] == [
        ("PRI(id)", None, None),
        (None, None, None),
        (None, "AS `id` * 2", None),
        (None, None, "`ts` - INTERVAL '1' SECOND"),
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE t (a INT, a INT) WITH ('connector' = 'print')", "A column named 'a' already exists"),
        ("CREATE TABLE t (a INT, b AS c + 1) WITH ('connector' = 'print')", "Column 'c' not found at line 1"),
        ("CREATE TABLE t (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'print')", "must be TIMESTAMP"),
        ("CREATE TABLE t LIKE nothing", "Object 'nothing' not found at line 1, column 21"),
        ("CREATE TABLE t WITH ('connector' = 'print') LIKE base (WITHOUT OPTIONS)", "no option WITHOUT OPTIONS"),
        ("CREATE TABLE t (v STRING) LIKE base", "A column named 'v' already exists"),
    ],
)
def test_a_wrong_table_is_refused_when_it_is_declared(t_env, statement, message):
    t_env.execute_sql(BASE)
    with pytest.raises(SqlError, match=message):
        t_env.execute_sql(statement)


def test_what_a_statement_tells_is_as_wide_as_its_texts(t_env, capsys):
    t_env.execute_sql("CREATE TABLE t (a INT NOT NULL) WITH ('connector' = 'print')").print()
    t_env.execute_sql("SHOW TABLES").print()
    assert capsys.readouterr().out.splitlines() == [
        "OK",
        "+------------+",
        "| table name |",
        "+------------+",
        "|          t |",
        "+------------+",
        "1 row in set",
    ]


def test_names_are_those_of_the_current_database(t_env):
    def told(statement):
        with t_env.execute_sql(statement).collect() as rows:
            return [row[0] for row in rows]

    t_env.execute_sql("CREATE DATABASE db")
    t_env.execute_sql("CREATE TABLE here (a INT) WITH ('connector' = 'print')")
    t_env.use_database("db")
    t_env.execute_sql("CREATE VIEW there AS SELECT 1 AS n")
    assert told("SHOW TABLES") == ["there"]
    assert told("SHOW TABLES FROM default_database") == ["here"]
    t_env.execute_sql("USE default_database")
    assert told("SELECT n FROM db.there") == [1]
    with pytest.raises(SqlError, match="'db' is not empty: drop there, or drop it with CASCADE"):
        t_env.execute_sql("DROP DATABASE db")
    t_env.execute_sql("DROP DATABASE db CASCADE")
    with pytest.raises(SqlError, match=r"A database with name \[db\] at line 1, column 5 does not exist"):
        t_env.execute_sql("USE db")


def test_catalogs_are_created_used_and_dropped(t_env):
    def told(statement):
        with t_env.execute_sql(statement).collect() as rows:
            return [row[0] for row in rows]

    options = "'type' = 'generic_in_memory', 'default-database' = 'd'"
    t_env.execute_sql(f"CREATE CATALOG shop COMMENT 'ours' WITH ({options})")
    t_env.execute_sql("CREATE CATALOG IF NOT EXISTS shop WITH ('type' = 'generic_in_memory')")
    t_env.execute_sql("CREATE DATABASE shop.more WITH ('k' = 'v')")
    t_env.execute_sql("ALTER DATABASE shop.more SET ('k' = 'w', 'l' = 'x')")
    catalog = t_env.get_catalog("shop")
    assert catalog.get_database("more").get_properties() == {"k": "w", "l": "x"}
    assert told("SHOW DATABASES FROM shop LIKE 'm%'") == ["more"]
    assert told("SHOW CREATE CATALOG shop")[0].startswith("CREATE CATALOG `shop`\nCOMMENT 'ours'\nWITH (")
    assert told("DESC CATALOG EXTENDED shop") == ["name", "type", "comment", "option:default-database"]
    t_env.execute_sql("USE CATALOG shop")
    assert (told("SHOW CURRENT CATALOG"), told("SHOW CURRENT DATABASE")) == (["shop"], ["d"])
    t_env.execute_sql("CREATE VIEW one AS SELECT 1 AS n")
    t_env.execute_sql("USE default_catalog.default_database")
    assert told("SELECT n FROM shop.d.one") == [1]
    assert catalog.list_views("d") == ["one"]
    view = CatalogBaseTable.create_view("SELECT n + 1 AS m FROM shop.d.one", "SELECT n + 1 AS m FROM shop.d.one",
                                        TableSchema(["m"], [DataTypes.INT()]), {})  # fmt: skip
    catalog.create_table(ObjectPath("d", "two"), view, False)
    assert told("SELECT m FROM shop.d.two") == [2]
    t_env.execute_sql("DROP CATALOG shop")
    with pytest.raises(CatalogException, match=r"A catalog with name \[shop\] at line 1, column 13 does not exist"):
        t_env.execute_sql("USE CATALOG shop")
    with pytest.raises(UnsupportedClauseError, match="the catalog lake with type 'hive'"):
        t_env.execute_sql("CREATE CATALOG lake WITH ('type' = 'hive', 'warehouse' = '/lake')")
    with pytest.raises(SqlError, match="the current one"):
        t_env.execute_sql("DROP CATALOG default_catalog")


def test_a_temporary_table_hides_the_one_of_its_name(t_env):
    t_env.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'print')")
    t_env.execute_sql("CREATE TEMPORARY TABLE t (b INT) WITH ('connector' = 'print')")
    with t_env.execute_sql("DESCRIBE t").collect() as rows:
        assert [row[0] for row in rows] == ["b"]
    assert (t_env.list_temporary_tables(), t_env.get_catalog("default_catalog").list_tables("default_database")) == (
        ["t"], ["t"],
    )  # fmt: skip
    with pytest.raises(SqlError, match="Drop it first before removing the permanent table"):
        t_env.execute_sql("DROP TABLE t")
    t_env.execute_sql("DROP TEMPORARY TABLE t")
    with t_env.execute_sql("DESCRIBE t").collect() as rows:
        assert [row[0] for row in rows] == ["a"]
    t_env.execute_sql("DROP TABLE t")
    assert t_env.list_tables() == []


def test_elements_of_arrays_and_maps_are_rows(t_env):
    def rows(query):
        with t_env.execute_sql(query).collect() as found:
            return [tuple(row) for row in found]

    source = "(VALUES (1, ARRAY['a', 'b']), (2, CAST(NULL AS ARRAY<STRING>))) AS t (id, a)"
    assert rows(f"SELECT id, x FROM {source}, UNNEST(a) AS u (x)") == [(1, "a"), (1, "b")]
    assert rows(f"SELECT id, x FROM {source} LEFT JOIN UNNEST(a) AS u (x) ON TRUE") == [(1, "a"), (1, "b"), (2, None)]
    assert rows("SELECT k, v, n FROM UNNEST(MAP['p', 1, 'q', 2]) WITH ORDINALITY AS u (k, v, n)") == [
        ("p", 1, 1),
        ("q", 2, 2),
    ]
    with pytest.raises(SqlError, match=r"UNNEST at line 1, column .* has 1 columns, but 2 names: x, y"):
        rows(f"SELECT x FROM {source}, UNNEST(a) AS u (x, y)")
