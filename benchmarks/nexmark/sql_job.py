"""One query in SQL as jobs of one process: runs on PyFlink, in Java, and on flintstream.

    python sql_job.py QUERY --small DIRECTORY --output DIRECTORY [--large DIRECTORY --report FILE]

The jobs are those of ``job.py``; what they measure writes to a table that drops all rows. The first one collects the
rows, and writes those that are left after all changes. Query 10 writes partitions of files.
"""

# ruff: noqa: ANN001, ANN201, D103 - as a user of that engine would write it

import argparse
import json
import time
from collections import Counter
from datetime import timezone
from pathlib import Path

from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, Schema, StreamTableEnvironment, TableDescriptor

from benchmarks.nexmark.cpu import cpu_of_family
from benchmarks.nexmark.patterns import PATTERNS
from benchmarks.nexmark.sql import QUERIES, log, tables

ALL = QUERIES | PATTERNS


def environment(options, source):
    # Windows of processing time that are still open at the end of a bounded stream are dropped, except in BATCH.
    batch = options.query == "q12"
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(options.parallelism)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH if batch else RuntimeExecutionMode.STREAMING)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    t_env = StreamTableEnvironment.create(env, settings)
    t_env.get_config().set("table.local-time-zone", "UTC")
    for statement in tables(source):
        t_env.execute_sql(statement)
    return t_env


def plain(value):
    """Return a value as JSON: instants as ms, decimals as floats."""
    if hasattr(value, "timestamp"):
        return round(value.replace(tzinfo=timezone.utc).timestamp() * 1000)
    return float(value) if hasattr(value, "as_tuple") else value


def check(options):
    """Write the rows that the changes of the query leave behind."""
    left = Counter()
    with environment(options, options.small).execute_sql(ALL[options.query]).collect() as rows:
        for row in rows:
            left[tuple(map(plain, row))] += 1 if str(row.get_row_kind()) in {"+I", "+U"} else -1
    directory = Path(options.output, "checked")
    directory.mkdir(parents=True)
    lines = [json.dumps(row) + "\n" for row, count in left.items() for _ in range(count)]
    (directory / "rows").write_text("".join(lines))


def run(options, source):
    """Run the query once; return its seconds, and the CPU seconds of all processes."""
    t_env = environment(options, source)
    table = t_env.sql_query(ALL[options.query])
    if options.query == "q10":
        t_env.execute_sql(log(f"{options.output}/log"))
    started, cpu = time.perf_counter(), cpu_of_family()
    if options.query == "q10":
        table.execute_insert("bids_by_minute").wait()
    else:
        known = table.get_schema()
        columns = Schema.new_builder().from_fields(known.get_field_names(), known.get_field_data_types()).build()
        table.execute_insert(TableDescriptor.for_connector("blackhole").schema(columns).build()).wait()
    return {"seconds": time.perf_counter() - started, "cpu": cpu_of_family() - cpu}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("query", choices=ALL)
    parser.add_argument("--small", required=True, help="directory of few events, from events.write")
    parser.add_argument("--output", required=True)
    parser.add_argument("--large", help="directory of many events")
    parser.add_argument("--report", help="file for the cost of the jobs")
    parser.add_argument("--mode", help="ignored: there is no Python in PyFlink's jobs")
    parser.add_argument("--parallelism", type=int, default=2)
    options = parser.parse_args()
    check(options)
    first = time.time()
    if options.large:
        small, large = (run(options, source) for source in (options.small, options.large))
        Path(options.report).write_text(json.dumps({"first": first, "small": small, "large": large}))


if __name__ == "__main__":
    main()
