"""Fields of CSV files that are empty, stand for NULL or cannot be read."""

from __future__ import annotations

from tests.table.conformance.registry import file_table, lines, script

TYPES = (
    "STRING", "INT", "BIGINT", "DOUBLE", "DECIMAL(6, 2)", "BOOLEAN", "DATE", "TIME", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "BYTES",
    "ARRAY<INT>", "ROW<a INT, b STRING>",
)  # fmt: skip
OPTIONS = {
    "": "",
    "_with_the_null_literal_of_nothing": ", 'csv.null-literal' = ''",
    "_with_a_null_literal": ", 'csv.null-literal' = 'n/a'",
    "_with_errors_ignored": ", 'csv.ignore-parse-errors' = 'true'",
    "_with_errors_ignored_and_a_null_literal": ", 'csv.ignore-parse-errors' = 'true', 'csv.null-literal' = ''",
}


for name, more in OPTIONS.items():
    reads = "".join(
        f"\n{file_table(f't{number}', f'k INT, v {kind}, z STRING', more)}\nSELECT k, CAST(v AS STRING) AS v, z FROM t{number};"
        if kind in {"TIME", "TIMESTAMP_LTZ(3)"}
        else f"\n{file_table(f't{number}', f'k INT, v {kind}, z STRING', more)}\nSELECT * FROM t{number};"
        for number, kind in enumerate(TYPES)
    )
    script(f"empty_fields_of_csv{name}", lines("f", "1,,a", "2,,") + reads)
    script(
        f"odd_fields_of_csv{name}",
        lines("f", '1," ",""') + f"""
{file_table("a", "k INT, v STRING, z STRING", more)}
SELECT * FROM a;
{file_table("b", "k INT, v INT, z STRING", more)}
SELECT * FROM b;
{file_table("c", "k INT, v BOOLEAN, z STRING", more)}
SELECT * FROM c;
""" + lines("g", "1,n/a,n/a", "n/a,x,NULL") + f"""
{file_table("d", "k INT, v STRING, z STRING", more, file="g")}
SELECT * FROM d;
{file_table("e", "k STRING, v BOOLEAN, z STRING", more, file="g")}
SELECT * FROM e;
""" + lines("h", "1,2", "3,4,5,6", "7,8,9") + f"""
{file_table("f", "k STRING, v STRING, z STRING", more, file="h")}
SELECT * FROM f;
""" + lines("i", "1,2,3", "", "4,5,6,", "7,8,9") + f"""
{file_table("g", "k STRING, v STRING, z STRING", more, file="i")}
SELECT * FROM g;
""" + lines("j", "1", "", "2") + f"""
{file_table("h", "k STRING", more, file="j")}
SELECT * FROM h;
{file_table("i", "k INT", more, file="j")}
SELECT * FROM i;
""" + lines("l", " 7 ,1.5, true", "+1,1e2,TRUE") + f"""
{file_table("j", "k INT, v DOUBLE, z BOOLEAN", more, file="l")}
SELECT * FROM j;
{file_table("l", "k INT, v INT, z BOOLEAN", more, file="l")}
SELECT * FROM l;
{file_table("m", "k DECIMAL(4, 1), v FLOAT, z STRING", more, file="l")}
SELECT * FROM m;
""",
        order="multiset",
    )  # fmt: skip
script("times_bytes_and_parts_in_csv", lines(
    "f",
    "2020-01-02 03:04:05Z,2020-01-02 03:04:05.5,2020-1-2,01:02:03.5,YQ==,1;2,1;x",
    "2020-01-02 03:04:05.678Z,2020-01-02 03:04:05,2020-01-02,01:02,,;,",
) + f"""
{file_table("a", "l TIMESTAMP_LTZ(3), t TIMESTAMP(3), d DATE, c TIME, b BYTES, a ARRAY<STRING>, r ROW<x INT, y STRING>", "")}
SELECT CAST(l AS STRING) AS l, t, d, CAST(c AS STRING) AS c, b, a, r FROM a;
{file_table("b", "l STRING, t STRING, d DATE, c STRING, b STRING, a ARRAY<STRING>, r STRING", ", 'csv.array-element-delimiter' = '-'")}
SELECT * FROM b;
""", order="multiset")  # fmt: skip
script("columns_of_csv_that_no_query_reads", lines("f", "1,,a,2020-01-01 00:00:00", "2,x,b,2020-01-01 00:00:01") + f"""
{file_table("a", "k INT, v INT, z STRING, ts TIMESTAMP(3), d AS v + 1, WATERMARK FOR ts AS ts", "")}
{file_table("b", "k INT, v INT, z STRING, t STRING, e AS CHAR_LENGTH(z)", "")}
SELECT k, z FROM a;
SELECT k, z FROM a WHERE v > 0;
SELECT z, e FROM b;
SELECT COUNT(*) FROM b;
SELECT COUNT(v) FROM b;
SELECT MAX(k) FROM b GROUP BY z;
SELECT x.k, y.z FROM a AS x JOIN b AS y ON x.k = y.k;
SELECT x.v, y.z FROM a AS x JOIN b AS y ON x.k = y.k;
SELECT k FROM b WHERE z IN (SELECT z FROM a);
SELECT k FROM b UNION ALL SELECT k FROM a;
SELECT k FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY z ORDER BY k) AS n FROM b) WHERE n = 1;
SELECT z, COUNT(*) FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY z, window_start, window_end;
SELECT k FROM (SELECT * FROM b);
SELECT k FROM (SELECT k, v * 2 AS w FROM b);
SELECT k FROM (SELECT DISTINCT k, z FROM b);
SELECT k FROM (SELECT k, SUM(v) AS w FROM b GROUP BY k);
""", order="folded")  # fmt: skip
script("empty_and_null_texts_are_written_to_csv", "".join(
    f"""
{file_table(name, "k INT, v STRING, z STRING", more, file=name)}
INSERT INTO {name} VALUES (1, '', CAST(NULL AS STRING)), (2, ' ', 'NULL'), (3, 'x', 'a b');
CREATE TABLE r{name} (line STRING) WITH ('connector' = 'filesystem', 'path' = '{{directory}}/{name}', 'format' = 'raw');
SELECT * FROM r{name};
SELECT * FROM {name};"""
    for name, more in (("a", ""), ("b", ", 'csv.null-literal' = ''"), ("c", ", 'csv.null-literal' = 'NULL'"))
))  # fmt: skip
