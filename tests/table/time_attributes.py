# mypy: disable-error-code="import-not-found,import-untyped"
"""Queries on time attributes, over rows that are late, at the watermark, or of equal times.

python tests/table/time_attributes.py FILE   # with PyFlink: record the rows, each with the time of its record
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from pyflink.common import Configuration, Row, Types
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

LEFT = [("a", 1, 1), ("a", 3, 2), ("b", 3, 3), ("a", 12, 4), ("a", 12, 5), ("a", 2, 6), ("b", 10, 7), ("a", 25, 8)]
"""Key, second and value: two rows of equal times, two at the watermark, one late for its window, one not."""
RIGHT = [("a", 0, 10), ("b", 2, 20), ("a", 11, 30), ("a", 5, 40), ("a", 26, 50)]

DELAYS = {"at once": "0 SECOND", "at the end": "1 DAY"}
"""Watermarks that follow each row, or that come with the last one: until then they are Long.MIN, and then Long.MAX."""

WINDOW = "TABLE(TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
OTHER = "TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
QUERIES = {
    "rows": "SELECT k, ts, v FROM l",
    "windowed rows": f"SELECT k, v, window_start, window_time FROM {WINDOW}",
    "window aggregate": f"SELECT k, SUM(v), window_time FROM {WINDOW} GROUP BY k, window_start, window_end, window_time",
    "session": (
        "SELECT k, SUM(v), window_time FROM TABLE(SESSION(TABLE l PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)) "
        "GROUP BY k, window_start, window_end, window_time"
    ),
    "hop": (
        "SELECT k, SUM(v), window_time FROM TABLE(HOP(TABLE l, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) "
        "GROUP BY k, window_start, window_end, window_time"
    ),
    "cumulate": (
        "SELECT k, SUM(v), window_time FROM TABLE(CUMULATE(TABLE l, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
        "INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time"
    ),
    "group window": (
        "SELECT k, SUM(v), TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) FROM l GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
    ),
    "group": "SELECT k, SUM(v) FROM l GROUP BY k",
    "over rows": "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM l",
    "over all rows": "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) FROM l",
    "over range": (
        "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) "
        "FROM l"
    ),
    "over all": "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM l",
    "match": (
        "SELECT k, v, w, t FROM l MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS v, B.v AS w, "
        "MATCH_ROWTIME() AS t PATTERN (A B) DEFINE B AS B.v > A.v OR B.v < 5)"
    ),
    "order": "SELECT k, ts, v FROM l ORDER BY ts",
    "order by more": "SELECT k, ts, v FROM l ORDER BY ts, v DESC",
    "interval join": (
        "SELECT l.k, l.v, r.v, l.ts FROM l JOIN r ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '2' SECOND AND l.ts"
    ),
    "outer interval join": (
        "SELECT l.k, l.v, r.v, l.ts FROM l LEFT JOIN r ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '2' SECOND AND l.ts"
    ),
    "temporal join": "SELECT l.k, l.ts, l.v, n.v FROM l JOIN n FOR SYSTEM_TIME AS OF l.ts ON l.k = n.k",
    "outer temporal join": "SELECT l.k, l.ts, l.v, n.v FROM l LEFT JOIN n FOR SYSTEM_TIME AS OF l.ts ON l.k = n.k",
    "join": "SELECT l.k, l.v, r.v FROM l JOIN r ON l.k = r.k AND l.v < 3",
    "first row": (
        "SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts ASC) AS n FROM l) WHERE n = 1"
    ),
    "last row": (
        "SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM l) WHERE n = 1"
    ),
    "top": "SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM l) WHERE n <= 2",
    "top by time": (
        "SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM l) WHERE n <= 2"
    ),
    "window top": (
        "SELECT k, ts, v, window_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
        f"ORDER BY v DESC) AS n FROM {WINDOW}) WHERE n <= 2"
    ),
    "first row of a window": (
        "SELECT k, ts, v, window_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
        f"ORDER BY ts ASC) AS n FROM {WINDOW}) WHERE n <= 1"
    ),
    "last row of a window": (
        "SELECT k, ts, v, window_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
        f"ORDER BY ts DESC) AS n FROM {WINDOW}) WHERE n <= 1"
    ),
    "window join": (
        f"SELECT a.k, a.v, b.v, a.window_time FROM (SELECT * FROM {WINDOW}) a JOIN (SELECT * FROM {OTHER}) b "
        "ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k"
    ),
    "window semi join": (
        f"SELECT a.k, a.v, a.window_time FROM (SELECT * FROM {WINDOW}) a WHERE EXISTS (SELECT * FROM (SELECT * FROM {OTHER}) "
        "b WHERE a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k)"
    ),
    "window of windows": (
        "SELECT SUM(s), window_time FROM TABLE(TUMBLE((SELECT k, SUM(v) AS s, window_time AS wt FROM "
        f"{WINDOW} GROUP BY k, window_start, window_end, window_time), DESCRIPTOR(wt), INTERVAL '20' SECOND)) "
        "GROUP BY window_start, window_end, window_time"
    ),
    "union": "SELECT k, ts, v FROM l UNION ALL SELECT k, ts, v FROM r",
    "distinct": "SELECT DISTINCT k FROM l",
}


class Stamped(ProcessFunction):
    """Returns the kind and the values of a row, and the time of its record."""

    def process_element(self, value, ctx):
        kind = str(value.get_row_kind())
        values = [str(item) for item in value]
        stamp = ctx.timestamp()
        yield Row(f"{kind} {' '.join(values)} @{'none' if stamp is None else stamp // 1000 - 1577836800}")


def rows(query, delay, directory, configuration=None):
    """Return the rows of a query."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration or Configuration())
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    for name, given in (("l", LEFT), ("r", RIGHT), ("n", RIGHT)):
        folder = Path(directory) / name
        folder.mkdir(exist_ok=True)
        lines = [f"{key},2020-01-01 00:00:{second:02},{value}\n" for key, second, value in given]
        (folder / "rows.csv").write_text("".join(lines))
        key = ", PRIMARY KEY (k) NOT ENFORCED" if name == "n" else ""
        t_env.execute_sql(
            f"CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts - INTERVAL "
            f"'{DELAYS[delay].split()[0]}' {DELAYS[delay].split()[1]}{key}) WITH ('connector' = 'filesystem', "
            f"'path' = '{folder}', 'format' = 'csv')"
        )
    stream = t_env.to_changelog_stream(t_env.sql_query(QUERIES[query]))
    made = stream.process(Stamped(), Types.ROW([Types.STRING()]))
    with made.execute_and_collect() as found:
        return [row[0] for row in found]


if __name__ == "__main__":
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in QUERIES:
            for delay_ in DELAYS:
                try:
                    recorded[f"{name} / {delay_}"] = rows(name, delay_, folder)
                except Exception:  # noqa: BLE001 - what PyFlink refuses
                    recorded[f"{name} / {delay_}"] = "refused"
                print(name, delay_, recorded[f"{name} / {delay_}"], flush=True)
    Path(sys.argv[1]).write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
