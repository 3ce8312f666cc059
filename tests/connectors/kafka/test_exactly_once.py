"""Committed records are in Kafka once, whatever happens around the commit."""

from __future__ import annotations

import random
import threading

import pytest
from tests.connectors.kafka.broker import send
from tests.connectors.kafka.jobs import checkpointed, in_tasks, sink, source
from tests.engine.faults import Faults, FaultyMap
from tests.engine.sources import PacedSource

from flintstream.common.watermark_strategy import WatermarkStrategy
from flintstream.connectors.kafka import transactions
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.committer import KafkaCommitter
from flintstream.connectors.kafka.staging import Prepared
from flintstream.connectors.kafka.transactions import FencedError, Mark, Transactions
from flintstream.connectors.kafka.writing import Writing
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.storage.local import LocalFileStore
from flintstream.storage.paths import hashed_name

NO_WATERMARKS = WatermarkStrategy.no_watermarks()
EXACTLY_ONCE = DeliveryGuarantee.EXACTLY_ONCE


class Task:
    """A writer that prepares epoch after epoch."""

    def __init__(self, broker, topic, tmp_path, run="run", subtask=0):
        context = WriterContext(subtask, 2, "0-0-abc", "job/sink", run=run, staging=LocalFileStore(str(tmp_path)))
        self.writer = sink(broker, topic, EXACTLY_ONCE).build().create_writer(context)

    def epoch(self, *texts):
        if texts:
            self.writer.write(list(texts), None)
        return list(self.writer.prepare_commit(end_of_input=False))


@pytest.fixture
def topic(broker):
    return broker.topic()


@pytest.fixture
def committer(broker, topic):
    """Return a function that creates committers, each as if in a separate process."""
    made = []

    def create():
        made.append(sink(broker, topic, EXACTLY_ONCE).build().create_committer())
        return made[-1]

    yield create
    for item in made:
        item.close()


def texts(broker, topic):
    return [value.decode() for _, _, value in broker.records(topic)]


LARGE = "large " * 20_000
"""More than fits into a committable."""


@pytest.mark.parametrize("text", ["small", LARGE], ids=["inline", "file"])
def test_committing_twice_is_the_same_as_once(broker, topic, committer, tmp_path, text):
    prepared = Task(broker, topic, tmp_path).epoch(text)
    assert [file.stat().st_size > len(text) for file in tmp_path.rglob("*") if file.is_file()] == [True] * (
        text == LARGE
    )
    first = committer()
    assert [first.commit(prepared), first.commit(prepared), committer().commit(prepared)] == [[], [], []]
    assert texts(broker, topic) == [text]
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_a_process_that_ends_after_the_commit_and_before_it_says_so(broker, topic, committer, tmp_path, monkeypatch):
    prepared = Task(broker, topic, tmp_path).epoch("a", LARGE)
    write = Transactions.write

    def lost(self, several):
        write(self, several)
        raise KafkaConnectorError("the process ends here")

    monkeypatch.setattr(Transactions, "write", lost)
    assert len(committer().commit(prepared)) == 1
    monkeypatch.undo()
    assert committer().commit(prepared) == []
    assert texts(broker, topic) == ["a", LARGE]


def test_a_process_that_ends_within_the_transaction(broker, topic, committer, tmp_path):
    prepared = Task(broker, topic, tmp_path).epoch("a")
    lost = Transactions({"bootstrap.servers": broker.servers}, f"to-{topic}")
    lost._writing.client.begin_transaction()
    for block in Prepared(*prepared[0]).blocks():
        lost._writing.write(block)
    lost._writing.flush()
    assert committer().commit(prepared) == []
    assert texts(broker, topic) == ["a"]
    assert len(broker.records(topic, committed=False)) == 2


def test_a_request_that_hangs_is_given_up_and_its_transaction_aborted(broker, topic, committer, tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(transactions, "PATIENCE_SECONDS", 0.1)
    prepared = Task(broker, topic, tmp_path).epoch("a")
    hanging = committer()
    hanging.commit([])
    made = hanging._open[f"to-{topic}"] = Transactions({"bootstrap.servers": broker.servers}, f"to-{topic}")
    ended = threading.Event()
    in_time = made._in_time

    def hang(request):
        made._writing.flush()
        in_time(lambda: ended.wait(100_000))

    monkeypatch.setattr(made, "_in_time", hang)
    assert hanging.commit(prepared) == [tuple(prepared[0])]
    assert "hangs; giving up" in str(hanging.failure)
    monkeypatch.undo()
    assert hanging.commit(prepared) == []
    ended.set()
    assert texts(broker, topic) == ["a"]
    assert len(broker.records(topic, committed=False)) == 2


def test_a_job_that_was_replaced_cannot_commit_any_more(broker, topic, committer, tmp_path):
    task = Task(broker, topic, tmp_path)
    old, new = committer(), committer()
    first = task.epoch("a")
    assert old.commit(first) == []
    assert new.commit(first) == []
    later = task.epoch("of the job that was replaced")
    for _ in range(2):
        with pytest.raises(FencedError, match=f"'to-{topic}' and has taken over"):
            old.commit(later)
    assert new.commit(Task(broker, topic, tmp_path, run="other").epoch("b")) == []
    assert texts(broker, topic) == ["a", "b"]


def test_a_job_that_was_replaced_learns_of_it_within_a_transaction(broker, topic, committer, tmp_path, monkeypatch):
    task = Task(broker, topic, tmp_path)
    old, new = committer(), committer()
    assert old.commit(task.epoch("a")) == []
    assert new.commit(Task(broker, topic, tmp_path, run="other").epoch("b")) == []
    write = Writing.write

    def slowly(self, block):
        write(self, block)
        for _ in range(20):
            self.client.poll(0.1)  # until it is known

    monkeypatch.setattr(Writing, "write", slowly)
    with pytest.raises(FencedError):
        old.commit(task.epoch("of the job") + task.epoch("that was replaced"))
    assert texts(broker, topic) == ["a", "b"]


@pytest.mark.parametrize("order", ["savepoint first", "savepoint last"])
def test_a_savepoint_and_the_job_that_goes_on_commit_the_same_once(broker, topic, committer, tmp_path, order):
    task = Task(broker, topic, tmp_path)
    savepoint = task.epoch("a") + task.epoch(LARGE)
    checkpoint = savepoint + task.epoch("c")
    several = [savepoint, checkpoint] if order == "savepoint first" else [checkpoint, savepoint]
    for item in several:
        assert committer().commit(item) == []
    assert texts(broker, topic) == ["a", LARGE, "c"]


def test_what_another_run_has_prepared_is_something_else(broker, topic, committer, tmp_path):
    first, second = (Task(broker, topic, tmp_path, run=run).epoch(run) for run in ("one", "two"))
    for item in (first, second, first):
        assert committer().commit(item) == []
    assert texts(broker, topic) == ["one", "two"]


def test_all_subtasks_of_an_epoch_are_written(broker, topic, committer, tmp_path):
    tasks = [Task(broker, topic, tmp_path, subtask=subtask) for subtask in (0, 1)]
    epochs = [prepared for number in range(3) for task in tasks for prepared in task.epoch(str(number))]
    assert committer().commit(epochs) == []
    assert texts(broker, topic) == ["0", "0", "1", "1", "2", "2"]


def test_a_writer_in_another_process_goes_on_counting(broker, topic, committer, tmp_path):
    task = Task(broker, topic, tmp_path)
    first = task.epoch("a")
    moved = Task(broker, topic, tmp_path)
    moved.writer.restore(task.writer.snapshot())
    for item in (first, moved.epoch("b")):
        assert committer().commit(item) == []
    assert texts(broker, topic) == ["a", "b"]


def test_a_file_that_is_gone_is_an_error_unless_it_is_written_already(broker, topic, committer, tmp_path):
    prepared = Task(broker, topic, tmp_path).epoch(LARGE)
    Prepared(*prepared[0]).delete()
    failed = committer()
    assert failed.commit(prepared) == [tuple(prepared[0])]
    assert "is missing: the checkpoint refers to uncommitted output" in str(failed.failure)
    assert texts(broker, topic) == []


def test_a_damaged_file_is_an_error_and_nothing_of_it_is_seen(broker, topic, committer, tmp_path):
    (prepared,) = Task(broker, topic, tmp_path).epoch("first", LARGE)
    broken = tuple(replace_checksum(Prepared(*prepared)))
    failed = committer()
    assert failed.commit([broken]) == [broken]
    assert "is damaged, and 2 records from it cannot be committed" in str(failed.failure)
    assert texts(broker, topic) == []
    assert committer().commit([prepared]) == []


def replace_checksum(prepared):
    return prepared._replace(checksum=prepared.checksum ^ 1)


def test_a_new_run_deletes_what_earlier_ones_have_left(broker, topic, tmp_path):
    for subtask in (0, 1):
        Task(broker, topic, tmp_path, run="old", subtask=subtask).epoch(LARGE)
    task = Task(broker, topic, tmp_path, run="new")
    task.epoch(LARGE)
    task.writer.recover([5])
    directory = tmp_path / hashed_name("job/sink")
    names = sorted(file.relative_to(directory).as_posix() for file in tmp_path.rglob("*") if file.is_file())
    assert [name.rpartition("-")[0] for name in names] == ["new/0-0", "old/1-0"]


def test_what_was_not_prepared_leaves_no_file(broker, topic, tmp_path):
    task = Task(broker, topic, tmp_path)
    task.writer.write([LARGE], None)
    task.writer.close()
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_a_mark_forgets_the_oldest_runs_when_there_is_no_room_for_more():
    mark = Mark()
    for number in range(1000):
        mark.add(f"run{number:09}", number)
    text = mark.text()
    assert len(text) <= 4000
    read = Mark.of(7, text)
    assert list(read.runs.items()) == list(mark.runs.items())[-len(read.runs) :]
    assert len(read.runs) > 200


@pytest.mark.parametrize(("seed", "tasks"), [(0, False), (1, False), (2, True), (3, True)])
def test_from_topic_to_topic_whatever_fails(broker, tmp_path, monkeypatch, seed, tasks):
    rng = random.Random(seed)
    into, out = broker.topic(partitions=3), broker.topic(partitions=2)
    for partition in range(3):
        send(broker, into, [str(number) for number in range(partition, 3000, 3)], partition)
    faults = Faults(tmp_path / "faults", [("map", str(rng.randrange(3000))) for _ in range(3)])
    commits = rng.sample(range(6), 3)
    calls = []
    commit = KafkaCommitter.commit

    def failing(self, committables):
        calls.append(len(committables))
        if len(calls) - 1 in commits and rng.random() < 0.5:
            raise ValueError("before the commit")
        left = commit(self, committables)
        if len(calls) - 1 in commits:
            self.close()
            raise ValueError("after the commit")
        return left

    monkeypatch.setattr(KafkaCommitter, "commit", failing)
    env = checkpointed(tmp_path, 2)
    stream = env.from_source(source(broker, into).build(), NO_WATERMARKS, "numbers").map(FaultyMap(faults))
    built = sink(broker, out, EXACTLY_ONCE).build()
    stream.key_by(lambda text: int(text) % 7).map(lambda text: text).sink_to(in_tasks(built) if tasks else built)
    env.execute()
    assert faults.happened() == faults.planned()
    assert sorted(map(int, texts(broker, out))) == list(range(3000))


@pytest.mark.parametrize("tasks", [False, True], ids=["by the driver", "in tasks"])
def test_a_job_goes_on_from_a_savepoint_with_another_parallelism(broker, topic, tmp_path, tasks):
    def start(path, parallelism):
        settings = {"execution.state-recovery.path": path} if path else {}
        env = checkpointed(tmp_path, parallelism, **settings)
        stream = env.from_source(PacedSource(300, 0.002), NO_WATERMARKS, "paced").uid("paced").map(str).uid("map")
        built = sink(broker, topic, EXACTLY_ONCE).build()
        stream.rebalance().sink_to(in_tasks(built) if tasks else built).uid("sink")
        return env

    client = start(None, 2).execute_async()
    savepoint = client.stop_with_savepoint(False, str(tmp_path / "savepoint")).result()
    before = texts(broker, topic)
    start(savepoint, 3).execute()
    assert 0 < len(before) < 300
    assert sorted(map(int, texts(broker, topic))) == list(range(300))
