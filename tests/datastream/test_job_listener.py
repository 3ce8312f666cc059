"""Listeners learn of the start, the progress and the end of jobs."""

from __future__ import annotations

import pytest
from tests.datastream.inline import make_env
from tests.engine.sources import PacedSource

from flintstream.common import JobStatus, WatermarkStrategy
from flintstream.common.job_listener import JobListener
from flintstream.errors import JobCancelledError, PlanError
from flintstream.testing import CollectSink


class Noted(JobListener):
    def __init__(self):
        self.events = []

    def on_job_submitted(self, job_client, error):
        self.events.append(("submitted", job_client and job_client.get_job_id(), error))

    def on_progress(self, progress):
        self.events.append(("progress", progress))

    def on_job_executed(self, progress, result, error):
        self.events.append(("executed", progress, result, error))


def numbers(env, count=5):
    env.from_collection(list(range(count))).map(lambda n: 10 // (4 - n) if n > 7 else n).sink_to(CollectSink())


def test_a_listener_learns_of_start_progress_and_end():
    env, listener = make_env(), Noted()
    env.register_job_listener(listener)
    numbers(env)
    result = env.execute("heard")
    (_, job_id, error), *progress, (_, last, told, failure) = listener.events
    assert (job_id, error) == (result.get_job_id(), None)
    assert {kind for kind, _ in progress} == {"progress"}
    assert progress[0][1].status is JobStatus.RUNNING
    assert (last.job_id, last.job_name) == (str(job_id), "heard")
    assert (last.status, last.records_in, last.records_out, last.restarts) == (JobStatus.FINISHED, 5, 5, 0)
    assert last.epochs == len(progress)
    assert told.get_job_id() == job_id
    assert failure is None


def test_a_listener_learns_why_a_job_failed():
    env, listener = make_env(), Noted()
    env.register_job_listener(listener)
    env.from_collection([0]).map(lambda n: 1 // n).sink_to(CollectSink())
    with pytest.raises(ZeroDivisionError) as raised:
        env.execute()
    _, last, result, error = listener.events[-1]
    assert (last.status, result) == (JobStatus.FAILED, None)
    assert error is raised.value


def test_a_listener_learns_that_a_job_cannot_be_planned():
    env, listener = make_env(), Noted()
    env.register_job_listener(listener)
    with pytest.raises(PlanError) as raised:
        env.execute()
    assert listener.events == [("submitted", None, raised.value)]


def test_a_cancelled_job_ends_with_an_error():
    env, listener = make_env(), Noted()
    env.register_job_listener(listener)
    env.from_source(PacedSource(10**6, 0.01), WatermarkStrategy.no_watermarks(), "paced").sink_to(CollectSink())
    client = env.execute_async()
    client.cancel().result()
    assert listener.events[-1][1].status is JobStatus.CANCELED
    assert isinstance(listener.events[-1][3], JobCancelledError)


def test_a_listener_that_fails_changes_nothing(caplog):
    class Broken(JobListener):
        def on_job_submitted(self, job_client, error):
            raise ValueError("submitted")

        def on_progress(self, progress):
            raise ValueError("progress")

        def on_job_executed(self, progress, result, error):
            raise ValueError("executed")

    env, listener = make_env(), Noted()
    env.register_job_listener(Broken())
    env.register_job_listener(listener)
    numbers(env)
    env.execute()
    assert [event[0] for event in (listener.events[0], listener.events[-1])] == ["submitted", "executed"]
    assert {str(record.exc_info[1]) for record in caplog.records} == {"submitted", "progress", "executed"}


def test_cleared_listeners_hear_nothing():
    env, listener = make_env(), Noted()
    env.register_job_listener(listener)
    env.clear_job_listeners()
    numbers(env)
    env.execute()
    assert listener.events == []
