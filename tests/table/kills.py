"""``python -m tests.table.kills``: windows of SQL from Kafka to Kafka, exactly once, while processes are killed.

As :mod:`tests.connectors.kafka.kills`, with statements instead of streams: each line is the aggregate of one key in one
window, or with ``--of matches`` of ten rows that match a pattern. A lost record would change an aggregate, and a
repeated commit would repeat a line.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from datetime import datetime, timedelta

from tests.connectors.kafka.kills import VICTIMS, Course, KillsError, run_kills

KEYS = 10
PER_LINE = 10
STEP_MS = 10
"""From one number to the next: a window of a second has 100 numbers, ten of each key."""

PROGRAM = """
import sys, time
from pathlib import Path
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

servers, numbers, lines, records, _, partitions, last_kill, _ = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
t_env = StreamTableEnvironment.create(env)
each = int(records) // int(partitions)
ends = ";".join(f"partition:{p},offset:{each}" for p in range(int(partitions)))
t_env.execute_sql(f'''
    CREATE TABLE numbers (k INT, v BIGINT, at BIGINT, ts AS TO_TIMESTAMP_LTZ(at, 3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'kafka', 'topic' = '{numbers}', 'properties.bootstrap.servers' = '{servers}',
        'properties.group.id' = 'kills', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
        'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' = '{ends}')
''')
t_env.execute_sql(f'''
    CREATE TABLE lines (COLUMNS)
    WITH ('connector' = 'kafka', 'topic' = '{lines}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
        'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'kills')
''')
t_env.execute_sql('''INSERT INTO lines QUERY''').wait()
while not Path(last_kill).exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""


WINDOWS = """
    SELECT k, window_start, COUNT(*), SUM(v)
    FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end
"""
MATCHES = f"""
    SELECT * FROM numbers MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts
        MEASURES FIRST(A.v) AS low, LAST(C.v) AS high, COUNT(v) AS n, SUM(v) AS total AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A B{{{PER_LINE - 2}}} C) DEFINE B AS B.v > A.v, C AS C.v - A.v = {KEYS * (PER_LINE - 1)}
    )
"""


def program(columns: str, query: str) -> str:
    """Return the program that writes a query into a table."""
    return PROGRAM.replace("COLUMNS", columns).replace("QUERY", query)


class WindowsCourse(Course):
    """A job of SQL and its kills; its records are the lines."""

    program = program("k INT, `start` TIMESTAMP(3), n BIGINT, total BIGINT", WINDOWS)
    per_line = PER_LINE

    def message(self, number: int) -> str:
        """Return the message of a number."""
        return json.dumps({"k": number % KEYS, "v": number, "at": number * STEP_MS})

    def wanted(self) -> set[bytes]:
        """Return the aggregate of each key in each window."""
        found = set()
        for second in range(self.records // KEYS):
            first = second * KEYS * PER_LINE
            start = datetime(1970, 1, 1) + timedelta(seconds=second)
            for key in range(KEYS):
                total = sum(range(first + key, first + KEYS * PER_LINE, KEYS))
                found.add(f'{{"k":{key},"start":"{start}","n":{PER_LINE},"total":{total}}}'.encode())
        return found


class MatchesCourse(WindowsCourse):
    """The same with a pattern: each line is a match of the next ten rows of a key, which kills cut in two."""

    program = program("k INT, low BIGINT, high BIGINT, n BIGINT, total BIGINT", MATCHES)

    def wanted(self) -> set[bytes]:
        """Return the matches of each key."""
        found = set()
        for group in range(self.records // KEYS):
            for low in range(group * KEYS * PER_LINE, group * KEYS * PER_LINE + KEYS):
                rows = range(low, low + KEYS * PER_LINE, KEYS)
                line = f'"k":{low % KEYS},"low":{low},"high":{rows[-1]},"n":{PER_LINE},"total":{sum(rows)}'
                found.add(f"{{{line}}}".encode())
        return found


COURSES = {"windows": WindowsCourse, "matches": MatchesCourse}


def main() -> int:
    """Run the command line; return 1 if the run fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.table.kills")
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--of", choices=COURSES, default="windows")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    plan = [rng.choice(VICTIMS) for _ in range(arguments.kills)]
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"  {time.monotonic() - began:7.2f} s  {what}", flush=True)

    try:
        killed = run_kills(arguments.lines, plan, arguments.seed, say, kind=COURSES[arguments.of])
    except KillsError as error:
        print(f"FAILED: {error}")
        return 1
    print(f"passed in {time.monotonic() - began:.0f} s: {arguments.lines} lines, each once; killed {dict(killed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
