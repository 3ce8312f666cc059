"""One query on one engine, in a process of its own.

    python job.py ENGINE QUERY SMALL LARGE REPORT

It runs the query twice on the events of one directory, then on those of another one. REPORT gets the rows of the last
run, and how many more seconds and CPU seconds of all processes it took, as JSON.
"""

# ruff: noqa: ANN001, ANN201, D103, S608 - programs as users of these engines would write them

import json
import sys
import time
from pathlib import Path

from benchmarks.batch.queries import QUERIES, view
from benchmarks.nexmark.cpu import cpu_of_family


def on_duckdb(directory):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    columns = view("split_part(line, chr(9), {})", "{}", "CAST({} AS BIGINT)")
    connection.execute(
        f"CREATE VIEW bids AS SELECT {columns} FROM read_csv('{directory}/events/*', delim = '\\x01', header = false, "
        "quote = '', escape = '', columns = {'line': 'VARCHAR'}) WHERE line LIKE 'B%'"
    )
    return lambda query: connection.execute(query).fetchall()


def on_spark(directory):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    columns = view("split(value, '\\t')[{zero}]", "{}", "CAST({} AS BIGINT)")
    spark.read.text(f"{directory}/events").createOrReplaceTempView("lines")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW bids AS SELECT {columns} FROM lines WHERE value LIKE 'B%'")
    return lambda query: [tuple(row) for row in spark.sql(query).collect()]


def on_flink(directory):
    from pyflink.table import EnvironmentSettings, TableEnvironment

    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "2")
    t_env.execute_sql(
        "CREATE TABLE events (line STRING) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}/events', 'format' = 'raw')"
    )
    columns = view("SPLIT_INDEX(line, CHR(9), {zero})", "{}", "CAST({} AS BIGINT)")
    t_env.execute_sql(f"CREATE VIEW bids AS SELECT {columns} FROM events WHERE line LIKE 'B%'")
    return lambda query: [tuple(row) for row in t_env.execute_sql(query).collect()]


RUNNERS = {"duckdb": on_duckdb, "spark": on_spark, "flink": on_flink, "flintstream": on_flink}


def main():
    engine, query, small, large, report = sys.argv[1:]
    costs = []
    for directory in (small, small, large):  # the first run starts the engine
        run = RUNNERS[engine](directory)
        started, cpu = time.perf_counter(), cpu_of_family()
        rows = run(QUERIES[query])
        costs.append((time.perf_counter() - started, cpu_of_family() - cpu))
    _, (first, first_cpu), (second, second_cpu) = costs
    found = {"rows": [list(map(int, row)) for row in rows], "seconds": second - first, "cpu": second_cpu - first_cpu}
    Path(report).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
