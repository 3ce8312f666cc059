"""Unbounded grouping, joins, DISTINCT, set operations and retractions."""

from tests.table.conformance.registry import BOTH, script

T = "(VALUES (1, 'a', 10), (2, 'b', 20), (3, 'a', 30), (4, 'b', CAST(NULL AS INT)), (5, 'c', 20), (6, CAST(NULL AS STRING), 1)) AS t (id, k, v)"
L = "(VALUES (1, 'a'), (2, 'b'), (3, 'c'), (CAST(NULL AS INT), 'n')) AS l (i, s)"
R = "(VALUES (1, 'x'), (1, 'y'), (4, 'z'), (CAST(NULL AS INT), 'm')) AS r (j, u)"
script("group_by_in_the_order_of_changes", f"""
SELECT k, COUNT(*) AS c, SUM(v) AS s FROM {T} GROUP BY k;
SELECT SUM(v) AS s FROM {T};
SELECT COUNT(*) AS c FROM {T} WHERE FALSE;
SELECT SUM(v) AS s FROM {T} WHERE FALSE;
SELECT k, MAX(v) AS m FROM {T} GROUP BY k;
SELECT k FROM {T} GROUP BY k;
SELECT DISTINCT k FROM {T};
SELECT c, COUNT(*) AS n FROM (SELECT k, COUNT(*) AS c FROM {T} GROUP BY k) GROUP BY c;
""", level=3)  # fmt: skip
script("aggregate_functions", f"""
SELECT k, COUNT(*) AS c, COUNT(v) AS cv, SUM(v) AS s, AVG(v) AS a, MIN(v) AS lo, MAX(v) AS hi FROM {T} GROUP BY k;
SELECT COUNT(DISTINCT v) AS d, SUM(DISTINCT v) AS ds, COUNT(DISTINCT k) AS dk FROM {T};
SELECT SUM(v) FILTER (WHERE k = 'a') AS fa, COUNT(*) FILTER (WHERE v > 15) AS f FROM {T};
SELECT STDDEV_POP(v) AS a, STDDEV_SAMP(v) AS b, VAR_POP(v) AS c, VAR_SAMP(v) AS d, STDDEV(v) AS e, VARIANCE(v) AS f FROM {T};
SELECT AVG(CAST(v AS DOUBLE)) AS a, AVG(CAST(v AS DECIMAL(5, 1))) AS b, SUM(CAST(v AS DECIMAL(5, 1))) AS c, SUM(CAST(v AS TINYINT)) AS d, SUM(CAST(v AS BIGINT)) AS e, AVG(CAST(v AS SMALLINT)) AS f, SUM(CAST(v AS FLOAT)) AS g FROM {T};
SELECT MIN(k) AS a, MAX(k) AS b FROM {T};
SELECT v / 10 AS g, COUNT(*) AS c FROM {T} GROUP BY v / 10;
SELECT k, SUM(v) AS s FROM {T} GROUP BY k HAVING SUM(v) > 20;
SELECT k, SUM(v) + 1 AS s FROM {T} GROUP BY k;
SELECT COALESCE(SUM(v), 0) AS s, COUNT(v) AS c FROM {T} WHERE FALSE;
SELECT k, v, COUNT(*) AS c FROM {T} GROUP BY GROUPING SETS ((k), (v), ());
SELECT k, COUNT(*) AS c FROM {T} GROUP BY ROLLUP (k);
SELECT k, GROUPING(k) AS g, COUNT(*) AS c FROM {T} GROUP BY CUBE (k);
SELECT k, v FROM {T} GROUP BY k;
SELECT SUM(k) AS s FROM {T};
SELECT ARRAY_AGG(v) AS l FROM (VALUES (1), (2)) AS t (v);
SELECT LISTAGG(k) AS l, LISTAGG(k, '-') AS m FROM (VALUES ('x'), ('y')) AS t (k);
SELECT FIRST_VALUE(v) AS f, LAST_VALUE(v) AS l FROM (VALUES (1), (2), (3)) AS t (v);
SELECT COUNT(DISTINCT v) AS a FROM (VALUES (1), (1), (CAST(NULL AS INT))) AS t (v);
SELECT SINGLE_VALUE(v) AS a FROM (VALUES (1)) AS t (v);
SELECT JSON_OBJECTAGG(KEY k VALUE v) AS o FROM (VALUES ('a', 1), ('b', 2)) AS t (k, v);
SELECT JSON_ARRAYAGG(v) AS o FROM (VALUES (1), (2)) AS t (v);
""", level=3, order="folded", modes=BOTH)  # fmt: skip
script("regular_joins", f"""
SELECT i, s, u FROM {L} JOIN {R} ON i = j;
SELECT i, s, u FROM {L} LEFT JOIN {R} ON i = j;
SELECT i, s, u FROM {L} RIGHT JOIN {R} ON i = j;
SELECT i, s, j, u FROM {L} FULL JOIN {R} ON i = j;
SELECT i, s, u FROM {L}, {R} WHERE i = j AND u <> 'x';
SELECT s, u FROM {L} CROSS JOIN {R};
SELECT s, u FROM {L} JOIN {R} ON i < j;
SELECT s, u FROM {L} JOIN {R} ON i = j AND u > 'x';
SELECT s FROM {L} WHERE i IN (SELECT j FROM {R});
SELECT s FROM {L} WHERE i NOT IN (SELECT j FROM {R} WHERE j IS NOT NULL);
SELECT s FROM {L} WHERE EXISTS (SELECT 1 FROM {R} WHERE j = i);
SELECT s FROM {L} WHERE NOT EXISTS (SELECT 1 FROM {R} WHERE j = i);
SELECT a.s, b.s FROM {L.replace("AS l", "AS a")} JOIN {L.replace("AS l", "AS b")} USING (i);
SELECT s, i FROM {L} NATURAL JOIN (VALUES (1), (2)) AS n (i);
SELECT s, (SELECT COUNT(*) FROM {R} WHERE j = i) AS c FROM {L};
SELECT s, m FROM {L}, (SELECT MAX(j) AS m FROM {R}) AS q WHERE i < m;
SELECT i, SUM(n) AS t FROM (SELECT i, 1 AS n FROM {L} LEFT JOIN {R} ON i = j) GROUP BY i;
""", level=3, order="folded", modes=BOTH)  # fmt: skip
script("set_operations", f"""
SELECT k FROM {T} UNION SELECT s FROM {L};
SELECT k FROM {T} INTERSECT SELECT s FROM {L};
SELECT k FROM {T} EXCEPT SELECT s FROM {L};
SELECT k FROM {T} INTERSECT ALL SELECT k FROM {T};
SELECT k FROM {T} EXCEPT ALL SELECT s FROM {L};
SELECT DISTINCT k, v > 15 AS big FROM {T};
""", level=3, order="folded", modes=BOTH)  # fmt: skip
script("sinks_that_refuse_changes", f"""
CREATE TABLE f (k STRING, s INT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = 'csv');
INSERT INTO f SELECT k, SUM(v) FROM {T} GROUP BY k;
INSERT INTO f SELECT s, i FROM {L} LEFT JOIN {R} ON i = j;
CREATE TABLE p (k STRING, s INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO p SELECT k, SUM(v) FROM {T} WHERE k IS NOT NULL GROUP BY k;
SELECT * FROM {T} ORDER BY id;
""", level=3)  # fmt: skip
script("limits_and_orders_of_a_stream", f"""
SELECT id FROM {T} LIMIT 2;
SELECT id, v FROM {T} ORDER BY v DESC, id LIMIT 2;
SELECT id FROM {T} ORDER BY id;
""", level=3, order="folded")  # fmt: skip
script("printed_changes", f"""
SELECT k, COUNT(*) AS c FROM {T} GROUP BY k;
SELECT SUM(v) AS s FROM {T};
""", level=3, modes=("STREAMING",), printed=True)  # fmt: skip
LINES = """
CREATE TABLE v (k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/v', 'format' = 'csv');
INSERT INTO v VALUES ('a', 1), ('b', 2), ('a', 3);
"""
script("aggregates_of_no_rows", f"""{LINES}
SELECT COUNT(*) AS c, SUM(n) AS s FROM v WHERE n > 100;
SELECT k, COUNT(*) AS c FROM v WHERE n > 100 GROUP BY k;
SELECT COUNT(DISTINCT n) AS c FROM v WHERE n > 100;
SELECT SUM(c) AS s, COUNT(*) AS g FROM (SELECT k, COUNT(*) AS c FROM v GROUP BY k);
SELECT COUNT(DISTINCT a) AS c FROM (SELECT ARRAY[k] AS a FROM v);
SELECT k, COUNT(*) AS c FROM v GROUP BY 1;
SELECT COUNT(DISTINCT k, n) AS c FROM v;
SELECT k, n, COUNT(*) AS c FROM v WHERE n > 100 GROUP BY GROUPING SETS ((k), ());
""", level=3, modes=BOTH)  # fmt: skip
