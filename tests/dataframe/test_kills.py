"""From Parquet through ``map_batches`` into Parquet, each row once, while drivers are killed."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.faults.rounds import VICTIMS, Course, Round, RoundError, run_round

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.kills

BATCH = 7
ROWS_PER_KILL = 700

PROGRAM = """
import sys, time
from pathlib import Path
import pyarrow as pa
import pyarrow.compute as pc
import pyflink.dataframe as pf

output, given = sys.argv[1:3]


class Model:
    def __init__(self):
        self.hurry = Path("last-kill").absolute()

    def __call__(self, batch):
        time.sleep(0 if self.hurry.exists() else 0.02)
        doubled = pc.multiply(batch["id"], 2)
        return {"id": batch["id"], "doubled": doubled, "text": batch["text"], "at": batch["at"]}


schema = {"id": pf.DataType.int64(), "text": pf.DataType.string(), "at": pf.DataType.timestamp(3)}
made = pf.read_parquet(given, schema=schema).map_batches(
    Model,
    return_dtype="ROW<id BIGINT, doubled BIGINT, text STRING, `at` TIMESTAMP(3)>",
    batch_format="pyarrow",
    batch_size=BATCH,
)
made.write_parquet(output)
Path("over").touch()
while not Path("last-kill").exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
""".replace("BATCH", str(BATCH))


class BatchesCourse(Course):
    """A job of batches and its kills."""

    program = PROGRAM
    arrow_batches = "true"
    rows_per_kill = ROWS_PER_KILL

    def _start(self) -> None:
        given = self.directory / "given"
        if not given.exists():
            given.mkdir()
            self._write(given)
        super()._start()

    def _write(self, given: Path) -> None:
        """Write files whose row groups are no multiples of batches."""
        for number in range(3):
            ids = range(number, self._records, 3)
            times = pa.array(ids, pa.timestamp("ms"))
            table = pa.table({"id": ids, "text": [None if i % 10 == 0 else f"t{i}" for i in ids], "at": times})
            pq.write_table(table, given / f"{number}.parquet", row_group_size=45)

    @property
    def _records(self) -> int:
        return self.rows_per_kill * (1 + len(self.plan.kills))

    def _arguments(self) -> list[str]:
        return [str(self.directory / "given")]

    def _settings(self) -> dict[str, str]:
        settings = dict(super()._settings())
        settings["flintstream.table.arrow-batches"] = self.arrow_batches
        if all(victim == "driver" for victim, _ in self.plan.kills):
            settings["flintstream.engine"] = "inline"
        return settings

    def _check(self) -> None:
        found: Counter[tuple[object, ...]] = Counter()
        for path in self.files:
            found.update(tuple(row.values()) for row in pq.read_table(path).to_pylist())
        wanted: Counter[tuple[object, ...]] = Counter(
            (i, 2 * i, None if i % 10 == 0 else f"t{i}", datetime(1970, 1, 1) + timedelta(milliseconds=i))
            for i in range(self._records)
        )
        if found != wanted:
            raise RoundError(
                f"missing {sorted((wanted - found).items())[:3]}, added {sorted((found - wanted).items())[:3]}"
            )


class RowsCourse(BatchesCourse):
    """The same job row by row."""

    arrow_batches = "false"


class TableCourse(BatchesCourse):
    """The same job with a table of Arrow in memory, of which a checkpoint may hold batches that wait."""

    program = PROGRAM.replace("pf.read_parquet(given, schema=schema)", "pf.from_arrow(pq.read_table(given))").replace(
        "import pyarrow.compute as pc", "import pyarrow.compute as pc\nimport pyarrow.parquet as pq"
    )


class SparkCourse(BatchesCourse):
    """The same job on Spark, which starts slowly: it needs more rows to outlive its kills."""

    rows_per_kill = 1500


def plan_of(seed: int, kills: int) -> Round:
    rng = random.Random(seed)
    moments = tuple(("driver", rng.uniform(0, 0.8)) for _ in range(kills))
    return Round(seed, "local", "hashmap", False, moments, (2, 1, 3))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("course", [BatchesCourse, RowsCourse, TableCourse])
def test_rows_are_in_files_once_although_the_driver_is_killed_twice(course):
    assert run_round(plan_of(1, 2), kind=course) == {"driver": 2}


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_in_files_once_although_the_driver_is_killed_twenty_times(seed):
    assert run_round(plan_of(seed, 20), kind=BatchesCourse) == {"driver": 20}


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_rows_are_in_files_once_whatever_is_killed():
    plan = Round(4, "local", "hashmap", False, (("worker", 0.3), ("tree", 0.5)), (2, 1, 2))
    assert run_round(plan, kind=BatchesCourse) == {"worker": 1, "tree": 1}


def plan_on_spark(seed: int, place: str, kills: int) -> Round:
    """Return kills of everything that a job on Spark has, in the order of a seed."""
    rng = random.Random(seed)
    kinds = [kind for kind in VICTIMS[place] if kind != "daemon"]
    moments = tuple((kinds[number % len(kinds)], rng.uniform(0, 0.8)) for number in range(kills))
    return Round(seed, place, "hashmap", False, tuple(rng.sample(moments, kills)), (2, 1, 3))


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(2100)
@pytest.mark.parametrize("place", ["local", "cluster"])
def test_rows_are_in_files_once_although_processes_of_spark_are_killed_twenty_times(place):
    killed = run_round(plan_on_spark(5, place, 20), kind=SparkCourse)
    assert sum(killed.values()) >= 15, f"too few of 20 kills hit a process: {killed}"
