"""The steps of plans with state, the exchanges before them, and the kinds of their changes, as EXPLAIN shows them."""

import re

from pyflink.table import ExplainDetail
from tests.table.conformance.registry import program

DATAGEN = "WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
TABLES = (
    f"CREATE TABLE o (id INT, k STRING, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {DATAGEN}",
    f"CREATE TABLE r (k STRING, rate INT, PRIMARY KEY (k) NOT ENFORCED) {DATAGEN}",
    "CREATE TABLE nothing (k STRING, n BIGINT) WITH ('connector' = 'blackhole')",
    "CREATE TABLE printed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print')",
)
COUNTS = "(SELECT k, COUNT(*) AS c FROM o GROUP BY k)"
QUERIES = {
    "a filter": "SELECT id FROM o WHERE n > 5",
    "a group": "SELECT k, COUNT(*) AS c FROM o GROUP BY k",
    "all rows": "SELECT COUNT(*) AS c FROM o",
    "a group of groups": f"SELECT c, COUNT(*) AS d FROM {COUNTS} GROUP BY c",
    "a filter above a group": f"SELECT k, c FROM {COUNTS} WHERE c > 3",
    "a group of filtered groups": f"SELECT c, COUNT(*) AS d FROM {COUNTS} WHERE c > 3 GROUP BY c",
    "HAVING": "SELECT k, SUM(n) AS s FROM o GROUP BY k HAVING COUNT(*) > 1",
    "a join": "SELECT o.id, r.rate FROM o JOIN r ON o.k = r.k",
    "a left join": "SELECT o.id, r.rate FROM o LEFT JOIN r ON o.k = r.k",
    "a full join": "SELECT o.id, r.rate FROM o FULL JOIN r ON o.k = r.k",
    "a join of groups": f"SELECT c.c, r.rate FROM {COUNTS} c JOIN r ON c.k = r.k",
    "a join of groups by another column": f"SELECT c.c, o.id FROM {COUNTS} c JOIN o ON c.c = o.n",
    "a left join of groups": f"SELECT c.c, o.id FROM o LEFT JOIN {COUNTS} c ON c.k = o.k",
    "IN": "SELECT id FROM o WHERE k IN (SELECT k FROM r)",
    "IN groups": f"SELECT id FROM o WHERE n IN (SELECT c FROM {COUNTS})",
    "a rank": (
        "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS i FROM o) WHERE i <= 3"
    ),
    "a union": f"SELECT c FROM {COUNTS} UNION ALL SELECT n FROM o",
    "a group of a union": f"SELECT c, COUNT(*) AS d FROM (SELECT c FROM {COUNTS} UNION ALL SELECT n FROM o) GROUP BY c",
    "an insert": "INSERT INTO nothing SELECT k, n FROM o",
    "an insert of a group": f"INSERT INTO nothing SELECT k, c FROM {COUNTS}",
    "an insert into a table with a key": f"INSERT INTO printed SELECT k, c FROM {COUNTS}",
}
STEP = re.compile(r"(GroupAggregate|Join|Rank|Exchange|Sink)\((.*)changelogMode=\[([A-Z,]*)\]")
HOW = re.compile(r"distribution=\[(hash|single)")


def steps(text):
    """Return the steps with state, and their exchanges, of the physical plan."""
    plan = text.partition("== Optimized Physical Plan ==\n")[2].partition("\n\n")[0]
    found = []
    for line in plan.splitlines():
        step = STEP.search(line)
        if step is not None:
            how = HOW.search(step[2])
            found.append(f"{step[1]}{f' {how[1]}' if how else ''} {step[3]}")
    return found


@program(3)
def kinds_of_changes_in_plans(env, t_env):
    for statement in TABLES:
        t_env.execute_sql(statement)
    return [(name, steps(t_env.explain_sql(query, ExplainDetail.CHANGELOG_MODE))) for name, query in QUERIES.items()]
