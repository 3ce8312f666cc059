"""What the pages on types, times, materialized tables and connectors of Flink's documentation show, with other names."""

from tests.table.conformance.registry import BOTH, script

NOWHERE = "'connector' = 'blackhole'"
FILE = "'connector' = 'filesystem', 'path' = '{directory}"

script("pages_data_types", f"""
CREATE TABLE all_types (a CHAR, b CHAR(3), c VARCHAR, d VARCHAR(9), e STRING, f BINARY, g BINARY(3), h VARBINARY, i VARBINARY(9), j BYTES, k DECIMAL, l DECIMAL(5), m DECIMAL(5, 2), n DEC, o DEC(4, 1), p NUMERIC(6), q TINYINT, r SMALLINT, s INT, t INTEGER, u BIGINT, v FLOAT, w DOUBLE, x DOUBLE PRECISION, y BOOLEAN) WITH ({NOWHERE});
DESCRIBE all_types;
SHOW CREATE TABLE all_types;
CREATE TABLE all_times (a DATE, b TIME, c TIME(0), d TIMESTAMP, e TIMESTAMP(3), f TIMESTAMP WITHOUT TIME ZONE, g TIMESTAMP(6) WITHOUT TIME ZONE, h TIMESTAMP_LTZ, i TIMESTAMP_LTZ(3), j TIMESTAMP WITH LOCAL TIME ZONE, k TIMESTAMP(9) WITH LOCAL TIME ZONE, l TIME(3) WITHOUT TIME ZONE) WITH ({NOWHERE});
DESCRIBE all_times;
SHOW CREATE TABLE all_times;
CREATE TABLE zoned (a TIMESTAMP WITH TIME ZONE) WITH ({NOWHERE});
CREATE TABLE nested (a ARRAY<INT>, b INT ARRAY, c MAP<STRING, INT NOT NULL>, d MULTISET<STRING>, e STRING MULTISET, f ROW<x INT, y STRING 'words'>, g ROW(x INT, y BOOLEAN), h ROW<ARRAY<INT>, `my x` MAP<STRING, ROW<z INT>>>, i ARRAY<ROW<x INT NOT NULL>> NOT NULL) WITH ({NOWHERE});
CREATE TABLE nested (a ARRAY<INT>, b INT ARRAY, c MAP<STRING, INT NOT NULL>, d MULTISET<STRING>, e STRING MULTISET, f ROW<x INT, y STRING 'words'>, g ROW(x INT, y BOOLEAN), h ROW<k ARRAY<INT>, `my x` MAP<STRING, ROW<z INT>>>, i ARRAY<ROW<x INT NOT NULL>> NOT NULL) WITH ({NOWHERE});
DESCRIBE nested;
SHOW CREATE TABLE nested;
CREATE TABLE others (a VARIANT, b INT NULL, c INT NOT NULL) WITH ({NOWHERE});
DESCRIBE others;
CREATE TABLE wrong (a CHAR(0)) WITH ({NOWHERE});
CREATE TABLE wrong (a DECIMAL(39)) WITH ({NOWHERE});
CREATE TABLE wrong (a DECIMAL(5, 6)) WITH ({NOWHERE});
CREATE TABLE wrong (a TIMESTAMP(10)) WITH ({NOWHERE});
CREATE TABLE wrong (a TIME(10)) WITH ({NOWHERE});
CREATE TABLE wrong (a NULL) WITH ({NOWHERE});
CREATE TABLE wrong (a INTERVAL YEAR TO MONTH) WITH ({NOWHERE});
CREATE TABLE wrong (a NOTHING) WITH ({NOWHERE});
CREATE TABLE wrong (a RAW('java.lang.Object', 'AAAA')) WITH ({NOWHERE});
SELECT CAST('12' AS INT) AS a, TRY_CAST('x' AS INT) AS b, CAST(NULL AS ARRAY<INT>) AS c, CAST(ROW(1, 'a') AS ROW<x BIGINT, y STRING>) AS d, CAST(ARRAY[1, 2] AS ARRAY<STRING>) AS e;
SELECT CAST(MAP['a', 1] AS MAP<STRING, BIGINT>) AS a, CAST(1.5 AS DECIMAL(3, 2)) AS b, CAST(X'6162' AS STRING) AS c, CAST('ab' AS BYTES) AS d, CAST(TRUE AS INT) AS e, CAST(0 AS BOOLEAN) AS f;
SELECT CAST('x' AS INT);
SELECT TYPEOF(CAST('1' AS CHAR(3))) AS a, TYPEOF(ROW(1, 'a')) AS b, TYPEOF(INTERVAL '1-2' YEAR TO MONTH) AS c, TYPEOF(INTERVAL '1 2:03' DAY TO MINUTE) AS d, TYPEOF(TIME '10:00:00') AS e, TYPEOF(1e3) AS f, TYPEOF(1.0) AS g, TYPEOF(NULL) AS h;
SELECT CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING) AS a, CAST(INTERVAL '10' DAY AS STRING) AS b, CAST(INTERVAL '10:20' HOUR TO MINUTE AS STRING) AS c, CAST(INTERVAL '10.5' SECOND AS STRING) AS d, CAST(INTERVAL '1 02:03:04.5' DAY TO SECOND AS STRING) AS e;
SELECT ROW(1, 'a').EXPR$0 AS a;
SELECT t.r.x AS a, t.r.y[1] AS b, t.m['k'] AS c, CARDINALITY(t.m) AS d FROM (SELECT CAST(ROW(1, ARRAY['z']) AS ROW<x INT, y ARRAY<STRING>>) AS r, MAP['k', 2] AS m) AS t;
SELECT t.r.* FROM (SELECT CAST(ROW(1, 'z') AS ROW<x INT, y STRING>) AS r) AS t;
""", modes=BOTH)  # fmt: skip
script("pages_times", f"""
CREATE TABLE acts (who STRING, what STRING, ms BIGINT, said STRING, at_time AS TO_TIMESTAMP(said), at_ltz AS TO_TIMESTAMP_LTZ(ms, 3), p AS PROCTIME(), WATERMARK FOR at_time AS at_time - INTERVAL '5' SECOND) WITH ({FILE}/acts', 'format' = 'json');
INSERT INTO acts VALUES ('ann', 'in', 1000, '1970-01-01 00:00:01'), ('bob', 'in', 61000, '1970-01-01 00:01:01'), ('ann', 'out', 700000, '1970-01-01 00:11:40');
DESCRIBE acts;
SELECT TUMBLE_START(at_time, INTERVAL '10' MINUTE) AS s, COUNT(DISTINCT who) AS c FROM acts GROUP BY TUMBLE(at_time, INTERVAL '10' MINUTE);
CREATE VIEW cut AS SELECT who, CEIL(at_time TO MINUTE) AS up, FLOOR(at_time TO HOUR) AS down, at_time + INTERVAL '1' SECOND AS later, CAST(at_time AS TIMESTAMP(3)) AS same, CAST(at_time AS TIMESTAMP(6)) AS finer, at_time AS alias, p FROM acts;
DESCRIBE cut;
SELECT who, up, down, later FROM cut;
CREATE TABLE ltz (who STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ({FILE}/acts', 'format' = 'json');
DESCRIBE ltz;
SELECT who, CAST(TUMBLE_START(ts, INTERVAL '10' MINUTE) AS STRING) AS s FROM ltz GROUP BY who, TUMBLE(ts, INTERVAL '10' MINUTE);
SELECT CAST(window_start AS STRING) AS s, CAST(window_time AS STRING) AS t, COUNT(*) AS c FROM TUMBLE(TABLE ltz, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY window_start, window_end, window_time;
CREATE VIEW versions AS SELECT who, what, at_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY at_time DESC) AS n FROM acts) WHERE n = 1;
SELECT * FROM versions;
SELECT a.who, v.what FROM acts AS a JOIN versions FOR SYSTEM_TIME AS OF a.at_time AS v ON a.who = v.who;
SELECT a.who, v.what FROM acts AS a LEFT JOIN versions FOR SYSTEM_TIME AS OF a.at_time AS v ON a.who = v.who AND v.what = 'in';
SELECT who, CURRENT_WATERMARK(at_time) AS w FROM acts WHERE who = 'nobody';
SELECT who FROM acts WHERE at_time > CURRENT_WATERMARK(at_time) OR CURRENT_WATERMARK(at_time) IS NULL;
SELECT EXTRACT(MINUTE FROM at_time) AS m, TIMESTAMPADD(DAY, 1, at_time) AS t, TIMESTAMPDIFF(SECOND, at_time, TIMESTAMP '1970-01-02 00:00:00') AS d, DATE_FORMAT(at_time, 'yyyy-MM-dd HH:mm') AS f FROM acts;
SELECT who, LAG(what, 1) OVER (PARTITION BY who ORDER BY at_time) AS l FROM acts;
CREATE TABLE bad (ts TIMESTAMP(3), WATERMARK FOR ts AS 'x') WITH ({NOWHERE});
CREATE TABLE bad (ts TIMESTAMP(6), WATERMARK FOR ts AS ts) WITH ({NOWHERE});
CREATE TABLE bad (ts TIMESTAMP(3), WATERMARK FOR nope AS nope) WITH ({NOWHERE});
""", level=3, modes=BOTH, order="folded")  # fmt: skip
script("pages_time_zones", f"""
CREATE VIEW instants AS SELECT TO_TIMESTAMP_LTZ(4001, 3) AS t;
SELECT CAST(t AS STRING) AS s, CAST(t AS TIMESTAMP(3)) AS here, CAST(CAST(t AS DATE) AS STRING) AS d, EXTRACT(HOUR FROM t) AS h FROM instants;
SELECT TYPEOF(LOCALTIME) AS a, TYPEOF(LOCALTIMESTAMP) AS b, TYPEOF(CURRENT_DATE) AS c, TYPEOF(CURRENT_TIME) AS d, TYPEOF(CURRENT_TIMESTAMP) AS e, TYPEOF(CURRENT_ROW_TIMESTAMP()) AS f, TYPEOF(NOW()) AS g, TYPEOF(PROCTIME()) AS h;
SELECT TO_TIMESTAMP_LTZ(0, 3) = CAST(TIMESTAMP '1970-01-01 08:00:00' AS TIMESTAMP_LTZ(3)) AS same, DATE_FORMAT(TO_TIMESTAMP_LTZ(0, 3), 'HH:mm') AS f, FROM_UNIXTIME(44) AS u, UNIX_TIMESTAMP('1970-01-01 08:00:44') AS n;
SELECT CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles') AS c;
CREATE TABLE bids (item STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), tn AS CAST(TO_TIMESTAMP_LTZ(ms, 3) AS TIMESTAMP(3)), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ({FILE}/bids', 'format' = 'csv');
CREATE TABLE w (item STRING, ms BIGINT) WITH ({FILE}/bids', 'format' = 'csv');
INSERT INTO w VALUES ('a', 0), ('b', 57600000), ('c', 90000000);
SELECT CAST(TUMBLE_START(ts, INTERVAL '1' DAY) AS STRING) AS s, TUMBLE_END(ts, INTERVAL '1' DAY) AS e, COUNT(*) AS c FROM bids GROUP BY TUMBLE(ts, INTERVAL '1' DAY);
SELECT window_start, window_end, CAST(window_time AS STRING) AS t, COUNT(*) AS c FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' DAY) GROUP BY window_start, window_end, window_time;
SELECT window_start, COUNT(*) AS c FROM HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '12' HOUR, INTERVAL '1' DAY) GROUP BY window_start, window_end;
SELECT item, tn, CAST(CEIL(ts TO DAY) AS STRING) AS c, CAST(FLOOR(ts TO DAY) AS STRING) AS f FROM bids;
""", level=2, modes=BOTH, order="folded", config={"table.local-time-zone": "Asia/Shanghai"})  # fmt: skip
script("pages_connectors", f"""
CREATE TABLE counted (id INT, data BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '4', 'fields.data.kind' = 'sequence', 'fields.data.start' = '4', 'fields.data.end' = '7');
SELECT * FROM counted;
SELECT id + 1 AS i, data FROM counted;
CREATE TABLE drawn (s STRING, n INT, d DECIMAL(5, 2), b BOOLEAN, a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, ts TIMESTAMP(3)) WITH ('connector' = 'datagen', 'number-of-rows' = '5', 'rows-per-second' = '100', 'fields.s.length' = '3', 'fields.n.min' = '1', 'fields.n.max' = '3', 'fields.a.element.min' = '1');
SELECT COUNT(*) AS c, MAX(CHAR_LENGTH(s)) AS l, MIN(n) >= 1 AND MAX(n) <= 3 AS inside FROM drawn;
CREATE TABLE generated WITH ('connector' = 'datagen', 'number-of-rows' = '3') LIKE counted (EXCLUDING ALL);
SELECT COUNT(*) AS c FROM generated;
CREATE TABLE wrong (x INT) WITH ('connector' = 'datagen', 'fields.nope.min' = '1');
SELECT * FROM wrong;
CREATE TABLE sequence_without_end (x INT) WITH ('connector' = 'datagen', 'fields.x.kind' = 'sequence', 'fields.x.start' = '1');
SELECT * FROM sequence_without_end;
CREATE TABLE holes (id INT, data BIGINT) WITH ({NOWHERE});
INSERT INTO holes SELECT * FROM counted;
SELECT * FROM holes;
CREATE TABLE like_holes WITH ({NOWHERE}) LIKE counted (EXCLUDING ALL);
INSERT INTO like_holes SELECT * FROM counted;
CREATE TABLE nowhere (id INT) WITH ('connector' = 'nothing');
SELECT * FROM nowhere;
CREATE TABLE files (who STRING, n INT, dt STRING, hr STRING) PARTITIONED BY (dt, hr) WITH ({FILE}/files', 'format' = 'json', 'partition.default-name' = 'none', 'sink.partition-commit.policy.kind' = 'success-file');
INSERT INTO files VALUES ('ann', 1, '2024-01-01', '10'), ('bob', 2, '2024-01-01', '11'), ('cid', 3, '2024-01-02', '12');
SELECT who, n FROM files WHERE dt = '2024-01-01' AND hr = '11';
SELECT * FROM files;
CREATE TABLE named (who STRING, n INT, `file.path` STRING NOT NULL METADATA, `file.name` STRING NOT NULL METADATA, `file.size` BIGINT NOT NULL METADATA) WITH ({FILE}/files/dt=2024-01-01/hr=10', 'format' = 'json');
SELECT who, `file.size` > 0 AS has_size FROM named;
CREATE TABLE one_csv (a STRING, b STRING, c INT) WITH ({FILE}/one', 'format' = 'csv', 'csv.field-delimiter' = ';', 'csv.quote-character' = '''', 'csv.null-literal' = 'n/a', 'csv.allow-comments' = 'true', 'csv.ignore-parse-errors' = 'true');
INSERT INTO one_csv VALUES ('x;y', CAST(NULL AS STRING), 1), ('#z', '', 2);
SELECT * FROM one_csv;
CREATE TABLE one_raw (line STRING) WITH ({FILE}/one', 'format' = 'raw');
SELECT * FROM one_raw;
CREATE TABLE one_json (a INT, b ROW<x STRING, y ARRAY<INT>>, t TIMESTAMP(3), m MAP<STRING, INT>) WITH ({FILE}/json', 'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601', 'json.map-null-key.mode' = 'LITERAL', 'json.encode.decimal-as-plain-number' = 'true', 'json.fail-on-missing-field' = 'false', 'json.ignore-parse-errors' = 'true');
INSERT INTO one_json VALUES (1, ROW('p', ARRAY[1, 2]), TIMESTAMP '2024-01-01 10:00:00.5', MAP['k', 1]);
SELECT * FROM one_json;
CREATE TABLE json_lines (line STRING) WITH ({FILE}/json', 'format' = 'raw');
SELECT * FROM json_lines;
CREATE TABLE no_path (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv');
SELECT * FROM no_path;
CREATE TABLE no_format (a INT) WITH ({FILE}/x');
SELECT * FROM no_format;
CREATE TABLE bad_option (a INT) WITH ({FILE}/x', 'format' = 'csv', 'csv.nonsense' = '1');
SELECT * FROM bad_option;
""", modes=BOTH, order="multiset")  # fmt: skip
