"""The CPU time of a record on the inline engine, and its ratio to bare Python in the same process.

    python -m benchmarks.cpu [WORKLOAD ...] [--records 200000] [--repeat 5]

Workload and bare loop take turns, and the fastest of all turns counts, so that other work on the machine disturbs
little; for the same reason, blocks grow to their full size even if the machine is slow. Start-up is left out: a run
with few records is subtracted. There is no Spark in it, so compare the ratios with each other and not with those of
``python -m benchmarks``.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import math
import tempfile
import time
from collections import deque
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.work import Nowhere
from benchmarks.workload import Run
from benchmarks.workloads import WORKLOADS
from flintstream.compat.pyflink import install
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.spark.worker import GC_THRESHOLDS
from flintstream.runtime import block_size

if TYPE_CHECKING:
    from benchmarks.workload import Workload

FEW = 20_000
"""Records of the run that is subtracted."""


def prepared(workload: Workload, records: int, directory: str) -> Run:
    """Return a run whose input files exist."""
    run = Run(workload.package, records, directory, workload.settings)
    prepare = getattr(importlib.import_module(f"benchmarks.workloads.{run.package}"), "prepare", None)
    if prepare is not None:
        prepare(run)
    return run


def engine_seconds(workload: Workload, records: int) -> float:
    """Return the CPU time of a job."""
    with tempfile.TemporaryDirectory(prefix="cpu-") as directory:
        run = prepared(workload, records, directory)
        settings = {"flintstream.engine": "inline", "flintstream.epoch.max-duration": "10 min"}
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(2)
        program: Any = importlib.import_module(f"benchmarks.workloads.{run.package}.pyflink")
        program.build(env, run).sink_to(Nowhere())
        with patch.object(block_size, "FAST_SECONDS", math.inf), patch.object(block_size, "SLOW_RECORDS_PER_SECOND", 0):
            began = time.process_time()
            env.execute(workload.name)
            return time.process_time() - began


def bare_seconds(workload: Workload, records: int) -> float:
    """Return the CPU time of both halves of the bare loop."""
    with tempfile.TemporaryDirectory(prefix="cpu-") as directory:
        run = prepared(workload, records, directory)
        bare = importlib.import_module(f"benchmarks.workloads.{run.package}.bare")
        began = time.process_time()
        for number in range(2):
            deque(bare.subtask(number, run), maxlen=0)
        return time.process_time() - began


def per_record(workload: Workload, records: int, repeat: int) -> tuple[float, float]:
    """Return microseconds per record of flintstream and of bare Python."""
    both = (engine_seconds, bare_seconds)
    times: list[list[tuple[float, float]]] = [[], []]
    for _ in range(repeat):
        for found, measure in zip(times, both, strict=True):
            found.append((measure(workload, FEW), measure(workload, FEW + records)))
    ours, bare = ((min(more for _, more in found) - min(few for few, _ in found)) / records for found in times)
    return ours * 1e6, bare * 1e6


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser("benchmarks.cpu", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--records", type=int, default=200_000, help="records of a run (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="turns (default: %(default)s)")
    options = parser.parse_args()
    gc.set_threshold(*GC_THRESHOLDS)
    print(f"{'':24}{'us':>8}{'bare':>8}{'of bare':>9}")
    for name in options.workloads or WORKLOADS:
        ours, bare = per_record(WORKLOADS[name], options.records, options.repeat)
        print(f"{name:24}{ours:8.3f}{bare:8.3f}{bare / ours:9.2f}", flush=True)


if __name__ == "__main__":
    install()
    main()
