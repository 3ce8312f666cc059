"""``map_batches`` on flintstream, row by row on it, on Polars, on Daft and as a pandas function of PyFlink.

    python -m benchmarks.dataframe [--workloads copy,model] [--engines flintstream,daft] [--rows 2000000]
        [--texts 20000] [--flink-python PYTHON] [--daft-python PYTHON] [--venvs DIRECTORY]

``copy`` changes two of three columns from Parquet to Parquet; Polars does it by expressions. ``model`` rates texts with
the lexicon of vaderSentiment, a package that ships it. Each workload runs in a process of its own for each engine,
first on few rows, then on many. The figures are the difference, so they do not include the start. Results must be
equal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.dataframe.job import RUNNERS
from benchmarks.engines import ENGINES, REPOSITORY, python_of
from benchmarks.process import RunError, timed
from benchmarks.report import machine

_JOB = str(Path(__file__).with_name("job.py"))
_RESULTS = REPOSITORY / "benchmarks" / "results" / "dataframe.json"
_ON = {
    "flintstream": "flintstream",
    "flintstream-rows": "flintstream",
    "polars": "daft",
    "daft": "daft",
    "pyflink": "flink-process",
}
"""Whose interpreter each engine runs in."""
WORKLOADS = {"copy": ("flintstream", "flintstream-rows", "polars", "daft"), "model": ("flintstream", "daft", "pyflink")}
"""The engines that each workload runs on."""
_SLOW = {"flintstream-rows": 10}
"""How many times fewer rows an engine gets for the workload ``copy``."""
_TEXT = (
    "the service food room staff was is not very really great good bad awful slow kind warm cold and but never again "
    "love hate clean dirty loud quiet cheap expensive happy sad wonderful terrible ok fine best worst we they it"
)
"""Words of the texts that are rated."""


def write(directory: Path, rows: int, length: int) -> Path:
    """Write rows into two files of Parquet, once, and return their directory."""
    target = directory / f"{rows}-{length}"
    if not (target / ".ready").exists():
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
        target.mkdir(parents=True, exist_ok=True)
        rng = random.Random(rows)
        texts = [" ".join(rng.choices(_TEXT.split(), k=length)) for _ in range(10_000)]
        for part in range(2):
            ids = range(part, rows, 2)
            table = pa.table({"id": ids, "n": [i % 1000 for i in ids], "text": [texts[i % len(texts)] for i in ids]})
            pq.write_table(table, target / f"{part}.parquet", row_group_size=100_000)
        (target / ".ready").touch()
    return target


def measure(engine: str, workload: str, few: Path, many: Path, rows: int, python: str) -> dict[str, Any]:
    """Run a workload, and return its results, rate, and CPU per row.

    Raises:
        RunError: It fails.
    """
    start = ["-m", "flintstream.cli", "run", "--master", "local[2]"] if engine.startswith("flintstream") else []
    with tempfile.TemporaryDirectory(prefix="dataframe-", ignore_cleanup_errors=True) as directory:
        report = Path(directory, "report.json")
        command = [python, *start, _JOB, engine, workload, str(few), str(many), str(report)]
        variables = ENGINES[_ON[engine]].variables(python)
        models = os.environ.get("BENCHMARK_MODELS", "")
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [variables["PYTHONPATH"], models]))
        timed(command, variables, directory, 1200)
        found = json.loads(report.read_text())
    rate, cpu = rows / found["seconds"], found["cpu"] / rows * 1e6
    return {"found": found["found"], "rows_per_second": round(rate), "cpu_us_per_row": round(cpu, 2), "rows": rows}


def main() -> None:
    """Measure, print and keep the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.dataframe", description="DataFrames beside other libraries.")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--engines", default=",".join(RUNNERS))
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--flink-python", default=os.environ.get("BENCHMARK_FLINK_PYTHON"))
    parser.add_argument("--daft-python", default=os.environ.get("BENCHMARK_DAFT_PYTHON"))
    parser.add_argument("--venvs", type=Path, default=REPOSITORY / "build" / "benchmark-venvs")
    parser.add_argument("--circumstances", default="nothing else on the machine", help="what else was on the machine")
    options = parser.parse_args()
    given = {"flink": options.flink_python, "daft": options.daft_python}
    data = REPOSITORY / "build" / "dataframe"
    outcomes: dict[str, dict[str, Any]] = {}
    for workload in options.workloads.split(","):
        for engine in (item for item in WORKLOADS[workload] if item in options.engines.split(",")):
            many = options.texts if workload == "model" else options.rows // _SLOW.get(engine, 1)
            few = many // 10
            sources = [write(data, rows, 12 if workload == "model" else 2) for rows in (few, many)]
            python = python_of(ENGINES[_ON[engine]], given, options.venvs)
            try:
                found = measure(engine, workload, sources[0], sources[1], many - few, python)
            except RunError as error:
                found = {"problem": str(error)[-1500:]}
            outcomes.setdefault(workload, {})[engine] = found
            print(workload, engine, found, flush=True)
        results: dict[int, set[str]] = {
            found["rows"]: set() for found in outcomes[workload].values() if "rows" in found
        }
        for found in outcomes[workload].values():
            if "rows" in found:
                results[found["rows"]].add(json.dumps(found["found"]))
        if any(len(different) > 1 for different in results.values()):
            sys.exit(f"the results of {workload} differ")
    if options.workloads.split(",") == [*WORKLOADS] and options.engines.split(",") == [*RUNNERS]:
        content = {"machine": machine(), "circumstances": options.circumstances, "outcomes": outcomes}
        _RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
