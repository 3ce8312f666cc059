"""Tables of SQL in real servers of PostgreSQL and MariaDB."""
# ruff: noqa: S608 - the table names are generated here

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from tests.connectors.jdbc.servers import PASSWORD

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def t_env():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    return StreamTableEnvironment.create(env.set_parallelism(2))


def test_changes_are_written_by_key_and_read_back(server, t_env):
    name = server.table(
        "item varchar(20) primary key, n bigint, total numeric(10, 2), at_ timestamp(3) null, ok boolean"
    )
    t_env.execute_sql(
        f"CREATE TABLE sums (item STRING, n BIGINT, TOTAL DECIMAL(10, 2), at_ TIMESTAMP(3), ok BOOLEAN, "
        f"PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = '{server.url}', "
        f"'table-name' = '{name}', 'username' = 'me', 'password' = '{PASSWORD}', 'sink.buffer-flush.max-rows' = '2')"
    )
    for values in ("('pen', 1), ('pen', 2), ('ink', 3)", "('pen', 5)"):
        t_env.execute_sql(
            f"INSERT INTO sums SELECT item, COUNT(*), SUM(CAST(price AS DECIMAL(10, 2))), "
            f"TIMESTAMP '2020-01-02 03:04:05.678', TRUE FROM (VALUES {values}) AS T(item, price) GROUP BY item"
        ).wait()
    at = dt.datetime(2020, 1, 2, 3, 4, 5, 678_000)
    expected = [("ink", 1, Decimal("3.00"), at, True), ("pen", 1, Decimal("5.00"), at, True)]
    assert sorted(map(tuple, server.execute(f"SELECT * FROM {name}"))) == expected
    with t_env.execute_sql("SELECT * FROM sums").collect() as rows:
        assert sorted(map(tuple, rows)) == expected


def test_rows_are_looked_up_by_all_keys_of_a_block_at_once(server, t_env):
    name = server.table("id integer, kind varchar(10), price numeric(10, 2), at_ timestamp(3) null")
    t_env.execute_sql(
        f"CREATE TABLE prices (id INT, kind STRING, price DECIMAL(10, 2), at_ TIMESTAMP(3)) WITH ("
        f"'connector' = 'jdbc', 'url' = '{server.url}', 'table-name' = '{name}', 'username' = 'me', "
        f"'password' = '{PASSWORD}', 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '100')"
    )
    values = ", ".join(f"({i}, 'k{i % 7}', {i}.5, TIMESTAMP '2020-01-02 03:04:05.678')" for i in range(250))
    t_env.execute_sql(f"INSERT INTO prices VALUES {values}").wait()
    keys = ", ".join(f"({i}, 'k{i % 7}')" for i in range(0, 300, 2))
    t_env.execute_sql(f"CREATE VIEW o AS SELECT id, kind, PROCTIME() AS p FROM (VALUES {keys}) AS t (id, kind)")
    query = (
        "SELECT o.id, d.price, d.at_ FROM o LEFT JOIN prices FOR SYSTEM_TIME AS OF o.p AS d "
        "ON o.id = d.id AND o.kind = d.kind"
    )
    at = dt.datetime(2020, 1, 2, 3, 4, 5, 678_000)
    with t_env.execute_sql(query).collect() as rows:
        found = sorted(map(tuple, rows))
    assert found[:125] == [(i, Decimal(f"{i}.50"), at) for i in range(0, 250, 2)]
    assert found[125:] == [(i, None, None) for i in range(250, 300, 2)]
