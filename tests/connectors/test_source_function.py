"""Source functions: their records, the order, and the position at which they continue."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.connectors.kafka.jobs import checkpointed
from tests.datastream.inline import make_env, move_every_epoch
from tests.engine.faults import Faults, FaultyMap, Ledger, ledger_numbers

from flintstream.common import Types
from flintstream.connectors.function_source import FunctionInput, FunctionReader
from flintstream.connectors.source import Fetch
from flintstream.datastream.functions import ProcessFunction, SourceFunction
from flintstream.errors import PlanError

EXAMPLE = Path(__file__).parents[2] / "examples" / "source_function.py"


class Plain(SourceFunction):
    def __init__(self, count, parallel=False):
        self.count = count
        self.parallel = parallel

    def run(self, ctx):
        for number in range(ctx.index, self.count, ctx.count):
            ctx.collect(number)


class Counting(Plain):
    """Continue from the stored position."""

    next = None

    def run(self, ctx):
        if self.next is None:
            self.next = ctx.index
        while self.next < self.count:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += ctx.count
            if self.next % 100 < ctx.count:
                time.sleep(0.002)

    def snapshot_state(self):
        return self.next

    def restore_state(self, state):
        self.next = state


def read(env, function):
    with env.add_source(function).execute_and_collect() as found:
        return list(found)


@pytest.mark.parametrize("kind", [Plain, Counting])
def test_records_are_read_in_the_order_in_which_they_are_collected(kind):
    assert read(make_env(), kind(25_000)) == list(range(25_000))


@pytest.mark.parametrize("kind", [Plain, Counting])
def test_a_function_runs_once_unless_it_is_parallel(kind):
    assert read(make_env(parallelism=3), kind(1000)) == list(range(1000))
    assert sorted(read(make_env(parallelism=3), kind(1000, parallel=True))) == list(range(1000))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_a_function_with_state_loses_and_repeats_nothing(tmp_path, parallelism):
    faults = Faults(tmp_path / "faults", [("map", 700), ("map", 1500), ("map", 2900)])
    env = checkpointed(tmp_path, parallelism)
    stream = env.add_source(Counting(3000, parallel=True)).map(FaultyMap(faults))
    stream.sink_to(Ledger(tmp_path / "ledger", Faults(tmp_path / "none")))
    env.execute()
    assert faults.happened() == {(point, str(number)) for point, number in faults.plan}
    assert ledger_numbers(tmp_path / "ledger") == list(range(3000))


def test_a_function_with_state_goes_on_in_another_process(monkeypatch):
    move_every_epoch(monkeypatch)
    assert read(make_env(settings={"flintstream.epoch.idle-duration": "5"}), Counting(3000)) == list(range(3000))


class Timed(SourceFunction):
    def run(self, ctx):
        for number in (1, 2, 3):
            ctx.collect_with_timestamp(number, 10 * number)
            ctx.emit_watermark(10 * number)
        ctx.emit_watermark(5)  # lower than before: no effect
        ctx.collect_with_timestamp(4, 20)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_timestamps_and_watermarks_are_those_of_the_function():
    with make_env().add_source(Timed()).process(Times()).execute_and_collect() as found:
        lowest = -(2**63)
        assert list(found) == [(1, 10, lowest), (2, 20, 10), (3, 30, 20), (4, 20, 30)]


class Endless(SourceFunction):
    ended = threading.Event()

    def __init__(self):
        self.running = True

    def run(self, ctx):
        while self.running:
            ctx.collect("again")
        Endless.ended.set()

    def cancel(self):
        self.running = False


def test_a_function_is_cancelled_with_its_job_and_waits_while_nobody_reads():
    reader: Any = FunctionReader(source := FunctionInput(Endless()))
    reader.open(None)
    (split,) = source.create_enumerator(1).discover()
    assert set(next(reader.read(split, Fetch()))) == {"again"}
    time.sleep(0.05)
    assert sum(map(len, reader._runs["0"]._context._batches)) <= 10_000
    reader.close()
    assert not reader._runs
    stream = make_env().add_source(Endless())
    assert stream.execute_and_collect(limit=5) == ["again"] * 5


class Failing(SourceFunction):
    def run(self, ctx):
        ctx.collect(1)
        raise ValueError("the sensor is broken")


def test_what_a_function_raises_fails_the_job():
    with pytest.raises(ValueError, match="the sensor is broken"):
        read(make_env(), Failing())


class Careless(Counting):
    def run(self, ctx):
        ctx.collect(1)


class Forgetful(Plain):
    def snapshot_state(self):
        return 1


def test_state_needs_the_lock_and_both_methods():
    with pytest.raises(PlanError, match=r"must hold the lock .* ctx.get_checkpoint_lock\(\)"):
        read(make_env(), Careless(1))
    with pytest.raises(PlanError, match=r"Forgetful must define both snapshot_state\(\) and restore_state\(\)"):
        make_env().add_source(Forgetful(1))


def test_anything_else_is_no_source():
    with pytest.raises(TypeError, match=r"add_source\(\) needs a SourceFunction or a Source, but got str"):
        make_env().add_source("numbers", type_info=Types.STRING())


def test_the_example_runs(tmp_path):
    command = [sys.executable, "-m", "flintstream.cli", "run", "-p", "2", "-Dflintstream.engine=inline", str(EXAMPLE)]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "--readings", "20"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=EXAMPLE.parents[1] / "src",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sum("(" in line for line in lines) == 200
    assert {line[line.index("(") :] for line in lines if line.endswith(",24)")} == {f"({n},24)" for n in range(10)}
