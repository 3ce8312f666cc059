"""The work that flintstream does per record: bytecode instructions of its own code, counted, not timed.

    python -m benchmarks.work [WORKLOAD ...]

The programs of the workloads run on the inline engine, with few records and with more; the difference gives the cost of
a record. The user's functions and C code do not count. The figures are the same on every machine and in every run, so
that a test can check them (tests/benchmarks/test_work.py).
"""

from __future__ import annotations

import importlib
import math
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import flintstream
from benchmarks.workload import Run
from benchmarks.workloads import WORKLOADS
from flintstream.common._types.conversion import GENERATED
from flintstream.compat.pyflink import install
from flintstream.connectors.sink import Committer, Sink, SinkWriter
from flintstream.coordinator import pace
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.runtime import block_size
from flintstream.runtime.block_interrupter import BlockInterrupter
from flintstream.runtime.operators import source as source_operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.workload import Workload
    from flintstream.connectors.sink import WriterContext

OURS = (str(Path(flintstream.__file__).parent), GENERATED)
FEW, MORE = 6_000, 16_000
"""Enough that blocks have their full size."""


class Nowhere(Sink):
    """Drop all records."""

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that drops records."""
        return _Forgetting()

    def create_committer(self) -> Committer:
        """Return a committer that does nothing."""
        return _Idle()


class _Forgetting(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        pass

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        return ()


class _Idle(Committer):
    def commit(self, committables: Sequence[Any]) -> None:
        pass


class Counter:
    """Counter of the instructions that threads execute in functions of flintstream."""

    def __init__(self) -> None:
        self.instructions = 0

    def called(self, frame: Any, event: str, arg: Any) -> Any:
        """Choose the tracer of a call, as ``sys.settrace`` requires."""
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.stepped

    def stepped(self, frame: Any, event: str, arg: Any) -> Any:
        """Count an instruction."""
        if event == "opcode":
            self.instructions += 1
        return self.stepped


@contextmanager
def counting() -> Iterator[Counter]:
    """Count the instructions of threads that start inside the block."""
    counter = Counter()
    threading.settrace(counter.called)
    try:
        yield counter
    finally:
        threading.settrace(None)


@contextmanager
def without_clocks() -> Iterator[None]:
    """Run one epoch in which blocks grow to their full size, even on a slow machine."""
    with (
        patch.object(block_size, "FAST_SECONDS", math.inf),
        patch.object(block_size, "SLOW_RECORDS_PER_SECOND", 0),
        patch.object(BlockInterrupter, "begin", lambda _: None),
        patch.object(pace, "FIRST_RECORDS", None),
        patch.object(source_operator, "POLL_SECONDS", 0),
    ):
        yield


def environment(settings: dict[str, str]) -> StreamExecutionEnvironment:
    """Return an environment in which no action depends on the time that has passed."""
    endless = dict.fromkeys(("flintstream.epoch.max-duration", "flintstream.epoch.idle-duration"), str(10**9))
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline", **endless, **settings})
    env.set_parallelism(2)
    return env


def instructions(workload: Workload, records: int) -> int:
    """Return the number of instructions of a run of a workload."""
    with tempfile.TemporaryDirectory(prefix="work-") as directory:
        run = Run(workload.package, records, directory, workload.settings)
        prepare = getattr(importlib.import_module(f"benchmarks.workloads.{run.package}"), "prepare", None)
        if prepare is not None:
            prepare(run)
        env = environment({"pipeline.auto-watermark-interval": "1 h"})
        program: Any = importlib.import_module(f"benchmarks.workloads.{run.package}.pyflink")
        program.build(env, run).sink_to(Nowhere())
        with without_clocks(), counting() as counter:
            env.execute(workload.name)
        return counter.instructions


def per_record(workload: Workload) -> float:
    """Return the number of instructions per additional record."""
    instructions(workload, FEW)  # The first run of a process does more: it generates functions, too
    return (instructions(workload, MORE) - instructions(workload, FEW)) / (MORE - FEW)


def main() -> None:
    """Print a table."""
    for name in sys.argv[1:] or WORKLOADS:
        print(f"{name:24}{per_record(WORKLOADS[name]):10.1f}", flush=True)


if __name__ == "__main__":
    install()
    main()
