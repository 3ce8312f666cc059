from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flintstream.checkpoint import codec
from flintstream.connectors.sink import CommitRetry, Committer, Sink, run_in_place
from flintstream.coordinator.checkpointing.commits import Commits
from flintstream.errors import CheckpointError, CommitError, JobCancelledError
from flintstream.runtime.protocol import NodeReport, Report


class Stubborn(Committer):
    """Commit every item at the attempt given by its number."""

    retry = CommitRetry(attempts=4, delay_ms=100, max_delay_ms=300)

    def __init__(self):
        self.tries = {}
        self.committed = []
        self.closed = False

    def commit(self, committables):
        later = []
        for item in committables:
            self.tries[item] = self.tries.get(item, 0) + 1
            if self.tries[item] < item:
                later.append(item)
            else:
                self.committed.append(item)
        return later

    def close(self):
        self.closed = True


class StubbornSink(Sink):
    def __init__(self, *, waits=True):
        self.committer = Stubborn()
        self.waits_for_checkpoint = waits

    def create_writer(self, context):
        raise NotImplementedError

    def create_committer(self):
        return self.committer


def commits_of(sink, waited=None, *, with_checkpoint=True, goes_on=True):
    waited = [] if waited is None else waited

    def wait(seconds):
        waited.append(seconds)
        return goes_on

    node = SimpleNamespace(id=1, uid="u", name="out", dealt=False, side_outputs=0)
    plan: Any = SimpleNamespace(chains=[SimpleNamespace(nodes=[node], parallelism=1)])
    return Commits(plan, {1: sink}, wait, run_in_place, with_checkpoint=with_checkpoint)


def prepared(*items):
    return [Report(0, 0, "", (NodeReport(1, {}, committables=items),))]


def metadata(number, *items):
    return SimpleNamespace(number=number, committables={"u": codec.encode(list(items))})


def test_what_is_prepared_waits_for_the_checkpoint():
    sink = StubbornSink()
    commits = commits_of(sink)
    commits.add(prepared(1))
    commits.add(prepared(0))
    assert sink.committer.committed == []
    assert commits.by_uid() == {"u": [1, 0]}
    commits.commit(7)
    assert sink.committer.committed == [1, 0]
    assert commits.by_uid() == {}


@pytest.mark.parametrize(("waits", "with_checkpoint"), [(False, True), (True, False)])
def test_what_need_not_wait_is_committed_with_its_epoch(waits, with_checkpoint):
    sink = StubbornSink(waits=waits)
    commits_of(sink, with_checkpoint=with_checkpoint).add(prepared(1))
    assert sink.committer.committed == [1]


def test_what_is_to_be_tried_again_is_and_alone():
    sink = StubbornSink()
    waited: list[float] = []
    commits = commits_of(sink, waited)
    commits.add(prepared(1, 3, 2))
    commits.commit(1)
    assert sink.committer.committed == [1, 2, 3]
    assert sink.committer.tries == {1: 1, 2: 2, 3: 3}
    assert waited == [0.1, 0.2]
    assert not commits.owed


def test_too_many_attempts_are_an_error_and_the_output_stays_owed():
    sink = StubbornSink()
    waited: list[float] = []
    commits = commits_of(sink, waited)
    commits.add(prepared(1, 9))
    with pytest.raises(CommitError, match="sink 'out' could not commit 1 of 2 committables in 4 attempts"):
        commits.commit(1)
    assert waited == [0.1, 0.2, 0.3]
    assert commits.owed
    with pytest.raises(CommitError):
        commits.recover(metadata(1, 1, 9), allow_non_restored=False)
    assert sink.committer.committed == [1, 1]
    assert commits.owed
    commits.recover(metadata(1, 1, 9), allow_non_restored=False)
    assert sink.committer.committed == [1, 1, 1, 9]
    assert not commits.owed


def test_nobody_waits_for_a_commit_of_a_job_that_is_cancelled():
    commits = commits_of(StubbornSink(), goes_on=False)
    commits.add(prepared(3))
    with pytest.raises(JobCancelledError, match="sink 'out' had yet to commit"):
        commits.commit(1)


def test_going_back_forgets_what_came_later_and_repeats_no_commit_of_this_process():
    sink = StubbornSink()
    commits = commits_of(sink)
    commits.add(prepared(1))
    commits.commit(4)
    commits.add(prepared(0))
    commits.recover(metadata(4, 1), allow_non_restored=False)
    assert sink.committer.committed == [1]
    assert commits.by_uid() == {}


def test_a_job_that_runs_for_long_remembers_the_commits_of_its_latest_checkpoint_alone():
    sink = StubbornSink()
    commits = commits_of(sink)
    for number in range(1, 101):
        commits.add(prepared(1))
        commits.commit(number)
    assert len(commits.done) == 1
    commits.recover(metadata(100, 1), allow_non_restored=False)
    assert sink.committer.committed == [1] * 100


def test_another_process_repeats_the_commit():
    sink = StubbornSink()
    commits_of(sink).recover(metadata(4, 1), allow_non_restored=False)
    assert sink.committer.committed == [1]


def test_output_of_a_sink_that_is_gone_is_not_forgotten_silently():
    commits = commits_of(StubbornSink())
    lost = SimpleNamespace(number=4, committables={"gone": codec.encode([1])})
    with pytest.raises(CheckpointError, match="output that is yet to be committed by a sink of uid gone"):
        commits.recover(lost, allow_non_restored=False)
    commits.recover(lost, allow_non_restored=True)


def test_committers_are_closed_with_the_job():
    sink = StubbornSink()
    commits_of(sink).close()
    assert sink.committer.closed
