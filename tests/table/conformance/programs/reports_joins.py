"""Joins, aggregates and top-N of public reports, whose authors found other rows than they had asked for.

``tests/corpus/reports.json`` names the report of each case.
"""

from tests.table.conformance.registry import BOTH, script

TABLES = """
    CREATE VIEW t1 AS SELECT * FROM (VALUES (0, 'a', 5), (1, 'a', 20), (2, 'b', 7), (3, CAST(NULL AS STRING), 9), (CAST(NULL AS INT), 'z', 1)) AS v (a1, b1, c1);
    CREATE VIEW t2 AS SELECT * FROM (VALUES (0, 1, 'p'), (1, 1, ''), (2, CAST(NULL AS INT), 'q'), (7, 3, 'r'), (CAST(NULL AS INT), 4, 's')) AS v (a2, b2, c2);
"""

script("report_filters_above_outer_joins", f"""{TABLES}
    SELECT * FROM t1 LEFT JOIN t2 ON a1 = a2 WHERE a2 IS NULL AND a1 < 10;
    SELECT * FROM t1 LEFT JOIN t2 ON FALSE WHERE b2 IS NOT NULL;
    SELECT * FROM t1 LEFT JOIN t2 ON TRUE WHERE a2 IS NULL;
    SELECT * FROM t1 LEFT JOIN t2 ON a1 = a2 WHERE a2 IS NOT NULL;
    SELECT * FROM (SELECT * FROM t1 LEFT JOIN (SELECT * FROM t2) AS p ON t1.a1 = p.a2) AS mapped WHERE b2 > 0;
    SELECT a1, c2 FROM t1 LEFT JOIN t2 ON a1 = a2 WHERE c2 <> '';
    SELECT a1, x.one FROM t1 LEFT JOIN t2 ON a1 = a2 CROSS JOIN (SELECT 1 AS one) AS x WHERE a2 IS NULL;
    SELECT a1 FROM t1 LEFT JOIN t2 ON a1 = a2, (SELECT 1 AS one) AS x WHERE t2.c2 IS NULL;
    SELECT t1.* FROM t1 LEFT JOIN t2 ON t2.a2 = t1.a1 WHERE t1.a1 = IFNULL(t2.b2, 0);
    SELECT * FROM t1 LEFT JOIN t2 ON a1 = a2 AND b1 = 'a';
    SELECT * FROM t1 LEFT JOIN t2 ON a1 = a2 AND c2 = 'p';
    SELECT * FROM t1 RIGHT JOIN t2 ON a1 = a2 AND b1 = 'a' WHERE c1 IS NULL OR c1 > 6;
    SELECT * FROM t1 FULL JOIN t2 ON a1 = a2 AND c1 > 6 WHERE COALESCE(a1, a2) < 5;
    SELECT a1, COUNT(a2) AS n FROM t1 LEFT JOIN t2 ON a1 = a2 GROUP BY a1;
    SELECT a1 FROM t1 WHERE a1 NOT IN (SELECT a2 FROM t2 WHERE a2 IS NOT NULL);
    SELECT a1 FROM t1 WHERE a1 NOT IN (SELECT a2 FROM t2);
    SELECT a1, b1 FROM t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE a1 = a2 AND c2 <> b1);
""", level=3, modes=BOTH, order="folded")  # fmt: skip

BIDS = """
    CREATE TABLE bids (id INT, k STRING, v INT, ok BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '{directory}/bids', 'format' = 'json');
    INSERT INTO bids VALUES (1, 'a', 3, TRUE), (2, 'b', 9, FALSE), (3, 'a', 7, TRUE), (4, 'c', 1, CAST(NULL AS BOOLEAN)), (5, 'b', 2, TRUE), (6, 'a', CAST(NULL AS INT), FALSE), (7, 'c', 8, TRUE), (8, 'd', 4, TRUE), (9, 'b', 9, TRUE);
"""

script("report_aggregates_of_aggregates", f"""{BIDS}
    SELECT n, MAX(s) AS most, MIN(s) AS least FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM bids GROUP BY k) AS x GROUP BY n;
    SELECT MAX(n) AS most, SUM(n) AS total FROM (SELECT COUNT(id) AS n FROM bids GROUP BY k) AS x;
    SELECT COUNT(DISTINCT v) AS d, COUNT(DISTINCT v) FILTER (WHERE ok) AS f, COUNT(DISTINCT v) FILTER (WHERE k = 'b') AS b, SUM(DISTINCT v) AS s FROM bids;
    SELECT k, COUNT(DISTINCT v) AS d, COUNT(DISTINCT v) FILTER (WHERE v > 3) AS f FROM bids GROUP BY k;
    SELECT COUNT(*) FILTER (WHERE ok) AS c, SUM(v) FILTER (WHERE ok) AS s, SUM(v) AS t FROM (SELECT ok, v FROM bids) AS x;
    SELECT n, LISTAGG(k) AS ks FROM (SELECT k, COUNT(*) AS n FROM bids GROUP BY k) AS x GROUP BY n;
    SELECT k, STDDEV_SAMP(v) FILTER (WHERE ok) AS sd, VAR_POP(v) AS vp FROM bids GROUP BY k;
    SELECT n, AVG(m) AS a, COUNT(DISTINCT m) AS d FROM (SELECT k, COUNT(*) AS n, MAX(v) AS m FROM bids GROUP BY k) AS x GROUP BY n;
    SELECT n, FIRST_VALUE(k) AS f, LAST_VALUE(k) AS l FROM (SELECT k, COUNT(*) AS n FROM bids GROUP BY k) AS x GROUP BY n;
    SELECT AVG(d) AS a, SUM(d) AS s FROM (SELECT CAST(v AS DECIMAL(20, 2)) / 7 AS d FROM bids) AS x;
    SELECT AVG(CAST(v AS DECIMAL(5, 1))) AS a, AVG(v) AS i, AVG(CAST(v AS FLOAT)) AS f FROM bids;
    SELECT name, COUNT(*) AS cnt FROM (VALUES ('Bob'), ('Alice'), ('Greg'), ('Bob')) AS names (name) GROUP BY name;
""", level=3, modes=BOTH, order="folded")  # fmt: skip
script("report_distinct_aggregates_that_are_split", f"""{BIDS}
    SELECT k, COUNT(DISTINCT v) AS d, LISTAGG(CAST(v AS STRING), '#') AS l FROM bids GROUP BY k;
    SELECT COUNT(DISTINCT v) AS d, MAX(v) AS m, COUNT(*) AS c FROM bids;
    SELECT k, SUM(DISTINCT v) AS s, AVG(v) AS a FROM bids GROUP BY k;
""", level=3, order="folded", config={"table.optimizer.distinct-agg.split.enabled": "true", "table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "1 s", "table.exec.mini-batch.size": "100"})  # fmt: skip
script("report_top_n_over_changes", f"""{BIDS}
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC) AS rn FROM (SELECT k, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn <= 2;
    SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC) AS rn FROM (SELECT k, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn <= 2;
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s) AS rn FROM (SELECT k, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn <= 2;
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY s DESC) AS rn FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn <= 1;
    SELECT n, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY s DESC) AS rn FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn = 1;
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY s DESC) AS rn FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn BETWEEN 2 AND 3;
    SELECT k, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM bids) AS x WHERE rn <= 100;
    SELECT MAX(v) AS most, COUNT(*) AS c FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM bids) AS x WHERE rn = 1;
    SELECT SUM(v) AS s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v) AS rn FROM bids) AS x WHERE rn <= 3;
    SELECT k, s - 5 AS s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, k) AS rn FROM (SELECT k, SUM(5 - v) AS s FROM bids GROUP BY k) AS x) AS y WHERE rn <= 3;
""", level=3, order="folded")  # fmt: skip
script("report_filters_on_updates", f"""{BIDS}
    SELECT * FROM (SELECT k, SUM(v) AS s FROM bids GROUP BY k) AS x WHERE s < 10;
    SELECT * FROM (SELECT k, COUNT(*) AS n FROM bids GROUP BY k) AS x WHERE n = 2;
    SELECT k, n FROM (SELECT k, COUNT(*) AS n, MAX(v) AS m FROM bids GROUP BY k) AS x WHERE m <> 9 AND n > 1;
    SELECT x.k, n, v FROM (SELECT k, COUNT(*) AS n FROM bids GROUP BY k) AS x JOIN bids ON bids.k = x.k AND n < bids.v;
    SELECT x.k, n, y.m FROM (SELECT k, COUNT(*) AS n FROM bids GROUP BY k) AS x LEFT JOIN (SELECT k, MAX(v) AS m FROM bids GROUP BY k) AS y ON x.k = y.k AND y.m > 7;
    SELECT COUNT(*) AS c FROM (SELECT k, SUM(v) AS s FROM bids GROUP BY k) AS x WHERE s > 8;
    SELECT id FROM bids WHERE v < (SELECT AVG(v) FROM bids);
    SELECT IFNULL(v, 1 / 0) FROM bids WHERE id = 99;
""", level=3, order="folded")  # fmt: skip
script("report_names_that_plans_use", """
    CREATE VIEW t AS SELECT * FROM (VALUES (1, 2, 3), (2, 3, 4)) AS v (id, `w0$o0`, `$f1`);
    SELECT id, `w0$o0`, SUM(`$f1`) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t;
    SELECT `w0$o0` AS rn, SUM(`$f1`) AS s FROM t GROUP BY `w0$o0`;
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY `$f1` DESC) AS `w0$o1` FROM t) AS x WHERE `w0$o1` <= 1;
    SELECT `EXPR$0`, `EXPR$1` FROM (SELECT id + 1, id + 2 FROM t) AS x;
    SELECT `id0` FROM (SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.id = b.id) AS x (id, id0);
""", modes=("BATCH",), level=3, order="multiset")  # fmt: skip
script("report_unnested_maps_and_rows", """
    CREATE TABLE t (id INT, m MAP<STRING, INT>, r ARRAY<ROW<a STRING NOT NULL, b INT>>) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO t VALUES (1, MAP['x', 1, 'y', CAST(NULL AS INT)], ARRAY[ROW('G', 1), ROW('H', 2), ROW('I', 3)]), (2, CAST(NULL AS MAP<STRING, INT>), ARRAY[ROW('J', CAST(NULL AS INT))]);
    SELECT id, k, v FROM t, UNNEST(m) AS x (k, v);
    SELECT id, k, v FROM t LEFT JOIN UNNEST(m) AS x (k, v) ON TRUE;
    SELECT id, a, b FROM t CROSS JOIN UNNEST(r) AS x (a, b);
    SELECT id, CAST(r AS ARRAY<ROW<a STRING, b BIGINT>>) AS c FROM t;
    SELECT id, r[2].a AS a2, CARDINALITY(r) AS n FROM t;
    SELECT id, CAST(r AS STRING) AS s FROM t;
    SELECT id, u.b + 1 AS b FROM t CROSS JOIN UNNEST(r) AS u (a, b) WHERE u.a > 'G';
    SELECT id, MAP_KEYS(m) AS k, m['x'] AS x, CARDINALITY(m) AS n FROM t;
""", modes=BOTH, order="multiset")  # fmt: skip
script("report_frames_of_numbers", """
    CREATE VIEW t AS SELECT * FROM (VALUES (1, 'a', 1.0), (2, 'a', 2.5), (3, 'a', 3.0), (7, 'a', 9.5), (9, 'b', CAST(NULL AS DECIMAL(3, 1))), (8, 'b', 1.0)) AS v (id, k, d);
    SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN CAST(2 AS TINYINT) PRECEDING AND CURRENT ROW) AS s FROM t;
    SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY id RANGE BETWEEN 2 PRECEDING AND 0 FOLLOWING) AS s FROM t;
    SELECT id, COUNT(*) OVER (ORDER BY d RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING) AS c FROM t;
    SELECT id, SUM(id) OVER (PARTITION BY k ORDER BY d DESC RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM t;
    SELECT id, COUNT(d) OVER (ORDER BY id RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) AS c FROM t;
    SELECT id, AVG(id) OVER (ORDER BY id RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS a FROM t;
""", modes=("BATCH",), level=3, order="multiset")  # fmt: skip
