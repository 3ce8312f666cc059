"""Where queries in SQL spend their time: ``python -m benchmarks.nexmark.profiling [--queries q5,q7]``.

Each query runs on the inline engine, in a process of its own. `py-spy` (``pip install py-spy``) looks at its threads
500 times a second. What a thread does is what its innermost frame in Python belongs to; functions in C count for the
code that calls them. The page on Nexmark has the shares of each group of queries.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.engines import REPOSITORY
from benchmarks.nexmark import events
from benchmarks.nexmark.sql import QUERIES, log, tables
from benchmarks.report import machine

GROUPS = {
    "filters and projections": ("q0", "q1", "q2", "q14", "q21", "q22"),
    "joins": ("q3", "q4", "q9", "q13", "q20"),
    "windows": ("q5", "q7", "q8", "q11"),
    "aggregates": ("q15", "q16", "q17"),
    "ranks": ("q18", "q19"),
    "partitions of files": ("q10",),
}
PARTS = {
    "generated": "generated code",
    "connectors/": "reading and writing",
    "table/_connectors": "reading and writing",
    "runtime/operators/source": "reading and writing",
    "runtime/exchange": "exchanges",
    "runtime/partitioners": "exchanges",
    "channels/": "exchanges",
    "state/": "state",
    "checkpoint/": "checkpoints",
    "runtime/windows": "windows",
    "runtime/operators/watermarks": "watermarks",
    "table/_operators": "operators of tables",
    "table/_expressions": "functions of SQL",
}
"""What the code below a path does, by the first path that fits."""
OTHER = "other"
RESULTS = REPOSITORY / "benchmarks" / "results" / "nexmark-sql-profile.json"
GC_THRESHOLDS = (50_000, 20, 100)
"""Those of a worker."""
_IN_SUBTASK = "/flintstream/runtime/task/"
_FRAME = re.compile(r"(.*) \((.*):\d+\)")


def part_of(stack: str) -> str:
    """Return what the code of a stack does: frames from the outermost to the innermost, separated by semicolons.

    >>> part_of("run (/a/flintstream/coordinator/job.py:1);pack (/a/flintstream/runtime/exchange/columns.py:9)")
    'exchanges'
    >>> part_of("run (/a/flintstream/runtime/task/subtask.py:1);run (<generated for a table>:3)")
    'generated code'
    """
    for frame in reversed(stack.split(";")):
        found = _FRAME.fullmatch(frame)
        path = found[2] if found else ""
        if path.startswith("<generated"):
            return "generated code"
        if "/flintstream/" in path:
            own = path.rpartition("/flintstream/")[2]
            return next((part for prefix, part in PARTS.items() if own.startswith(prefix)), OTHER)
    return OTHER


def seconds_of(path: Path) -> dict[str, int]:
    """Return the samples of each part in a file of stacks and their numbers."""
    seen = Counter[str]()
    for line in path.read_text().splitlines():
        stack, _, number = line.rpartition(" ")
        if _IN_SUBTASK in stack:  # the start and the coordinator are left out
            seen[part_of(stack)] += int(number)
    return dict(seen)


def run(query: str, directory: Path) -> None:
    """Run a query in this process."""
    from flintstream.common import Configuration
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.table import Schema, StreamTableEnvironment, TableDescriptor

    gc.set_threshold(*GC_THRESHOLDS)
    configuration = Configuration().set_string("flintstream.engine", "inline")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    for statement in tables(directory):
        t_env.execute_sql(statement)
    table = t_env.sql_query(QUERIES[query])
    if query == "q10":
        with tempfile.TemporaryDirectory() as target:
            t_env.execute_sql(log(target))
            table.execute_insert("bids_by_minute").wait()
        return
    known = table.get_schema()
    columns = Schema.new_builder().from_fields(known.get_field_names(), known.get_field_data_types()).build()
    table.execute_insert(TableDescriptor.for_connector("blackhole").schema(columns).build()).wait()


def shares(found: list[dict[str, int]]) -> dict[str, int]:
    """Return the mean share of each part in percent, the largest first."""
    means = Counter[str]()
    for seconds in found:
        for part, samples in seconds.items():
            means[part] += 100 * samples / sum(seconds.values()) / len(found)  # type: ignore[assignment]
    return {part: round(share) for part, share in means.most_common()}


def main() -> None:
    """Profile queries, and keep the shares if they are all."""
    parser = argparse.ArgumentParser(prog="benchmarks.nexmark.profiling", description="Profiles of the queries in SQL.")
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--queries", default=",".join(query for group in GROUPS.values() for query in group))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run[0], Path(options.run[1]))
        return
    asked = options.queries.split(",")
    found: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as directory:
        events.write(events.Settings(options.events), Path(directory), files=2)
        for query in asked:
            stacks = Path(directory, f"{query}.txt")
            watcher = ["py-spy", "record", "--gil", "--rate", "500", "--full-filenames", "--format", "raw"]
            command = [*watcher, "--output", str(stacks), "--", sys.executable, "-m", __spec__.name, "--run", query]
            subprocess.run([*command, directory], stdout=subprocess.DEVNULL, check=True, cwd=REPOSITORY)  # noqa: S603
            found[query] = seconds_of(stacks)
            print(query, shares([found[query]]), flush=True)
    groups = {name: [found[query] for query in queries if query in found] for name, queries in GROUPS.items()}
    if len(asked) == sum(map(len, GROUPS.values())):
        content = {
            "machine": machine(),
            "events": options.events,
            "groups": {name: shares(seconds) for name, seconds in groups.items()},
        }
        RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
