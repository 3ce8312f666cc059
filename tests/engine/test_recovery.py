"""Failures, stops and changes of parallelism: every record counts exactly once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.engine.tally import expected, ordered, tally
from tests.waiting import wait_for, wait_for_numbers

from flintstream.checkpoint import metadata as checkpoint_metadata
from flintstream.checkpoint.metadata import METADATA
from flintstream.common import JobStatus, WatermarkStrategy
from flintstream.errors import CheckpointError, CorruptCheckpointError, JobCancelledError
from flintstream.runtime.state_log import pieces
from flintstream.storage.stores import file_store
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

FIXED_DELAY = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "2",
    "restart-strategy.fixed-delay.delay": "10 ms",
}
STATES = {
    "hashmap": {"state.backend.type": "hashmap"},
    "hashmap-changelog": {
        "state.backend.type": "hashmap",
        "state.changelog.enabled": "true",
        "state.changelog.periodic-materialize.interval": "100 ms",
    },
    "rocksdb": {"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"},
    "rocksdb-changelog": {
        "state.backend.type": "rocksdb",
        "state.changelog.enabled": "true",
        "state.changelog.periodic-materialize.interval": "100 ms",
    },
}


def settings(tmp_path, state="hashmap", **more):
    return {
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "flintstream.epoch.idle-duration": "20",
        **STATES[state],
        **{key.replace("_", "-"): value for key, value in more.items()},
    }


def checkpoints(tmp_path):
    return sorted((tmp_path / "checkpoints").glob(f"*/chk-*/{METADATA}"))


@pytest.mark.on_spark("hashmap-changelog", "rocksdb")
@pytest.mark.parametrize("state", STATES)
def test_a_job_that_fails_goes_on_from_its_last_checkpoint(make_env, tmp_path, state):
    env = make_env(2, {**settings(tmp_path, state), **FIXED_DELAY})
    sink = tally(env, fail_at=30, marker=tmp_path / "failed")
    result = env.execute("tally")
    assert (tmp_path / "failed").exists()
    assert ordered(sink.get_results(True, False)) == expected(range(40))
    numbers = result.get_all_accumulator_results()
    assert numbers["numRestarts"] == 1
    assert numbers["numCheckpoints"] > 2


def test_checkpoints_are_not_taken_before_they_are_due(make_inline_env, tmp_path):
    # tests/coordinator/test_checkpoint_times.py has epochs of all lengths
    env = make_inline_env(1, {**settings(tmp_path), "execution.checkpointing.interval": "400 ms"})
    tally(env, 60, 0.02)  # more than a second
    began = time.monotonic()
    numbers = env.execute("tally").get_all_accumulator_results()
    due = (time.monotonic() - began) / 0.4
    assert 1 <= numbers["numCheckpoints"] <= due + 1


def test_a_job_without_checkpoints_starts_again_from_the_beginning(make_env, tmp_path):
    env = make_env(1, {**FIXED_DELAY, "flintstream.epoch.max-duration": "60000"})
    sink = tally(env, 10, 0.001, fail_at=7, marker=tmp_path / "failed")
    env.execute("tally")
    assert ordered(sink.get_results(True, False)) == expected(range(10))


def test_a_job_that_fails_too_often_raises_what_made_it_fail(make_env, tmp_path):
    env = make_env(1, {**settings(tmp_path), **FIXED_DELAY})
    tally(env, 20, fail_at=7, marker=tmp_path / "no directory" / "failed")
    with pytest.raises(FileNotFoundError):
        env.execute("tally")


def test_nothing_is_started_again_when_restarts_are_off(make_env, tmp_path):
    env = make_env(1, {**settings(tmp_path), "restart-strategy.type": "none"})
    tally(env, 20, fail_at=7, marker=tmp_path / "failed")
    with pytest.raises(ValueError, match="this time it fails"):
        env.execute("tally")


@pytest.mark.on_spark("3")
@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_goes_on_from_a_savepoint_with_another_parallelism(make_env, tmp_path, parallelism):
    env = make_env(2, settings(tmp_path))
    sink = tally(env, 60, 0.01, hold=tmp_path / "never")
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    assert client.get_job_status().result() == JobStatus.FINISHED
    before = sink.get_results(True, False)
    assert 10 < len(before) < 60
    env = make_env(parallelism, {**settings(tmp_path), "execution.state-recovery.path": path})
    tally(env, 60, 0.001, sink=sink)
    env.execute("tally")
    assert ordered(before + sink.get_results(True, False)) == expected(range(60))


@pytest.mark.on_spark
def test_a_savepoint_does_not_disturb_the_job(make_env, tmp_path):
    env = make_env(2, settings(tmp_path))
    sink = tally(env, 40, 0.01, hold=tmp_path / "go on")
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsIn=6)
    path = Path(client.trigger_savepoint(str(tmp_path / "savepoints")).result())
    (tmp_path / "go on").touch()
    client.get_job_execution_result().result()
    assert ordered(sink.get_results(True, False)) == expected(range(40))
    moved = path.rename(tmp_path / "moved")
    again = make_env(1, {**settings(tmp_path), "execution.state-recovery.path": str(moved)})
    tally(again, 40, 0.001, sink=sink)
    again.execute("tally")
    rest = sink.get_results(True, False)
    assert 0 < len([row for row in rest if row[0] != "timer"]) < 40


def test_a_savepoint_may_be_given_by_a_relative_path(make_inline_env, tmp_path, monkeypatch):
    env = make_inline_env(1, settings(tmp_path))
    sink = tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    path = Path(client.stop_with_savepoint(False, str(tmp_path)).result())
    before = sink.get_results(True, False)
    for place, name in ((path.parent, path.name), (path, "."), (path, METADATA)):
        monkeypatch.chdir(place)
        again = make_inline_env(1, {**settings(tmp_path), "execution.state-recovery.path": name})
        tally(again, 100, 0.001, sink=sink)
        again.execute("tally")
        assert ordered(before + sink.get_results(True, False)) == expected(range(100))


@pytest.mark.on_spark
def test_draining_lets_all_event_time_pass_before_the_savepoint(make_env, tmp_path):
    env = make_env(2, settings(tmp_path))
    sink = tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    client.stop_with_savepoint(True, str(tmp_path / "savepoints")).result()
    rows = sink.get_results(True, False)
    assert ordered(rows) == expected(range(len(rows) // 2))


def test_state_that_no_operator_takes_over_is_an_error_unless_allowed(make_env, tmp_path):
    env = make_env(1, settings(tmp_path))
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    path = client.stop_with_savepoint(False, str(tmp_path)).result()
    more = {**settings(tmp_path), "execution.state-recovery.path": path, "restart-strategy.type": "none"}
    env = make_env(1, more)
    env.from_collection([1]).print()
    with pytest.raises(CheckpointError, match=r"holds state of .*'paced.*no operator with that uid"):
        env.execute("other")
    env = make_env(1, {**more, "execution.state-recovery.ignore-unclaimed-state": "true"})
    env.from_collection([1]).print()
    env.execute("other")


@pytest.mark.parametrize("state", STATES)
def test_keyed_operators_without_state_may_be_taken_out(make_inline_env, tmp_path, state):
    def program(env, *, key_first):
        env.set_max_parallelism(8)
        numbers = env.from_source(PacedSource(None if key_first else 50, 0.005), WatermarkStrategy.no_watermarks(), "n")
        numbers = numbers.uid("numbers")
        if key_first:
            numbers = numbers.key_by(lambda n: n % 3).map(lambda n: n).uid("stateless")
        numbers.sink_to(CollectSink()).uid("sink")

    more = {
        **settings(tmp_path, state),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "restart-strategy.type": "none",
    }
    env = make_inline_env(1, more)
    program(env, key_first=True)
    client = env.execute_async("numbers")
    wait_for_numbers(client, numCheckpoints=3)
    client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    env = make_inline_env(1, more)
    program(env, key_first=True)
    client = env.execute_async("numbers")
    wait_for_numbers(client, numCheckpoints=3)
    client.cancel().result()
    (savepoint,) = (tmp_path / "savepoints").iterdir()
    for path in (savepoint, checkpoints(tmp_path)[-1].parent):
        env = make_inline_env(1, {**more, "execution.state-recovery.path": str(path)})
        program(env, key_first=False)
        env.execute("numbers")


def test_an_operator_that_is_not_keyed_any_more_is_an_error_unless_its_state_may_be_lost(make_inline_env, tmp_path):
    env = make_inline_env(1, settings(tmp_path))
    tally(env, None)
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()

    def restored(**more):
        env = make_inline_env(1, settings(tmp_path) | {"execution.state-recovery.path": path, **more})
        numbers = env.from_source(PacedSource(100, 0), WatermarkStrategy.no_watermarks(), "paced").uid("numbers")
        same = numbers.map(lambda n: n).uid("watermarks")
        same.map(lambda n: n).name("total").uid("tally").sink_to(CollectSink()).uid("sink")
        env.execute("tally")

    with pytest.raises(CheckpointError, match=r"keyed state of operator 'total' \(uid tally\), which is not keyed"):
        restored()
    restored(**{"execution.state-recovery.ignore-unclaimed-state": "true"})


def test_another_maximum_parallelism_is_an_error(make_env, tmp_path):
    env = make_env(1, settings(tmp_path)).set_max_parallelism(16)
    tally(env, None, 0.01)
    path = env.execute_async("tally").stop_with_savepoint(False, str(tmp_path)).result()
    more = {"execution.state-recovery.path": path, "restart-strategy.type": "none"}
    env = make_env(1, {**settings(tmp_path), **more}).set_max_parallelism(32)
    tally(env, 10)
    with pytest.raises(CheckpointError, match=r"maximum parallelism 32, but .* written with 16"):
        env.execute("tally")


def test_the_maximum_parallelism_of_a_savepoint_is_kept_where_the_program_gives_none(make_env, tmp_path):
    env = make_env(2, settings(tmp_path)).set_max_parallelism(6)
    sink = tally(env, 60, 0.01, hold=tmp_path / "never")
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    path = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    before = sink.get_results(True, False)
    env = make_env(6, {**settings(tmp_path), "execution.state-recovery.path": path})
    tally(env, 60, 0.001, sink=sink)
    env.execute("tally")
    assert ordered(before + sink.get_results(True, False)) == expected(range(60))


def test_more_subtasks_than_the_savepoint_has_key_groups_are_an_error(make_env, tmp_path):
    env = make_env(1, settings(tmp_path)).set_max_parallelism(2)
    tally(env, None, 0.01)
    path = env.execute_async("tally").stop_with_savepoint(False, str(tmp_path)).result()
    more = {"execution.state-recovery.path": path, "restart-strategy.type": "none"}
    env = make_env(3, {**settings(tmp_path), **more})
    tally(env, 10)
    with pytest.raises(CheckpointError, match=r"parallelism 3, but .* maximum parallelism 2, .* lower set_parallelism"):
        env.execute("tally")


@pytest.mark.parametrize(
    ("retention", "kept"),
    [("RETAIN_ON_CANCELLATION", True), ("DELETE_ON_CANCELLATION", False), ("NO_EXTERNALIZED_CHECKPOINTS", False)],
)
def test_what_becomes_of_checkpoints_of_a_cancelled_job_is_as_configured(make_env, tmp_path, retention, kept):
    more = {"execution.checkpointing.externalized-checkpoint-retention": retention}
    env = make_env(1, {**settings(tmp_path), **more})
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for(lambda: checkpoints(tmp_path))
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert bool(checkpoints(tmp_path)) is kept


def test_checkpoints_of_a_job_that_has_finished_are_deleted(make_env, tmp_path):
    more = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
    env = make_env(1, {**settings(tmp_path), **more})
    tally(env, 20)
    env.execute("tally")
    assert not [path for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]


def test_as_many_checkpoints_are_kept_as_configured(make_env, tmp_path):
    more = {
        "execution.checkpointing.num-retained": "3",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }
    env = make_env(1, {**settings(tmp_path), **more})
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numCheckpoints=6)
    client.cancel().result()
    numbers = [int(path.parent.name.removeprefix("chk-")) for path in checkpoints(tmp_path)]
    assert len(numbers) == 3
    assert max(numbers) > 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'state.changelog.enabled' has no effect")
@pytest.mark.parametrize("state", STATES)
def test_state_that_belongs_into_the_metadata_has_the_same_limit_with_any_backend(make_inline_env, tmp_path, state):
    limit = {
        **settings(tmp_path, state),
        "execution.checkpointing.storage": "jobmanager",
        "flintstream.checkpointing.jobmanager.max-state-size": "100 b",
        "restart-strategy.type": "none",
    }
    env = make_inline_env(1, limit)
    tally(env, 40)
    with pytest.raises(CheckpointError, match="but checkpoints in the driver's memory hold 100 at most"):
        env.execute("tally")
    more = {"execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
    env = make_inline_env(1, {**limit, **more, "flintstream.checkpointing.jobmanager.max-state-size": "1 mb"})
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numCheckpoints=3)
    client.cancel().result()
    files = [path.name for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]
    assert files == [METADATA], "all state is in there"
    restored = {"execution.state-recovery.path": str(checkpoints(tmp_path)[-1].parent)}
    env = make_inline_env(2, {**settings(tmp_path, state), **restored})
    sink = tally(env, 60)
    env.execute("tally")
    rest = sink.get_results(True, False)
    assert ordered(rest) != expected(range(60)), "some had been counted before"
    assert all(row in expected(range(60)) for row in rest)


def test_state_that_is_too_large_for_the_drivers_memory_fails_the_checkpoint(make_env):
    limit = {
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.storage": "jobmanager",
        "flintstream.checkpointing.jobmanager.max-state-size": "100 b",
        "flintstream.epoch.idle-duration": "20",
        "restart-strategy.type": "none",
    }
    env = make_env(1, limit)
    tally(env, 40)
    with pytest.raises(CheckpointError, match="but checkpoints in the driver's memory hold 100 at most"):
        env.execute("tally")
    env = make_env(1, {**limit, "execution.checkpointing.tolerable-failed-checkpoints": "1000"})
    sink = tally(env, 20)
    result = env.execute("tally")
    assert result.get_all_accumulator_results()["numFailedCheckpoints"] > 0
    assert ordered(sink.get_results(True, False)) == expected(range(20))


def test_checkpoints_in_the_drivers_memory_are_gone_back_to(make_env, tmp_path):
    more = {"execution.checkpointing.interval": "50 ms", "flintstream.epoch.idle-duration": "20"}
    env = make_env(2, {**more, **FIXED_DELAY})
    sink = tally(env, 40, fail_at=30, marker=tmp_path / "failed")
    env.execute("tally")
    assert ordered(sink.get_results(True, False)) == expected(range(40))


@pytest.mark.parametrize("damage", ["truncated", "changed", "foreign", "newer"])
def test_a_damaged_checkpoint_is_an_error_that_names_the_last_good_one(make_env, tmp_path, damage):
    more = {
        "execution.checkpointing.num-retained": "2",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }
    env = make_env(1, {**settings(tmp_path), **more})
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    wait_for_numbers(client, numCheckpoints=3)
    client.cancel().result()
    good, bad = sorted(checkpoints(tmp_path), key=lambda path: int(path.parent.name.removeprefix("chk-")))
    text = bad.read_text()
    document = json.loads(text)
    if damage == "truncated":
        bad.write_text(text[: len(text) // 2])
    elif damage == "changed":
        bad.write_text(text.replace('"tally"', '"telly"', 1))
    elif damage == "foreign":
        bad.write_bytes(b"\x00\x01\x02\x03 something else")
    else:
        bad.write_text(json.dumps({**document, "version": 99}))
    env = make_env(1, {**settings(tmp_path), "execution.state-recovery.path": str(bad.parent)})
    tally(env, 10)
    with pytest.raises(CorruptCheckpointError) as caught:
        env.execute("tally")
    assert str(bad) in str(caught.value)
    assert f"the last good checkpoint is {good.parent}" in str(caught.value)
    assert bad.exists()
    assert good.exists()


RETAIN_TWO = {
    "execution.checkpointing.num-retained": "2",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.data-inline-threshold": "0 b",
}


def latest_two(env, directory, pause):
    """Run a job until it has some checkpoints, and return the paths of its last two, the older one first."""
    tally(env, None, pause)
    client = env.execute_async("tally")
    wait_for_numbers(client, numCheckpoints=3)
    client.cancel().result()
    return sorted(checkpoints(directory), key=lambda path: int(path.parent.name.removeprefix("chk-")))


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
@pytest.mark.parametrize("state", ["hashmap", "hashmap-changelog", "rocksdb"])
def test_damaged_state_is_an_error_that_names_the_file_and_the_last_good_checkpoint(make_env, tmp_path, state, damage):
    good, newest = latest_two(make_env(1, {**settings(tmp_path, state), **RETAIN_TWO}), tmp_path, 0.01)
    job = newest.parent.parent
    files = [path for path in job.rglob("*") if path.is_file() and path.name != METADATA]
    (bad, *_) = [
        path
        for path in files
        if f'"{path.relative_to(job)}"' in newest.read_text() and f'"{path.relative_to(job)}"' not in good.read_text()
    ]
    if damage == "missing":
        bad.unlink()
    else:
        content = bad.read_bytes()
        middle = len(content) // 2
        changed = bytes([content[middle] ^ 0xFF]) + content[middle + 1 :] if damage == "changed" else b""
        bad.write_bytes(content[:middle] + changed)
    env = make_env(1, {**settings(tmp_path, state), "execution.state-recovery.path": str(newest.parent)})
    tally(env, 10)
    with pytest.raises(CorruptCheckpointError) as caught:
        env.execute("tally")
    assert str(bad) in str(caught.value)
    assert f"the last good checkpoint is {good.parent}" in str(caught.value)
    assert good.exists()
    assert newest.exists()


@pytest.mark.parametrize("parallelism", [2, 3])
@pytest.mark.parametrize("state", ["hashmap", "hashmap-changelog"])
@pytest.mark.parametrize("swap", ["of another subtask", "of another checkpoint", "of another size"])
def test_another_good_file_in_the_place_of_one_is_an_error_that_names_it(
    make_inline_env, tmp_path, state, swap, parallelism, monkeypatch
):
    monkeypatch.setattr(pieces, "INLINE_BYTES", -1)
    env = make_inline_env(2, {**settings(tmp_path, state), **RETAIN_TWO})
    good, newest = (checkpoint_metadata.read(file_store(str(p.parent))) for p in latest_two(env, tmp_path, 0.002))
    job = tmp_path / "checkpoints" / newest.job_id

    def tallied(metadata, subtask):
        (chain,) = [chain for chain in metadata.chains if "tally" in [operator.uid for operator in chain.operators]]
        return next(piece for piece in reversed(chain.subtasks[subtask]) if "tally" in piece.operators)

    bad = job / tallied(newest, 0).path
    before = bad.read_bytes()
    if swap == "of another subtask":
        other = tallied(newest, 1)
    elif swap == "of another checkpoint":
        other = tallied(good, 0)
    else:
        other = next(p for p in newest.pieces() if p.size != tallied(newest, 0).size and p.path)
    bad.write_bytes((job / other.path).read_bytes())
    assert bad.read_bytes() != before
    env = make_inline_env(
        parallelism, {**settings(tmp_path, state), "execution.state-recovery.path": str(job / f"chk-{newest.number}")}
    )
    tally(env, 10)
    with pytest.raises(CorruptCheckpointError) as caught:
        env.execute("tally")
    assert str(bad) in str(caught.value)
    assert f"the last good checkpoint is {job / f'chk-{good.number}'}" in str(caught.value)


def test_starting_from_nowhere_is_an_error(make_env, tmp_path):
    env = make_env(1, {"execution.state-recovery.path": str(tmp_path / "nothing")})
    tally(env, 10)
    with pytest.raises(CheckpointError, match="no file _metadata"):
        env.execute("tally")


def test_a_savepoint_needs_a_directory(make_env):
    env = make_env(1, {"flintstream.epoch.idle-duration": "20"})
    tally(env, None, 0.01)
    client = env.execute_async("tally")
    with pytest.raises(CheckpointError, match="no directory is set for the savepoint"):
        client.trigger_savepoint(None).result()
    client.cancel().result()
