"""Run the user functions of a workload in two Python processes, without an exchange."""

from __future__ import annotations

import importlib
import sys
from multiprocessing import Process
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.workload import Run, line

if TYPE_CHECKING:
    from collections.abc import Callable


def subtask(number: int, run: Run) -> None:
    """Run one of the two processes."""
    module = importlib.import_module(f"benchmarks.workloads.{run.package}.bare")
    with Path(run.output, f"part-{number}").open("w") as file:
        file.writelines(map(line, module.subtask(number, run)))


def run_both(function: Callable[[int, Run], None], run: Run) -> None:
    """Run a function in two processes, with the number of each; also end this process if one fails."""
    processes = [Process(target=function, args=(number, run)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit(1)


if __name__ == "__main__":
    run_both(subtask, Run.from_json(sys.argv[1]))
