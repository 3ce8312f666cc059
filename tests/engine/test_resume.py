"""A job that replaces a lost one: no run repeats the committed output of an earlier one."""

from __future__ import annotations

import time

import pytest
from tests.engine.tally import expected, ordered, tally
from tests.engine.test_recovery import checkpoints, settings
from tests.waiting import wait_for

from flintstream.coordinator import program
from flintstream.errors import CheckpointError, CorruptCheckpointError

pytestmark = pytest.mark.slow

RECORDS = 40


@pytest.fixture(params=["hashmap", "hashmap-changelog", "rocksdb"])
def resumed(request, tmp_path):
    return {
        **settings(tmp_path, request.param),
        "flintstream.resume": "true",
        "restart-strategy.type": "none",
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "execution.checkpointing.num-retained": "2",
    }


def fail(env, tmp_path, at, sink=None):
    """Run the job until it fails; return its sink."""
    sink = tally(env, RECORDS, fail_at=at, marker=tmp_path / f"failed-{at}", sink=sink)
    with pytest.raises(ValueError, match="this time it fails"):
        env.execute("tally")
    return sink


def jobs(tmp_path):
    return {path.parents[1].name for path in checkpoints(tmp_path)}


def test_a_resumed_job_is_the_same_job_and_leaves_nothing_behind(make_env, tmp_path, resumed):
    sink = fail(make_env(2, resumed), tmp_path, 15)
    before = sink.get_results(True, False)
    (job_id,) = jobs(tmp_path)
    env = make_env(2, resumed)
    tally(env, RECORDS, sink=sink)
    result = env.execute("tally")
    assert str(result.get_job_id()) == job_id
    assert ordered(before + sink.get_results(True, False)) == expected(range(RECORDS))
    assert [path for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()] == []


@pytest.mark.on_spark("hashmap-changelog")
def test_every_run_goes_on_from_the_one_before(make_env, tmp_path, resumed, monkeypatch):
    sink = fail(make_env(2, resumed), tmp_path, 12)
    rows = sink.get_results(True, False)
    ids = jobs(tmp_path)
    now_ns = time.time_ns
    with monkeypatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: now_ns() - 3_600_000_000_000)  # an hour back, as clocks may be put
        fail(make_env(3, resumed), tmp_path, 25, sink)
    rows += sink.get_results(True, False)
    assert jobs(tmp_path) == ids
    assert len(checkpoints(tmp_path)) <= 2
    env = make_env(1, resumed)
    tally(env, RECORDS, sink=sink)
    env.execute("tally")
    assert ordered(rows + sink.get_results(True, False)) == expected(range(RECORDS))


def run(env, limit=RECORDS, name="tally"):
    tally(env, limit)
    env.execute(name)


def test_a_damaged_newest_checkpoint_is_not_passed_over(make_env, tmp_path, resumed):
    fail(make_env(1, resumed), tmp_path, 30)
    older, newer = sorted(checkpoints(tmp_path), key=lambda path: int(path.parent.name.removeprefix("chk-")))
    newer.write_bytes(newer.read_bytes()[:2000])
    with pytest.raises(
        CorruptCheckpointError, match=rf"last good checkpoint is .*{older.parent.name}.* repeats committed output"
    ):
        run(make_env(1, resumed))
    assert older.exists()
    assert newer.exists()
    older.unlink()
    with pytest.raises(CorruptCheckpointError, match=r"repeats committed output"):
        run(make_env(1, resumed))
    run(make_env(1, resumed), 3, "another job, which it does not concern")


def test_a_job_that_still_runs_is_not_resumed(make_env, tmp_path, resumed):
    env = make_env(1, resumed)
    tally(env, None)
    client = env.execute_async("tally")
    wait_for(lambda: checkpoints(tmp_path))
    tally(env, RECORDS)
    with pytest.raises(CheckpointError, match=r"still running in process \d+"):
        env.execute("tally")
    client.cancel().result()


@pytest.fixture
def started_again():
    """Simulate that the process was killed and another one started."""

    def again():
        program.end(well=False)
        program.begin()

    again()
    yield again
    program.end(well=False)


def test_a_job_stopped_with_a_savepoint_is_not_run_by_who_is_started_again(make_env, tmp_path, resumed, started_again):
    env = make_env(1, resumed)
    sink = tally(env, None)
    client = env.execute_async("tally")
    wait_for(lambda: checkpoints(tmp_path))
    client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    client.get_job_execution_result().result()
    assert sink.get_results(True, False)
    started_again()
    env = make_env(1, resumed)
    tally(env, None, sink=sink)
    env.execute("tally")  # it would not end
    assert sink.get_results(True, False) == []
