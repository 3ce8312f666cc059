"""Where queries in SQL spend their time: ``python -m benchmarks.nexmark.profile [--events 500000] [--queries q5,q7]``.

Each query runs on the inline engine, in a process of its own, whose threads are looked at every two milliseconds. What
a thread does is what its innermost frame belongs to; functions in C count for the code that calls them. The page on
Nexmark has the shares of each group of queries.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engines import REPOSITORY
from benchmarks.nexmark import events
from benchmarks.nexmark.sql import QUERIES, log, tables
from benchmarks.report import machine

if TYPE_CHECKING:
    from types import FrameType

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
    "coordinator/": "planning and the coordinator",
    "table/": "planning and the coordinator",
    "datastream/": "planning and the coordinator",
    "graph/": "planning and the coordinator",
}
"""What the code below a path does, by the first path that fits."""
OTHER = "other"
RESULTS = REPOSITORY / "benchmarks" / "results" / "nexmark-sql-profile.json"
_EVERY = 0.002
_WAITING = "runtime/block_interrupter.py"
"""A thread that looks at the clock while others work."""
GC_THRESHOLDS = (50_000, 20, 100)
"""Those of a worker."""


def part_of(frame: FrameType | None) -> str | None:
    """Return what the code of a thread does; None if it waits."""
    if frame is None or frame.f_code.co_name in {"wait", "_wait_for_tstate_lock", "select", "accept", "get", "poll"}:
        return None
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith("<generated"):
            return "generated code"
        if "/flintstream/" in path:
            own = path.rpartition("/flintstream/")[2]
            if own == _WAITING:
                return None
            return next((part for prefix, part in PARTS.items() if own.startswith(prefix)), OTHER)
        frame = frame.f_back
    return None


def watch(seen: Counter[str], ended: threading.Event) -> None:
    """Count what the other threads do until the end."""
    own = threading.get_ident()
    used = time.process_time()
    while not ended.wait(_EVERY):
        now = time.process_time()
        found = {part_of(frame) for ident, frame in sys._current_frames().items() if ident != own}
        for part in found - {None}:
            seen[str(part)] += now - used  # type: ignore[assignment]
        used = now


def run(query: str, directory: Path) -> dict[str, float]:
    """Run a query in this process, and return the seconds of each part."""
    from flintstream.common import Configuration
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.table import Schema, StreamTableEnvironment, TableDescriptor

    gc.set_threshold(*GC_THRESHOLDS)
    sys.setswitchinterval(_EVERY / 4)
    configuration = Configuration().set_string("flintstream.engine", "inline")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("table.local-time-zone", "UTC")
    for statement in tables(directory):
        t_env.execute_sql(statement)
    table = t_env.sql_query(QUERIES[query])
    known = table.get_schema()
    columns = Schema.new_builder().from_fields(known.get_field_names(), known.get_field_data_types()).build()
    seen: Counter[str] = Counter()
    ended = threading.Event()
    watcher = threading.Thread(target=watch, args=(seen, ended))
    with tempfile.TemporaryDirectory() as target:
        if query == "q10":
            t_env.execute_sql(log(target))
        watcher.start()
        if query == "q10":
            table.execute_insert("bids_by_minute").wait()
        else:
            table.execute_insert(TableDescriptor.for_connector("blackhole").schema(columns).build()).wait()
        ended.set()
        watcher.join()
    return dict(seen)


def shares(found: list[dict[str, float]]) -> dict[str, int]:
    """Return the mean share of each part in percent, the largest first."""
    means = Counter[str]()
    for seconds in found:
        for part, used in seconds.items():
            means[part] += 100 * used / sum(seconds.values()) / len(found)  # type: ignore[assignment]
    return {part: round(share) for part, share in means.most_common()}


def main() -> None:
    """Profile queries, and keep the shares if they are all."""
    parser = argparse.ArgumentParser(prog="benchmarks.nexmark.profile", description="Profiles of the queries in SQL.")
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--queries", default=",".join(query for group in GROUPS.values() for query in group))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.run[0], Path(options.run[1]))))
        return
    asked = options.queries.split(",")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        events.write(events.Settings(options.events), Path(directory), files=2)
        for query in asked:
            command = [sys.executable, "-m", __spec__.name, "--run", query, directory]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, cwd=REPOSITORY)  # noqa: S603
            found[query] = json.loads(done.stdout.splitlines()[-1])
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
