"""QUALIFY, samples, comparisons with ANY and ALL, and queries for a value that read the outer row."""

from tests.table.conformance.registry import BOTH, scalars, script, table

TABLES = """
    CREATE VIEW a AS SELECT * FROM (VALUES (1, 'x', 10), (2, 'y', 20), (3, 'x', 30), (4, CAST(NULL AS STRING), 40)) AS v (id, k, n);
    CREATE VIEW b AS SELECT * FROM (VALUES (1, 'x', 1.5), (3, 'z', 2.5), (5, 'y', 3.5)) AS v (id, k, p);
    CREATE VIEW c AS SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS v (id, word);
    CREATE VIEW e AS SELECT id FROM c;
    CREATE VIEW d AS SELECT * FROM (VALUES (1, 1), (2, CAST(NULL AS INT))) AS v (id, m);
"""

FILES = """
    CREATE TABLE a (id INT, k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/a', 'format' = 'json');
    CREATE TABLE b (id INT, k STRING, p DECIMAL(3, 1)) WITH ('connector' = 'filesystem', 'path' = '{directory}/b', 'format' = 'json');
    CREATE TABLE c (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = '{directory}/c', 'format' = 'json');
    INSERT INTO a VALUES (1, 'x', 10), (2, 'y', 20), (3, 'x', 30), (4, CAST(NULL AS STRING), 40);
    INSERT INTO b VALUES (1, 'x', 1.5), (3, 'z', 2.5), (5, 'y', 3.5);
    INSERT INTO c VALUES (1, 'one'), (2, 'two');
"""

script(
    "queries_for_values_of_the_outer_row",
    FILES
    + """
    SELECT id, (SELECT MAX(p) FROM b WHERE b.k = a.k) AS p FROM a;
    SELECT id, (SELECT COUNT(*) FROM b WHERE b.k = a.k) AS c FROM a;
    SELECT id, (SELECT COUNT(*) + 1 FROM b WHERE b.k = a.k) AS c FROM a;
    SELECT id, (SELECT SUM(p) + COUNT(*) FROM b WHERE b.k = a.k AND b.p > 2) AS c FROM a;
    SELECT id FROM a WHERE n > (SELECT AVG(n) FROM a AS x WHERE x.k = a.k);
    SELECT id FROM a WHERE n >= (SELECT MIN(n) FROM a AS x WHERE x.k = a.k) AND id < 3;
    SELECT id FROM a WHERE (SELECT COUNT(*) FROM b WHERE b.k = a.k) = 0;
    SELECT id, (SELECT word FROM c WHERE c.id = a.id AND c.word <> 'two') AS w FROM a;
    SELECT id, (SELECT UPPER(word) FROM c WHERE c.id = a.id) AS w FROM a;
    SELECT id, (SELECT word FROM c WHERE c.id + 1 = a.id) AS w FROM a;
    SELECT id, (SELECT MAX(x.n) FROM a AS x, b WHERE x.id = b.id AND b.k = a.k) AS w FROM a;
    SELECT id, (SELECT MAX(n) FROM a AS x WHERE x.n < a.n) AS before FROM a;
    SELECT id, (SELECT COUNT(*) FROM a AS x WHERE x.n < a.n) AS before FROM a;
    SELECT id, (SELECT p FROM b WHERE b.k = a.k) * 2 AS p FROM a;
    SELECT k, (SELECT MAX(p) FROM b WHERE b.k = a.k) AS p, COUNT(*) AS c FROM a GROUP BY k;
    SELECT id, (SELECT MAX(p) + a.n FROM b WHERE b.k = a.k) AS p FROM a;
    SELECT id, (SELECT n FROM a AS x WHERE x.k = a.k) AS several FROM a;
    SELECT id FROM a WHERE id = ANY (SELECT x.id FROM b AS x WHERE x.k = a.k);
    SELECT id FROM a WHERE n > ALL (SELECT x.n FROM a AS x WHERE x.k = a.k AND x.id < a.id);
    SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.id < a.id);
    SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.id <= a.id);
    SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS e FROM a;
    SELECT id, k IN (SELECT k FROM b) AS i FROM a;
    SELECT id FROM a WHERE k IN (SELECT k FROM b) OR id = 4;
    SELECT a.id, l.p FROM a CROSS JOIN LATERAL (SELECT p FROM b WHERE b.k = a.k) AS l;
    SELECT a.id, l.p FROM a LEFT JOIN LATERAL (SELECT p FROM b WHERE b.k = a.k) AS l ON TRUE;
    SELECT a.id, l.p FROM a, LATERAL (SELECT p FROM b WHERE b.k = a.k ORDER BY p LIMIT 1) AS l;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "any_and_all",
    TABLES
    + """
    SELECT id FROM a WHERE id < ANY (SELECT id FROM b);
    SELECT id FROM a WHERE id <> ANY (SELECT id FROM b);
    SELECT id FROM a WHERE id >= SOME (SELECT id FROM b);
    SELECT id FROM a WHERE id <> ALL (SELECT id FROM b);
    SELECT id FROM a WHERE id <= ALL (SELECT id FROM b);
    SELECT id FROM a WHERE id > ALL (SELECT m FROM d);
    SELECT id FROM a WHERE id >= ANY (SELECT m FROM d);
    SELECT id FROM a WHERE NOT (id = ANY (SELECT id FROM b));
    SELECT id FROM a WHERE id = ANY (SELECT x.id FROM b AS x WHERE x.k = a.k);
    SELECT id FROM a WHERE id = ANY (1, 3);
    SELECT id FROM a WHERE id > ANY (1, 3);
    SELECT id FROM a WHERE id > ALL (1, 3);
    SELECT id FROM a WHERE id <> SOME (1, 3);
    SELECT id FROM a WHERE id = ALL (1, 1);
    SELECT id, id = ANY (1, 2) AS low FROM a;
    SELECT id, id IN (SELECT id FROM b) AS found FROM a;
    SELECT id FROM a WHERE id IN (TABLE e);
    SELECT id FROM a WHERE id NOT IN (VALUES 1, 2);
    SELECT id FROM a WHERE (id, n) IN (VALUES (1, 10), (2, 30));
    TABLE c UNION ALL TABLE c;
    SELECT * FROM (TABLE c) AS t;
    WITH x AS (TABLE c) SELECT id FROM x;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "qualify",
    TABLES
    + """
    SELECT id FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) = 1;
    SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM a QUALIFY r = 1;
    SELECT id FROM a WHERE id > 1 QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) <= 1 AND id < 4;
    SELECT k, SUM(n) AS s FROM a GROUP BY k QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(n) DESC) = 1;
    SELECT id, n AS m FROM a QUALIFY SUM(n) OVER (PARTITION BY k ORDER BY id) > 15;
    SELECT * FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) = 2;
    SELECT DISTINCT k FROM a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) < 5;
    SELECT id FROM a QUALIFY id > 2;
    SELECT id FROM a QUALIFY ROW_NUMBER() OVER w = 1 WINDOW w AS (PARTITION BY k ORDER BY n);
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

script(
    "samples",
    TABLES
    + """
    SELECT id FROM a TABLESAMPLE BERNOULLI (0);
    SELECT id FROM a TABLESAMPLE SYSTEM (100);
    SELECT id FROM a TABLESAMPLE BERNOULLI (100) REPEATABLE (3);
    SELECT id FROM a TABLESAMPLE BERNOULLI (100.0) WHERE id > 2;
    SELECT t.id FROM a TABLESAMPLE BERNOULLI (100) AS t;
    SELECT t.id FROM a AS t TABLESAMPLE BERNOULLI (100);
    SELECT id FROM (SELECT id FROM a) TABLESAMPLE BERNOULLI (100);
    SELECT id FROM a TABLESAMPLE BERNOULLI (101);
    SELECT id FROM a WHERE n BETWEEN SYMMETRIC 30 AND NULL;
    SELECT id FROM a WHERE n NOT BETWEEN SYMMETRIC 30 AND 20;
    SELECT id FROM a WHERE n BETWEEN ASYMMETRIC 30 AND 10;
    SELECT id FROM a WHERE n BETWEEN ASYMMETRIC 10 AND 30;
    """,
    level=3,
    modes=BOTH,
    order="folded",
)

scalars(
    "random_numbers_of_a_seed",
    """
    RAND(7)
    RAND_INTEGER(7, 100)
    RAND_INTEGER(7, 64)
    RAND(-1)
    """,
    table("n INT", ("1",), ("2",), ("3",), ("4",)),
)
script("members_of_queries_as_values", """
CREATE VIEW a AS SELECT * FROM (VALUES (1, 'x', 10), (2, 'y', 20), (3, CAST(NULL AS STRING), 30), (4, 'z', 40)) AS t (id, k, n);
CREATE VIEW b AS SELECT * FROM (VALUES (1, 'x'), (3, 'y'), (5, CAST(NULL AS STRING))) AS t (id, k);
SELECT id, id IN (SELECT id FROM b) AS i FROM a;
SELECT id, id NOT IN (SELECT id FROM b) AS i FROM a;
SELECT id, k IN (SELECT k FROM b) AS i, k NOT IN (SELECT k FROM b) AS o FROM a;
SELECT id, k IN (SELECT k FROM b WHERE k IS NOT NULL) AS i FROM a;
SELECT id, k IN (SELECT k FROM b WHERE id > 100) AS i, k NOT IN (SELECT k FROM b WHERE id > 100) AS o FROM a;
SELECT id, EXISTS (SELECT 1 FROM b WHERE id > 100) AS e, NOT EXISTS (SELECT 1 FROM b) AS n FROM a;
SELECT id, CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.id = a.id) THEN 'in' ELSE 'out' END AS e FROM a;
SELECT id FROM a WHERE id IN (SELECT id FROM b) OR k = 'y';
SELECT id FROM a WHERE NOT (id IN (SELECT id FROM b) AND n > 10);
SELECT id FROM a WHERE k IN (SELECT k FROM b) OR EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND b.k = 'y');
SELECT id FROM a WHERE (k NOT IN (SELECT k FROM b)) IS NULL;
SELECT id, id + 1 IN (SELECT id FROM b) AS i FROM a;
SELECT id, id IN (SELECT MAX(id) FROM b) AS i FROM a;
SELECT id, EXISTS (SELECT MAX(id) FROM b WHERE id > 100) AS e FROM a;
SELECT *, id IN (SELECT id FROM b) AS i FROM a;
""", level=3, modes=BOTH, order="folded")  # fmt: skip

script("sets_within_grouping_sets", """
CREATE TEMPORARY VIEW sold AS SELECT * FROM (VALUES ('ann', 'tea', 'x'), ('ann', 'ice', 'y'), ('bob', 'tea', 'y')) AS v (a, b, c);
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (CUBE (a), ROLLUP (b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS ((a), ROLLUP (b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (ROLLUP (b), (a));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (a, CUBE (b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (ROLLUP (a, b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (GROUPING SETS (a, b), ());
SELECT a, b, c, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (GROUPING SETS (a, b), ROLLUP (c));
SELECT a, b, c, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS (CUBE (a), ROLLUP (b), (c));
SELECT a, b, c, COUNT(*) AS n FROM sold GROUP BY a, GROUPING SETS (CUBE (b), ROLLUP (c));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY ROLLUP (a), CUBE (b);
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY ROLLUP ((a, b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY CUBE (a, (a, b));
SELECT a, b, COUNT(*) AS n FROM sold GROUP BY GROUPING SETS ((a, b), (a), (a));
""", level=3, modes=BOTH, order="folded")  # fmt: skip
