"""From numbers through keyed state into Delta Lake and Iceberg, while processes are killed."""

from __future__ import annotations

import random

import pytest
from tests.faults.counting import check
from tests.faults.rounds import Course, Round, run_round

RECORDS = 240
KEYS = 6

PROGRAM = """
import sys, time
from pathlib import Path
from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.table import DataTypes
from flintstream.datastream.connectors.lakes import DeltaSink, IcebergSink

output, count = sys.argv[1], int(sys.argv[2])
Path(output, "iceberg").mkdir(parents=True, exist_ok=True)
counted = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("seen", DataTypes.BIGINT())])


class Count(KeyedProcessFunction):
    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, context):
        seen = (self.seen.value() or 0) + 1
        self.seen.update(seen)
        yield value, seen


def slow(n):
    time.sleep(0.01)
    return n


env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
numbers = env.from_source(NumberSequenceSource(0, count - 1), WatermarkStrategy.no_watermarks(), "numbers")
numbers = numbers.map(slow, output_type=Types.LONG())
rows = numbers.key_by(lambda n: n % 6, key_type=Types.INT()).process(Count())
rows.sink_to(DeltaSink(output + "/delta", counted)).uid("delta")
catalog = {"type": "sql", "uri": f"sqlite:///{output}/iceberg/catalog.db", "warehouse": f"file://{output}/iceberg"}
rows.sink_to(IcebergSink("shop.t", counted, catalog)).uid("iceberg")
env.execute("counting")
Path("over").touch()
while not Path("last-kill").exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""


class LakesCourse(Course):
    """Count numbers into both tables, which DuckDB reads."""

    program = PROGRAM
    seconds = 600
    engine: str | None = None

    @property
    def _records(self) -> int:
        return RECORDS * self.plan.size

    def _arguments(self) -> list[str]:
        return [str(self._records)]

    def _settings(self):
        settings = dict(super()._settings())
        if self.engine is not None:
            settings["flintstream.engine"] = self.engine
        return settings

    def _present(self):
        """Return the versions of one table, except the first one, which is empty: a sign of life."""
        versions = (self.directory / "output").glob("delta/_delta_log/*[1-9]*.json")
        return {path: path.stat().st_size for path in versions}

    def _check(self) -> None:
        from tests.connectors.lakes.tables import Delta, Iceberg

        for table in (Delta(self.directory / "output" / "delta"), Iceberg(self.directory / "output" / "iceberg")):
            check(table.rows("n, seen"), self._records, KEYS)


class InlineCourse(LakesCourse):
    """Without Spark, which takes most of the time from a start to the first commit."""

    engine = "inline"


@pytest.mark.kills
@pytest.mark.timeout(300)
def test_records_are_in_tables_once_although_the_driver_is_killed():
    pytest.importorskip("deltalake")
    pytest.importorskip("pyiceberg")
    plan = Round(3, "local", "hashmap", False, (("driver", 0.3),), (2, 1))
    assert run_round(plan, kind=InlineCourse) == {"driver": 1}


@pytest.mark.kills
@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_records_are_in_tables_once_although_several_drivers_are_killed(seed):
    plan = Round(seed, "local", "hashmap", False, (("driver", 0.2), ("driver", 0.4)), (2, 1, 2))
    assert run_round(plan, kind=InlineCourse) == {"driver": 2}


@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_records_are_in_tables_once_whatever_is_killed():
    plan = Round(4, "local", "rocksdb", True, (("worker", 0.3), ("tree", 0.5)), (2, 1, 2))
    assert run_round(plan, kind=LakesCourse) == {"worker": 1, "tree": 1}


@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("place", "victim"), [("cluster", "executor"), ("cluster", "worker"), ("local", "driver")])
@pytest.mark.parametrize("seed", range(4))
def test_records_are_in_tables_once_although_processes_of_spark_are_killed(place, victim, seed):
    """Five kills each, at any time between two commits or within one: twenty of each process in all.

    Drivers have Spark in their own process, which starts sooner than a cluster after each kill.
    """
    rng = random.Random(seed)
    kills = tuple((victim, rng.uniform(0, 0.6)) for _ in range(5))
    plan = Round(seed, place, "rocksdb" if seed % 2 else "hashmap", seed % 2 == 1, kills, (2, 1, 3))
    assert run_round(plan, kind=LakesCourse)[victim] == 5
