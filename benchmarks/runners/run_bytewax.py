"""Run a workload on Bytewax: two processes, an exchange between them.

``benchmarks.workloads.PACKAGE.bytewax.build(flow, run)`` returns a stream of tuples, which are written as results.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.workload import Run, line

if TYPE_CHECKING:
    from bytewax.dataflow import Dataflow

RUN = "BENCHMARK_RUN"


def flow() -> Dataflow:
    """Return the flow that the processes run."""
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.outputs import DynamicSink, StatelessSinkPartition

    class Lines(StatelessSinkPartition):
        def __init__(self, path: Path) -> None:
            self.file = path.open("w")

        def write_batch(self, items: list[tuple[object, ...]]) -> None:
            self.file.writelines(map(line, items))

        def close(self) -> None:
            self.file.close()

    class Sink(DynamicSink):
        def build(self, step_id: str, worker_index: int, worker_count: int) -> Lines:
            return Lines(Path(run.output, f"part-{worker_index}"))

    run = Run.from_json(os.environ[RUN])
    dataflow = Dataflow(run.package)
    module = importlib.import_module(f"benchmarks.workloads.{run.package}.bytewax")
    op.output("files", module.build(dataflow, run), Sink())
    return dataflow


def main() -> None:
    """Start both processes."""
    run = Run.from_json(sys.argv[1])
    command = [sys.executable, "-m", "bytewax.testing", "-p", "2", "-w", "1"]
    if run.settings.get("durable"):
        recovery = f"{run.directory}/recovery"
        Path(recovery).mkdir()
        subprocess.run([sys.executable, "-m", "bytewax.recovery", recovery, "2"], check=True)  # noqa: S603
        command += ["-r", recovery, "-s", "10", "-b", "0"]
    environment = {**os.environ, RUN: run.to_json()}
    subprocess.run([*command, "benchmarks.runners.run_bytewax:flow()"], check=True, env=environment)  # noqa: S603


if __name__ == "__main__":
    main()
