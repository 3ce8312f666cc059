"""A job writes to each system, or reads it, on Spark, while its processes are killed."""

from __future__ import annotations

import json
import random
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from tests.connectors.guarantees.programs import SINKS
from tests.connectors.guarantees.systems import SYSTEMS, System
from tests.faults.counting import check, counted
from tests.faults.rounds import Course, Round, run_round

RECORDS = 400
KEYS = 8

HEAD = """
import json, sys, time
from pathlib import Path
from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from tests.connectors.guarantees.programs import SINKS, SOURCES
from tests.faults.counting import Count

output, name, given, records, keys = sys.argv[1:3] + [json.loads(text) for text in sys.argv[3:]]
last_kill = Path("last-kill").absolute()


def slow(number):
    if not last_kill.exists():
        time.sleep(0.01)
    return int(number)


def committed():
    files = (path for path in Path(output).rglob("*") if path.is_file() and not path.name.startswith("."))
    return sum(len(path.read_text().splitlines()) for path in files)


files = FileSink.for_row_format(output, Encoder.simple_string_encoder())
files = files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
"""
WRITING = """
numbers = env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers")
"""
READING = """
numbers = SOURCES[name](env, given)
"""
COUNTED = """
keyed = numbers.map(slow, output_type=Types.LONG()).key_by(lambda number: number % keys, key_type=Types.INT())
counts = keyed.process(Count(), output_type=Types.STRING())
counts.sink_to(files)
"""
TAIL = """
client = env.execute_async("counting")
if not reading:
    client.get_job_execution_result().result()
else:  # the source has no end
    while committed() < records and not client.get_job_status().result().is_globally_terminal_state():
        time.sleep(0.05)
    client.cancel().result()
Path("over").touch()
while not last_kill.exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""


class Connected(Course):
    """Numbers are counted by key, into files and into a system, or from it."""

    seconds = 600

    def __init__(self, *args: Any, name: str, system: System, reads: bool = False) -> None:
        super().__init__(*args)
        self.name, self.system, self.reads = name, system, reads
        middle = READING + COUNTED if reads else WRITING + COUNTED + "SINKS[name](counts, given)\n"
        self.program = f"{HEAD}reading = {reads}\n{middle}{TAIL}"

    @property
    def _records(self) -> int:
        return RECORDS * self.plan.size

    def _arguments(self) -> list[str]:
        given = self.system.settings(self.system.port) | {"batch": 20}
        return [self.name, json.dumps(given), str(self._records), str(KEYS)]

    def _check(self) -> None:
        check(counted(line for path in self.files for line in path.read_text().splitlines()), self._records, KEYS)
        if self.reads:
            return
        found = counted(self.system.texts())
        if self.system.once:
            check(found, self._records, KEYS)
        else:
            assert {number for number, _ in found} == set(range(self._records))


def plan_of(victim: str, seed: int, kills: int) -> Round:
    rng = random.Random(seed)
    place = "cluster" if victim == "executor" else "local"
    chosen = tuple((victim, rng.uniform(0, 0.6)) for _ in range(kills))
    return Round(seed, place, "rocksdb" if seed % 2 else "hashmap", seed % 2 == 1, chosen, (2, 1, 3))


def run(name, victim, seed, kills, directory, reads=False):
    plan = plan_of(victim, seed, kills)
    with closing(SYSTEMS[name](directory / "server")) as system:
        if reads:
            system.fill([str(number) for number in range(RECORDS * plan.size)])
        said: list[str] = []
        killed = run_round(plan, said.append, kind=partial(Connected, name=name, system=system, reads=reads))
    assert killed[victim] == kills, said


@pytest.mark.kills
@pytest.mark.nightly
@pytest.mark.server
@pytest.mark.spark
@pytest.mark.timeout(700)
@pytest.mark.parametrize("victim", ["worker", "driver", "executor"])
@pytest.mark.parametrize("name", SINKS)
def test_a_sink_has_all_records_although_processes_are_killed(name, victim, tmp_path):
    run(name, victim, 1, 3, tmp_path)


@pytest.mark.kills
@pytest.mark.nightly
@pytest.mark.server
@pytest.mark.spark
@pytest.mark.timeout(700)
@pytest.mark.parametrize("victim", ["worker", "driver", "executor"])
@pytest.mark.parametrize("name", ["kinesis", "pulsar", "mongodb"])  # RabbitMQ has a test with ids
def test_a_source_reads_each_record_once_although_processes_are_killed(name, victim, tmp_path):
    run(name, victim, 2, 3, tmp_path, reads=True)


@pytest.mark.kills
@pytest.mark.nightly
@pytest.mark.server
@pytest.mark.spark
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("victim", ["worker", "driver", "executor"])
@pytest.mark.parametrize("seed", range(2))
def test_the_log_of_cassandra_writes_once_although_processes_are_killed_again_and_again(victim, seed, tmp_path):
    run("cassandra-log", victim, seed, 10, tmp_path)
