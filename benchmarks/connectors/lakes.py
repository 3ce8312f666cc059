"""Rows per second into tables of Delta Lake and Iceberg, beside the bare libraries with the same rows and commits.

    python -m benchmarks.connectors.lakes [--records N] [--save NAME]

A row is a number and a text, made in Python. flintstream commits with each checkpoint, every two seconds; a short job
runs first, so that imports and the start of Spark do not count. The bare library then appends the same rows in as many
commits, in one process. Each run writes to a new table, and counts only if the table has all rows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import deltalake
import pyarrow as pa
from pyiceberg.catalog import load_catalog

from flintstream.common import WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.connectors.lakes import DeltaSink, IcebergSink
from flintstream.table import DataTypes

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

RESULTS = Path(__file__).parents[1] / "results"
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
ROW = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
ENGINES = ("inline", "spark")
WARM = 10_000
"""Rows of the job that runs first."""


def to_row(number: int) -> tuple[int, str]:
    """Return the row of a number."""
    return number, f"the name of number {number}"


def catalog_of(directory: Path) -> dict[str, str]:
    """Return the properties of a catalog below a directory."""
    return {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": directory.as_uri()}


def loaded(directory: Path) -> Catalog:
    """Return the catalog."""
    return load_catalog("default", **catalog_of(directory))


def count(kind: str, directory: Path) -> tuple[int, int]:
    """Return the rows of a table, and the commits that have added some."""
    if kind == "delta":
        delta = deltalake.DeltaTable(str(directory))
        return delta.count(), delta.version()
    table = loaded(directory).load_table("shop.t")
    return table.scan().count(), len(table.snapshots())


def flintstream(kind: str, engine: str, directory: Path, records: int) -> float:
    """Write rows by a job, and return the seconds."""
    settings = {
        "flintstream.engine": engine,
        "execution.checkpointing.interval": "2 s",
        "execution.checkpointing.dir": (directory / "checkpoints").as_uri(),
    }
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    place = directory / "table"
    place.mkdir()
    numbers = NumberSequenceSource(0, records - 1)
    rows = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers").map(to_row)
    sink = DeltaSink(str(place), ROW) if kind == "delta" else IcebergSink("shop.t", ROW, catalog_of(place))
    rows.sink_to(sink)
    begun = time.perf_counter()
    env.execute(kind)
    return time.perf_counter() - begun


def bare(kind: str, directory: Path, records: int, commits: int) -> float:
    """Append the same rows with the library alone, and return the seconds."""
    place = directory / "table"
    place.mkdir()
    if kind == "delta":
        deltalake.DeltaTable.create(str(place), deltalake.Schema.from_arrow(SCHEMA))
    else:
        loaded(place).create_namespace("shop")
        table = loaded(place).create_table("shop.t", SCHEMA)
    begun = time.perf_counter()
    for number in range(commits):
        rows = map(to_row, range(records * number // commits, records * (number + 1) // commits))
        batch = pa.table(dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True)), schema=SCHEMA)
        if kind == "delta":
            deltalake.write_deltalake(str(place), batch, mode="append")
        else:
            table.append(batch)
    return time.perf_counter() - begun


def measure(kind: str, engine: str, records: int, commits: int) -> dict[str, object]:
    """Run once into a new table, and return what was measured."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        if engine == "bare":
            seconds = bare(kind, directory, records, commits)
        else:
            seconds = flintstream(kind, engine, directory, records)
        found, made = count(kind, directory / "table")
    if found != records:
        raise SystemExit(f"{kind} by {engine}: the table has {found} rows of {records}")
    rate = round(records / seconds)
    print(f"{kind:8} {engine:8} {rate:>9,} rows/s, {made} commits, load {load:.1f} at the start", flush=True)
    return {"table": kind, "engine": engine, "rows_per_second": rate, "commits": made, "load": round(load, 1)}


def main() -> None:
    """Measure each engine with each kind of table, and save the results."""
    parser = argparse.ArgumentParser("benchmarks.connectors.lakes", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--save", metavar="NAME", help="write results/NAME.json")
    options = parser.parse_args()
    found: list[dict[str, object]] = []
    for kind in ("delta", "iceberg"):
        for engine in ENGINES:
            with tempfile.TemporaryDirectory() as name:
                flintstream(kind, engine, Path(name), WARM)
            found.append(measure(kind, engine, options.records, 0))
        commits = int(str(found[-1]["commits"]))
        found.append(measure(kind, "bare", options.records, commits))
    if options.save:
        about = {"records": options.records, "cores": os.cpu_count(), "python": platform.python_version()}
        text = json.dumps({**about, "runs": found}, indent=2)
        (RESULTS / f"{options.save}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
