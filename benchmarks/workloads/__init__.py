"""The workloads and their packages."""

from __future__ import annotations

from benchmarks.workload import Workload

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("keyed-count-100", "keyed_count", "count per key, 100 keys", {"keys": 100}),
        Workload("keyed-count-10k", "keyed_count", "count per key, 10,000 keys", {"keys": 10_000}),
        Workload("keyed-count-1m", "keyed_count", "count per key, 1,000,000 keys", {"keys": 1_000_000}),
        Workload(
            "keyed-count-durable",
            "durable_count",
            "count per key, 10,000 keys, a timer each, a changelog checkpoint every 10 s",
            {"keys": 10_000, "durable": True},
        ),
        Workload("tumbling-windows", "windows", "tumbling windows of event time", {"kind": "tumbling"}),
        Workload("sliding-windows", "windows", "sliding windows of event time, 5 per record", {"kind": "sliding"}),
        Workload("session-windows", "windows", "session windows of event time", {"kind": "session"}),
        Workload("timers", "timers", "a timer deleted and one registered per record"),
        Workload("map-state", "keyed_state", "map state with TTL", {"kind": "map"}),
        Workload("list-state", "keyed_state", "list state with TTL", {"kind": "list"}),
        Workload("connect", "connect", "two streams connected by key"),
        Workload("broadcast", "broadcast", "rules that are broadcast"),
        Workload("stateless", "stateless", "map, filter, flat map, map, filter"),
        Workload("word-count", "word_count", "word count of text files"),
        Workload("json", "json_lines", "parsing JSON"),
    )
}
