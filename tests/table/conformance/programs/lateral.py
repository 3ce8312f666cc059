"""Queries in LATERAL, the rows of sessions, and ranks on streams."""

from tests.table.conformance.registry import BOTH, script

FILES = """
    CREATE TABLE states (s STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/s', 'format' = 'json');
    CREATE TABLE cities (s STRING, c STRING, p INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/c', 'format' = 'json');
    INSERT INTO states VALUES ('CA', 1), ('TX', 2), ('NV', 3), (CAST(NULL AS STRING), 4);
    INSERT INTO cities VALUES ('CA', 'LA', 10), ('CA', 'SF', 7), ('CA', 'SD', 8), ('TX', 'AU', 9), ('TX', 'DA', CAST(NULL AS INT)),
        (CAST(NULL AS STRING), 'XX', 1);
"""

script(
    "lateral_queries",
    FILES
    + """
    SELECT x.s, t.* FROM states AS x CROSS JOIN LATERAL (SELECT c, p FROM cities AS y WHERE y.s = x.s AND p > 5) AS t;
    SELECT x.s, t.a, t.b FROM states AS x LEFT JOIN LATERAL (SELECT c, p + 1 FROM cities AS y WHERE x.s = y.s) AS t (a, b) ON TRUE;
    SELECT x.s, m, k FROM states AS x, LATERAL (SELECT MAX(p) AS m, COUNT(*) AS k FROM cities AS y WHERE y.s = x.s);
    SELECT x.s, m, k FROM states AS x LEFT JOIN LATERAL (SELECT MAX(p) AS m, COUNT(*) AS k FROM cities AS y WHERE y.s = x.s) ON TRUE;
    SELECT x.s, f, k FROM states AS x, LATERAL (SELECT SUBSTRING(c, 1, 1) AS f, COUNT(*) AS k FROM cities AS y WHERE y.s = x.s GROUP BY SUBSTRING(c, 1, 1));
    SELECT x.s, k FROM states AS x, LATERAL (SELECT COUNT(*) AS k FROM cities AS y WHERE y.s = x.s HAVING COUNT(*) > 2);
    SELECT x.s, c FROM states AS x, LATERAL (SELECT c FROM cities AS y WHERE y.s = x.s AND y.p > x.n * 4);
    SELECT x.s, c FROM states AS x LEFT JOIN LATERAL (SELECT c FROM cities AS y WHERE y.p > x.n * 4) ON TRUE;
    SELECT x.s, c FROM states AS x JOIN LATERAL (SELECT c, p FROM cities AS y WHERE y.s = x.s) AS t ON t.p > 8;
    SELECT x.s, c FROM states AS x, LATERAL (SELECT c FROM cities ORDER BY p DESC LIMIT 1) AS t;
    SELECT x.s, z FROM states AS x, LATERAL (SELECT p * x.n AS z FROM cities AS y WHERE y.s = x.s) AS t;
    SELECT x.s, z FROM states AS x LEFT JOIN LATERAL (SELECT x.n + 1 AS z FROM cities AS y WHERE y.s = x.s) AS t ON TRUE;
    SELECT x.s, z FROM states AS x LEFT JOIN LATERAL (SELECT DISTINCT SUBSTRING(c, 1, 1) AS z FROM cities AS y WHERE y.s = x.s) AS t ON TRUE;
    SELECT x.s, c, d FROM states AS x, LATERAL (SELECT c FROM cities AS y WHERE y.s = x.s) AS t, LATERAL (SELECT p AS d FROM cities AS z WHERE z.c = t.c) AS u;
    SELECT x.s, a, b FROM states AS x, LATERAL (SELECT y.c AS a, z.c AS b FROM cities AS y JOIN cities AS z ON y.p < z.p WHERE y.s = x.s AND z.s = x.s) AS t;
    SELECT x.s, m FROM states AS x, LATERAL (SELECT MAX(p) AS m FROM cities AS y WHERE y.p > x.n * 4) AS t;
    SELECT x.s, c FROM states AS x, LATERAL (SELECT c FROM cities AS y WHERE y.s = x.s ORDER BY p LIMIT 1) AS t;
    SELECT s, c FROM states, LATERAL (SELECT c FROM cities WHERE cities.s = states.s) AS t;
    SELECT c FROM LATERAL (SELECT c FROM cities WHERE p > 8) AS t;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

TIMES = """
    CREATE TABLE rows_of_times (k STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO rows_of_times VALUES ('a', 3, TIMESTAMP '2020-01-01 00:00:01'), ('a', 1, TIMESTAMP '2020-01-01 00:00:02'),
        ('b', 5, TIMESTAMP '2020-01-01 00:00:03'), ('a', 3, TIMESTAMP '2020-01-01 00:00:04'), ('a', 2, TIMESTAMP '2020-01-01 00:00:09');
"""

script(
    "rows_of_sessions",
    TIMES
    + """
    SELECT window_start, window_end, window_time, k, n FROM TABLE(SESSION(TABLE rows_of_times PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND));
    SELECT window_start, window_end, k, n FROM TABLE(SESSION(TABLE rows_of_times, DESCRIPTOR(ts), INTERVAL '2' SECOND));
    SELECT k, window_end FROM SESSION(TABLE rows_of_times PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND) WHERE n > 1;
    SELECT k, n, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY n DESC) AS r
        FROM TABLE(SESSION(TABLE rows_of_times PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))) WHERE r = 1;
    """,
    level=3,
    order="folded",
)

script(
    "ranks_on_streams",
    TIMES
    + """
    SELECT k, n, RANK() OVER (PARTITION BY k ORDER BY ts) AS r, DENSE_RANK() OVER (PARTITION BY k ORDER BY ts) AS d FROM rows_of_times;
    SELECT k, ts, RANK() OVER (PARTITION BY k ORDER BY EXTRACT(SECOND FROM ts)) AS r FROM rows_of_times;
    SELECT n, DENSE_RANK() OVER (ORDER BY n) AS r FROM (SELECT DISTINCT n FROM rows_of_times);
    """,
    level=3,
    order="folded",
)
