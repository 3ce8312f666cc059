"""What statements can say: an example of each clause, which planning shows to be there or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table._errors import SqlError, UnsupportedClauseError
from flintstream.table._logical.nodes import Node
from flintstream.table._plan.translate import translate
from flintstream.table._session.inserts import Insert
from flintstream.table.environment_settings import EnvironmentSettings
from flintstream.table.table_environment import StreamTableEnvironment

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES = ("STREAMING", "BATCH")
TABLES = (
    """CREATE TABLE orders (id INT, k STRING, n BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'datagen', 'number-of-rows' = '1')""",
    """CREATE TABLE rates (k STRING, rate DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'datagen', 'number-of-rows' = '1')""",
    """CREATE TABLE people (id INT, name STRING) WITH ('connector' = 'faker', 'fields.name.expression' = 'x',
    'fields.id.expression' = '1', 'number-of-rows' = '1')""",
    "CREATE TABLE keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole')",
    "CREATE TABLE nothing (k STRING, n BIGINT) WITH ('connector' = 'blackhole')",
    """CREATE TABLE files (n BIGINT, k STRING) PARTITIONED BY (k)
    WITH ('connector' = 'filesystem', 'path' = 'files', 'format' = 'json')""",
    "CREATE VIEW lists AS SELECT 1 AS id, ARRAY[1, 2] AS xs, MAP['a', 1] AS m",
)
_TVF = "SELECT window_start, COUNT(*) FROM TABLE({}) GROUP BY window_start, window_end"
_MATCH = (
    "SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.n AS n {} PATTERN ({}) "
    "DEFINE B AS B.n > A.n)"
)
EXAMPLES: dict[str, dict[str, str]] = {
    "statements": {
        "CREATE TABLE": "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')",
        "CREATE TABLE ... LIKE": "CREATE TABLE t LIKE orders",
        "CREATE TABLE ... AS SELECT": "CREATE TABLE t WITH ('connector' = 'blackhole') AS SELECT id FROM orders",
        "CREATE TABLE ... DISTRIBUTED": "CREATE TABLE t (a INT) DISTRIBUTED BY (a) INTO 2 BUCKETS WITH ('connector' = 'a')",
        "CREATE VIEW": "CREATE VIEW v AS SELECT id FROM orders",
        "CREATE FUNCTION in Java": "CREATE FUNCTION f AS 'org.example.F'",
        "CREATE DATABASE": "CREATE DATABASE d",
        "CREATE CATALOG in memory": "CREATE CATALOG c WITH ('type' = 'generic_in_memory')",
        "CREATE CATALOG of another type": "CREATE CATALOG c WITH ('type' = 'hive')",
        "DROP TABLE": "DROP TABLE nothing",
        "ALTER TABLE": "ALTER TABLE nothing ADD more INT",
        "ALTER VIEW": "ALTER VIEW lists RENAME TO other",
        "ALTER DATABASE": "ALTER DATABASE default_database SET ('a' = 'b')",
        "UPDATE, DELETE": "DELETE FROM nothing WHERE k = 'a'",
        "TRUNCATE": "TRUNCATE TABLE nothing",
        "ANALYZE": "ANALYZE TABLE nothing COMPUTE STATISTICS",
        "CREATE MODEL": "CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai')",
        "CREATE MATERIALIZED TABLE": "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT id FROM orders",
        "CALL": "CALL f()",
        "COMPILE PLAN": "COMPILE PLAN 'x' FOR INSERT INTO nothing SELECT k, n FROM orders",
        "LOAD MODULE": "LOAD MODULE hive",
        "RESET": "RESET 'parallelism.default'",
        "INSERT INTO": "INSERT INTO nothing SELECT k, n FROM orders",
        "INSERT ... ON CONFLICT": "INSERT INTO keyed SELECT k, COUNT(*) FROM orders GROUP BY id, k ON CONFLICT DO NOTHING",
        "INSERT INTO with columns": "INSERT INTO nothing (k) SELECT k FROM orders",
        "INSERT INTO with OPTIONS": "INSERT INTO files /*+ OPTIONS('path' = 'others') */ SELECT n, k FROM orders",
        "INSERT OVERWRITE": "INSERT OVERWRITE files SELECT n, k FROM orders",
        "INSERT ... PARTITION": "INSERT INTO files PARTITION (k = 'a') SELECT n FROM orders",
        "DESCRIBE": "DESCRIBE orders",
        "EXPLAIN": "EXPLAIN SELECT id FROM orders",
        "SHOW TABLES": "SHOW TABLES",
        "SHOW JOBS": "SHOW JOBS",
        "STOP JOB": "STOP JOB 'a' WITH SAVEPOINT WITH DRAIN",
        "SHOW COLUMNS": "SHOW COLUMNS FROM orders",
        "SHOW CREATE TABLE": "SHOW CREATE TABLE orders",
        "SET": "SET 'parallelism.default' = '1'",
        "USE": "USE default_database",
    },
    "queries": {
        "SELECT, WHERE": "SELECT id + 1 AS a FROM orders WHERE n > 5",
        "SELECT DISTINCT": "SELECT DISTINCT k FROM orders",
        "VALUES": "VALUES (1, 'a'), (2, 'b')",
        "WITH": "WITH big AS (SELECT * FROM orders WHERE n > 5) SELECT k FROM big",
        "hint OPTIONS": "SELECT id FROM orders /*+ OPTIONS('number-of-rows' = '3') */",
        "hint BROADCAST and others of joins": "SELECT /*+ BROADCAST(r) */ o.id FROM orders o JOIN rates r ON o.k = r.k",
        "hint STATE_TTL": "SELECT /*+ STATE_TTL('o' = '1 d') */ o.id FROM orders o JOIN rates r ON o.k = r.k",
        "hint LOOKUP": (
            "SELECT /*+ LOOKUP('table' = 'a', 'async' = 'true') */ o.id, name FROM orders o "
            "JOIN people FOR SYSTEM_TIME AS OF o.p AS a ON o.id = a.id"
        ),
        "UNNEST": "SELECT x FROM lists CROSS JOIN UNNEST(xs) AS t (x)",
        "UNION ALL": "SELECT id FROM orders UNION ALL SELECT id FROM people",
        "UNION": "SELECT id FROM orders UNION SELECT id FROM people",
        "INTERSECT, INTERSECT ALL": "SELECT id FROM orders INTERSECT ALL SELECT id FROM people",
        "EXCEPT, EXCEPT ALL": "SELECT id FROM orders EXCEPT ALL SELECT id FROM people",
        "ORDER BY a rowtime": "SELECT id, ts FROM orders ORDER BY ts",
        "ORDER BY other columns": "SELECT id FROM orders ORDER BY n DESC",
        "ORDER BY ... LIMIT": "SELECT id FROM orders ORDER BY n DESC LIMIT 3",
        "ORDER BY an expression": "SELECT id FROM orders ORDER BY MOD(n, 7), k LIMIT 3",
        "OFFSET, FETCH": "SELECT id FROM orders ORDER BY id OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY",
        "QUALIFY": "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) = 1",
        "TABLE t": "TABLE orders",
        "TABLESAMPLE": "SELECT id FROM orders TABLESAMPLE BERNOULLI (10)",
        "PIVOT": "SELECT * FROM orders PIVOT (SUM(n) FOR k IN ('a'))",
        "DISTINCT ON": "SELECT DISTINCT ON (k) id FROM orders",
        "TO_CHANGELOG": "SELECT * FROM TO_CHANGELOG(TABLE orders)",
        "FROM_CHANGELOG": "SELECT * FROM FROM_CHANGELOG(TABLE orders, DESCRIPTOR(k))",
        "ML_PREDICT": "SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR(k))",
        "VECTOR_SEARCH": "SELECT * FROM orders, LATERAL TABLE(VECTOR_SEARCH(TABLE lists, DESCRIPTOR(xs), ARRAY[1e0], 3))",
        "MATCH_RECOGNIZE": _MATCH.format("ONE ROW PER MATCH", "A B+ C"),
        "MATCH_RECOGNIZE with groups": _MATCH.format("ONE ROW PER MATCH", "(A B)+ C"),
        "ALL ROWS PER MATCH": _MATCH.format("ALL ROWS PER MATCH", "A B+ C"),
    },
    "groups": {
        "GROUP BY, HAVING": "SELECT k, SUM(n) FROM orders GROUP BY k HAVING COUNT(*) > 1",
        "HAVING without GROUP BY": "SELECT SUM(n) FROM orders HAVING COUNT(*) > 1",
        "aggregates with DISTINCT": "SELECT k, COUNT(DISTINCT n) FROM orders GROUP BY k",
        "aggregates with FILTER": "SELECT k, SUM(n) FILTER (WHERE id > 1) FROM orders GROUP BY k",
        "GROUPING SETS, ROLLUP, CUBE": "SELECT k, id, COUNT(*) FROM orders GROUP BY ROLLUP (k, id)",
        "GROUP BY ALL": "SELECT k, COUNT(*) FROM orders GROUP BY ALL",
    },
    "windows": {
        "TUMBLE": _TVF.format("TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)"),
        "HOP": _TVF.format("HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)"),
        "CUMULATE": _TVF.format("CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)"),
        "SESSION": _TVF.format("SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)"),
        "processing time": _TVF.format("TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '1' HOUR)"),
        "rows with their windows": "SELECT id, window_end FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "SESSION of rows": "SELECT id, window_end FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "GROUP BY TUMBLE(...)": "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
    },
    "joins": {
        "INNER JOIN": "SELECT o.id FROM orders o JOIN rates r ON o.k = r.k",
        "LEFT, RIGHT, FULL JOIN": "SELECT o.id FROM orders o FULL JOIN rates r ON o.k = r.k",
        "conditions other than equality": "SELECT o.id FROM orders o JOIN rates r ON o.n > r.rate",
        "USING": "SELECT k, rate FROM orders JOIN rates USING (k)",
        "NATURAL JOIN": "SELECT id, name FROM (SELECT id FROM orders) NATURAL JOIN people",
        "CROSS JOIN": "SELECT o.id, name FROM orders o CROSS JOIN people",
        "intervals of time": "SELECT o.id FROM orders o, rates r WHERE o.k = r.k AND o.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR",
        "FOR SYSTEM_TIME AS OF a rowtime": "SELECT o.id, rate FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k",
        "lookup": "SELECT o.id, name FROM orders o JOIN people FOR SYSTEM_TIME AS OF o.p AS a ON o.id = a.id",
        "IN, EXISTS with a subquery": "SELECT id FROM orders WHERE k IN (SELECT k FROM rates)",
        "IN, EXISTS with a subquery in SELECT": "SELECT id, k IN (SELECT k FROM rates) AS f FROM orders",
        "ANY, ALL of values": "SELECT id FROM orders WHERE n > ALL (1, 2)",
        "ANY, ALL of a query": "SELECT id FROM orders WHERE n > ALL (SELECT rate FROM rates)",
        "a scalar subquery": "SELECT id, (SELECT MAX(rate) FROM rates) FROM orders",
        "a scalar subquery that reads the outer row": "SELECT id, (SELECT rate FROM rates r WHERE r.k = o.k) FROM orders o",
        "LATERAL of a query": "SELECT o.id, rate FROM orders o CROSS JOIN LATERAL (SELECT rate FROM rates r WHERE r.k = o.k)",
    },
    "OVER": {
        "aggregates by time": "SELECT SUM(n) OVER (PARTITION BY k ORDER BY ts) FROM orders",
        "ROWS BETWEEN": "SELECT SUM(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders",
        "RANGE BETWEEN": "SELECT SUM(n) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM orders",
        "aggregates in another order": "SELECT SUM(n) OVER (PARTITION BY k ORDER BY id) FROM orders",
        "frames in another order": "SELECT SUM(n) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) FROM orders",
        "EXCLUDE": "SELECT SUM(n) OVER (ORDER BY ts ROWS 2 PRECEDING EXCLUDE CURRENT ROW) FROM orders",
        "WINDOW": "SELECT SUM(n) OVER w, COUNT(*) OVER w FROM orders WINDOW w AS (PARTITION BY k ORDER BY ts)",
        "ROW_NUMBER with a limit": "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS rn FROM orders) WHERE rn <= 3",
        "NTILE, CUME_DIST, PERCENT_RANK": "SELECT NTILE(2) OVER (PARTITION BY k ORDER BY n), CUME_DIST() OVER (PARTITION BY k ORDER BY n) FROM orders",
        "RANK, DENSE_RANK": "SELECT RANK() OVER (PARTITION BY k ORDER BY n) FROM orders",
        "LAG": "SELECT LAG(n) OVER (PARTITION BY k ORDER BY ts) FROM orders",
        "LEAD": "SELECT LEAD(n) OVER (PARTITION BY k ORDER BY ts) FROM orders",
    },
    "types": {
        "VARIANT": "SELECT JSON_STRING(PARSE_JSON(k)['a'][1]) FROM orders",
        "BITMAP": "SELECT k, BITMAP_TO_STRING(BITMAP_BUILD_AGG(id)) FROM orders GROUP BY k",
        "STRUCTURED": "SELECT OBJECT_UPDATE(OBJECT_OF('a.B', 'k', k), 'k', 'x').k FROM orders",
        "CAST to INTERVAL": "SELECT ts + CAST(1 AS INTERVAL HOUR) FROM orders",
        "INTERVAL of more digits": "SELECT ts + INTERVAL '100' HOUR(3) FROM orders",
    },
}  # fmt: skip
"""Statements by subject and clause."""


@dataclass(frozen=True)
class Clause:
    """An example of a clause, and what planning it gives in each mode."""

    subject: str
    name: str
    statement: str
    errors: dict[str, Exception | None]


def environment(mode: str) -> StreamTableEnvironment:
    """Return an environment that has the tables of the examples."""
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    builder = EnvironmentSettings.new_instance()
    settings = (builder.in_batch_mode() if mode == "BATCH" else builder.in_streaming_mode()).build()
    t_env = StreamTableEnvironment.create(env, settings)
    for item in TABLES:
        t_env.execute_sql(item)
    return t_env


def planned(statement: str, mode: str) -> Exception | None:
    """Plan a statement, and return the error if it cannot be; nothing runs."""
    t_env = environment(mode)
    try:
        found = t_env._executor.statements.run(statement)
        if isinstance(found, Insert):
            t_env._session.insert(found)
        elif isinstance(found, Node):
            translate(found, t_env._env)
    except (SqlError, UnsupportedClauseError) as error:
        return error
    return None


def clauses() -> Iterator[Clause]:
    """Plan the example of each clause in both modes."""
    for subject, examples in EXAMPLES.items():
        for name, statement in examples.items():
            yield Clause(subject, name, statement, {mode: planned(statement, mode) for mode in MODES})
