"""Tasks write the large epochs of an exactly-once sink. Any of them may run twice, too late, or not at all."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.connectors.kafka.jobs import in_tasks, sink

from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.committer import SubtaskCommit
from flintstream.connectors.kafka.sink import SHARED_BYTES
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.kafka.transactions import FencedError, Transactions
from flintstream.connectors.sink import WriterContext, run_in_place
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.storage.local import LocalFileStore

LARGE = "large " * 20_000
"""More than fits into a committable."""


class Job:
    """The writers of one run, and the committer of its driver, whose tasks run in processes that tests choose."""

    def __init__(self, broker, topic, tmp_path, run="run", parallelism=2, *, into=""):
        store = LocalFileStore(str(tmp_path))
        built = sink(broker, into or topic, DeliveryGuarantee.EXACTLY_ONCE)
        self.sink = in_tasks(built.set_transactional_id_prefix(f"to-{topic}").build())
        self.writers = [
            self.sink.create_writer(WriterContext(subtask, parallelism, "0-0-abc", "job/sink", run=run, staging=store))
            for subtask in range(parallelism)
        ]
        self.committer = self.sink.create_committer()
        self.committer.run_tasks = self.run_tasks
        self.started: list[SubtaskCommit] = []
        self.run = run_in_place

    def run_tasks(self, functions):
        functions = pickle.loads(pickle.dumps(functions))
        self.started += functions
        return self.run(functions)

    def epoch(self, *texts):
        """Return what an epoch prepares in which each subtask writes one text, or nothing."""
        prepared = []
        for writer, text in zip(self.writers, texts, strict=True):
            if text:
                writer.write([text], None)
            prepared += writer.prepare_commit(end_of_input=False)
        return prepared

    def commit(self, prepared):
        return self.committer.commit(prepared)


@pytest.fixture
def place(broker, tmp_path):
    """Return a function that creates jobs which write to the same topic."""
    jobs = []
    topic = broker.topic()

    def job(*args, **keywords):
        jobs.append(Job(broker, topic, tmp_path, *args, **keywords))
        return jobs[-1]

    def texts():
        return [value.decode() for _, _, value in broker.records(topic)]

    def files():
        return [path for path in tmp_path.rglob("*") if path.is_file()]

    yield SimpleNamespace(job=job, texts=texts, topic=topic, files=files)
    for item in jobs:
        item.committer.close()


def elsewhere(commit, process="another process"):
    """Return a task as another process runs it, which has no producers of this one."""
    return replace(commit, committer=f"{commit.committer} in {process}")


def test_each_subtask_has_an_id_of_its_own(place):
    job = place.job()
    assert job.commit(job.epoch("a", "b")) == []
    assert [commit.name for commit in job.started] == [f"to-{place.topic}/0", f"to-{place.topic}/1"]
    assert sorted(place.texts()) == ["a", "b"]


@pytest.mark.parametrize("text", ["small", LARGE], ids=["inline", "file"])
def test_committing_again_changes_nothing_in_this_process_or_another(place, text):
    job = place.job()
    prepared = job.epoch(text, text)
    assert len(place.files()) == 2 * (text == LARGE)
    assert [job.commit(prepared), job.commit(prepared), place.job().commit(prepared)] == [[], [], []]
    assert place.texts() == [text, text]
    assert place.files() == []


def test_a_task_that_runs_twice_writes_once(place):
    job = place.job()
    job.run = lambda functions: [elsewhere(function)() for function in functions] and run_in_place(functions)
    for number in range(3):
        assert job.commit(job.epoch(f"a{number}", f"b{number}")) == []
    assert sorted(place.texts()) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_a_task_whose_result_is_lost_is_repeated_and_its_records_are_not(place):
    job = place.job()
    prepared = job.epoch("a", "b")

    def lost(functions):
        functions[0]()
        raise RuntimeError("Job aborted due to stage failure: ExecutorLostFailure")

    job.run = lost
    assert job.commit(prepared) == [tuple(item) for item in prepared]
    assert "ExecutorLostFailure" in str(job.committer.failure)
    job.run = run_in_place
    assert job.commit(prepared) == []
    assert sorted(place.texts()) == ["a", "b"]


def test_the_transaction_of_a_task_that_is_lost_within_it_is_aborted(place, broker):
    job = place.job()
    prepared = job.epoch("a", "b")
    lost = Transactions({"bootstrap.servers": broker.servers}, f"to-{place.topic}/1")
    lost._writing.client.begin_transaction()
    for block in Prepared(*prepared[1]).blocks():
        lost._writing.write(block)
    lost._writing.flush()
    assert job.commit(prepared) == []
    assert sorted(place.texts()) == ["a", "b"]
    assert len(broker.records(place.topic, committed=False)) == 3


def test_a_task_that_wakes_up_when_the_job_has_gone_on_writes_nothing(place):
    job = place.job()
    assert job.commit(job.epoch("a0", "b0")) == []
    late = [elsewhere(item) for item in job.started]
    assert job.commit(job.epoch("a1", "b1")) == []
    assert [item() for item in late] == [None, None]
    assert job.commit(job.epoch("a2", "b2")) == []  # though the late tasks have taken its ids
    assert sorted(place.texts()) == ["a0", "a1", "a2", "b0", "b1", "b2"]


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_task_of_a_driver_that_is_gone_cannot_write_when_another_has_restored_the_job(place, parallelism):
    old = place.job()
    first = old.epoch("a0", "b0")
    assert old.commit(first) == []
    old.run = lambda functions: [None] * len(functions)
    assert old.commit(old.epoch("a1", "b1")) == []  # its tasks are late
    started = old.started[-2:]
    new = place.job("new", parallelism)
    assert new.commit(first) == []
    errors = [elsewhere(item)() for item in started]
    assert [type(error) for error in errors] == [FencedError, FencedError]
    assert new.commit(new.epoch(*["c"] * parallelism)) == []
    assert sorted(place.texts()) == ["a0", "b0", *["c"] * parallelism]


def test_the_same_holds_when_the_new_driver_writes_to_another_topic_first(place, broker):
    old = place.job()
    first = old.epoch("a0", "b0")
    assert old.commit(first) == []
    old.run = lambda functions: [None] * len(functions)
    assert old.commit(old.epoch("a1", "b1")) == []  # its tasks are late
    started = old.started[-2:]
    other = broker.topic()
    new = place.job("new", into=other)
    assert new.commit(new.epoch("c", "c")) == []
    errors = [elsewhere(item)() for item in started]
    assert [type(error) for error in errors] == [FencedError, FencedError]
    assert sorted(place.texts()) == ["a0", "b0"]
    assert [value for _, _, value in broker.records(other)] == [b"c", b"c"]


def test_a_driver_that_was_replaced_stops(place):
    old, new = place.job(), place.job("new")
    first = old.epoch("a", "b")
    assert old.commit(first) == []
    assert new.commit(first) == []
    later = old.epoch("of the job", "that was replaced")
    for _ in range(2):
        with pytest.raises(FencedError, match=f"'to-{place.topic}' and has taken over"):
            old.commit(later)
    assert new.commit(new.epoch("c", "d")) == []
    assert sorted(place.texts()) == ["a", "b", "c", "d"]


def test_a_driver_that_lost_its_connection_learns_from_the_marks_that_it_was_replaced(place):
    old, new = place.job(), place.job("new")
    first = old.epoch("a", "b")
    assert old.commit(first) == []
    assert new.commit(first) == []
    old.committer._drop(f"to-{place.topic}")
    with pytest.raises(FencedError, match="has taken over"):
        old.commit(old.epoch("of the job", "that was replaced"))
    assert sorted(place.texts()) == ["a", "b"]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_job_at_another_parallelism_commits_what_is_left_under_the_same_ids(place, parallelism):
    job = place.job()
    prepared = job.epoch("a", LARGE)
    other = place.job("other", parallelism)
    assert other.commit(prepared) == []
    assert [commit.name.rpartition("/")[2] for commit in other.started] == ["0", "1"]
    assert other.commit(other.epoch(*["c"] * parallelism)) == []
    assert place.job("third").commit(prepared) == []
    assert sorted(place.texts()) == sorted(["a", LARGE, *["c"] * parallelism])


def test_a_savepoint_and_the_job_that_goes_on_commit_the_same_once(place):
    job = place.job()
    savepoint = job.epoch("a", "b") + job.epoch("c", "")
    checkpoint = savepoint + job.epoch("d", "e")
    for item in (savepoint, checkpoint, savepoint):
        assert place.job().commit(item) == []
    assert sorted(place.texts()) == ["a", "b", "c", "d", "e"]


def test_the_records_of_a_subtask_keep_their_order_across_tasks(place):
    job = place.job()
    rng = random.Random(5)
    prepared = []
    for number in range(12):
        for subtask, writer in enumerate(job.writers):
            writer._output = replace(writer._output, shared_bytes=rng.choice((0, SHARED_BYTES)))
            writer.write([f"{subtask} {number:02}"], None)
            prepared += writer.prepare_commit(end_of_input=False)
    assert {Prepared(*item).alone for item in prepared} == {True, False}
    assert job.commit(prepared) == []
    texts = place.texts()
    assert sorted(texts) == [f"{subtask} {number:02}" for subtask in range(2) for number in range(12)]
    for subtask in range(2):
        own = [text for text in texts if text.startswith(f"{subtask} ")]
        assert own == sorted(own)


def test_what_follows_a_commit_that_failed_waits_for_it(place):
    job = place.job()
    first = job.epoch("a0", "b0")
    for writer in job.writers:
        writer._output = replace(writer._output, shared_bytes=SHARED_BYTES)
    second = job.epoch("a1", "b1")
    job.run = lambda functions: [KafkaConnectorError("not now") for _ in functions]
    assert job.commit(first + second) == [tuple(item) for item in first + second]
    assert place.texts() == []
    job.run = run_in_place
    assert job.commit(first + second) == []
    assert place.texts()[2:] == ["a1", "b1"]


def test_what_an_earlier_release_has_prepared_is_written_by_the_driver_under_its_id(place):
    job = place.job()
    earlier = [item[:10] for item in job.epoch("a", "b")]
    for _ in range(2):
        assert job.commit(earlier) == []
    assert place.job().commit(earlier) == []
    assert job.started == []
    assert sorted(place.texts()) == ["a", "b"]


def test_a_task_shows_no_password():
    commit = SubtaskCommit("c", {"sasl.password": "secret"}, "to", 1, "topic", 2, ())
    assert repr(commit) == "SubtaskCommit(committer='c', prefix='to', subtask=1, home='topic', generation=2)"
