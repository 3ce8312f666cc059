"""Peak memory of the Python workers, and time per record, as a keyed job grows.

    python -m benchmarks.memory [--records 1000000,10000000] [--keys 10000] [--backend hashmap]
    python -m benchmarks.memory --states [--keys 1000000] [--kinds value,map] [--pyflink FLINK_PYTHON]

The keyed count of ``workloads/keyed_count``, on flintstream alone. The peak is what the kernel counted for each worker
process (``VmHWM``), including state; the time is that of the whole job after a warm-up. With as many keys as records,
the peaks show the cost of a key.

``--states`` prints the bytes of a key for each kind of state instead (``benchmarks/state_memory.py``), with the
interpreter of an environment with PyFlink also in PyFlink's hash map.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.state_memory import KINDS, measured, print_table
from benchmarks.workload import SPREAD
from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.state import ValueStateDescriptor

if TYPE_CHECKING:
    from collections.abc import Sequence

DAEMONS = {b"pyspark.daemon", b"flintstream.engine.spark.daemon"}


class Count(KeyedProcessFunction):
    """Count the records of each key; emit every 1000th count."""

    def open(self, runtime_context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, D102
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, D102
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % 1000 == 0:
            yield value[0], count


def seconds(records: int, keys: int, configuration: dict[str, str], parallelism: int = 2) -> float:
    """Run the job and return its duration in seconds."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(0, records - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.map(lambda n: (n * SPREAD % keys, n)).key_by(lambda value: value[0]).process(Count())
    started = time.perf_counter()
    with counts.execute_and_collect() as results:
        emitted = sum(1 for _ in results)
    assert emitted == keys * (records // keys // 1000), "choose records as a multiple of keys"
    return time.perf_counter() - started


def workers() -> dict[int, int]:
    """Return the peak memory in MiB of every Python worker below this process."""
    parents: dict[int, int] = {}
    peaks: dict[int, int] = {}
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit():
            continue
        try:
            status = dict(line.split(":", 1) for line in (directory / "status").read_text().splitlines())
            command = (directory / "cmdline").read_bytes()
        except OSError:
            continue
        pid = int(directory.name)
        parents[pid] = int(status["PPid"])
        if not DAEMONS.isdisjoint(command.split(b"\0")):
            peaks[pid] = int(status["VmHWM"].split()[0]) // 1024

    def ours(pid: int) -> bool:
        while pid in parents:
            if pid == os.getpid():
                return True
            pid = parents[pid]
        return False

    return {pid: peak for pid, peak in peaks.items() if ours(pid)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="1000000,10000000")
    parser.add_argument("--keys", type=int, help="10,000 by default, with --states 1,000,000")
    parser.add_argument("--backend", default="hashmap")
    parser.add_argument("--states", action="store_true", help="bytes per key for each kind of state")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--pyflink", help="the interpreter of an environment with PyFlink, for --states")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        print(measured(json.loads(options.run)))
        return
    if options.states:
        kinds = options.kinds.split(",")
        if unknown := set(kinds) - set(KINDS):
            parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
        print_table(options.keys or 1_000_000, kinds, options.pyflink)
        return
    options.keys = options.keys or 10_000
    configuration = {"flintstream.master": "local[2]", "state.backend.type": options.backend}
    seconds(200_000, 10_000, configuration)
    print(f"{'records':>12} {'seconds':>9} {'ns/record':>10} {'peak MiB of each worker':>24}")
    for records in map(int, options.records.split(",")):
        took = seconds(records, options.keys, configuration)
        peaks = " ".join(map(str, sorted(workers().values())))
        print(f"{records:12,} {took:9.1f} {took / records * 1e9:10.0f} {peaks:>24}")


if __name__ == "__main__":
    main()
