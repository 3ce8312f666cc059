"""Windows, late rows, time zones and statements of public reports.

``tests/corpus/reports.json`` names the report of each case.
"""

from tests.table.conformance.registry import BOTH, program, script

EVENTS = """
    CREATE TABLE lines (id INT, `user` STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, 'a', TIMESTAMP '2020-01-01 12:00:01'), (2, 'b', TIMESTAMP '2020-01-01 12:07:00'), (3, 'a', TIMESTAMP '2020-01-01 12:09:00'), (4, 'a', TIMESTAMP '2020-01-01 12:31:00'), (5, 'a', TIMESTAMP '2020-01-01 12:08:00'), (6, 'b', TIMESTAMP '2020-01-01 12:30:59.999'), (7, 'b', TIMESTAMP '2020-01-01 12:31:00');
    CREATE TABLE t (id INT, `user` STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    CREATE TABLE plain_ts (id INT, `user` STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
"""

script("report_window_functions_as_people_write_them", f"""{EVENTS}
    SELECT window_start, window_end, COUNT(`user`) AS c FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES) GROUP BY window_start, window_end;
    SELECT window_start, window_end, COUNT(`user`) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
    SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
    SELECT `user`, window_start, window_end, COUNT(*) AS c FROM SESSION(TABLE t PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '5' MINUTES) GROUP BY `user`, window_start, window_end;
    SELECT window_start, COUNT(*) AS c FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '10' MINUTES) GROUP BY window_start, window_end;
    SELECT window_end, COUNT(*) AS c FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '1' DAY)) WHERE `user` = 'b' GROUP BY window_start, window_end HAVING COUNT(*) > 2;
    SELECT TUMBLE_START(ts, INTERVAL '10' MINUTE), COUNT(*) FROM plain_ts GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE);
    SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE plain_ts, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
""", level=2, order="multiset")  # fmt: skip

script("report_sessions_of_other_keys_than_those_of_the_grouping", """
    CREATE TABLE lines (id INT, `user` STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, 'a', TIMESTAMP '2020-01-01 12:00:01'), (2, 'b', TIMESTAMP '2020-01-01 12:01:00'), (3, 'a', TIMESTAMP '2020-01-01 12:09:00'), (4, 'a', TIMESTAMP '2020-01-01 12:31:00'), (5, 'b', TIMESTAMP '2020-01-01 12:33:00'), (6, 'c', TIMESTAMP '2020-01-01 13:00:00');
    CREATE TABLE t (id INT, `user` STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    SELECT window_start, window_end, `user`, COUNT(*) AS c, SUM(id) AS s FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, `user`;
    SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE t PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end;
    SELECT window_start, `user`, id > 2 AS later, COUNT(*) AS c FROM TABLE(SESSION(TABLE t PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, `user`, id > 2;
    SELECT id, window_start, window_end, window_time FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES));
    SELECT `user`, COUNT(*) AS c FROM TABLE(SESSION(TABLE t PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) WHERE id > 1 GROUP BY `user`;
    SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY id DESC) AS rn FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) WHERE rn = 1;
    SELECT window_start, window_end, c FROM (SELECT window_time AS wt, `user` FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) AS x JOIN (SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end) AS y ON x.`user` = 'c' OR y.c > 2;
""", level=2, order="multiset")  # fmt: skip

script("report_sessions_of_instants_and_their_rows", """
    CREATE TABLE lines (id INT, k STRING, ms BIGINT) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, 'a', 1636272000000), (2, 'b', 1636272060000), (3, 'a', 1636275600000), (4, 'a', 1636277400000), (5, 'b', 1700000000123);
    CREATE TABLE t (id INT, k STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    SELECT id, window_start, window_end, CAST(window_time AS STRING) AS w FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTES));
    SELECT window_start, window_end, k, COUNT(*) AS c FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, k;
""", level=2, order="multiset", config={"table.local-time-zone": "America/Los_Angeles"})  # fmt: skip

LATE = """
    CREATE TABLE lines (id INT, k STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, 'a', TIMESTAMP '2020-01-01 11:00:30'), (2, 'a', TIMESTAMP '2020-01-01 11:01:00'), (3, 'a', TIMESTAMP '2020-01-01 11:00:59'), (4, 'a', TIMESTAMP '2020-01-01 11:05:00'), (5, 'a', TIMESTAMP '2020-01-01 11:00:10'), (6, 'a', TIMESTAMP '2020-01-01 11:05:00'), (7, 'a', TIMESTAMP '2020-01-01 11:04:59.999'), (8, 'a', TIMESTAMP '2020-01-01 11:07:00');
    CREATE TABLE t (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    CREATE TABLE s (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
"""
EACH_ROW = {"pipeline.auto-watermark-interval": "1 ms"}

script("report_late_rows", f"""{LATE}
    SELECT window_start, window_end, COUNT(*) AS c, MAX(id) AS last FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;
    SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES)) GROUP BY window_start, window_end;
    SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c FROM t;
    SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c FROM t;
    SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW) AS c FROM t;
    SELECT id, ts FROM t ORDER BY ts;
    SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn = 1;
    SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM t) AS x WHERE rn = 1;
    SELECT id, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS rn FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES))) AS x WHERE rn = 1;
    SELECT id, SUM(CAST(NULL AS INT)) OVER (PARTITION BY k ORDER BY ts) AS s, COUNT(CAST(NULL AS STRING)) OVER (PARTITION BY k ORDER BY ts) AS c FROM t;
""", level=2, order="multiset", config=EACH_ROW)  # fmt: skip

for zone in ("GMT+08:00", "GMT-05:30", "Asia/Kolkata", "America/Los_Angeles", "Asia/Shanghai", "Australia/Lord_Howe"):
    script(f"report_windows_in_{zone.replace('/', '_').replace('+', '_plus_').replace('-', '_minus_').replace(':', '').lower()}", """
    CREATE TABLE lines (id INT, ms BIGINT) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, -86400001), (2, -1), (3, 0), (4, 1615712400000), (5, 1615714200000), (6, 1615716000000), (7, 1636272000000), (8, 1636275600000), (9, 1636277400000), (10, 1636279200000), (11, 1700000000123);
    CREATE TABLE t (id INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    SELECT window_start, window_end, COUNT(*) AS c, MIN(id) AS f FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
    SELECT window_start, window_end, COUNT(*) AS c, MIN(id) AS f FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
    SELECT window_start, COUNT(*) AS c, MIN(id) AS f FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '4' HOUR)) GROUP BY window_start, window_end;
    SELECT id, window_start, window_end, CAST(window_time AS STRING) AS w FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND));
    SELECT TUMBLE_START(ts, INTERVAL '1' DAY) AS s, TUMBLE_END(ts, INTERVAL '1' DAY) AS e, COUNT(*) AS c FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY);
""", level=2, order="multiset", config={"table.local-time-zone": zone})  # fmt: skip

ORDERS = """
    CREATE TABLE lines (id INT, k STRING, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    INSERT INTO lines VALUES (1, 'a', TIMESTAMP '2020-01-01 11:00:10'), (2, 'a', TIMESTAMP '2020-01-01 11:00:08'), (3, 'b', TIMESTAMP '2020-01-01 11:00:09'), (4, 'a', TIMESTAMP '2020-01-01 11:00:08'), (5, 'b', TIMESTAMP '2020-01-01 11:00:20'), (6, 'b', TIMESTAMP '2020-01-01 11:00:16'), (7, 'c', TIMESTAMP '2020-01-01 11:00:30'), (8, 'a', TIMESTAMP '2020-01-01 11:00:01'), (9, 'c', TIMESTAMP '2020-01-01 11:00:25.001');
    CREATE TABLE t (id INT, k STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
    CREATE VIEW firsts AS SELECT id, k, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn = 1;
    CREATE TABLE appended (id INT, k STRING) WITH ('connector' = 'filesystem', 'path' = '{directory}/out', 'format' = 'json');
"""
script("report_first_rows_by_rowtime", f"""{ORDERS}
    SELECT id, k, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn = 1;
    SELECT id, k, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM t) AS x WHERE rn = 1;
    SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn <= 2;
    SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS rn FROM t) AS x WHERE rn = 1;
    SELECT COUNT(*) AS c, MIN(id) AS m FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn = 1;
    SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE firsts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
    INSERT INTO appended SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) AS x WHERE rn = 1;
    SELECT * FROM appended;
    INSERT INTO appended SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM t) AS x WHERE rn = 1;
""", level=2, order="multiset", config=EACH_ROW)  # fmt: skip
script("report_statements_as_people_write_them", """
    CREATE TABLE mytopic (`metadata1` ROW<`key` STRING, `value` STRING, `unit` STRING>, `metadata2` ARRAY <ROW<`key` STRING, `value` STRING, `unit` STRING>>) WITH ('connector' = 'blackhole');
    CREATE TABLE source_a (id STRING, data ROW<
        create_time BIGINT,
        update_time BIGINT
        >, proctime AS PROCTIME()) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
    DESCRIBE mytopic;
    DESCRIBE source_a;
    CREATE VIEW v1 AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (id, name);
    CREATE TABLE t1 (id INT, name STRING) WITH ('connector' = 'blackhole');
    EXECUTE STATEMENT SET BEGIN INSERT INTO t1 SELECT * FROM v1; INSERT INTO t1 SELECT id + 1, name FROM v1; END;
    SELECT unnest FROM v1;
    SELECT `unnest` FROM (SELECT id AS `unnest` FROM v1) AS x;
    SELECT , id FROM v1;
    SELECT id, FROM v1;
    SELECT id FROM v1 WHERE ();
    SELECT CAST(CURRENT_TIMESTAMP AS TIMESTAMP(3)) IS NULL AS n FROM v1;
    SELECT ARRAY[1, 2] AS a, MAP['k', 1] AS m, ROW(1, 'x') AS r FROM v1;
    SELECT ARRAY[] AS a FROM v1;
    SELECT NULL AS n FROM v1;
    SELECT COUNT(*) FROM v1 GROUP BY ();
    SELECT id FROM v1 AS a NATURAL JOIN v1 AS b;
    SELECT DISTINCT ON (id) id FROM v1;
    SELECT id FROM v1 LIMIT 1 OFFSET 1;
    SELECT TOP 1 id FROM v1;
    SELECT id, name FROM v1 ORDER BY id DESC LIMIT 1;
    SELECT a.id FROM v1 a, v1 b WHERE a.id = b.id AND a.name = 'a';
    SELECT 'it''s' AS q, "name" FROM v1;
    SELECT `name` FROM default_catalog.default_database.v1;
    WITH x AS (SELECT id FROM v1), y AS (SELECT id + 1 AS id FROM x) SELECT * FROM y;
    SELECT * FROM v1 WHERE name IN ('a', 'c') AND id NOT IN (2);
    SELECT id FROM v1 UNION SELECT id FROM v1;
    SELECT id FROM v1 EXCEPT SELECT 2;
    VALUES (1, 'x'), (2, 'y');
""", modes=("BATCH",), order="multiset")  # fmt: skip

script("report_files_with_empty_fields", """
    CREATE TABLE texts (line STRING) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'raw');
    INSERT INTO texts VALUES ('1,a,1.5,true,x;2'), (',,,,'), ('3,b,,false,;'), ('4,"",2,,y;'), (' 5 ,c,1,TRUE,z;7');
    CREATE TABLE strict (i INT, s STRING, d DOUBLE, b BOOLEAN, r ROW<a STRING, n INT>) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'csv');
    CREATE TABLE lenient (i INT, s STRING, d DOUBLE, b BOOLEAN, r ROW<a STRING, n INT>) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
    CREATE TABLE nulls (i INT, s STRING, d DOUBLE, b BOOLEAN, r ROW<a STRING, n INT>) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'csv', 'csv.null-literal' = '', 'csv.ignore-parse-errors' = 'true');
    SELECT * FROM strict;
    SELECT * FROM lenient;
    SELECT * FROM nulls;
""", modes=BOTH, order="multiset")  # fmt: skip
script("report_json_with_odd_values", """
    CREATE TABLE texts (line STRING) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'raw');
    INSERT INTO texts VALUES ('{"i": 1, "s": "a", "d": 1.5, "b": true}'), ('{"i": null, "s": null}'), ('{"i": "7", "s": 5, "d": "2.5", "b": "true"}'), ('{"s": {"x": [1, 2]}, "d": 3, "i": 1.9}'), ('{"I": 5, "S": "upper"}'), ('null'), ('[]'), ('{"i": 99999999999}'), ('{"b": 1, "s": true}'), ('{}'), ('x');
    CREATE TABLE lenient (i INT, s STRING, d DOUBLE, b BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
    CREATE TABLE strict (i INT, s STRING, d DOUBLE, b BOOLEAN) WITH ('connector' = 'filesystem', 'path' = '{directory}/f', 'format' = 'json');
    SELECT * FROM lenient;
    SELECT * FROM strict;
""", modes=BOTH, order="multiset")  # fmt: skip
for name, root in (("null", "null"), ("a_list", "[]"), ("a_number", "5"), ("a_text", '"x"'), ("nothing", "")):
    script(f"report_json_whose_root_is_{name}", f"""
    CREATE TABLE texts (line STRING) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = 'raw');
    INSERT INTO texts VALUES ('{root}'), ('{{"i": 1}}');
    CREATE TABLE lenient (i INT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
    CREATE TABLE strict (i INT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = 'json');
    CREATE TABLE missing (i INT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/f', 'format' = 'json', 'json.fail-on-missing-field' = 'true');
    SELECT * FROM lenient;
    SELECT * FROM strict;
    SELECT * FROM missing;
""", order="multiset")  # fmt: skip


def _pairs(env):
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner

    class Second(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    stream = env.from_collection([("a", 1000), ("b", 2000), ("a", 9000), ("a", 2500), ("b", 15000)], Types.TUPLE([Types.STRING(), Types.LONG()]))  # fmt: skip
    return stream.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second()))  # fmt: skip


@program(level=2)
def report_records_of_timers_have_the_time_of_the_timer(env, t_env):
    from pyflink.common import Row, Types
    from pyflink.datastream import KeyedProcessFunction
    from pyflink.table import Schema

    class Timers(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1] + 500)

        def on_timer(self, timestamp, ctx):
            yield Row(ctx.get_current_key(), timestamp)

    stream = _pairs(env).key_by(lambda pair: pair[0]).process(Timers(), Types.ROW_NAMED(["k", "due"], [Types.STRING(), Types.LONG()]))  # fmt: skip
    schema = Schema.new_builder().column("k", "STRING").column("due", "BIGINT").column_by_metadata("ts", "TIMESTAMP_LTZ(3)", "rowtime").watermark("ts", "SOURCE_WATERMARK()").build()  # fmt: skip
    t_env.create_temporary_view("timers", t_env.from_data_stream(stream, schema))
    return [
        t_env.execute_sql("SELECT k, due, CAST(ts AS STRING) AS ts FROM timers"),
        t_env.execute_sql("SELECT k, window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE timers, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end"),
    ]  # fmt: skip


@program(level=2)
def report_a_side_output_becomes_a_table(env, t_env):
    from pyflink.common import Types
    from pyflink.datastream import OutputTag, ProcessFunction

    tag = OutputTag("large", Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.LONG()]))

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            from pyflink.common import Row

            yield value[0]
            if value[1] > 5000:
                yield tag, Row(value[0], value[1])

    main = _pairs(env).process(Split(), Types.STRING())
    t_env.create_temporary_view("big", main.get_side_output(tag))
    return [t_env.execute_sql("SELECT k, SUM(n) AS s FROM big GROUP BY k"), main]


@program(level=2, order="multiset")
def report_a_stream_united_with_itself_keeps_its_watermark(env, t_env):
    from pyflink.common import Types
    from pyflink.datastream import ProcessFunction

    class Watermark(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], ctx.timestamp()

    stream = _pairs(env)
    return stream.union(stream).process(Watermark(), Types.TUPLE([Types.STRING(), Types.LONG()]))
