"""Throughput by the number of cores, and the cost of more keys, more subtasks and a cluster.

    python -m benchmarks.scale [--records 8000000] [--only cores,cluster,keys,epochs,targets]

The keyed count of ``benchmarks/memory.py``, without files. Every row is a separate process, whose first run does not
count. A cluster is a standalone Spark master and workers of one core each, all on 127.0.0.1. On a machine of two cores,
more workers therefore show the cost of their number, not the gain.

*epochs* measures the time between two epochs that only send a record through one exchange. *targets* measures, without
Spark, the cost of a record at both ends of an exchange, by the number of targets of its sender and of records per
sender and epoch.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.runtime.exchange.receiving import Item

KEYS = 10_000
START_SECONDS = 60


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until a server listens on a port."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"no server listens on port {port} after {START_SECONDS} s")


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """Start a standalone master with workers of one core each; yields its URL."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port = free_port()
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    with tempfile.TemporaryDirectory(prefix="scale-") as directory:
        url = f"spark://127.0.0.1:{port}"
        launch = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
        commands = [[launch[0], f"{launch[1]}.master.Master", *common, "--port", str(port)]]
        commands += [
            [
                launch[0],
                f"{launch[1]}.worker.Worker",
                *common,
                "--cores",
                "1",
                "--memory",
                "1g",
                "-d",
                f"{directory}/{n}",
                url,
            ]
            for n in range(workers)
        ]
        log = Path(directory, "log").open("w")  # noqa: SIM115 - closed below
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for command in commands:
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))  # noqa: S603
                if len(processes) == 1:
                    wait_for(port)
            yield url
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
            log.close()


def run(settings: dict[str, Any], module: str = "benchmarks.scale") -> dict[str, Any]:
    """Return what a module measures with ``--run``, in a separate process."""
    done = subprocess.run(  # noqa: S603 - our own modules
        [sys.executable, "-m", module, "--run", json.dumps(settings)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def run_and_print(settings: dict[str, Any], module: str, title: str, digits: int) -> None:
    """Print what a module measures, in a line that begins with a title."""
    shown = "  ".join(f"{name} {value:,.{digits}f}" for name, value in run(settings, module).items())
    print(f"{title}: {shown}", flush=True)


def measured(settings: dict[str, Any]) -> dict[str, Any]:
    """Measure one row."""
    from benchmarks.memory import seconds, workers

    configuration = {"flintstream.master": settings["master"], **settings.get("configuration", {})}
    records, keys, parallelism = settings["records"], settings["keys"], settings["parallelism"]
    seconds(200_000, 10_000, configuration, parallelism)
    if settings.get("epochs"):
        # The shortest possible epochs, most of them without input, as Spark jobs
        slow = {**configuration, "flintstream.epoch.max-duration": "1", "flintstream.epoch.idle-duration": "1"}
        slow["flintstream.resident-tasks"] = "false"
        return {"epoch_ms": epoch_ms(slow, parallelism)}
    took = seconds(records, keys, configuration, parallelism)
    return {"seconds": took, "peaks": sorted(workers().values())}


def epoch_ms(configuration: dict[str, str], parallelism: int) -> float:
    """Return the time of an epoch with one or two records (ms): the median of the second half, with warm JVMs."""
    from benchmarks.latency import Count, Metronome
    from flintstream.common import WatermarkStrategy
    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.engine.spark.engine import SparkEngine

    took: list[float] = []
    run_epoch = SparkEngine.run_epoch

    def timed(self: SparkEngine, instructions: Any) -> Any:
        began = time.perf_counter()
        reports = list(run_epoch(self, instructions))
        took.append((time.perf_counter() - began) * 1000)
        return reports

    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    ticks = env.from_source(Metronome(200, 30), WatermarkStrategy.no_watermarks(), "metronome")
    ticks.key_by(lambda value: value[0] % 10).process(Count()).print()
    with Path(os.devnull).open("w") as nothing:
        standard, sys.stdout = sys.stdout, nothing
        SparkEngine.run_epoch = timed  # type: ignore[method-assign]
        try:
            env.execute("epochs")
        finally:
            sys.stdout = standard
            SparkEngine.run_epoch = run_epoch  # type: ignore[method-assign]
    return statistics.median(took[len(took) // 2 :])


def nanoseconds_per_record(targets: int, per_epoch: int, records: int = 2_000_000) -> float:
    """Return the cost of routing pairs by key, packing them, and reading them again."""
    from flintstream.engine.spark.worker import GC_THRESHOLDS
    from flintstream.runtime.exchange.blocks import unpack
    from flintstream.runtime.exchange.sending import exchange_output
    from flintstream.runtime.operators.watermarks import RECORDS_PER_MARK, TARGETS_PER_MARK
    from flintstream.runtime.partitioners import KeyGroupPartitioner
    from flintstream.runtime.plan import RECORDS_PER_BLOCK, ExchangeEdge

    gc.set_threshold(*GC_THRESHOLDS)
    partitioner = KeyGroupPartitioner(lambda value: value[0])
    edge = ExchangeEdge(0, 1, 2, 0, partitioner, targets, targets, 1, max(128, 4 * targets), 1)
    outbox: list[Item] = []
    output = exchange_output(edge, 0, outbox, "sender", batch=False)
    seconds = 0.0
    for start in range(0, records, per_epoch):
        began = time.perf_counter()
        for first in range(start, start + per_epoch, RECORDS_PER_BLOCK):
            last = min(first + RECORDS_PER_BLOCK, start + per_epoch)
            output.emit([(n * 7919 % KEYS, n) for n in range(first, last)], None)
            if last % (RECORDS_PER_MARK * max(1, targets // TARGETS_PER_MARK)) == 0:
                output.emit_watermark(last)
        output.flush()
        for item in outbox:
            unpack(item.payload)
        outbox.clear()
        if start:  # without the first, which resolves the keys
            seconds += time.perf_counter() - began
    return seconds / (records - per_epoch) * 1e9


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=8_000_000)
    parser.add_argument("--only", default="cores,cluster,keys,epochs,targets")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(measured(json.loads(options.run))))
        return
    chosen, records = options.only.split(","), options.records

    def row(title: str, **settings: Any) -> None:
        result = run({"records": records, "keys": KEYS, "parallelism": 2, "master": "local[2]", **settings})
        if "epoch_ms" in result:
            print(f"{title:44}{result['epoch_ms']:10.1f} ms", flush=True)
            return
        count = settings.get("records", records)
        peaks = " ".join(map(str, result["peaks"]))
        print(f"{title:44}{count / result['seconds']:14,.0f} /s   MiB: {peaks}", flush=True)

    if "cores" in chosen:
        row("1 core, 1 subtask", master="local[1]", parallelism=1)
        row("2 cores, 2 subtasks")
        row("2 cores, 8 subtasks", parallelism=8)
    if "keys" in chosen:
        for keys in (10_000, 100_000, 1_000_000, 10_000_000):
            row(f"{keys:,} keys", keys=keys, records=max(records, keys * 2))
    if "epochs" in chosen:
        for parallelism in (1, 2, 8, 32):
            row(f"epoch, {parallelism} subtasks", parallelism=parallelism, epochs=True)
    if "targets" in chosen:
        for targets in (2, 16, 128, 1024):
            for per_epoch in (4_096, 65_536, 524_288):
                cost = nanoseconds_per_record(targets, per_epoch)
                print(f"{targets:5} targets, {per_epoch:7,} records per epoch{cost:22.0f} ns per record", flush=True)
    if "cluster" in chosen:
        for workers in (1, 2, 4):
            with cluster(workers) as url:
                row(f"standalone, {workers} workers", master=url, parallelism=workers)
                row(f"standalone, {workers} workers, epoch", master=url, parallelism=workers, epochs=True)


if __name__ == "__main__":
    main()
