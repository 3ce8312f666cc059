from __future__ import annotations

import os
import pickle
import random
import re
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.common.serialization import BulkWriter, BulkWriterFactory, Encoder
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from flintstream.errors import CheckpointError, PlanError

PART = re.compile(r"part-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+")


class Lines(Encoder):
    def encode(self, value, type_info):
        return f"{value}\n".encode()


def builder(base, policy=None):
    made = FileSink.for_row_format(str(base), Lines()).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    return made.with_rolling_policy(policy) if policy else made


def open_writer(sink, subtask=0, attempt="1", state=None):
    writer = pickle.loads(pickle.dumps(sink)).create_writer(WriterContext(subtask, 2, attempt))
    if state is not None:
        writer.restore(pickle.loads(pickle.dumps(state)))
    return writer


def visible(base):
    files = [Path(d, f) for d, _, names in os.walk(base) for f in names if not f.startswith(".")]
    return {str(path.relative_to(base)): path.read_text().split() for path in files}


def hidden(base):
    return sorted(f for _, _, names in os.walk(base) for f in names if f.startswith("."))


def test_one_epoch_gives_a_finished_file_in_a_bucket_named_by_the_hour(tmp_path, monkeypatch):
    moment = datetime(2013, 1, 2, 3, 59, tzinfo=timezone.utc).timestamp()
    monkeypatch.setattr("flintstream.connectors.files.sink.time.time", lambda: moment)
    sink = (
        FileSink.for_row_format(f"file://{tmp_path}/out", Lines())
        .with_bucket_assigner(BucketAssigner.date_time_bucket_assigner(timezone_id="UTC"))
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".ext").build())
        .with_rolling_policy(RollingPolicy.default_rolling_policy())
        .with_bucket_check_interval(1000)
        .disable_compact()
        .build()
    )
    writer = open_writer(sink, attempt="a7")
    writer.write(["a", "b"], None)
    assert [
        re.fullmatch(r"\.pre-[0-9a-f-]{36}-0\.ext\.inprogress\.a7", name) is not None for name in hidden(tmp_path)
    ] == [True]
    committables = writer.prepare_commit(end_of_input=True)
    assert visible(tmp_path) == {}
    committer = sink.create_committer()
    committer.commit(pickle.loads(pickle.dumps(committables)))
    writer.close()
    ((name, content),) = visible(tmp_path / "out").items()
    assert re.fullmatch(r"2013-01-02--03/pre-[0-9a-f-]{36}-0\.ext", name)
    assert content == ["a", "b"]
    assert hidden(tmp_path) == []

    committer.commit(committables)  # a second time changes nothing
    assert visible(tmp_path / "out") == {name: content}


def test_subtasks_write_files_of_their_own(tmp_path):
    sink = builder(tmp_path).build()
    committables = []
    for subtask in range(2):
        writer = open_writer(sink, subtask)
        writer.write([f"s{subtask}"], None)
        committables += writer.prepare_commit(end_of_input=True)
    sink.create_committer().commit(committables)
    assert all(PART.fullmatch(name) for name in visible(tmp_path))
    assert sorted(visible(tmp_path).values()) == [["s0"], ["s1"]]


def test_a_file_is_closed_once_it_is_larger_than_the_part_size(tmp_path):
    sink = builder(tmp_path, RollingPolicy.default_rolling_policy(part_size=6)).build()
    writer = open_writer(sink)
    writer.write(["aa", "bb", "cc", "dd"], None)  # 3 bytes each: the third makes 9 > 6
    committables = writer.prepare_commit(end_of_input=False)
    sink.create_committer().commit(committables)
    assert list(visible(tmp_path).values()) == [["aa", "bb", "cc"]]
    writer.write(["ee", "ff", "gg"], None)
    sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    assert sorted(visible(tmp_path).values()) == [["aa", "bb", "cc"], ["dd", "ee", "ff"], ["gg"]]


@pytest.mark.parametrize(
    ("policy", "closed_at"), [({"rollover_interval": 5000}, 5), ({"inactivity_interval": 2000}, 6)]
)
def test_a_file_is_closed_by_age_or_when_it_was_left_alone(tmp_path, monkeypatch, policy, closed_at):
    clock = [1000.0]
    monkeypatch.setattr("flintstream.connectors.files.sink.time.time", lambda: clock[0])
    sink = builder(tmp_path, RollingPolicy.default_rolling_policy(**policy)).build()
    writer = open_writer(sink)
    closed = []
    for second in range(8):
        clock[0] = 1000.0 + second
        if second < 5:
            writer.write([second], None)
        if writer.prepare_commit(end_of_input=False):
            closed.append(second)
        state = writer.snapshot()
        writer.close()
        writer = open_writer(sink, attempt=str(second), state=state)  # age counts across epochs and workers
    assert closed == [closed_at]


def test_the_checkpoint_policy_closes_all_files_at_each_epoch(tmp_path):
    sink = builder(tmp_path, RollingPolicy.on_checkpoint_rolling_policy()).build()
    writer = open_writer(sink)
    for value in "ab":
        writer.write([value], None)
        sink.create_committer().commit(writer.prepare_commit(end_of_input=False))
        assert writer.snapshot().files == ()
    assert sorted(visible(tmp_path).values()) == [["a"], ["b"]]


def test_a_bucket_assigner_of_ones_own_sees_record_timestamp_and_watermark(tmp_path):
    class ByFirstLetter(BucketAssigner):
        def get_bucket_id(self, element, context):
            return f"{element[0]}/{context.timestamp}/{context.current_watermark}"

    sink = FileSink.for_row_format(str(tmp_path), Lines()).with_bucket_assigner(ByFirstLetter()).build()
    writer = sink.create_writer(WriterContext(0, 1, "1"))
    writer.on_watermark(7)
    writer.write(["ax", "bx", "ay"], [1, 2, 1])
    sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    assert {str(Path(k).parent): v for k, v in visible(tmp_path).items()} == {"a/1/7": ["ax", "ay"], "b/2/7": ["bx"]}


def test_a_lost_attempt_leaves_no_trace(tmp_path):
    sink = builder(tmp_path, RollingPolicy.default_rolling_policy(part_size=4)).build()
    writer = open_writer(sink)
    writer.write(["ok"], None)
    assert writer.prepare_commit(end_of_input=False) == []
    state = writer.snapshot()
    writer.write(["lost", "lost", "lost"], None)
    writer.prepare_commit(end_of_input=False)  # it closed files, but its answer never arrived

    retry = open_writer(sink, attempt="2", state=state)
    retry.write(["kept"], None)
    committables = retry.prepare_commit(end_of_input=True)
    sink.create_committer().commit(committables)
    assert sorted(visible(tmp_path).values()) == [["ok", "kept"]]
    assert hidden(tmp_path) == []


def test_closing_removes_what_no_epoch_counts_on(tmp_path):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["a"], None)
    writer.close()
    assert hidden(tmp_path) == []


def test_bytes_of_a_lost_attempt_that_is_still_alive_are_noticed_or_cut_off(tmp_path):
    sink = builder(tmp_path).build()
    zombie = open_writer(sink)
    zombie.write(["ok"], None)
    state = zombie.snapshot()
    retry = open_writer(sink, attempt="2", state=state)
    zombie.write(["zombie"], None)
    zombie.snapshot()
    retry.write(["kept"], None)
    with pytest.raises(OSError, match="something else writes to it"):
        retry.snapshot()

    third = open_writer(sink, attempt="3", state=state)
    third.write(["kept"], None)
    committables = third.prepare_commit(end_of_input=True)
    with Path(committables[0].path).open("ab") as file:
        file.write(b"zombie\n")
    sink.create_committer().commit(committables)
    assert list(visible(tmp_path).values()) == [["ok", "kept"]]


def recovered(sink, states, subtask=0, attempt="9", identity="a later run"):
    writer = pickle.loads(pickle.dumps(sink)).create_writer(WriterContext(subtask, 2, attempt, identity))
    writer.recover(pickle.loads(pickle.dumps(states)))
    return writer


def test_what_was_begun_after_a_checkpoint_is_removed_when_the_job_goes_back_to_it(tmp_path):
    sink = builder(tmp_path, RollingPolicy.default_rolling_policy(part_size=4)).build()
    other = open_writer(sink, subtask=1)
    other.write(["o"], None)
    writer = open_writer(sink)
    writer.write(["ok"], None)
    state = writer.snapshot()
    (kept,) = (file.path for file in state.files)
    writer.write(["lost", "lost", "lost"], None)
    assert len(writer.prepare_commit(end_of_input=False)) > 1
    assert len(hidden(tmp_path)) > 3
    recovered(sink, [state])
    assert hidden(tmp_path) == sorted([Path(kept).name, Path(other.snapshot().files[0].path).name])
    assert Path(kept).read_text() == "ok\n"


def test_files_of_several_writers_are_finished_by_one_and_go_on_under_its_own_names(tmp_path):
    sink = builder(tmp_path).build()
    states = []
    for subtask in range(3):
        writer = open_writer(sink, subtask)
        writer.write([f"s{subtask}"], None)
        states.append(writer.snapshot())
        writer.write(["lost"], None)
    heir = recovered(sink, states)
    heir.write(["next"], None)
    first = heir.prepare_commit(end_of_input=False)
    assert sorted(Path(item.target).name for item in first) == sorted(
        Path(file.target).name for state in states[:2] for file in state.files
    )
    sink.create_committer().commit(first)
    sink.create_committer().commit(heir.prepare_commit(end_of_input=True))
    assert sorted(visible(tmp_path).values()) == [["s0"], ["s1"], ["s2", "next"]]
    assert hidden(tmp_path) == []


def test_two_runs_from_one_checkpoint_do_not_give_the_same_name_to_different_files(tmp_path):
    sink = builder(tmp_path).build()
    first = open_writer(sink)
    first.write(["a"], None)
    sink.create_committer().commit(first.prepare_commit(end_of_input=False, checkpoint=False))
    first.write(["a"], None)
    sink.create_committer().commit(first.prepare_commit(end_of_input=True))
    state = first.snapshot()
    for run in ("one", "two"):
        writer = recovered(sink, [state], identity=run)
        writer.write([run], None)
        sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    assert sorted(visible(tmp_path).values()) == [["a", "a"], ["one"], ["two"]]


def test_a_writer_asks_for_the_first_check_at_which_a_file_is_too_old(tmp_path, monkeypatch):
    now = 1_000_000
    monkeypatch.setattr("flintstream.connectors.files.sink.time.time", lambda: now / 1000)
    policy = RollingPolicy.default_rolling_policy(rollover_interval=250, inactivity_interval=130)
    writer = open_writer(builder(tmp_path, policy).with_bucket_check_interval(100).build())
    writer.prepare_commit(end_of_input=False)
    assert writer.next_prepare_commit() is None
    writer.write(["a"], None)
    now += 20
    writer.prepare_commit(end_of_input=False)
    assert writer.next_prepare_commit() == 1_000_220
    now += 100
    writer.write(["b"], None)
    now += 5
    writer.prepare_commit(end_of_input=False)
    assert writer.next_prepare_commit() == 1_000_325
    now = writer.next_prepare_commit()
    assert len(writer.prepare_commit(end_of_input=False)) == 1
    assert writer.next_prepare_commit() is None


def test_the_check_interval_is_a_minute_as_in_flink(tmp_path, monkeypatch):
    monkeypatch.setattr("flintstream.connectors.files.sink.time.time", lambda: 1_000)
    policy = RollingPolicy.default_rolling_policy(rollover_interval=2)
    writer = open_writer(builder(tmp_path, policy).build())
    writer.write(["a"], None)
    writer.prepare_commit(end_of_input=False)
    assert writer.next_prepare_commit() == 1_060_000
    never = open_writer(builder(tmp_path, RollingPolicy.on_checkpoint_rolling_policy()).build())
    never.write(["a"], None)
    assert never.next_prepare_commit() is None


def test_a_savepoint_holds_no_open_files_and_who_starts_from_it_leaves_those_of_the_other_alone(tmp_path):
    sink = builder(tmp_path / "out").build()
    writer = open_writer(sink)
    writer.write(["before"], None)
    prepared = writer.prepare_savepoint(end_of_input=False, checkpoint=False)
    state = writer.snapshot()
    assert (len(prepared), state.files) == (1, ())
    writer.write(["after"], None)
    writer.snapshot()
    for base in (tmp_path / "out", tmp_path / "elsewhere"):
        other = builder(base).build()
        other.create_committer().commit(prepared)
        heir = recovered(other, [state], identity=str(base))
        heir.write(["after too"], None)
        other.create_committer().commit(heir.prepare_commit(end_of_input=True))
    sink.create_committer().commit([*prepared, *writer.prepare_commit(end_of_input=True)])
    assert sorted(visible(tmp_path / "out").values()) == [["after"], ["after", "too"], ["before"]]
    assert list(visible(tmp_path / "elsewhere").values()) == [["after", "too"]]
    assert hidden(tmp_path) == []


def test_only_the_snapshot_of_a_savepoint_says_so(tmp_path):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.prepare_savepoint(end_of_input=False)
    assert writer.snapshot().savepoint
    writer.prepare_commit(end_of_input=False)
    assert not writer.snapshot().savepoint


def test_a_job_goes_on_from_its_checkpoint_although_a_file_was_finished_by_one_that_started_from_a_savepoint(tmp_path):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["a"], None)
    checkpoint = writer.snapshot()
    writer.write(["b"], None)
    builder(tmp_path / "elsewhere").build().create_committer().commit(writer.prepare_savepoint(end_of_input=False))
    assert list(visible(tmp_path).values()) == [["a", "b"]]
    with pytest.raises(FileNotFoundError, match="older than its last one"):
        recovered(sink, [checkpoint], identity="of another run")
    again = sink.create_writer(WriterContext(0, 2, "2"))
    again.recover([checkpoint])
    again.write(["b again"], None)
    sink.create_committer().commit(again.prepare_commit(end_of_input=True))
    assert list(visible(tmp_path).values()) == [["a", "b", "again"]]


def test_open_files_of_another_directory_are_refused(tmp_path):
    writer = open_writer(builder(tmp_path / "out").build())
    writer.write(["a"], None)
    state = writer.snapshot()
    (tmp_path / "same").symlink_to(tmp_path / "out")
    writer.write(["b"], None)
    writer.snapshot()
    for base in ("elsewhere", "out/below"):
        with pytest.raises(CheckpointError, match=f"the sink now writes to .*{base}: start with .* a savepoint"):
            recovered(builder(tmp_path / base).build(), [state])
    assert Path(state.files[0].path).read_text() == "a\nb\n"
    assert recovered(builder(tmp_path / "same").build(), [state]).snapshot().files == state.files


def test_committers_of_two_jobs_that_finish_the_same_file_at_once_agree(tmp_path, monkeypatch):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["a"], None)
    prepared = writer.prepare_savepoint(end_of_input=False)
    exists = Path.exists

    def the_other_is_first(path):
        monkeypatch.setattr(Path, "exists", exists)
        sink.create_committer().commit(prepared)
        return path.exists()

    monkeypatch.setattr(Path, "exists", the_other_is_first)
    sink.create_committer().commit(prepared)
    assert list(visible(tmp_path).values()) == [["a"]]


def test_a_finished_file_of_somebody_else_is_not_replaced(tmp_path):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["a"], None)
    committables = writer.prepare_commit(end_of_input=True)
    Path(committables[0].target).write_text("theirs")
    with pytest.raises(FileExistsError, match="a different file has that name"):
        sink.create_committer().commit(committables)
    assert list(visible(tmp_path).values()) == [["theirs"]]


@pytest.fixture
def synced(monkeypatch):
    """Collect the files that were synced, as (path, size at that time)."""
    calls, real = [], os.fsync

    def fsync(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        calls.append((str(path), None if path.is_dir() else path.stat().st_size))
        real(descriptor)

    monkeypatch.setattr("os.fsync", fsync)
    return calls


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to tell which file a descriptor is of")
def test_what_a_checkpoint_counts_on_is_on_disk_before_it_counts(tmp_path, synced):
    class ByValue(BucketAssigner):
        def get_bucket_id(self, element, context):
            return f"x/{element}"

    out = tmp_path / "out"
    sink = FileSink.for_row_format(str(out), Lines()).with_bucket_assigner(ByValue()).build()
    writer = sink.create_writer(WriterContext(0, 1, "1"))
    writer.write(["a", "b"], None)
    assert writer.prepare_commit(end_of_input=False, checkpoint=False) == []
    writer.snapshot()
    assert synced == [], "the end of an epoch that is no checkpoint costs nothing"
    writer.sync()
    state: Any = writer.snapshot()
    assert {(file.path, file.length) for file in state.files} <= set(synced)
    assert {(str(path), None) for path in (tmp_path, out, out / "x", out / "x/a", out / "x/b")} <= set(synced)
    committables = writer.prepare_commit(end_of_input=True)
    synced.clear()
    sink.create_committer().commit(committables)
    assert {(str(out / "x/a"), None), (str(out / "x/b"), None)} == set(synced)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to tell which file a descriptor is of")
def test_a_complete_file_is_on_disk_when_it_is_prepared(tmp_path, synced):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["abc"], None)
    (prepared, _) = writer.prepare_commit(end_of_input=True)
    assert (prepared.path, 4) in synced


def test_a_file_that_is_gone_or_too_short_is_reported_when_the_writer_goes_on(tmp_path):
    sink = builder(tmp_path).build()
    writer = open_writer(sink)
    writer.write(["abc"], None)
    state = writer.snapshot()
    os.truncate(state.files[0].path, 2)
    with pytest.raises(OSError, match="has 2 bytes, but 4 had been written"):
        open_writer(sink, state=state)
    Path(state.files[0].path).unlink()
    with pytest.raises(FileNotFoundError, match="does not exist any more"):
        open_writer(sink, state=state)


def test_a_finished_file_is_never_overwritten(tmp_path):
    sink = builder(tmp_path).build()
    for value in "ab":  # two runs of one sink: same names, numbers from 0
        writer = open_writer(sink)
        writer.write([value], None)
        sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    assert sorted(visible(tmp_path).values()) == [["a"], ["b"]]


@settings(max_examples=100, deadline=None)
@given(
    epochs=st.lists(st.lists(st.integers(0, 9999), max_size=6), min_size=1, max_size=8),
    part_size=st.integers(1, 40),
    checkpoint_every=st.integers(1, 3),
    seed=st.integers(0, 10_000),
)
def test_every_record_is_in_one_finished_file_whatever_fails(epochs, part_size, checkpoint_every, seed):
    """Attempts die, workers change, and the job rolls back to its last checkpoint and commits its output again."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as base:
        sink = builder(base, RollingPolicy.default_rolling_policy(part_size=part_size)).build()
        committer = sink.create_committer()
        checkpoint: tuple[int, Any, list] = (0, None, [])
        epoch, state, pending, writer, attempts = 0, None, [], None, 0
        while epoch < len(epochs):
            if writer is None or rng.random() < 0.5:
                attempts += 1
                writer = open_writer(sink, attempt=str(attempts), state=state)
            values = [f"{epoch}:{n}:{value}" for n, value in enumerate(epochs[epoch])]
            if rng.random() < 0.3 and attempts < 60:  # the attempt dies after some of its work
                writer.write(values[: rng.randint(0, len(values))], None)
                if rng.random() < 0.5:
                    writer.prepare_commit(end_of_input=False)
                if rng.random() < 0.5:
                    writer.close()
                writer = None
                continue
            writer.write(values, None)
            pending += writer.prepare_commit(end_of_input=epoch + 1 == len(epochs))
            state = writer.snapshot()
            epoch += 1
            if epoch % checkpoint_every == 0 or epoch == len(epochs):
                checkpoint = (epoch, state, [*pending])
                if rng.random() < 0.8:
                    committer.commit(pending)
                    pending = []
            if rng.random() < 0.2 and attempts < 60:
                epoch, state, pending = checkpoint[0], checkpoint[1], []
                committer.commit(checkpoint[2])
                writer = None
        committer.commit(pending)
        expected = [f"{e}:{n}:{value}" for e, values in enumerate(epochs) for n, value in enumerate(values)]
        assert sorted(line for lines in visible(base).values() for line in lines) == sorted(expected)
        assert hidden(base) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("yyyy-MM-dd--HH", "2013-01-02--15"),
        ("yy/M/d", "13/1/2"),
        ("'dt='yyyyMMdd'/it''s 'H:mm:ss.SSS", "dt=20130102/it's 15:04:05.678"),
        ("EEE d MMM uuuu hh a", "Wed 2 Jan 2013 03 PM"),
        ("EEEE MMMM D", "Wednesday January 2"),
        ("HHxx", "15+0000"),
        ("HHXXX", "15Z"),
    ],
)
def test_java_date_patterns_name_buckets(pattern, text):
    assigner = pickle.loads(pickle.dumps(BucketAssigner.date_time_bucket_assigner(pattern, "UTC")))
    moment = datetime(2013, 1, 2, 15, 4, 5, 678000, timezone.utc)
    assert assigner.common_bucket_id(int(moment.timestamp() * 1000)) == text


@pytest.mark.parametrize(
    ("zone", "text"), [("GMT-08:00", "16"), ("America/New_York", "19"), ("+05:30", "05"), ("UTC", "00")]
)
def test_buckets_follow_the_time_zone(zone, text):
    assert BucketAssigner.date_time_bucket_assigner("HH", zone).common_bucket_id(0) == text


@pytest.mark.parametrize("pattern", ["yyyy-QQ", "yyyy'open", "yyyy[MM]"])
def test_unknown_date_patterns_are_refused(pattern):
    with pytest.raises(PlanError, match="date pattern"):
        BucketAssigner.date_time_bucket_assigner(pattern)


def test_wrong_settings_are_refused_when_the_sink_is_built(tmp_path):
    with pytest.raises(PlanError, match="unknown time zone 'Mars/Olympus'"):
        BucketAssigner.date_time_bucket_assigner(timezone_id="Mars/Olympus")
    with pytest.raises(PlanError, match="part_size of a rolling policy must be a positive int, got 0"):
        RollingPolicy.default_rolling_policy(part_size=0)
    with pytest.raises(PlanError, match="prefix of part files"):
        OutputFileConfig.builder().with_part_prefix("a/b").build()
    with pytest.raises(PlanError, match="must be valid text"):
        OutputFileConfig.builder().with_part_suffix("\ud800").build()
    with pytest.raises(PlanError, match="at most 128 bytes together, got 200"):
        OutputFileConfig.builder().with_part_prefix("a" * 100).with_part_suffix("b" * 100).build()
    with pytest.raises(TypeError, match="needs an Encoder"):
        FileSink.for_row_format(str(tmp_path), "utf-8")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a RollingPolicy"):
        builder(tmp_path).with_rolling_policy(5)
    with pytest.raises(PlanError, match="no file system supports nowhere:"):
        FileSink.for_row_format("nowhere://bucket/out", Lines())
    with pytest.raises(PlanError, match="needs a number of checkpoints or a size"):
        FileCompactStrategy.builder().set_num_compact_threads(2).build()


def test_the_older_sink_is_a_file_sink_with_a_warning(tmp_path):
    with pytest.warns(DeprecationWarning, match="use FileSink"):
        sink = StreamingFileSink.for_row_format(str(tmp_path), Lines()).build()
    assert isinstance(sink, StreamingFileSink)
    writer = open_writer(sink)
    writer.write(["a"], None)
    sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    assert list(visible(tmp_path).values()) == [["a"]]


class Totals(BulkWriterFactory):
    """Files that end with the sum of their lines."""

    class Writer(BulkWriter):
        def __init__(self, stream):
            self.stream = stream
            self.total = 0

        def add_element(self, element):
            self.total += element
            self.stream.write(b"%d\n" % element)

        def flush(self):
            self.stream.flush()

        def finish(self):
            self.stream.write(b"total %d\n" % self.total)

    def create(self, stream):
        return Totals.Writer(stream)


def test_bulk_files_are_completed_at_each_epoch(tmp_path):
    made = FileSink.for_bulk_format(str(tmp_path), Totals())
    sink = made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    writer = open_writer(sink)
    for values in [[1, 2], [3]]:
        writer.write(values, None)
        sink.create_committer().commit(writer.prepare_commit(end_of_input=False))
        assert writer.snapshot().files == ()
    writer.write([4], None)
    writer.close()
    assert sorted(visible(tmp_path).values()) == [["1", "2", "total", "3"], ["3", "total", "3"]]
    assert hidden(tmp_path) == []


def test_bulk_files_go_on_from_epoch_to_epoch_until_a_checkpoint(tmp_path):
    made = FileSink.for_bulk_format(str(tmp_path), Totals())
    sink = made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()

    def opened(attempt, state=None):
        writer = sink.create_writer(WriterContext(0, 1, attempt, with_checkpoints=True))
        if state is not None:
            writer.restore(pickle.loads(pickle.dumps(state)))
        return writer

    writer = opened("1")
    writer.write([1, 2], None)
    assert writer.prepare_commit(end_of_input=False, checkpoint=False) == []
    state = writer.snapshot()
    writer.write([99], None)
    writer.prepare_commit(end_of_input=False, checkpoint=True)  # of a lost attempt
    writer = opened("2", state)
    writer.write([3], None)
    prepared = writer.prepare_commit(end_of_input=False, checkpoint=True)
    assert writer.snapshot().files == ()
    sink.create_committer().commit([*prepared, *prepared])
    assert list(visible(tmp_path).values()) == [["1", "2", "3", "total", "6"]]
    without = sink.create_writer(WriterContext(0, 1, "3"))
    writer.write([4], None)
    without.restore(writer.snapshot())
    without.write([5], None)
    sink.create_committer().commit(without.prepare_commit(end_of_input=True))
    assert ["4", "5", "total", "9"] in visible(tmp_path).values()
    writer.close()
    assert hidden(tmp_path) == []


def test_bulk_files_roll_at_checkpoints_only(tmp_path):
    made = FileSink.for_bulk_format(str(tmp_path), Totals())
    made.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    with pytest.raises(PlanError, match="needs the rolling policy"):
        made.with_rolling_policy(RollingPolicy.default_rolling_policy())
    with pytest.raises(TypeError, match="needs a BulkWriterFactory"):
        FileSink.for_bulk_format(str(tmp_path), Lines())  # type: ignore[arg-type]


def test_numbers_of_output_config_can_be_read_back():
    config = OutputFileConfig.builder().build()
    assert (config.get_part_prefix(), config.get_part_suffix()) == ("part", "")
