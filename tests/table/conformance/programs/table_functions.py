"""Table functions of Flink 2.3 that turn changes into rows and back, and models, which only have declarations."""

from __future__ import annotations

from tests.table.conformance.registry import BOTH, script

script("changes_as_rows", """
CREATE VIEW g AS SELECT name, COUNT(*) AS c FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b')) AS t (id, name) GROUP BY name;
CREATE VIEW i AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (id, name);
SELECT * FROM TO_CHANGELOG(input => TABLE g);
SELECT * FROM TO_CHANGELOG(TABLE g);
SELECT * FROM TABLE(TO_CHANGELOG(TABLE g));
SELECT * FROM TO_CHANGELOG(TABLE i);
SELECT * FROM TO_CHANGELOG(input => TABLE g PARTITION BY name);
SELECT * FROM TO_CHANGELOG(input => TABLE g, op => DESCRIPTOR(kind));
SELECT * FROM TO_CHANGELOG(input => TABLE g, op => DESCRIPTOR(c));
SELECT * FROM TO_CHANGELOG(TABLE g, DESCRIPTOR(kind), MAP['INSERT', 'I']);
SELECT * FROM TO_CHANGELOG(input => TABLE g, op_mapping => MAP['INSERT', 'I', 'UPDATE_AFTER', 'U']);
SELECT * FROM TO_CHANGELOG(input => TABLE g, op_mapping => MAP['INSERT, UPDATE_AFTER', 'I', 'DELETE, UPDATE_BEFORE', 'D']);
SELECT * FROM TO_CHANGELOG(input => TABLE g, op_mapping => MAP['NOPE', 'I']);
SELECT * FROM TO_CHANGELOG(input => TABLE g, op_mapping => MAP['INSERT', 'I', 'INSERT', 'J']);
SELECT * FROM TO_CHANGELOG(input => (SELECT name, COUNT(*) AS c FROM (VALUES (1, 'a'), (2, 'a')) AS t (id, name) GROUP BY name));
SELECT op, name, SUM(c) AS s FROM TO_CHANGELOG(TABLE g) GROUP BY op, name;
SELECT TYPEOF(op) AS t FROM TO_CHANGELOG(TABLE i);
SELECT * FROM TO_CHANGELOG();
SELECT x, n FROM TO_CHANGELOG(TABLE i) AS t (x, y, n) WHERE y > 1;
""")  # fmt: skip
script("rows_as_changes", """
CREATE VIEW ch AS SELECT * FROM (VALUES ('INSERT', 1, 'a'), ('UPDATE_BEFORE', 1, 'a'), ('UPDATE_AFTER', 1, 'b'), ('DELETE', 1, 'b'), ('INSERT', 2, 'c')) AS t (op, id, name);
CREATE VIEW ch2 AS SELECT * FROM (VALUES (1, 'c', 'a'), (1, 'u', 'b'), (1, 'd', 'b')) AS t (id, kind, name);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch);
SELECT id, COUNT(*) AS n FROM FROM_CHANGELOG(TABLE ch) GROUP BY id;
SELECT id, LAST_VALUE(name) AS n FROM FROM_CHANGELOG(TABLE ch) GROUP BY id;
SELECT * FROM FROM_CHANGELOG((SELECT * FROM ch)) AS x (i, n);
SELECT * FROM FROM_CHANGELOG(TABLE ch2, DESCRIPTOR(kind), MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2, op => DESCRIPTOR(kind), op_mapping => MAP['c, u', 'INSERT', 'd', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2 PARTITION BY id, op => DESCRIPTOR(kind), op_mapping => MAP['c', 'INSERT', 'd', 'DELETE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2, op => DESCRIPTOR(nope));
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2, op => DESCRIPTOR(id));
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2, op => DESCRIPTOR(kind), op_mapping => MAP['c', 'NOPE']);
SELECT * FROM FROM_CHANGELOG(input => TABLE ch2, op => DESCRIPTOR(kind), op_mapping => MAP['c', 'INSERT']);
SELECT * FROM FROM_CHANGELOG(input => (SELECT op, COUNT(*) AS n FROM ch GROUP BY op));
SELECT op, id FROM TO_CHANGELOG(TABLE ch, DESCRIPTOR(kind));
""")  # fmt: skip
script("changes_as_rows_of_batches", """
CREATE VIEW g AS SELECT name, COUNT(*) AS c FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b')) AS t (id, name) GROUP BY name;
CREATE VIEW ch AS SELECT * FROM (VALUES ('INSERT', 1, 'a'), ('DELETE', 1, 'a'), ('INSERT', 2, 'c')) AS t (op, id, name);
SELECT * FROM TO_CHANGELOG(TABLE g);
SELECT * FROM FROM_CHANGELOG(TABLE ch);
""", modes=("BATCH",))  # fmt: skip
script("models", """
SHOW MODELS;
CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING, c INT NOT NULL) COMMENT 'a label' WITH ('provider' = 'openai', 'endpoint' = 'x');
CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai');
CREATE MODEL IF NOT EXISTS m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'other');
SHOW MODELS;
DESCRIBE MODEL m;
DESC MODEL m;
DESCRIBE MODEL EXTENDED m;
DESCRIBE MODEL nope;
SHOW CREATE MODEL m;
SHOW CREATE MODEL nope;
ALTER MODEL m SET ('endpoint' = 'y', 'k' = 'v');
SHOW CREATE MODEL m;
ALTER MODEL m RESET ('k');
ALTER MODEL m SET ();
ALTER MODEL nope SET ('a' = 'b');
ALTER MODEL IF EXISTS nope SET ('a' = 'b');
ALTER MODEL m RENAME TO n;
SHOW MODELS;
SHOW MODELS FROM default_database;
SHOW MODELS LIKE 'n%';
SHOW MODELS LIKE 'x%';
SHOW MODELS NOT LIKE 'x%';
DROP TEMPORARY MODEL n;
DROP MODEL n;
DROP MODEL n;
DROP MODEL IF EXISTS n;
CREATE MODEL o INPUT (a STRING) WITH ('provider' = 'openai');
CREATE MODEL o INPUT (a STRING) OUTPUT (b STRING);
CREATE MODEL o WITH ('provider' = 'openai');
DESCRIBE MODEL o;
CREATE TEMPORARY MODEL tm INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai');
SHOW CREATE MODEL tm;
SHOW MODELS;
CREATE TABLE t (a STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
SELECT * FROM ML_PREDICT(TABLE t, MODEL tm, DESCRIPTOR(a));
SELECT * FROM ML_PREDICT(TABLE t, MODEL nope, DESCRIPTOR(a));
DROP TEMPORARY MODEL tm;
DROP MODEL tm;
SHOW MATERIALIZED TABLES;
ANALYZE TABLE t COMPUTE STATISTICS;
ANALYZE TABLE nope COMPUTE STATISTICS;
DESCRIBE EXTENDED t;
""", modes=BOTH)  # fmt: skip
script("printed_models", """
CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING, c INT NOT NULL) COMMENT 'a label' WITH ('provider' = 'openai', 'endpoint' = 'x');
DESCRIBE MODEL m;
SHOW CREATE MODEL m;
SHOW MODELS;
""", printed=True)  # fmt: skip
script("statistics_of_tables", """
CREATE TABLE s (a STRING, n INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/s', 'format' = 'csv');
CREATE TABLE p (n INT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{directory}/p', 'format' = 'csv');
CREATE TEMPORARY TABLE tt (n INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/s', 'format' = 'csv');
CREATE VIEW v AS SELECT * FROM s;
INSERT INTO s VALUES ('a', 1), ('b', 2);
ANALYZE TABLE s COMPUTE STATISTICS;
ANALYZE TABLE s COMPUTE STATISTICS FOR ALL COLUMNS;
ANALYZE TABLE s COMPUTE STATISTICS FOR COLUMNS a, n;
ANALYZE TABLE s COMPUTE STATISTICS FOR COLUMNS nope;
ANALYZE TABLE tt COMPUTE STATISTICS;
ANALYZE TABLE v COMPUTE STATISTICS;
ANALYZE TABLE nope COMPUTE STATISTICS;
ANALYZE TABLE p COMPUTE STATISTICS;
ANALYZE TABLE p PARTITION (k) COMPUTE STATISTICS;
ANALYZE TABLE p PARTITION (k = 'x') COMPUTE STATISTICS;
ANALYZE TABLE s PARTITION (k = 'x') COMPUTE STATISTICS;
ANALYZE TABLE s;
""", modes=("BATCH",))  # fmt: skip
