"""What it saves that subtasks stay on their executors: catch-ups and the time of an epoch, and where that time goes.

    python -m benchmarks.placement [--executors 2,4] [--subtasks 1] [--seconds 30] [--keys 10] [--rounds 1]

A standalone Spark cluster on 127.0.0.1, executors of one core each. A source of 200 records per second, one exchange,
a count per key, in epochs that are as short as possible. Each round measures with and without it, in turn; only the
second half of a run counts, when the JVMs are warm. The times of Spark are from its event log.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.scale import cluster, run_and_print

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.runtime.protocol import Report


def measured(settings: dict[str, Any]) -> dict[str, Any]:
    """Run the job; return the share of catch-ups (%), and medians of times (ms)."""
    from benchmarks.latency import Count, Metronome
    from flintstream.common import WatermarkStrategy
    from flintstream.coordinator.monitoring.job_statistics import JobStatistics
    from flintstream.coordinator.subtasks import Subtasks
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.engine.spark.engine import SparkEngine
    from flintstream.engine.spark.placement import Placement

    if not settings["placement"]:
        Placement.places = lambda self, *_: [None] * len(self._executors)  # type: ignore[method-assign]
    caught_up: list[tuple[int, int]] = []
    spark: list[float] = []
    whole: list[float] = []

    def timed(kind: Any, name: str, times: list[float]) -> None:
        original = getattr(kind, name)

        def method(self: Any, *arguments: Any) -> Any:
            began = time.perf_counter()
            result = original(self, *arguments)
            times.append((time.perf_counter() - began) * 1000)
            return result

        setattr(kind, name, method)

    timed(SparkEngine, "run_epoch", spark)
    timed(Subtasks, "run_epoch", whole)
    add = JobStatistics.add

    def counted(self: JobStatistics, reports: Sequence[Report]) -> None:
        caught_up.append((sum(report.caught_up for report in reports), len(reports)))
        add(self, reports)

    JobStatistics.add = counted  # type: ignore[method-assign,assignment]
    with tempfile.TemporaryDirectory(prefix="placement-") as directory:
        configuration = {
            "flintstream.master": settings["master"],
            "flintstream.resident-tasks": "false",
            "flintstream.epoch.max-duration": "1",
            "flintstream.epoch.idle-duration": "1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": Path(directory).as_uri(),
        }
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(settings["parallelism"])
        source = Metronome(200, settings["seconds"])
        ticks = env.from_source(source, WatermarkStrategy.no_watermarks(), "metronome")
        keys = settings["keys"]
        ticks.key_by(lambda value: value[0] % keys).process(Count()).filter(lambda _: False).print()
        env.execute("placement")
        from pyspark import SparkContext

        SparkContext.getOrCreate().stop()
        [log] = [path for path in Path(directory).iterdir() if path.is_file()]
        tasks = task_times(log)
    half = len(caught_up) // 2
    moved, all_of_them = map(sum, zip(*caught_up[half:], strict=True))
    return {
        "epochs": len(caught_up) - half,
        "catch-ups, %": 100 * moved / all_of_them,
        "epoch": statistics.median(whole[half:]),
        "driver": statistics.median(w - s for w, s in zip(whole[half:], spark[half:], strict=True)),
        **tasks,
    }


def task_times(log: Path) -> dict[str, float]:
    """Return what Spark's event log tells of the second half of a run: medians per job or task (ms)."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    by_kind: dict[str, list[Any]] = {}
    for event in events:
        by_kind.setdefault(event["Event"].removeprefix("SparkListener"), []).append(event)
    ended = {event["Job ID"]: event["Completion Time"] for event in by_kind["JobEnd"]}
    starts = by_kind["JobStart"]
    jobs = [ended[event["Job ID"]] - event["Submission Time"] for event in starts if event["Job ID"] in ended]
    stages = [event["Stage Info"] for event in by_kind["StageCompleted"]]
    tasks = [event for event in by_kind["TaskEnd"] if event.get("Task Metrics")]
    found: dict[str, list[float]] = {"Spark job": list(jobs)}
    found["stage"] = [stage["Completion Time"] - stage["Submission Time"] for stage in stages]
    for event in tasks:
        info, metrics = event["Task Info"], event["Task Metrics"]
        duration = info["Finish Time"] - info["Launch Time"]
        run, unpack = metrics["Executor Run Time"], metrics["Executor Deserialize Time"]
        found.setdefault("task", []).append(duration)
        found.setdefault("task: run", []).append(run)
        found.setdefault("task: deserialized", []).append(unpack)
        found.setdefault("task: on the way", []).append(duration - run - unpack)
    return {name: statistics.median(values[len(values) // 2 :]) for name, values in found.items()}


def main() -> None:
    """Print a line per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executors", default="2,4")
    parser.add_argument("--subtasks", type=int, default=1, help="subtasks per executor")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(measured(json.loads(options.run))))
        return
    for executors in map(int, options.executors.split(",")):
        with cluster(executors) as url:
            for placement in (False, True) * options.rounds:
                settings = {
                    "master": url,
                    "parallelism": executors * options.subtasks,
                    "placement": placement,
                    "seconds": options.seconds,
                    "keys": options.keys,
                }
                title = f"{executors} executors, {'with' if placement else 'without'} placement"
                run_and_print(settings, "benchmarks.placement", title, 1)


if __name__ == "__main__":
    main()
