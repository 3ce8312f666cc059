"""DDL, SHOW, DESCRIBE, INSERT, queries without state, and errors."""

from tests.table.conformance.registry import BOTH, script

V = "(VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'a', CAST(NULL AS DECIMAL(2, 1)))) AS t (id, k, x)"

script("select_and_where", f"""
SELECT * FROM {V};
SELECT id, k FROM {V} WHERE x > 1;
SELECT id AS `the id`, k || '!' FROM {V} WHERE k = 'a' AND x IS NULL;
SELECT t.id, t.* FROM {V};
SELECT DISTINCT 1 AS one;
SELECT 1, 'x', NULL;
SELECT 1 AS a, 2 AS a;
SELECT id FROM {V} WHERE FALSE;
SELECT id FROM {V} WHERE x;
SELECT (SELECT 1) AS s;
SELECT id, nothing FROM {V};
SELECT idd FROM {V};
SELECT NO_SUCH_FUNCTION(id) FROM {V};
SELECT UPPER(id, k) FROM {V};
SELECT id + k FROM {V};
SELECT k + 1 FROM {V};
SELECT id FROM no_such_table;
SELEC 1;
SELECT id FROM {V} WHERE k = 1;
SELECT id FROM {V} WHERE id = '1';
SELECT CASE WHEN id = 1 THEN 1 ELSE 'x' END FROM {V};
SELECT -k FROM {V};
SELECT id FROM {V} LIMIT 2;
SELECT "id" FROM {V};
SELECT 1 UNION ALL SELECT 'x';
SELECT 1 UNION ALL SELECT 2, 3;
""", modes=BOTH)  # fmt: skip
script("values_and_common_table_expressions", f"""
VALUES (1, 'a'), (2, 'bcd');
VALUES (1), (2.5);
VALUES (1, 2), (3);
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS t (n, s) WHERE n = 2;
WITH c AS (SELECT id, k FROM {V}) SELECT k FROM c WHERE id > 1;
WITH c (p, q) AS (SELECT id, k FROM {V}), d AS (SELECT p FROM c) SELECT * FROM d;
SELECT s.n FROM (SELECT id + 1 AS n FROM {V}) AS s;
""", modes=BOTH)  # fmt: skip
script("union_all", f"""
SELECT id FROM {V} UNION ALL SELECT id + 10 FROM {V};
SELECT 1 AS a UNION ALL SELECT 2.5;
SELECT 'a' AS a UNION ALL SELECT 'bcd';
SELECT CAST(NULL AS INT) AS n UNION ALL SELECT 1;
""", order="multiset", modes=BOTH)  # fmt: skip
script("unnest_of_arrays_and_maps", """
SELECT id, x FROM (VALUES (1, ARRAY[10, 20]), (2, ARRAY[30])) AS t (id, a) CROSS JOIN UNNEST(a) AS u (x);
SELECT id, x FROM (VALUES (1, ARRAY[10, 20]), (2, CAST(NULL AS ARRAY<INT>))) AS t (id, a), UNNEST(a) AS u (x);
SELECT id, x FROM (VALUES (1, ARRAY[10, 20]), (2, CAST(NULL AS ARRAY<INT>))) AS t (id, a) LEFT JOIN UNNEST(a) AS u (x) ON TRUE;
SELECT id, k, v FROM (VALUES (1, MAP['a', 1])) AS t (id, m) CROSS JOIN UNNEST(m) AS u (k, v);
SELECT id, p, q FROM (VALUES (1, ARRAY[ROW(1, 'x'), ROW(2, 'y')])) AS t (id, a) CROSS JOIN UNNEST(a) AS u (p, q);
SELECT id, x, o FROM (VALUES (1, ARRAY[10, 20])) AS t (id, a) CROSS JOIN UNNEST(a) WITH ORDINALITY AS u (x, o);
SELECT * FROM UNNEST(ARRAY[1, 2, 3]) AS u (x);
""", modes=BOTH)  # fmt: skip
script("tables_of_every_connector_are_described", """
CREATE TABLE g (id INT, name STRING, price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3');
DESCRIBE g;
DESC g;
CREATE TABLE p (id INT NOT NULL, v DOUBLE COMMENT 'a value', PRIMARY KEY (id) NOT ENFORCED) COMMENT 'printed' WITH ('connector' = 'print', 'print-identifier' = 'out');
DESCRIBE p;
CREATE TABLE b WITH ('connector' = 'blackhole') LIKE g (EXCLUDING ALL);
DESCRIBE b;
CREATE TABLE f (a INT, b STRING) PARTITIONED BY (b) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv');
DESCRIBE f;
CREATE TABLE k (id BIGINT, at_ TIMESTAMP(3) METADATA FROM 'timestamp', part INT METADATA FROM 'partition' VIRTUAL, twice AS id * 2, pt AS PROCTIME()) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:1', 'format' = 'json');
DESCRIBE k;
CREATE TABLE x (a INT) WITH ('connector' = 'no-such-connector');
DESCRIBE x;
SHOW TABLES;
CREATE TABLE g (a INT) WITH ('connector' = 'print');
CREATE TABLE IF NOT EXISTS g (a INT) WITH ('connector' = 'print');
DESCRIBE nothing;
DROP TABLE p;
DROP TABLE p;
DROP TABLE IF EXISTS p;
SHOW TABLES;
""")  # fmt: skip
script("types_in_ddl", """
CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d INTEGER, e BIGINT, f FLOAT, g DOUBLE PRECISION, h DECIMAL, i DECIMAL(5), j NUMERIC(10, 2), k CHAR, l CHAR(4), m VARCHAR, n VARCHAR(9), o STRING, p BINARY, q VARBINARY(3), r BYTES, s DATE, t TIME, u TIMESTAMP, v TIMESTAMP(3), w TIMESTAMP_LTZ, x TIMESTAMP(3) WITH LOCAL TIME ZONE, y ARRAY<INT>, z MAP<STRING, INT>, aa ROW<a INT, b STRING NOT NULL>, ab MULTISET<INT>, ac INT ARRAY, ad ROW(p INT), ae INT NOT NULL) WITH ('connector' = 'blackhole');
DESCRIBE t;
CREATE TABLE u (a NOSUCHTYPE) WITH ('connector' = 'blackhole');
CREATE TABLE w (a INT, a INT) WITH ('connector' = 'blackhole');
CREATE TABLE c (a INT, b AS a + 1, c AS UPPER('x'), d AS CAST(a AS STRING)) WITH ('connector' = 'blackhole');
DESCRIBE c;
CREATE TABLE e (a INT, b AS nothing + 1) WITH ('connector' = 'blackhole');
CREATE TABLE r (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'blackhole');
CREATE TABLE s (a BIGINT, ts AS TO_TIMESTAMP_LTZ(a, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'blackhole');
DESCRIBE s;
""")  # fmt: skip
script("a_table_like_another", """
CREATE TABLE base (id INT, v STRING, twice AS id * 2, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE a LIKE base;
DESCRIBE a;
CREATE TABLE b (extra INT) WITH ('number-of-rows' = '2') LIKE base;
DESCRIBE b;
CREATE TABLE c WITH ('connector' = 'print') LIKE base (EXCLUDING OPTIONS EXCLUDING GENERATED EXCLUDING WATERMARKS);
DESCRIBE c;
CREATE TABLE d (ts TIMESTAMP(3)) LIKE base;
CREATE TABLE e LIKE nothing;
CREATE TABLE f (WATERMARK FOR ts AS ts) LIKE base (OVERWRITING WATERMARKS);
DESCRIBE f;
SHOW CREATE TABLE b;
""")  # fmt: skip
script("views_catalogs_and_databases", """
CREATE VIEW v AS SELECT 1 AS a;
SELECT * FROM v;
CREATE TEMPORARY VIEW w (x, y) AS SELECT a, a + 1 FROM v;
SELECT y FROM w;
DESCRIBE w;
SHOW VIEWS;
SHOW TABLES;
DROP VIEW v;
SELECT * FROM v;
DROP TEMPORARY VIEW w;
DROP VIEW nothing;
DROP VIEW IF EXISTS nothing;
CREATE DATABASE db;
USE db;
SHOW CURRENT DATABASE;
CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
SHOW TABLES;
SHOW DATABASES;
USE default_database;
SHOW TABLES FROM db;
DESCRIBE db.t;
DROP DATABASE db;
DROP DATABASE db CASCADE;
SHOW CURRENT CATALOG;
SHOW CATALOGS;
USE nothing;
SET 'parallelism.default' = '1';
CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'blackhole');
SHOW TABLES;
ALTER TABLE t ADD b INT;
""")  # fmt: skip
script("tables_are_altered", """
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'blackhole');
ALTER TABLE t RENAME TO u;
ALTER TABLE u ADD c BIGINT;
DESCRIBE u;
ALTER TABLE u ADD (d INT FIRST, e INT AFTER a);
ALTER TABLE u MODIFY b INT;
ALTER TABLE u DROP c;
ALTER TABLE u RENAME a TO z;
DESCRIBE u;
ALTER TABLE u SET ('connector' = 'print');
ALTER TABLE u RESET ('connector');
SHOW COLUMNS FROM u;
SHOW COLUMNS FROM u LIKE 'z%';
""")  # fmt: skip
for form, path_options in (("csv", ""), ("json", "")):
    script(f"rows_pass_through_files_of_{form}", f"""
CREATE TABLE f (i INT, s STRING, d DECIMAL(6, 2), ts TIMESTAMP(3), b BOOLEAN, x DOUBLE, da DATE) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = '{form}'{path_options});
INSERT INTO f VALUES (1, 'a,b "q"', 1.5, TIMESTAMP '2020-01-02 03:04:05.678', TRUE, 0.1, DATE '2020-01-02'), (2, '', 2, TIMESTAMP '2020-01-02 00:00:00', FALSE, 1e10, DATE '1969-12-31');
SELECT * FROM f;
INSERT INTO f (i, s) VALUES (3, 'only');
SELECT i, s, d, ts FROM f WHERE i = 3;
INSERT INTO f SELECT 1;
INSERT INTO f (i, nothing) VALUES (1, 2);
INSERT INTO f (i, i) VALUES (1, 2);
INSERT INTO f (s, i) VALUES ('swapped', 4);
SELECT i, s FROM f WHERE i = 4;
INSERT INTO f VALUES ('x', 'a', 1.5, TIMESTAMP '2020-01-02 03:04:05.678', TRUE, 0.1, DATE '2020-01-02');
INSERT OVERWRITE f SELECT * FROM f WHERE i = 1;
SELECT i FROM f;
""", modes=BOTH, order="multiset")  # fmt: skip
script("partitioned_files", """
CREATE TABLE f (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '{directory}/p', 'format' = 'csv');
INSERT INTO f VALUES (1, 'x'), (2, 'y'), (3, 'x');
SELECT * FROM f;
INSERT INTO f PARTITION (p = 'z') SELECT 9;
SELECT * FROM f WHERE p = 'z';
CREATE TABLE m (a INT, `file.name` STRING NOT NULL METADATA) WITH ('connector' = 'filesystem', 'path' = '{directory}/p/p=z', 'format' = 'csv');
SELECT a, CHAR_LENGTH(`file.name`) > 5 AS named FROM m;
""", modes=("BATCH",), order="multiset")  # fmt: skip
script("statement_sets_explain_and_insert", f"""
CREATE TABLE n (id INT, k STRING) WITH ('connector' = 'blackhole');
INSERT INTO n SELECT id, k FROM {V};
EXECUTE STATEMENT SET BEGIN INSERT INTO n SELECT id, k FROM {V}; INSERT INTO n SELECT id, 'x' FROM {V}; END;
EXPLAIN SELECT id FROM {V};
EXPLAIN PLAN FOR SELECT id FROM {V};
EXPLAIN INSERT INTO n SELECT id, k FROM {V};
INSERT INTO n SELECT id FROM {V};
INSERT INTO n SELECT k, id FROM {V};
INSERT INTO nothing SELECT id, k FROM {V};
INSERT INTO n SELECT id, CAST(NULL AS STRING) FROM {V};
CREATE TABLE m (id INT NOT NULL) WITH ('connector' = 'blackhole');
INSERT INTO m SELECT CAST(NULL AS INT);
SELECT * FROM n;
""")  # fmt: skip
script("sequences_of_datagen", """
CREATE TABLE g (id INT, b BIGINT, s AS id * 10, ts AS TO_TIMESTAMP_LTZ(b, 3)) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '5', 'fields.b.kind' = 'sequence', 'fields.b.start' = '1000', 'fields.b.end' = '1010');
SELECT * FROM g;
SELECT id FROM g WHERE id > 2;
CREATE TABLE s (id INT, name STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '5', 'fields.name.length' = '4');
SELECT CHAR_LENGTH(name) AS l FROM s;
CREATE TABLE w (id INT) WITH ('connector' = 'datagen', 'no-such-option' = '1');
SELECT * FROM w;
SELECT id FROM g /*+ OPTIONS('number-of-rows' = '1') */;
""")  # fmt: skip
script("printed_rows", """
SELECT * FROM (VALUES (1, 'a', 1.5, TRUE), (2, CAST(NULL AS STRING), -2.5, FALSE)) AS t (id, name, x, b);
SELECT id, CAST(1.5 AS DOUBLE) AS d, DATE '2020-01-02' AS da, TIME '01:02:03' AS t, TIMESTAMP '2020-01-02 03:04:05.678' AS ts, CAST('x' AS BYTES) AS by_ FROM (VALUES (1)) AS v (id);
SELECT ARRAY[1, 2] AS a, MAP['k', 1] AS m, ROW(1, 'x') AS r, TO_TIMESTAMP_LTZ(0, 3) AS l, CAST(NULL AS INT) AS n;
SELECT 'a rather long text that does not fit into a column of thirty characters' AS s, 'größe €' AS u, '表格' AS w;
SELECT 1 AS x WHERE FALSE;
SHOW TABLES;
SHOW CURRENT CATALOG;
CREATE TABLE t (a INT, b STRING NOT NULL, c AS a + 1) WITH ('connector' = 'blackhole');
DESCRIBE t;
SELECT CAST(1.10 AS DECIMAL(10, 3)) AS d, CAST(1.1 AS FLOAT) AS f, 1e20 AS e, INTERVAL '1' DAY AS i;
""", modes=BOTH, printed=True)  # fmt: skip
script("bounded_order_by_and_limit", f"""
SELECT * FROM {V} ORDER BY id DESC;
SELECT id, x FROM {V} ORDER BY x;
SELECT id, x FROM {V} ORDER BY x DESC;
SELECT id, x FROM {V} ORDER BY x NULLS LAST;
SELECT k, id FROM {V} ORDER BY k DESC, id DESC LIMIT 2;
SELECT id FROM {V} ORDER BY id LIMIT 1 OFFSET 1;
SELECT id FROM {V} ORDER BY id OFFSET 2 ROWS FETCH NEXT 1 ROWS ONLY;
SELECT id AS n FROM {V} ORDER BY n;
SELECT id FROM {V} ORDER BY 1 DESC;
""", modes=("BATCH",))  # fmt: skip
script("tables_are_altered_in_more_ways", """
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), d AS a + 1, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '1' SECOND;
DESCRIBE t;
ALTER TABLE t ADD WATERMARK FOR ts AS ts;
ALTER TABLE t MODIFY WATERMARK FOR ts AS ts;
DESCRIBE t;
ALTER TABLE t DROP ts;
ALTER TABLE t RENAME ts TO ts2;
ALTER TABLE t DROP WATERMARK;
ALTER TABLE t DROP WATERMARK;
ALTER TABLE t DROP ts;
ALTER TABLE t DROP a;
ALTER TABLE t RENAME a TO a2;
ALTER TABLE t DROP b;
ALTER TABLE t RENAME b TO b2;
ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED;
ALTER TABLE t DROP PRIMARY KEY;
ALTER TABLE t DROP PRIMARY KEY;
ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED;
ALTER TABLE t ADD b2 INT;
ALTER TABLE t ADD (b3 INT, b3 INT);
ALTER TABLE t ADD z AS a * 2 FIRST;
ALTER TABLE t ADD x INT AFTER nothing;
ALTER TABLE t MODIFY (b2 BIGINT FIRST, a STRING AFTER d);
ALTER TABLE t MODIFY nothing INT;
ALTER TABLE t DROP nothing;
ALTER TABLE t DROP (z, d);
DESCRIBE t;
ALTER TABLE t RENAME b2 TO a;
ALTER TABLE t SET ('number-of-rows' = '3', 'rows-per-second' = '1000');
SELECT a + 1 > a AS c FROM t;
ALTER TABLE t RESET ('rows-per-second');
ALTER TABLE t RESET ();
ALTER TABLE nothing ADD x INT;
ALTER TABLE IF EXISTS nothing ADD x INT;
CREATE VIEW v AS SELECT a FROM t;
ALTER TABLE v RENAME TO w;
ALTER VIEW v RENAME TO w;
SHOW TABLES;
SHOW COLUMNS IN w;
SHOW COLUMNS FROM t NOT LIKE 'a%';
SHOW COLUMNS FROM t LIKE 'B%';
SHOW COLUMNS FROM nothing;
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
ALTER TABLE t RENAME TO o;
""")  # fmt: skip
