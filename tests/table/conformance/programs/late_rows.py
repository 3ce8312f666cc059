"""Late rows of several keys: OVER windows, windows and first rows.

The watermark rises between any two rows. What is late for a join, or with several subtasks, differs in PyFlink from run
to run; ``tests/table/test_late_joins.py`` has joins.
"""

from __future__ import annotations

from tests.table.conformance.registry import script

ROWS = (
    "1 l a 1; 101 r a 2; 2 l b 2; 102 r c 5; 3 l c 3; 103 r b 1; 4 l a 12; 104 r a 13; 5 l b 4; 6 l d 13; 105 r d 14; "
    "7 l c 1; 106 r b 3; 8 l a 11; 9 l b 25; 107 r e 27; 10 l a 24; 11 l c 26; 108 r b 26; 12 l d 2; 109 r a 3; "
    "13 l a 38; 14 l b 30; 110 r c 25; 15 l e 26; 16 l e 40; 111 r d 41; 17 l e 41; 112 r f 1; 18 l f 2"
)
PARTS = [line.split() for line in ROWS.split("; ")]


def choice(column: int) -> str:
    """Return the text of a column by the number of a row."""
    return f"ELT(number, {', '.join(repr(part[column].zfill(2)) for part in PARTS)})"


TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
QUERIES = (
    *(
        f"SELECT id, SUM(id) OVER ({frame}) AS s FROM src"
        for frame in (
            "PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW",
            "PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
            "PARTITION BY k ORDER BY ts RANGE UNBOUNDED PRECEDING",
            "PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING",
            "ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
        )
    ),
    f"SELECT k, window_start, COUNT(*) AS c, MIN(id) AS m FROM {TUMBLE.format('src')} GROUP BY k, window_start, window_end",
    "SELECT k, window_start, COUNT(*) AS c FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end",
    "SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end",
    "SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM src) WHERE n = 1",
    "SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM src) WHERE n = 1",
    *(
        f"SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY {order} DESC) AS n FROM {TUMBLE.format('src')}) WHERE n = 1"
        for order in ("ts", "id")
    ),
)  # fmt: skip
script(
    "late_rows_of_several_keys",
    f"""
CREATE TABLE src (number INT, id AS CAST({choice(0)} AS INT), side AS RIGHT({choice(1)}, 1), k AS RIGHT({choice(2)}, 1), ts AS TO_TIMESTAMP('2020-01-01 00:00:' || {choice(3)}), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'datagen', 'fields.number.kind' = 'sequence', 'fields.number.start' = '1', 'fields.number.end' = '{len(PARTS)}', 'rows-per-second' = '1000');
"""
    + ";\n".join(QUERIES)
    + ";\n",
    level=2,
    order="folded",
    config={"pipeline.auto-watermark-interval": "1 ms", "execution.buffer-timeout.interval": "0 ms"},
)  # fmt: skip
