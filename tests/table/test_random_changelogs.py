"""The changes of a random query lead to what the query gives in BATCH mode, in any parallelism, also in a sink by key."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common.types import RowKind
from flintstream.table import EnvironmentSettings, TableEnvironment

ADDED = {RowKind.INSERT, RowKind.UPDATE_AFTER}
DEPTH = 3


def make_env(*, batch: bool, parallelism: int) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    found = TableEnvironment.create(settings)
    for key, value in {
        "flintstream.engine": "inline",
        "parallelism.default": str(parallelism),
        "table.exec.sink.require-on-conflict": "false",
    }.items():
        found.get_config().set(key, value)
    return found


class Queries:
    """Random queries with the columns ``k STRING`` and ``v INT``, whose results do not depend on an order."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def _values(self) -> str:
        keys = ["CAST(NULL AS STRING)", *["'a'", "'b'", "'c'", "'d'"] * 2]
        numbers = ["CAST(NULL AS INT)", *map(str, range(6)), *map(str, range(6))]
        rows = [f"({self.draw.choice(keys)}, {self.draw.choice(numbers)})" for _ in range(self.draw.randrange(1, 14))]
        return f"SELECT k, v FROM (VALUES {', '.join(rows)}) AS t (k, v)"

    def query(self, depth: int) -> str:
        if depth == 0:
            return self._values()
        x, y = (f"({self.query(depth - 1)})" for _ in range(2))
        pick = self.draw.choice
        return pick(
            [
                f"SELECT k, CAST(COUNT(*) AS INT) AS v FROM {x} AS x GROUP BY k",
                f"SELECT k, SUM(v) AS v FROM {x} AS x GROUP BY k HAVING COUNT(*) < {self.draw.randrange(1, 5)}",
                f"SELECT k, v FROM {x} AS x WHERE v {pick('<>')} {self.draw.randrange(6)}",
                f"SELECT DISTINCT k, v FROM {x} AS x",
                (
                    f"SELECT COALESCE(x.k, y.k) AS k, {pick(['x.v', 'y.v', 'x.v + y.v'])} AS v FROM {x} AS x "
                    f"{pick(['', 'LEFT ', 'RIGHT ', 'FULL '])}JOIN {y} AS y "
                    f"ON {pick(['x.k = y.k', 'x.v = y.v', 'x.k = y.k AND x.v < y.v'])}"
                ),
                f"{x} UNION ALL {y}",
                f"{x} {pick(['UNION', 'INTERSECT', 'EXCEPT', 'EXCEPT ALL', 'INTERSECT ALL'])} {y}",
                (
                    f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v {pick(['', 'DESC'])}) AS r "
                    f"FROM {x} AS x) WHERE r <= {self.draw.randrange(1, 4)}"
                ),
                (
                    f"SELECT k, CAST({pick(['MAX(v)', 'MIN(v)', 'COUNT(v)', 'COUNT(DISTINCT v)'])} AS INT) AS v "
                    f"FROM {x} AS x GROUP BY k"
                ),
                f"SELECT k, v FROM {x} AS x WHERE {pick(['', 'NOT '])}EXISTS (SELECT 1 FROM {y} AS y WHERE y.k = x.k)",
                f"SELECT k, v FROM {x} AS x WHERE v {pick(['', 'NOT '])}IN (SELECT v FROM {y} AS y WHERE v IS NOT NULL)",
                f"SELECT MAX(k) AS k, v FROM {x} AS x GROUP BY v",
            ]
        )


def rows_left_by(t_env: TableEnvironment, query: str) -> Counter[tuple[object, ...]]:
    kept: Counter[tuple[object, ...]] = Counter()
    with t_env.execute_sql(query).collect() as found:
        for row in found:
            kept[tuple(row)] += 1 if row.get_row_kind() in ADDED else -1
    assert min(kept.values(), default=0) >= 0
    return +kept


def rows_in_sink(t_env: TableEnvironment, query: str, path: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE IF NOT EXISTS s (k TEXT PRIMARY KEY, v INTEGER)")
        database.execute("DELETE FROM s")
    t_env.execute_sql(
        "CREATE TABLE s (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{path}', 'table-name' = 's')"
    )
    t_env.execute_sql(f"INSERT INTO s {query}").wait()
    with sqlite3.connect(path) as database:
        return database.execute("SELECT k, v FROM s ORDER BY k").fetchall()


def check(seed: int, path: str) -> None:
    queries = Queries(seed)
    query, parallelism = queries.query(queries.draw.randrange(1, DEPTH + 1)), queries.draw.randrange(1, 4)
    batch = make_env(batch=True, parallelism=1)
    with batch.execute_sql(query).collect() as found:
        expected = Counter(tuple(row) for row in found)
    assert rows_left_by(make_env(batch=False, parallelism=parallelism), query) == expected, (parallelism, query)
    by_key = f"SELECT k, MAX(v) AS v FROM ({query}) WHERE k IS NOT NULL GROUP BY k HAVING COUNT(*) < 3"
    with batch.execute_sql(by_key).collect() as found:
        last = sorted(tuple(row) for row in found)
    assert rows_in_sink(make_env(batch=False, parallelism=parallelism), by_key, path) == last, (parallelism, by_key)


@pytest.mark.parametrize("seed", range(30))
def test_changes_lead_to_the_result_of_a_batch(seed, tmp_path):
    check(seed, f"{tmp_path}/sink.db")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_changes_of_many_queries_lead_to_the_result_of_a_batch(seed, tmp_path):
    check(seed, f"{tmp_path}/sink.db")


def test_changes_behind_one_subtask_keep_their_order(tmp_path):
    """The rows of NOT IN come from one subtask; a union must not spread them over several."""
    query = (
        "SELECT k, CAST(COUNT(*) AS INT) AS v FROM (SELECT k, v FROM (VALUES ('c', 1), ('d', 5), ('b', 1)) AS x (k, v) "
        "WHERE v NOT IN (SELECT v FROM (VALUES ('d', 2), ('a', 5), ('d', 1)) AS y (k, v)) "
        "UNION ALL SELECT k, v FROM (VALUES ('d', 3)) AS t (k, v)) AS z GROUP BY k"
    )
    for parallelism in (1, 2, 3, 4):
        assert rows_left_by(make_env(batch=False, parallelism=parallelism), query) == Counter({("d", 1): 1})
