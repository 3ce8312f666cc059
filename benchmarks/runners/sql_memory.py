"""A query of benchmarks/sql_memory.py: it keeps state for a number of keys, and stays. Prints the bytes that live then.

    python sql_memory.py QUERY KEYS

flintstream's inline engine keeps state in this process, PyFlink in its JVM.
"""

# ruff: noqa: ANN001, ANN201, D103 - as a user of these engines would write it

import ctypes
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment, TableDescriptor

from benchmarks.sql_memory import QUERIES

QUIET = 5
"""Seconds of little work, after which all rows have arrived."""


def source(name, keys):
    return f"""CREATE TABLE {name} (k BIGINT, v BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '{keys}',
        'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '{keys}',
        'fields.v.min' = '1', 'fields.v.max' = '1000000', 'rows-per-second' = '10000000')"""


def virtual_machine():
    """Return the process of PyFlink's JVM, a child of this one; None without one."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        name, _, rest = path.read_text().rpartition(")")
        if int(rest.split()[1]) == os.getpid() and name.endswith("(java"):
            return int(path.parent.name)
    return None


def seconds_of_cpu(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_quiet(pid):
    before, since = seconds_of_cpu(pid), time.monotonic()
    while time.monotonic() - since < QUIET:
        time.sleep(0.5)
        now = seconds_of_cpu(pid)
        if now - before > 0.1:
            since = time.monotonic()
        before = now


def live_bytes(java):
    if java is not None:
        histogram = ["jcmd", str(java), "GC.class_histogram"]
        done = subprocess.run(histogram, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603
        return int(done.stdout.split()[-1])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) << 10


def main():
    query, keys = sys.argv[1], int(sys.argv[2])
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(env)
    for name in ("given_a", "given_b"):
        t_env.execute_sql(source(name, keys))
    # A source that never ends keeps the job, and so its state.
    t_env.execute_sql(
        "CREATE TABLE ticks (k BIGINT, v BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1', "
        "'fields.k.min' = '-2', 'fields.k.max' = '-1')"
    )
    for name in ("a", "b"):
        t_env.execute_sql(f"CREATE VIEW {name} AS SELECT * FROM given_{name} UNION ALL SELECT * FROM ticks")  # noqa: S608
    table = t_env.sql_query(QUERIES[query])
    known = table.get_schema()
    columns = Schema.new_builder().from_fields(known.get_field_names(), known.get_field_data_types()).build()
    result = table.execute_insert(TableDescriptor.for_connector("blackhole").schema(columns).build())
    java = virtual_machine()
    wait_until_quiet(os.getpid() if java is None else java)
    print("bytes", live_bytes(java), flush=True)
    result.get_job_client().cancel().result()


if __name__ == "__main__":
    main()
