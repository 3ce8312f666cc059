"""Intervals of windows and frames, and what JSON and CSV say of odd values and of values of each type."""

from __future__ import annotations

from tests.table.conformance.registry import file_table, lines, script

SOURCE = """
CREATE TABLE raw0 (id INT, k STRING, s INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
INSERT INTO raw0 VALUES (1, 'a', 0), (2, 'b', 3), (3, 'a', 7), (4, 'a', 12), (5, 'b', 61), (6, 'a', 3700), (7, 'c', 90000);
CREATE TABLE t (id INT, k STRING, s INT, ts AS TIMESTAMPADD(SECOND, s, TIMESTAMP '2020-01-31 00:00:00.000'), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
CREATE TABLE u (id INT, s INT, ts AS TIMESTAMPADD(SECOND, s, TIMESTAMP '2020-01-31 00:00:00.000'), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR - INTERVAL '1' MINUTE) WITH ('connector' = 'filesystem', 'path' = '{directory}/t', 'format' = 'json');
"""  # fmt: skip
WINDOWS = (
    "TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '90' SECOND)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MONTH)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL -'1' MINUTE)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' WEEK)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL -'10' SECOND)",
    "TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' DAY)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)",
)
script("intervals_of_windows_and_frames", SOURCE + "".join(
    f"SELECT window_start, COUNT(*) AS c FROM TABLE({window}) GROUP BY window_start, window_end;\n" for window in WINDOWS
) + """
SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) AS c FROM t;
SELECT id, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW) AS c FROM t;
SELECT k, SESSION_START(ts, INTERVAL '10' SECOND) AS s, COUNT(*) AS c FROM t GROUP BY k, SESSION(ts, INTERVAL '10' SECOND);
SELECT k, COUNT(*) AS c FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' YEAR);
SELECT k, COUNT(*) AS c FROM t GROUP BY k, HOP(ts, INTERVAL '1' MONTH, INTERVAL '2' MONTH);
""", level=2, order="multiset", config={"pipeline.auto-watermark-interval": "1 ms"})  # fmt: skip


def read(name: str, texts: tuple[str, ...], columns: str, options: tuple[str, ...], form: str) -> None:
    """Register a case that reads a file with several options."""
    tables = "".join(
        f"\n{file_table(f'x{i}', columns, more, form=form)}\nSELECT * FROM x{i};" for i, more in enumerate(options)
    )
    script(name, lines("f", *texts) + tables, order="multiset")


LENIENT = ("", ", 'json.ignore-parse-errors' = 'true'")
ISO = ", 'json.timestamp-format.standard' = 'ISO-8601'"
TIMES = (
    '{"t":"2020-01-01T00:00:00"}', '{"t":"2020-01-01 00:00:00"}', '{"t":"2020-01-01T00:00:00Z"}',
    '{"t":"2020-01-01 00:00:00Z"}', '{"t":"2020-01-01 00:00:00.123Z"}', '{"t":1577836800000}', '{"t":"2020-01-01"}',
    '{"t":"2020-01-01T00:00"}', '{"t":"2020-01-01 00:00"}', '{"t":"2020-02-30 00:00:00.5"}', '{"t":"2020-1-1 00:00:00"}',
)  # fmt: skip
for kind in ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"):
    tables = "".join(
        f"\n{file_table(f'x{i}', f't {kind}', more, form='json')}\nSELECT CAST(t AS STRING) AS t FROM x{i};"
        for i, more in enumerate((LENIENT[1], LENIENT[1] + ISO))
    )
    script(f"json_of_{kind[:-3].lower()}", lines("f", *TIMES) + tables)
read("json_of_numbers_and_texts", (
    '{"i":1.9,"s":1.50,"d":"1.5","b":"TRUE"}', '{"i":"7","s":{"a":[1, 2]},"d":1e2,"b":1}', '{"i":true}',
    '{"i":1e400}', '{"I":5}', '{"i":5,"i":6}',
), "i INT, s STRING, d DECIMAL(10, 2), b BOOLEAN", LENIENT, "json")  # fmt: skip
read("json_of_constructed_types", (
    '{"m":{"a":null,"b":"3"},"r":{"y":1},"l":[{"x":1},null]}', '{"m":[],"r":[],"l":{}}', '{"m":1,"r":"x","l":"y"}',
), "m MAP<STRING, INT>, r ROW<x INT, y INT>, l ARRAY<ROW<x INT>>", LENIENT, "json")  # fmt: skip
read("json_of_dates_and_bytes", (
    '{"d":"2020-01-01","b":"YWI="}', '{"d":"2020-1-1","b":"!"}', '{"d":18262}', '{"b":"YWI"}', '{"b":"Y W I="}',
), "d DATE, b BYTES", LENIENT, "json")  # fmt: skip
read("csv_with_another_quote", ("1;a b;x", '2;"q;";"r"', "3; ;"), "i INT, s STRING, t STRING", (
    ", 'csv.field-delimiter' = ';'", ", 'csv.field-delimiter' = ';', 'csv.disable-quote-character' = 'true', 'csv.ignore-parse-errors' = 'true'",
), "csv")  # fmt: skip
read("csv_with_escapes_and_tabs", ("1|a\\|b|c", "2|\\\\|d"), "i INT, s STRING, t STRING", (
    ", 'csv.field-delimiter' = '|', 'csv.escape-character' = '\\'", ", 'csv.field-delimiter' = '|', 'csv.ignore-parse-errors' = 'true'",
), "csv")  # fmt: skip
VALUES = {
    "DECIMAL(38,10)": "1234567.0000000001", "TIMESTAMP(3)": "TIMESTAMP '2020-01-01 00:00:00.123'",
    "TIMESTAMP_LTZ(3)": "TO_TIMESTAMP_LTZ(1577836800123, 3)", "DATE": "DATE '1969-12-31'", "TIME(0)": "TIME '23:59:59'",
    "BYTES": "X'00ff'", "ARRAY<STRING>": "ARRAY['a', CAST(NULL AS STRING)]", "MAP<STRING, INT>": "MAP['a', CAST(NULL AS INT)]",
    "ROW<x INT, y ROW<z STRING>>": "ROW(1, ROW('q'))", "DOUBLE": "CAST('NaN' AS DOUBLE)",
    "CHAR(5)": "CAST('ab' AS CHAR(5))", "TINYINT": "CAST(-128 AS TINYINT)", "FLOAT": "CAST(1.1 AS FLOAT)",
}  # fmt: skip
script("files_of_each_type", "".join(
    f"""
{file_table(f"{form}{i}", f"v {kind}", file=f"{form}{i}", form=form)}
INSERT INTO {form}{i} SELECT {value};
INSERT INTO {form}{i} SELECT CAST(NULL AS {kind});
SELECT CAST(v AS STRING) AS v FROM {form}{i};
{file_table(f"r{form}{i}", "line STRING", file=f"{form}{i}", form="raw")}
SELECT * FROM r{form}{i};"""
    for i, (kind, value) in enumerate(VALUES.items()) for form in ("json", "csv")
), order="multiset")  # fmt: skip
