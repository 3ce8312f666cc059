"""Small clauses of queries, one or two statements each."""

from tests.table.conformance.registry import BOTH, script

TABLES = """
    CREATE VIEW a AS SELECT * FROM (VALUES (1, 'x', 10), (2, 'y', 20), (3, 'x', 30), (4, CAST(NULL AS STRING), 40)) AS v (id, k, n);
    CREATE VIEW b AS SELECT * FROM (VALUES (1, 'x', 1.5), (3, 'z', 2.5), (5, 'y', 3.5)) AS v (id, k, p);
    CREATE VIEW c AS SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS v (id, word);
"""

script(
    "natural_joins",
    TABLES
    + """
    SELECT * FROM a NATURAL JOIN c;
    SELECT * FROM a NATURAL JOIN b;
    SELECT * FROM a NATURAL LEFT JOIN c;
    SELECT * FROM a NATURAL RIGHT JOIN b;
    SELECT * FROM a NATURAL FULL JOIN c;
    SELECT id, a.n, word FROM a NATURAL INNER JOIN c WHERE id > 1;
    SELECT * FROM a NATURAL JOIN (SELECT 7 AS other) AS d;
    SELECT * FROM a NATURAL JOIN (SELECT 'q' AS id) AS d;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "groups_that_are_not_named",
    TABLES
    + """
    SELECT COUNT(*) AS c FROM a HAVING COUNT(*) > 3;
    SELECT SUM(n) AS s FROM a HAVING SUM(n) > 1000;
    SELECT 1 AS one FROM a HAVING MAX(n) > 0;
    SELECT COUNT(*) AS c FROM a GROUP BY ();
    SELECT k, COUNT(*) AS c FROM a GROUP BY 1;
    SELECT k AS kk, COUNT(*) AS c FROM a GROUP BY kk;
    SELECT ALL k FROM a;
    SELECT k FROM a HAVING TRUE;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "orders_by_expressions",
    TABLES
    + """
    SELECT id FROM a ORDER BY n * -1 LIMIT 2;
    SELECT id FROM a ORDER BY MOD(id, 2), n DESC LIMIT 3;
    SELECT k, SUM(n) AS s FROM a GROUP BY k ORDER BY SUM(n) DESC LIMIT 2;
    SELECT id FROM a ORDER BY k NULLS LAST, id LIMIT 4;
    SELECT id AS n, n AS id FROM a ORDER BY n DESC LIMIT 2;
    SELECT id FROM a ORDER BY id OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY;
    SELECT id FROM a ORDER BY id FETCH FIRST ROW ONLY;
    SELECT id FROM a ORDER BY id LIMIT 1, 2;
    SELECT id FROM a ORDER BY id LIMIT ALL;
    SELECT DISTINCT k FROM a ORDER BY n LIMIT 1;
    (SELECT id FROM a ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM b ORDER BY id DESC LIMIT 1);
    SELECT id FROM a UNION ALL SELECT id FROM b ORDER BY 0 - id LIMIT 3;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "small_clauses",
    TABLES
    + """
    TABLE c;
    SELECT id FROM a UNION DISTINCT SELECT id FROM b;
    SELECT id FROM a MINUS SELECT id FROM b;
    SELECT id FROM a EXCEPT DISTINCT SELECT id FROM b;
    SELECT id FROM a INTERSECT DISTINCT SELECT id FROM b;
    SELECT x.i, x.w FROM c AS x (i, w);
    SELECT a.* FROM a, c WHERE a.id = c.id;
    SELECT id FROM a WHERE id = ANY (SELECT id FROM b);
    SELECT id FROM a WHERE id > ALL (SELECT id FROM c);
    SELECT id FROM a WHERE id = SOME (SELECT id FROM b);
    SELECT id FROM a WHERE (id, k) IN (SELECT id, k FROM b);
    SELECT id FROM a WHERE (id, n) IN ((1, 10), (2, 30));
    SELECT id FROM a WHERE id IN (VALUES 1, 2);
    SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) = 1;
    SELECT id FROM a CROSS JOIN LATERAL (SELECT word FROM c WHERE c.id = a.id);
    SELECT id, w FROM a, LATERAL (SELECT word AS w FROM c WHERE c.id = a.id) AS l;
    SELECT id, (SELECT word FROM c WHERE c.id = a.id) AS w FROM a;
    WITH x AS (SELECT id FROM a), y AS (SELECT id FROM x WHERE id > 1) SELECT * FROM y;
    SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND b.k = a.k);
    SELECT id IS DISTINCT FROM 1 AS d FROM c;
    SELECT id FROM a WHERE n BETWEEN SYMMETRIC 30 AND 10;
    SELECT id FROM a WHERE n NOT BETWEEN 10 AND 20;
    SELECT id FROM a WHERE k NOT LIKE 'x%' AND k IS NOT NULL;
    SELECT * FROM a TABLESAMPLE BERNOULLI (100);
    VALUES (1, 'a'), (2, 'b');
    SELECT * FROM (VALUES 1, 2) AS t (x);
    SELECT /*+ BROADCAST(c) */ a.id FROM a JOIN c ON a.id = c.id;
    SELECT COUNT(*) AS n FROM a /*+ OPTIONS('x'='y') */;
    SELECT CASE k WHEN 'x' THEN 1 WHEN 'y' THEN 2 ELSE 0 END AS c FROM a;
    SELECT NULLIF(id, 1) AS c FROM a;
    SELECT id FROM a -- a comment
    WHERE id > 2 /* and another */;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "hints_with_options",
    """
    CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100');
    SELECT COUNT(*) AS c FROM numbers /*+ OPTIONS('number-of-rows' = '7') */;
    SELECT COUNT(*) AS c, MAX(n) AS m FROM numbers /*+ OPTIONS('fields.n.end' = '5') */ AS t;
    SELECT COUNT(*) AS c FROM numbers /*+ OPTIONS('nothing' = '5') */;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)
