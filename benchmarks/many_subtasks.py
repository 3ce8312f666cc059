"""A job with many subtasks, in real processes: what an epoch costs, and how much passes through the driver.

    python -m benchmarks.many_subtasks [--subtasks 1,8,64] [--executors 0] [--epoch-ms 1000] [--records 2000000]

A sequence of numbers, a map, one exchange, a count per key with 100,000 keys: two supersteps with all subtasks in
each. By default the master is ``local[2]``; ``--executors 1,2,4`` starts a standalone cluster on 127.0.0.1 for each
number, with executors of one core. A hundred counts are checked. An epoch reads for a second; the first two do not
count. Each epoch is a Spark job, even a short one. *down* are the instructions that the driver sends, *up* the reports;
*shuffled* and *fetches* are what Spark counted for the exchange: bytes written, and blocks that tasks fetched, per
epoch.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.memory import workers
from benchmarks.scale import cluster, run_and_print
from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.state import ValueStateDescriptor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.runtime.exchange.receiving import Item

KEYS = 100_000
SAMPLE = 1000
"""Every so many keys return their last count, so that results add little to what passes through the driver."""
WARM = 2
"""Epochs that do not count."""


class Count(KeyedProcessFunction):
    """Count the records of each key; emit every count with its key."""

    def open(self, runtime_context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, D102
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, D102
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


def measured(settings: dict[str, Any]) -> dict[str, float]:
    """Run the job; return medians over its epochs."""
    from flintstream.coordinator.subtasks import Subtasks
    from flintstream.engine.spark.engine import SparkEngine

    down: list[int] = []
    up: list[int] = []
    spark: list[float] = []
    whole: list[float] = []
    driver: list[float] = []
    run_items, run_epoch = SparkEngine.run_epoch, Subtasks.run_epoch

    def weighed(self: SparkEngine, items: Sequence[Item]) -> list[Item]:
        began = time.perf_counter()
        results = run_items(self, items)
        spark.append(time.perf_counter() - began)
        down.append(sum(len(item.payload) for item in items))
        up.append(sum(len(item.payload) for item in results))
        return results

    def timed(self: Subtasks, *arguments: Any) -> Any:
        began, used = time.perf_counter(), time.process_time()
        result = run_epoch(self, *arguments)
        whole.append(time.perf_counter() - began)
        driver.append(time.process_time() - used)
        return result

    SparkEngine.run_epoch = weighed  # type: ignore[method-assign]
    Subtasks.run_epoch = timed  # type: ignore[method-assign,assignment]
    with tempfile.TemporaryDirectory(prefix="many-subtasks-") as directory:
        took, right = counted(settings, directory)
        processes = workers()
        from pyspark import SparkContext

        SparkContext.getOrCreate().stop()
        [log] = [path for path in Path(directory).iterdir() if path.is_file()]
        exchange = exchange_of(log)
    first = min(WARM, len(whole) - 1)
    return {
        "right": right,
        "records/s": settings["records"] / took,
        "epochs": len(whole),
        "epoch, s": statistics.median(whole[first:]),
        "Spark, s": statistics.median(spark[first:]),
        "driver, s of CPU": statistics.median(driver[first:]),
        "down, kB": statistics.median(down[first:]) / 1000,
        "up, kB": statistics.median(up[first:]) / 1000,
        **{name: statistics.median(values[first:]) for name, values in exchange.items()},
        "workers": len(processes),
        "worker, MiB": max(processes.values(), default=0),
        "driver, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def counted(settings: dict[str, Any], directory: str) -> tuple[float, bool]:
    """Run the count; return its duration in seconds, and whether the counts are right."""
    records = settings["records"]
    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.master": settings["master"],
            "flintstream.resident-tasks": "false",
            "flintstream.epoch.max-duration": f"{settings['epoch_ms']}",
            "pipeline.max-parallelism": str(max(128, settings["subtasks"])),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": Path(directory).as_uri(),
        }
    )
    env.set_parallelism(settings["subtasks"])
    numbers = env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.map(lambda n: n % KEYS).key_by(lambda key: key).process(Count())
    last = counts.filter(lambda row: row[1] == records // KEYS and row[0] % SAMPLE == 0)
    began = time.perf_counter()
    with last.execute_and_collect() as results:
        found = sorted(row[0] for row in results)
    return time.perf_counter() - began, found == list(range(0, KEYS, SAMPLE))


def exchange_of(log: Path) -> dict[str, list[float]]:
    """Return what Spark's event log says of each job: kB written to the exchange, and blocks fetched from it."""
    stages: dict[int, int] = {}
    written: dict[int, float] = {}
    fetched: dict[int, float] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            for stage in event["Stage IDs"]:
                stages[stage] = event["Job ID"]
            written[event["Job ID"]] = fetched[event["Job ID"]] = 0
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            job, metrics = stages[event["Stage ID"]], event["Task Metrics"]
            written[job] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"] / 1000
            read = metrics["Shuffle Read Metrics"]
            fetched[job] += read["Remote Blocks Fetched"] + read["Local Blocks Fetched"]
    return {"shuffled, kB": list(written.values()), "fetches": list(fetched.values())}


def main() -> None:
    """Print a line per number of subtasks and executors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subtasks", default="1,8,64")
    parser.add_argument("--executors", default="0", help="0: local[2]")
    parser.add_argument("--records", type=int, default=2_000_000, help="a multiple of 100,000")
    parser.add_argument("--epoch-ms", type=int, default=1_000)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(measured(json.loads(options.run))))
        return
    for executors in map(int, options.executors.split(",")):
        with cluster(executors) if executors else nullcontext("local[2]") as url:
            for subtasks in map(int, options.subtasks.split(",")):
                settings = {
                    "master": url,
                    "subtasks": subtasks,
                    "records": options.records // KEYS * KEYS,
                    "epoch_ms": options.epoch_ms,
                }
                title = f"{executors or 'no'} executors, {subtasks} subtasks"
                run_and_print(settings, "benchmarks.many_subtasks", title, 2)


if __name__ == "__main__":
    main()
