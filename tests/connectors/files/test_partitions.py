"""Marks of complete partitions over restarts: the writers' state knows which partitions wait."""

from __future__ import annotations

import pickle

import pytest

from flintstream.common import Encoder
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors import FileSink
from flintstream.datastream.connectors._file_sink import mark_partitions
from flintstream.datastream.connectors.file_system import BucketAssigner, RollingPolicy

HOUR = 3_600_000


class ByDay(BucketAssigner):
    def get_bucket_id(self, element, context):
        return f"day={element}"


def by_day(directory):
    return int(directory.removeprefix("day=")) * 24 * HOUR


@pytest.fixture
def sink(tmp_path):
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(ByDay())
    plain = builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    return mark_partitions(plain, "_SUCCESS", 0, by_day)


def writer_of(sink, states=(), attempt="first"):
    context = WriterContext(0, 1, "7", attempt, with_checkpoints=True)
    writer = pickle.loads(pickle.dumps(sink)).create_writer(context)
    if states:
        writer.recover(states)
    return writer


def marks(directory):
    return sorted(path.parent.name for path in directory.rglob("_SUCCESS"))


def run_epoch(writer, committer, days=(), watermark=None, *, end=False):
    """Write records, commit, and return the state that a restart begins with."""
    if days:
        writer.write(list(map(str, days)), None)
    if watermark is not None:
        writer.on_watermark(watermark)
    prepared = writer.prepare_commit(end_of_input=end)
    state = writer.snapshot()
    if committer is not None:
        committer.commit(prepared)
    return state, prepared


def test_a_partition_that_waits_is_marked_after_a_restart(sink, tmp_path):
    state, _ = run_epoch(writer_of(sink), sink.create_committer(), [1, 2], 24 * HOUR)
    assert marks(tmp_path) == []
    again, committer = writer_of(sink, [state], "second"), sink.create_committer()
    run_epoch(again, committer, [], 24 * HOUR + 1)
    assert marks(tmp_path) == ["day=1"]
    run_epoch(again, committer, [], 48 * HOUR + 1)
    assert marks(tmp_path) == ["day=1", "day=2"]


def test_partitions_of_others_are_not_marked(sink, tmp_path):
    foreign = tmp_path / "day=0"
    foreign.mkdir()
    (foreign / "part").write_text("of another job\n")
    state, _ = run_epoch(writer_of(sink), sink.create_committer(), [1], 0)
    run_epoch(writer_of(sink, [state], "second"), sink.create_committer(), [], 100 * 24 * HOUR)
    assert marks(tmp_path) == ["day=1"]


def test_a_commit_that_was_lost_is_repeated_with_its_marks(sink, tmp_path):
    first = writer_of(sink)
    state, prepared = run_epoch(first, None, [1], 24 * HOUR + 1)  # the process ends before the commit
    committer = sink.create_committer()
    committer.commit(prepared)
    assert marks(tmp_path) == ["day=1"]
    run_epoch(writer_of(sink, [state], "second"), committer, [], 25 * HOUR)
    assert marks(tmp_path) == ["day=1"]


def test_a_writer_forgets_what_is_marked_and_waits_again_for_late_files(sink, tmp_path):
    writer, committer = writer_of(sink), sink.create_committer()
    state, _ = run_epoch(writer, committer, [1, 5], 24 * HOUR + 1)
    assert [path.rpartition("/")[2] for path, _ in state.waiting] == ["day=1", "day=5"]
    state, _ = run_epoch(writer, committer)
    assert [path.rpartition("/")[2] for path, _ in state.waiting] == ["day=5"]
    (tmp_path / "day=1" / "_SUCCESS").unlink()
    run_epoch(writer, committer, [1])
    assert marks(tmp_path) == ["day=1"]


def test_the_slowest_writer_decides(sink, tmp_path):
    contexts = [WriterContext(i, 2, "7", "first", with_checkpoints=True) for i in range(2)]
    fast, slow = (pickle.loads(pickle.dumps(sink)).create_writer(context) for context in contexts)
    committer = sink.create_committer()
    fast.write(["1"], None)
    fast.on_watermark(72 * HOUR)
    slow.on_watermark(5)
    prepared = [item for writer in (fast, slow) for item in writer.prepare_commit(end_of_input=False)]
    committer.commit(prepared)
    assert marks(tmp_path) == []
    state = fast.snapshot()
    fast.prepare_commit(end_of_input=False)
    assert fast.snapshot().waiting == state.waiting  # it has no mark, though its own time has passed
    slow.on_watermark(25 * HOUR)
    committer.commit([item for writer in (fast, slow) for item in writer.prepare_commit(end_of_input=False)])
    assert marks(tmp_path) == ["day=1"]
