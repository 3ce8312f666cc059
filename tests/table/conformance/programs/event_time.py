"""Windows, OVER, interval and temporal joins, deduplication and top-N."""

from tests.table.conformance.registry import BOTH, script

ROWS = """1,a,1000,10
2,b,1500,20
3,a,2500,30
4,a,9000,5
5,b,4000,7
6,a,12000,1
7,c,13500,
8,a,13900,2"""

BIDS = f"""
CREATE TABLE lines (id INT, k STRING, ms BIGINT, v INT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/bids', 'format' = 'csv', 'csv.null-literal' = 'null');
INSERT INTO lines VALUES {", ".join(f"({i}, '{k}', {ms}, {v or 'CAST(NULL AS INT)'})" for i, k, ms, v in (line.split(",") for line in ROWS.splitlines()))};
CREATE TABLE bids (id INT, k STRING, ms BIGINT, v INT, ts AS TO_TIMESTAMP(FROM_UNIXTIME(ms / 1000)), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/bids', 'format' = 'csv', 'csv.null-literal' = 'null');
"""
AGGREGATES = "COUNT(*) AS c, COUNT(v) AS cv, SUM(v) AS s, AVG(v) AS a, MIN(v) AS lo, MAX(v) AS hi, COUNT(DISTINCT k) AS dk, SUM(v) FILTER (WHERE k = 'a') AS fa"

for name, window in (
    ("tumble", "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)"),
    ("tumble_with_offset", "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '1' SECOND)"),
    ("hop", "HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)"),
    ("cumulate", "CUMULATE(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)"),
):
    script(f"window_function_{name}", f"""{BIDS}
SELECT id, window_start, window_end, window_time FROM TABLE({window});
SELECT window_start, window_end, {AGGREGATES} FROM TABLE({window}) GROUP BY window_start, window_end;
SELECT k, window_start, SUM(v) AS s FROM TABLE({window}) GROUP BY k, window_start, window_end;
SELECT k, window_end, COUNT(*) AS c FROM TABLE({window}) GROUP BY k, window_start, window_end HAVING COUNT(*) > 1;
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("group_windows_of_columns_called_window_start", f"""{BIDS}
CREATE VIEW w AS SELECT TUMBLE_START(ts, INTERVAL '5' SECOND) AS window_start, TUMBLE_ROWTIME(ts, INTERVAL '5' SECOND) AS window_end, SUM(v) AS total, COUNT(*) AS n FROM bids GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
SELECT TUMBLE_START(window_end, INTERVAL '10' SECOND) AS window_start, TUMBLE_ROWTIME(window_end, INTERVAL '10' SECOND) AS window_end, SUM(total) AS total, SUM(n) AS n FROM w GROUP BY TUMBLE(window_end, INTERVAL '10' SECOND);
SELECT window_start, TUMBLE_END(window_end, INTERVAL '10' SECOND) AS e, MAX(n) AS n FROM w GROUP BY window_start, TUMBLE(window_end, INTERVAL '10' SECOND);
SELECT w.window_start, MAX(w.n) AS n FROM w GROUP BY w.window_start, HOP(window_end, INTERVAL '5' SECOND, INTERVAL '10' SECOND);
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("window_function_session", f"""{BIDS}
SELECT window_start, window_end, {AGGREGATES} FROM TABLE(SESSION(TABLE bids, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE bids PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
""", level=2, order="multiset")  # fmt: skip
script("window_grouping_sets_and_cascades", f"""{BIDS}
SELECT window_start, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, GROUPING SETS ((k), ());
SELECT window_start, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, ROLLUP (k);
SELECT window_start, window_end, SUM(s) AS t FROM TABLE(TUMBLE(TABLE (SELECT window_time AS rowtime, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end, window_time), DESCRIPTOR(rowtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, LISTAGG(k) AS l, FIRST_VALUE(id) AS f, LAST_VALUE(id) AS la FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT window_start, STDDEV_POP(v) AS sp, VAR_POP(v) AS vp, COLLECT(k) AS ks FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
""", level=2, order="multiset")  # fmt: skip
script("old_group_windows", f"""{BIDS}
SELECT TUMBLE_START(ts, INTERVAL '5' SECOND) AS s, TUMBLE_END(ts, INTERVAL '5' SECOND) AS e, TUMBLE_ROWTIME(ts, INTERVAL '5' SECOND) AS r, COUNT(*) AS c FROM bids GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
SELECT k, HOP_START(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND) AS s, SUM(v) AS t FROM bids GROUP BY k, HOP(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND);
SELECT k, SESSION_START(ts, INTERVAL '3' SECOND) AS s, SESSION_END(ts, INTERVAL '3' SECOND) AS e, COUNT(*) AS c FROM bids GROUP BY k, SESSION(ts, INTERVAL '3' SECOND);
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("window_top_n_and_deduplication", f"""{BIDS}
SELECT id, k, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn <= 2;
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS rn FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn = 1;
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts) AS rn FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn = 1;
""", level=2, order="multiset")  # fmt: skip
script("deduplication_and_top_n", f"""{BIDS}
SELECT id, k, ms FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM bids) WHERE rn = 1;
SELECT id, k, ms FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM bids) WHERE rn = 1;
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS rn FROM bids) WHERE rn = 1;
SELECT id, k, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM bids) WHERE rn <= 2;
SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS rn FROM bids) WHERE rn <= 3;
""", level=2, order="folded")  # fmt: skip
script("over_windows", f"""{BIDS}
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW) AS s FROM bids;
SELECT id, SUM(v) OVER w AS s, COUNT(v) OVER w AS c, AVG(v) OVER w AS a FROM bids WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM bids;
SELECT id, COUNT(*) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c FROM bids;
SELECT id, LAG(id, 1) OVER (PARTITION BY k ORDER BY ts) AS p FROM bids;
SELECT id, FIRST_VALUE(id) OVER (PARTITION BY k ORDER BY ts) AS f, LAST_VALUE(v) OVER (PARTITION BY k ORDER BY ts) AS l FROM bids;
SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY v) AS s FROM bids;
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("interval_joins", f"""{BIDS}
SELECT l.id AS a, r.id AS b FROM bids l, bids r WHERE l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '2' SECOND AND r.ts + INTERVAL '1' SECOND;
SELECT l.id AS a, r.id AS b FROM bids l LEFT JOIN bids r ON l.k = r.k AND r.ts > l.ts AND r.ts <= l.ts + INTERVAL '4' SECOND;
SELECT l.id AS a, r.id AS b FROM bids l FULL OUTER JOIN bids r ON l.k = r.k AND l.v < r.v AND l.ts BETWEEN r.ts - INTERVAL '2' SECOND AND r.ts;
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("window_joins", f"""{BIDS}
SELECT l.id AS a, r.id AS b, l.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND))) l JOIN (SELECT * FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND))) r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k WHERE l.id < r.id;
""", level=2, order="multiset")  # fmt: skip
script("temporal_join_with_a_versioned_table", f"""{BIDS}
CREATE TABLE rate_lines (k STRING, rate INT, ms BIGINT) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/rates', 'format' = 'csv');
INSERT INTO rate_lines VALUES ('a', 2, 0), ('b', 3, 0), ('a', 5, 3000), ('a', 7, 11000);
CREATE TABLE rates (k STRING, rate INT, ms BIGINT, ts AS TO_TIMESTAMP(FROM_UNIXTIME(ms / 1000)), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/rates', 'format' = 'csv');
CREATE VIEW versions AS SELECT k, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM rates) WHERE rn = 1;
SELECT b.id, b.k, v * rate AS x FROM bids b JOIN versions FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k;
SELECT b.id, rate FROM bids b LEFT JOIN versions FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k;
""", level=2, order="multiset")  # fmt: skip
LATE = BIDS.replace("ts - INTERVAL '5' SECOND", "ts - INTERVAL '1' MINUTE")  # no row is late
for name, window in (
    ("tumble", "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)"),
    ("hop", "HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)"),
    (
        "hop_with_offset",
        "HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND, INTERVAL '1' SECOND)",
    ),
    ("cumulate", "CUMULATE(TABLE bids, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)"),
):
    inner = f"SELECT k, window_start AS s, window_end AS e, SUM(v) AS t FROM TABLE({window}) GROUP BY k, window_start, window_end"
    script(f"groups_of_groups_of_the_same_window_{name}", f"""{LATE}
SELECT s, e, MAX(t) AS most, COUNT(*) AS c FROM ({inner}) GROUP BY s, e;
SELECT e, s, t > 10 AS more, COUNT(*) AS c FROM ({inner}) WHERE k <> 'b' GROUP BY e, s, t > 10;
SELECT w, e, SUM(m) AS x FROM (SELECT s AS w, e, k, MAX(t) AS m FROM ({inner}) GROUP BY s, e, k) GROUP BY w, e;
SELECT A.k, A.t, A.s FROM ({inner}) AS A JOIN (SELECT MAX(t) AS most, s, e FROM ({inner}) GROUP BY s, e) AS M ON A.s = M.s AND A.e = M.e AND A.t >= M.most;
SELECT s, e, SUM(v) AS t FROM (SELECT k, v, window_start AS s, window_end AS e FROM TABLE({window}) WHERE id <> 3) GROUP BY s, e;
SELECT s, e, SUM(t) AS x FROM ({inner}) GROUP BY GROUPING SETS ((s, e), (s, e, k));
""", level=2, order="multiset", modes=BOTH)  # fmt: skip
script("groups_by_the_end_of_a_window_alone", f"""{LATE}
SELECT e, MAX(t) AS most FROM (SELECT k, window_start AS s, window_end AS e, SUM(v) AS t FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end) GROUP BY e;
""", level=2, order="folded", modes=BOTH)  # fmt: skip
