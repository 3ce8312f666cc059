"""Run a workload on Pathway: one process with two threads, which the engine uses; all Python runs in one at a time.

``benchmarks.workloads.PACKAGE.pathway.build(run)`` returns tables, whose rows are written as results. A row that is
withdrawn is written, too, with a minus: then the results are wrong.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.workload import Run, line

os.environ["PATHWAY_THREADS"] = "2"


def main() -> None:
    """Run the tables until their input has been read."""
    import pathway as pw

    run = Run.from_json(sys.argv[1])
    module = importlib.import_module(f"benchmarks.workloads.{run.package}.pathway")
    with Path(run.output, "part").open("w") as file:

        def on_change(key: object, row: dict[str, Any], time: int, is_addition: bool) -> None:  # noqa: ARG001
            file.write(("" if is_addition else "-") + line(tuple(row.values())))

        for table in module.build(run):
            pw.io.subscribe(table, on_change=on_change)
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main()
