"""Each record appears in the output once, whatever fails: tasks, workers, commits, the driver."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.engine.faults import (
    Faults,
    FaultyMap,
    Ledger,
    SyncingSink,
    bulk_files,
    files,
    finished,
    ledger_numbers,
    unfinished,
)
from tests.engine.sources import PacedSource
from tests.waiting import wait_for, wait_for_numbers

from flintstream.common import WatermarkStrategy
from flintstream.coordinator import program as coordinator_program
from flintstream.datastream.connectors.file_system import RollingPolicy
from flintstream.errors import CheckpointError, CommitError

pytestmark = pytest.mark.slow

NUMBERS = 60
EVERYTHING = list(range(NUMBERS))
PATHS = os.pathsep.join(str(Path(__file__).parents[2] / name) for name in ("", "src"))
POLICIES = {
    "small files": RollingPolicy.default_rolling_policy(part_size=20),
    "large files": RollingPolicy.default_rolling_policy(),
    "files of a checkpoint": RollingPolicy.on_checkpoint_rolling_policy(),
    "bulk": None,
}


def on_both(name, inline, spark):
    """Run a test with many values on the fast engine, and with one on Spark."""
    pairs = [("inline", value) for value in inline] + [pytest.param("spark", spark, marks=pytest.mark.spark)]
    return pytest.mark.parametrize(("make_env", name), pairs, indirect=["make_env"])


def settings(tmp_path, attempts=30, **more):
    return {
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "flintstream.epoch.idle-duration": "15",
        "flintstream.epoch.max-duration": "30",  # several epochs between two checkpoints
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(attempts),
        "restart-strategy.fixed-delay.delay": "1 ms",
        **more,
    }


def program(env, sink, faults, name="numbers", limit=NUMBERS, hold=None):
    source = PacedSource(limit, 0.005, hold)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), name).uid(name)
    numbers.rebalance().map(FaultyMap(faults)).uid(f"map {name}").sink_to(sink).uid(f"sink of {name}")


def program_of_files(env, base, faults):
    program(env, files(base, POLICIES["small files"]), faults, "numbers for files")


class Reader:
    """Look at the finished files all the time, as any reader may."""

    def __init__(self, base):
        self.base = base
        self.seen = []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.done.wait(0.002):
            self.seen.append(finished(self.base))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def assert_files_hold(base, numbers):
    found = finished(base)
    assert sorted(n for content in found.values() for n in content) == numbers
    assert unfinished(base) == []
    return found


@pytest.mark.on_spark
@on_both("policy", POLICIES, "small files")
def test_each_record_is_in_one_file_although_the_job_fails(make_env, tmp_path, policy):
    faults = Faults.at_random(tmp_path / "faults", policy, NUMBERS, 5, ["map"])
    env = make_env(3, settings(tmp_path))
    sink = bulk_files(tmp_path / "out") if policy == "bulk" else files(tmp_path / "out", POLICIES[policy])
    program(env, sink, faults)
    with Reader(tmp_path / "out") as reader:
        result = env.execute()
    assert faults.happened() == faults.planned()
    numbers = result.get_all_accumulator_results()
    assert numbers["numRestarts"] > 0
    found = assert_files_hold(tmp_path / "out", EVERYTHING)
    assert all(found[name] == content for seen in reader.seen for name, content in seen.items())
    if policy == "large files":
        assert len(found) == 3, "one for each writer, over all failures"
    else:
        assert any(0 < len(seen) < len(found) for seen in reader.seen), "all files appeared at the end"


@pytest.mark.on_spark
@on_both("seed", range(3), 7)
def test_each_record_is_in_the_other_system_once_although_the_job_fails(make_env, tmp_path, seed):
    faults = Faults.at_random(tmp_path / "faults", seed, NUMBERS, 8)
    env = make_env(2, settings(tmp_path))
    program(env, Ledger(tmp_path / "ledger", faults), faults)
    env.execute()
    assert faults.happened() == faults.planned()
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING


@pytest.mark.on_spark
@on_both("parallelism", [1, 3, 5], 2)
def test_each_record_is_in_one_file_although_the_job_goes_on_with_another_parallelism(make_env, tmp_path, parallelism):
    policy = POLICIES["large files"]
    env = make_env(3, settings(tmp_path))
    program(env, files(tmp_path / "out", policy), Faults(tmp_path / "faults"), hold=tmp_path / "never")
    client = env.execute_async()
    wait_for_numbers(client, numRecordsOut=21)
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    assert len(finished(tmp_path / "out")) == 3
    assert unfinished(tmp_path / "out") == []
    faults = Faults(tmp_path / "faults", [("map", NUMBERS - 1), ("map", NUMBERS - 2)])
    env = make_env(parallelism, settings(tmp_path, **{"execution.state-recovery.path": path}))
    program(env, files(tmp_path / "out", policy), faults)
    env.execute()
    assert faults.happened() == faults.planned()
    assert_files_hold(tmp_path / "out", EVERYTHING)


@on_both("parallelism", [1, 3], 1)
def test_each_record_is_in_the_other_system_once_although_the_job_goes_on_with_another_parallelism(
    make_env, tmp_path, parallelism
):
    env = make_env(2, settings(tmp_path, **{"execution.checkpointing.interval": "10 min"}))
    ledger, faults = Ledger(tmp_path / "ledger", Faults(tmp_path / "faults")), Faults(tmp_path / "faults")
    program(env, ledger, faults, hold=tmp_path / "never")
    client = env.execute_async()
    wait_for_numbers(client, numRecordsOut=21)
    client.trigger_savepoint(str(tmp_path / "savepoints")).result()
    assert ledger_numbers(tmp_path / "ledger") == [], "a savepoint that the job outlives commits nothing"
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    before = ledger_numbers(tmp_path / "ledger")
    assert 20 < len(before) < NUMBERS
    env = make_env(parallelism, settings(tmp_path, **{"execution.state-recovery.path": path}))
    program(env, Ledger(tmp_path / "ledger", Faults(tmp_path / "faults")), Faults(tmp_path / "faults"))
    env.execute()
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING


@pytest.mark.slow
@on_both("policy", ["small files", "large files", "bulk"], "large files")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_job_that_starts_from_a_savepoint_leaves_alone_what_the_other_goes_on_to_write(
    make_env, tmp_path, policy, elsewhere
):
    def start(base, **more):
        env = make_env(2, settings(tmp_path, 0, **more))
        sink = bulk_files(base) if policy == "bulk" else files(base, POLICIES[policy])
        program(env, sink, Faults(tmp_path / "faults"), limit=300, hold=tmp_path / "go on")
        return env.execute_async()

    everything, out = list(range(300)), tmp_path / "out"
    other = tmp_path / "elsewhere" if elsewhere else out
    first = start(out)
    wait_for_numbers(first, numRecordsOut=21)
    path = first.trigger_savepoint(str(tmp_path / "savepoints")).result()
    at_savepoint = [set(content) for content in finished(out).values()]
    second = start(other, **{"execution.state-recovery.path": path})
    (tmp_path / "go on").touch()
    for client in (first, second):
        client.get_job_execution_result().result()
    assert unfinished(out) == unfinished(other) == []
    numbers = sorted(n for content in finished(out).values() for n in content)
    assert sorted(set(numbers)) == everything
    if not elsewhere:  # both write the output that follows the savepoint
        assert all(numbers.count(n) == 1 for content in at_savepoint for n in content)
        assert numbers.count(299) == 2
        return
    assert numbers == everything
    rest = sorted(n for content in finished(other).values() for n in content)
    assert rest == everything[-len(rest) :]
    assert len(rest) <= 300 - 20


def test_what_has_ended_before_a_failure_stays_as_it_is(make_inline_env, tmp_path):
    faults = Faults(tmp_path / "faults", [("map", 40), ("map", 50)])
    env = make_inline_env(2, settings(tmp_path))
    ends_early = files(tmp_path / "early", POLICIES["large files"])
    program(env, ends_early, faults, "early", 15)
    program(env, Ledger(tmp_path / "ledger of early", faults), faults, "also early", 15)
    program(env, files(tmp_path / "out", POLICIES["large files"]), faults)
    alone = env.from_source(PacedSource(NUMBERS, 0.005), WatermarkStrategy.no_watermarks(), "in one subtask")
    alone.sink_to(files(tmp_path / "alone", POLICIES["large files"]))
    env.execute()
    assert faults.happened() == faults.planned()
    assert_files_hold(tmp_path / "early", EVERYTHING[:15])
    assert ledger_numbers(tmp_path / "ledger of early") == EVERYTHING[:15]
    assert_files_hold(tmp_path / "out", EVERYTHING)
    assert_files_hold(tmp_path / "alone", EVERYTHING)


@pytest.mark.parametrize("bulk", [False, True])
def test_files_end_with_checkpoints_and_not_with_epochs(make_inline_env, tmp_path, bulk):
    env = make_inline_env(1, settings(tmp_path, **{"execution.checkpointing.interval": "10 min"}))
    sink = bulk_files(tmp_path / "out") if bulk else files(tmp_path / "out", POLICIES["files of a checkpoint"])
    program(env, sink, Faults(tmp_path / "faults"))
    env.execute()
    assert len(assert_files_hold(tmp_path / "out", EVERYTHING)) == 1


def test_files_end_with_epochs_where_there_are_no_checkpoints(make_inline_env, tmp_path):
    env = make_inline_env(1, {"flintstream.epoch.idle-duration": "15", "flintstream.epoch.max-duration": "60"})
    program(env, files(tmp_path / "out", POLICIES["files of a checkpoint"]), Faults(tmp_path / "faults"))
    env.execute()
    assert len(assert_files_hold(tmp_path / "out", EVERYTHING)) > 1


def test_at_least_once_output_is_complete_and_does_not_wait_for_checkpoints(make_env, tmp_path):
    mode = {"execution.checkpointing.mode": "AT_LEAST_ONCE", "execution.checkpointing.interval": "10 min"}
    faults = Faults(tmp_path / "faults", [("map", 50)])
    env = make_env(1, settings(tmp_path, **mode))
    program(env, Ledger(tmp_path / "ledger", faults), faults)
    env.execute()
    numbers = ledger_numbers(tmp_path / "ledger")
    assert sorted(set(numbers)) == EVERYTHING
    assert numbers.count(0) == 2, "the job started from the beginning, and the first records had already been committed"


def test_a_commit_that_fails_for_good_fails_the_job_and_is_made_up_for_when_it_is_resumed(make_env, tmp_path):
    faults = Faults(tmp_path / "faults")
    ledger = Ledger(tmp_path / "ledger", faults)
    ledger.broken = str(tmp_path / "broken")
    env = make_env(1, settings(tmp_path, 1))
    program(env, ledger, faults, hold=Path(ledger.broken))
    client = env.execute_async("ledger")
    wait_for(lambda: Path(ledger.path).exists() and len(ledger_numbers(ledger.path)) > 5)
    Path(ledger.broken).touch()
    with pytest.raises(CommitError, match=r"sink '.*' could not commit . of . committables in 2 attempts: .*on strike"):
        client.get_job_execution_result().result()
    assert 5 < len(ledger_numbers(ledger.path)) < NUMBERS
    Path(ledger.broken).unlink()
    env = make_env(1, settings(tmp_path, 1, **{"flintstream.resume": "true"}))
    program(env, ledger, faults)
    env.execute("ledger")
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING


def test_a_commit_that_asks_for_it_is_tried_again_without_a_restart(make_inline_env, tmp_path):
    faults = Faults(tmp_path / "faults", [("later", 30), ("before commit", 40)])
    env = make_inline_env(1, settings(tmp_path, 0))
    program(env, Ledger(tmp_path / "ledger", faults), faults)
    env.execute()
    assert faults.happened() == faults.planned()
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING


@pytest.mark.parametrize("remembered", [False, True])
def test_a_commit_that_fails_after_a_stop_with_savepoint_is_repeated(make_env, tmp_path, remembered):
    if remembered:  # as with --resume: a checkpoint records that only commits are left
        coordinator_program.begin()
    try:
        commit_after_a_stop(make_env, tmp_path)
    finally:
        coordinator_program.end(well=False)


def commit_after_a_stop(make_env, tmp_path):
    ledger = Ledger(tmp_path / "ledger", Faults(tmp_path / "faults"))
    ledger.broken = str(tmp_path / "broken")
    env = make_env(1, settings(tmp_path, 1000, **{"execution.checkpointing.interval": "10 min"}))
    program(env, ledger, ledger.faults, hold=tmp_path / "never")
    client = env.execute_async()
    wait_for_numbers(client, numRecordsOut=21)
    Path(ledger.broken).touch()
    with pytest.raises(CheckpointError, match="on strike"):
        client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    assert ledger_numbers(tmp_path / "ledger") == []
    Path(ledger.broken).unlink()
    client.get_job_execution_result().result()
    (path,) = (tmp_path / "savepoints").iterdir()
    assert 20 < len(ledger_numbers(tmp_path / "ledger")) < NUMBERS
    env = make_env(1, settings(tmp_path, **{"execution.state-recovery.path": str(path)}))
    program(env, ledger, ledger.faults)
    env.execute()
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING


def test_writers_bring_to_disk_what_goes_into_checkpoints_and_savepoints_alone(make_inline_env, tmp_path):
    env = make_inline_env(1, settings(tmp_path))
    SyncingSink.calls.clear()
    program(env, SyncingSink(), Faults(tmp_path / "faults"))
    client = env.execute_async()
    client.trigger_savepoint(str(tmp_path / "savepoints")).result()
    checkpoints = client.get_job_execution_result().result().get_all_accumulator_results()["numCheckpoints"]
    assert SyncingSink.calls.count("sync") == checkpoints + 1
    assert SyncingSink.calls.count("prepare") > checkpoints + 2, "there were no other epochs"


@pytest.mark.kills
@pytest.mark.spark
def test_each_record_is_there_once_although_a_python_worker_is_killed(make_spark_env, tmp_path):
    faults = Faults(tmp_path / "faults", [("map", 20), ("precommit", 30), ("write", 40)], "kill")
    env = make_spark_env(2, settings(tmp_path))
    program(env, Ledger(tmp_path / "ledger", faults), faults)
    program_of_files(env, tmp_path / "out", Faults(tmp_path / "faults", [("map", 25)], "kill"))
    env.execute()
    assert faults.happened() == faults.planned() | {("map", "25")}
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING
    assert_files_hold(tmp_path / "out", EVERYTHING)


KILLED = """
import sys
from pathlib import Path
from tests.engine.faults import Faults, Ledger, files
from tests.engine.test_exactly_once import POLICIES, program, program_of_files, settings
from flintstream.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    directory, seed = Path(sys.argv[1]), int(sys.argv[2])
    more = {"flintstream.engine": "inline", "flintstream.resume": "true"}
    env = StreamExecutionEnvironment.get_execution_environment(settings(directory, **more)).set_parallelism(2)
    faults = Faults.at_random(directory / "faults", seed, 60, 6, how="kill")
    program(env, Ledger(directory / "ledger", faults), faults)
    program_of_files(env, directory / "out", faults)
    env.execute("killed")
"""


@pytest.mark.kills
@pytest.mark.parametrize("seed", range(3))
def test_each_record_is_there_once_although_the_whole_process_is_killed(tmp_path, seed):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    ended: list[int] = []
    while not ended or ended[-1] == -9:
        process = subprocess.run(  # noqa: S603 - a script of this test
            [sys.executable, str(script), str(tmp_path), str(seed)],
            capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "PYTHONPATH": PATHS},
        )  # fmt: skip
        ended.append(process.returncode)
    assert ended[-1] == 0, process.stderr
    assert len(ended) > 3
    assert ledger_numbers(tmp_path / "ledger") == EVERYTHING
    assert sorted(n for content in finished(tmp_path / "out").values() for n in content) == EVERYTHING
