"""Catalogs of type ``jdbc``: the tables of real servers without a declaration of each."""
# ruff: noqa: S608 - the table names are generated here

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from tests.connectors.jdbc.servers import PASSWORD

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.catalog import JdbcCatalog

pytestmark = pytest.mark.server

POSTGRESQL = """id BIGINT PRIMARY KEY, small SMALLINT, ready BOOLEAN, price NUMERIC(10, 2), free NUMERIC, half REAL,
    name VARCHAR(20), code CHAR(3), note TEXT, bytes BYTEA, day DATE, at TIMESTAMP(3), seen TIMESTAMPTZ,
    parts INT[], labels VARCHAR(9)[], token UUID, body JSONB"""
MARIADB = """id BIGINT PRIMARY KEY, small SMALLINT UNSIGNED, ready BOOLEAN, price DECIMAL(10, 2), big BIGINT UNSIGNED,
    half FLOAT, name VARCHAR(20), code CHAR(3), note LONGTEXT, bytes VARBINARY(9), day DATE, at DATETIME(3)"""


@pytest.fixture
def t_env():
    found = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    found.get_config().set("flintstream.engine", "inline")
    return found


def base_url(server):
    return server.url.removesuffix("/shop")


def declare(t_env, server, **more):
    options = {
        "type": "jdbc", "default-database": "shop", "username": "me", "password": PASSWORD,
        "base-url": base_url(server), **more,
    }  # fmt: skip
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE CATALOG store WITH ({given})")
    t_env.execute_sql("USE CATALOG store")


def listed(t_env, statement):
    with t_env.execute_sql(statement).collect() as rows:
        return [row[0] for row in rows]


def described(t_env, name):
    schema = t_env.from_path(name).get_resolved_schema()
    with t_env.execute_sql(f"DESCRIBE {name}").collect() as rows:
        return [f"{row[1]}{'' if row[2] else ' NOT NULL'}" for row in rows], schema.get_primary_key()


def test_tables_of_postgresql_are_there_without_a_declaration(t_env, postgresql):
    name = postgresql.table(POSTGRESQL)
    postgresql.execute(
        f"INSERT INTO {name} VALUES (1, 2, TRUE, 2.50, 1.5, 0.5, 'tea', 'ab', 'long', '\\x01', '2024-05-01', "
        "'2024-05-01 12:30:00.123', '2024-05-01 12:30:00+00', '{1,2}', '{a,NULL}', "
        """'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}')"""
    )
    postgresql.execute("CREATE SCHEMA IF NOT EXISTS other")
    postgresql.execute(f"CREATE TABLE other.{name} (n INT NOT NULL)")
    declare(t_env, postgresql)
    assert listed(t_env, "SHOW DATABASES") == ["postgres", "shop"]
    assert {f"public.{name}", f"other.{name}"} <= {*listed(t_env, "SHOW TABLES")}
    types, key = described(t_env, f"`public.{name}`")
    assert types == [
        "BIGINT NOT NULL", "SMALLINT", "BOOLEAN", "DECIMAL(10, 2)", "DECIMAL(38, 18)", "FLOAT", "VARCHAR(20)",
        "CHAR(3)", "STRING", "BYTES", "DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(6)", "ARRAY<INT>", "ARRAY<VARCHAR(9)>",
        "STRING", "STRING",
    ]  # fmt: skip
    assert key.get_columns() == ["id"]
    with t_env.execute_sql(f"SELECT * FROM {name}").collect() as rows:  # names without a schema are in public
        (row,) = rows
    assert tuple(row)[:6] == (1, 2, True, Decimal("2.50"), Decimal("1.500000000000000000"), 0.5)
    assert tuple(row)[10:12] == (dt.date(2024, 5, 1), dt.datetime(2024, 5, 1, 12, 30, 0, 123000))
    assert tuple(row)[13:] == ([1, 2], ["a", None], "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"a": 1}')
    t_env.execute_sql(f"INSERT INTO store.shop.`other.{name}` VALUES (7), (8)").wait()
    assert sorted(postgresql.execute(f"SELECT n FROM other.{name}")) == [(7,), (8,)]


def test_tables_of_mariadb_are_there_without_a_declaration(t_env, mariadb):
    name = mariadb.table(MARIADB)
    declare(t_env, mariadb)
    assert "shop" in listed(t_env, "SHOW DATABASES")
    assert name in listed(t_env, "SHOW TABLES IN shop")
    types, key = described(t_env, name)
    assert types == [
        "BIGINT NOT NULL", "INT", "BOOLEAN", "DECIMAL(10, 2)", "DECIMAL(20, 0)", "FLOAT", "VARCHAR(20)", "CHAR(3)",
        "STRING", "BYTES", "DATE", "TIMESTAMP(3)",
    ]  # fmt: skip
    assert key.get_columns() == ["id"]
    row = "1, 2, TRUE, 2.50, 3, 0.5, 'tea', 'abc', 'long', x'01', DATE '2024-05-01', TIMESTAMP '2024-05-01 12:30:00'"
    t_env.execute_sql(f"INSERT INTO {name} VALUES ({row})").wait()
    with t_env.execute_sql(f"SELECT id, big, name, `at` FROM {name}").collect() as rows:
        assert [tuple(row) for row in rows] == [(1, Decimal(3), "tea", dt.datetime(2024, 5, 1, 12, 30))]


def test_a_catalog_object_reads_the_same_server(t_env, postgresql):
    name = postgresql.table("n INT")
    catalog = JdbcCatalog("mine", "shop", "me", PASSWORD, base_url(postgresql))
    t_env.register_catalog("mine", catalog)
    t_env.use_catalog("mine")
    assert f"public.{name}" in catalog.list_tables("shop")
    assert t_env.from_path(name).get_schema().get_field_names() == ["n"]


def test_tables_change_in_the_database_only(t_env, postgresql):
    name = postgresql.table("n INT")
    declare(t_env, postgresql)
    for statement in (
        "CREATE TABLE t (n INT) WITH ('connector' = 'print')",
        f"DROP TABLE {name}",
        f"ALTER TABLE {name} SET ('a' = 'b')",
        f"ALTER TABLE {name} RENAME TO other",
        "CREATE DATABASE more",
    ):
        with pytest.raises(SqlError, match="is read-only"):
            t_env.execute_sql(statement)
    with pytest.raises(SqlError, match="CREATE TEMPORARY VIEW"):
        t_env.execute_sql(f"CREATE VIEW v AS SELECT * FROM {name}")
    t_env.execute_sql(f"CREATE TEMPORARY VIEW v AS SELECT * FROM {name}")
    assert t_env.list_views() == ["v"]


def test_a_missing_table_names_those_beside_it(t_env, postgresql):
    name = postgresql.table("n INT")
    declare(t_env, postgresql)
    with pytest.raises(SqlError, match=f"did you mean 'public.{name}'"):
        t_env.execute_sql(f"SELECT * FROM `public.{name}x`")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"default-database": "no"}, 'database "no" does not exist'),
        ({"password": "wrong"}, "password authentication failed"),
        ({"base-url": "jdbc:postgresql://127.0.0.1:1/shop"}, "must not name a database"),
        ({"color": "red"}, "unknown option 'color'"),
    ],
)
def test_options_that_cannot_work_are_refused(t_env, postgresql, more, message):
    with pytest.raises(SqlError, match=message) as raised:
        declare(t_env, postgresql, **more)
    assert PASSWORD not in str(raised.value)


def test_a_type_without_a_counterpart_names_the_column(t_env, postgresql):
    name = postgresql.table("n INT, place POINT")
    declare(t_env, postgresql)
    with pytest.raises(SqlError, match=f"column 'place' of table shop.{name} has the type point"):
        t_env.from_path(name)
