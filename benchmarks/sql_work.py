"""The work that flintstream does per event in SQL: bytecode instructions of its own and of generated code, counted.

    python -m benchmarks.sql_work [QUERY ...]

Queries of Nexmark run on the inline engine, with few events and with more; the difference gives the cost of an event.
The figures are the same on every machine, so that a test can check them (tests/benchmarks/test_sql_work.py).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from benchmarks.nexmark import events
from benchmarks.nexmark.sql import QUERIES, tables
from benchmarks.work import OURS, counting, environment, without_clocks
from flintstream.compat.pyflink import install
from flintstream.table import EnvironmentSettings, Schema, StreamTableEnvironment, TableDescriptor

FEW, MORE = 5_000, 15_000
GUARDED = ("q0", "q2", "q4", "q5", "q14", "q15", "q17", "q20")
"""A projection, a filter, joins, windows, expressions, and groups with many and few keys."""
_GENERATED = ("<generated for a table>", "<generated for a grouping>")


def instructions(query: str, count: int) -> int:
    """Return the number of instructions of a run of a query."""
    with tempfile.TemporaryDirectory(prefix="work-") as directory:
        events.write(events.Settings(count), Path(directory), files=2)
        t_env = StreamTableEnvironment.create(environment({}), EnvironmentSettings.in_streaming_mode())
        for statement in tables(directory):
            t_env.execute_sql(statement)
        table = t_env.sql_query(QUERIES[query])
        known = table.get_schema()
        columns = Schema.new_builder().from_fields(known.get_field_names(), known.get_field_data_types()).build()
        sink = TableDescriptor.for_connector("blackhole").schema(columns).build()
        with without_clocks(), patch("benchmarks.work.OURS", (*OURS, *_GENERATED)), counting() as counter:
            table.execute_insert(sink).wait()
        return counter.instructions


def per_event(query: str) -> float:
    """Return the number of instructions per additional event."""
    instructions(query, FEW)  # The first run of a process does more: it generates functions, too
    return (instructions(query, MORE) - instructions(query, FEW)) / (MORE - FEW)


def main() -> None:
    """Print a table."""
    for query in sys.argv[1:] or GUARDED:
        print(f"{query:6}{per_event(query):10.1f}", flush=True)


if __name__ == "__main__":
    install()
    main()
