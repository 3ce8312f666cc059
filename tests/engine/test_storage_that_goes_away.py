"""The directory of the checkpoints is deleted, or cannot be written for a while, under a running job."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.engine.tally import Millis, Tally, expected, ordered
from tests.engine.test_recovery import STATES, settings
from tests.waiting import numbers_of, wait_for_numbers

from flintstream.common import Duration, WatermarkStrategy
from flintstream.datastream.functions import MapFunction
from flintstream.errors import CheckpointError
from flintstream.runtime.state_log import pieces
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow


class FailWhenTold(MapFunction):
    """Fail once when a file exists."""

    def __init__(self, told):
        self.told = str(told)

    def map(self, value):
        told = Path(self.told)
        if told.exists():
            told.rename(f"{self.told}-done")
            raise ValueError("it was told to fail")
        return value


def started(env, tmp_path):
    """Start an endless job, and wait until it has taken checkpoints."""
    sink = CollectSink()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1)).with_timestamp_assigner(Millis())
    numbers = env.from_source(PacedSource(None, 0.01), WatermarkStrategy.no_watermarks(), "paced").uid("numbers")
    numbers = numbers.map(FailWhenTold(tmp_path / "fail")).uid("fails")
    numbers = numbers.assign_timestamps_and_watermarks(strategy).uid("watermarks")
    numbers.key_by(lambda n: n % 5).process(Tally()).uid("tally").sink_to(sink).uid("sink")
    job = env.execute_async("tally")
    wait_for_numbers(job, numCheckpoints=2)
    return job, sink


def wait_for_a_later_checkpoint(job):
    """Wait until a checkpoint is complete that has begun after this call. One may have begun before."""
    wait_for_numbers(job, numCheckpoints=numbers_of(job)["numCheckpoints"] + 2)


def check_after_failure(job, sink, tmp_path):
    """Let the job fail and restart, and check its results."""
    restarts = numbers_of(job)["numRestarts"]
    (tmp_path / "fail").touch()
    wait_for_numbers(job, numRestarts=restarts + 1)
    wait_for_numbers(job, numCheckpoints=numbers_of(job)["numCheckpoints"] + 2)
    job.stop_with_savepoint(True, (tmp_path / "savepoints").as_uri()).result()
    rows = sink.get_results(True, False)
    assert ordered(rows) == expected(range(len(rows) // 2))


def replace_by_file(directory, aside):
    """Put a file where the directory was: root may write to a directory without permissions, but not below a file."""
    directory.rename(aside)
    for attempt in itertools.count():
        try:
            directory.touch(exist_ok=False)
            break
        except FileExistsError:  # the job was faster and has made it again
            directory.rename(f"{aside}-{attempt}")


MANY = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "100000",
    "restart-strategy.fixed-delay.delay": "10 ms",
}


@pytest.mark.on_spark("rocksdb")
@pytest.mark.parametrize("state", STATES)
def test_a_job_whose_checkpoints_are_deleted_takes_whole_ones_again(make_env, tmp_path, state):
    job, sink = started(make_env(2, settings(tmp_path, state) | MANY), tmp_path)
    (tmp_path / "checkpoints").rename(tmp_path / "deleted")  # at once, unlike rmtree, during which the job writes
    wait_for_a_later_checkpoint(job)
    check_after_failure(job, sink, tmp_path)


LOGGED = [state for state in STATES if "changelog" in state]


@pytest.mark.parametrize("state", LOGGED)
@pytest.mark.parametrize("use", ["folding", "merging"])
def test_a_log_that_is_deleted_between_checkpoints_is_written_again(
    make_inline_env, tmp_path, monkeypatch, caplog, state, use
):
    monkeypatch.setattr(pieces, "INLINE_BYTES", -1)  # all pieces are files
    own = settings(tmp_path, state) | MANY | {"execution.checkpointing.interval": "700 ms"}
    own["state.changelog.periodic-materialize.interval"] = "20 ms" if use == "folding" else "10 min"
    job, sink = started(make_inline_env(2, own), tmp_path)
    before = numbers_of(job)
    (tmp_path / "checkpoints").rename(tmp_path / "deleted")
    wait_for_a_later_checkpoint(job)
    assert numbers_of(job)["numRestarts"] == before["numRestarts"]
    if use == "folding":
        assert re.search(r"files of the changelog have been deleted, such as .*checkpoints.*: all state", caplog.text)
    check_after_failure(job, sink, tmp_path)


@pytest.mark.parametrize("state", STATES)
def test_checkpoints_fail_until_their_directory_is_back(make_inline_env, tmp_path, state):
    tolerant = settings(tmp_path, state) | MANY | {"execution.checkpointing.tolerable-failed-checkpoints": "1000000"}
    job, sink = started(make_inline_env(2, tolerant), tmp_path)
    directory, aside = tmp_path / "checkpoints", tmp_path / "aside"
    replace_by_file(directory, aside)
    numbers = numbers_of(job)
    if "changelog" in state:
        wait_for_numbers(job, numRestarts=numbers["numRestarts"] + 2)  # without its log, no epoch counts
    else:
        wait_for_numbers(job, numFailedCheckpoints=numbers["numFailedCheckpoints"] + 2)
    directory.unlink()
    aside.rename(directory)
    wait_for_numbers(job, numCheckpoints=numbers_of(job)["numCheckpoints"] + 2)
    check_after_failure(job, sink, tmp_path)


def test_a_job_that_tolerates_no_failure_ends_with_the_reason(make_inline_env, tmp_path):
    job, _ = started(make_inline_env(1, settings(tmp_path) | {"restart-strategy.type": "none"}), tmp_path)
    directory = tmp_path / "checkpoints"
    replace_by_file(directory, tmp_path / "aside")
    with pytest.raises(CheckpointError, match=r"failed: .*checkpoints.* tolerates 0 failed checkpoints"):
        job.get_job_execution_result().result()
