"""Files in stores that cannot append, cut or rename: fsspec's ``memory://``; and ``local://``, which can rename."""

from __future__ import annotations

import pickle
import random
import uuid

import fsspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connectors.files.reading import read_split

from flintstream.common import Encoder, Types, WatermarkStrategy
from flintstream.connectors.files import sink as files_sink
from flintstream.connectors.files.recoverable import remote as recoverable_remote
from flintstream.connectors.sink import WriterContext
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, RollingPolicy
from flintstream.datastream.connectors.file_system import StreamFormat as Format
from flintstream.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from flintstream.errors import CheckpointError, PlanError
from flintstream.storage import remote
from flintstream.table.types import DataTypes

NUMBERS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])
TEXT = Format.text_line_format()


class Lines(Encoder):
    def encode(self, value, type_info):
        return f"{value}\n".encode()


@pytest.fixture(params=["memory", "local", "s3"])
def base(request, tmp_path):
    if request.param == "s3":
        return f"{request.getfixturevalue('s3')}/out"
    return f"memory://{uuid.uuid4().hex}/out" if request.param == "memory" else f"local://{tmp_path}/out"


def rows_sink(base, policy=None):
    made = FileSink.for_row_format(base, Lines()).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    return made.with_rolling_policy(policy or RollingPolicy.default_rolling_policy()).build()


def parquet_sink(base):
    made = FileSink.for_bulk_format(base, ParquetBulkWriters.for_row_type(NUMBERS))
    return made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


def open_writer(sink, attempt="1", state=None):
    context = WriterContext(0, 1, attempt, with_checkpoints=True)
    writer = pickle.loads(pickle.dumps(sink)).create_writer(context)
    if state is not None:
        writer.restore(pickle.loads(pickle.dumps(state)))
    return writer


def listed(base):
    """Return the files below a directory as {name: content}: the visible ones, and the hidden ones."""
    system, top = fsspec.core.url_to_fs(base)
    found = {path: system.cat_file(path) for path in (system.find(top) if system.exists(top) else [])}
    hidden = {path: data for path, data in found.items() if path.rpartition("/")[2].startswith(".")}
    return {path: data for path, data in found.items() if path not in hidden}, hidden


def records_of(file_format, base):
    source = FileSource.for_record_stream_format(file_format, base).build()
    return [record for split in source.create_enumerator(2).discover() for record in read_split(file_format, split)]


def test_a_file_goes_on_over_epochs_and_processes_and_appears_when_it_is_committed(base, monkeypatch):
    monkeypatch.setattr(recoverable_remote, "KEPT_BYTES", 4)
    sink = rows_sink(base)
    state = None
    for number in range(5):
        writer = open_writer(sink, str(number), state)
        writer.write([f"{number}" * number], None)
        assert writer.prepare_commit(end_of_input=False, checkpoint=False) == []
        state = writer.snapshot()
        writer.close()
        assert listed(base)[0] == {}
    writer = open_writer(sink, "last", state)
    prepared = writer.prepare_commit(end_of_input=True)
    assert listed(base)[0] == {}
    for _ in range(2):  # a second time changes nothing
        sink.create_committer().commit(pickle.loads(pickle.dumps(prepared)))
        visible, hidden = listed(base)
        assert list(visible.values()) == [b"\n1\n22\n333\n4444\n"]
        assert hidden == {}
    assert records_of(TEXT, base) == ["", "1", "22", "333", "4444"]


class ByValue(BucketAssigner):
    def get_bucket_id(self, element, context):
        return element


@pytest.mark.promise("S19")
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("bucket", ["..", "../other", "a/../../other", "/../other", "a\0b"])
def test_a_bucket_that_leads_out_of_the_base_path_is_refused(bucket, plain, tmp_path):
    base = str(tmp_path / "out") if plain else f"local://{tmp_path}/out"
    writer = open_writer(FileSink.for_row_format(base, Lines()).with_bucket_assigner(ByValue()).build())
    with pytest.raises(ValueError, match=r"is not below .*the bucket assigner must return a path below it"):
        writer.write([bucket], None)
    assert not list(tmp_path.rglob("*"))


class Always(BucketAssigner):
    def __init__(self, bucket):
        self.bucket = bucket

    def get_bucket_id(self, element, context):
        return self.bucket


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("bucket", "message"),
    [("a/" + "b" * 300, "has a name of 300 bytes"), ("half\ud800", "is not valid text")],
)
def test_a_bucket_that_is_no_name_of_a_directory_is_refused(bucket, message, plain, tmp_path):
    base = str(tmp_path / "out") if plain else f"memory://{uuid.uuid4().hex}/out"
    writer = open_writer(FileSink.for_row_format(base, Lines()).with_bucket_assigner(Always(bucket)).build())
    with pytest.raises(ValueError, match=message) as refused:
        writer.write(["a"], None)
    assert len(str(refused.value)) < 250


@pytest.mark.promise("S19")
def test_a_bucket_cannot_name_another_file_system(tmp_path):
    base = f"memory://{uuid.uuid4().hex}/out"
    writer = open_writer(FileSink.for_row_format(base, Lines()).with_bucket_assigner(ByValue()).build())
    with pytest.raises(ValueError, match="contains '::', which separates file systems"):
        writer.write([f"day/part-0::file://{tmp_path}/secret"], None)
    assert listed(base) == ({}, {})


@pytest.mark.parametrize("plain", [False, True])
def test_buckets_are_paths_below_the_base_path(plain, tmp_path):
    base = str(tmp_path / "out") if plain else f"local://{tmp_path}/out"
    writer = open_writer(FileSink.for_row_format(base, Lines()).with_bucket_assigner(ByValue()).build())
    writer.write(["", ".", "a", "/a", "a/b", "a/../b", "..."], None)
    writer.prepare_commit(end_of_input=True)
    found = {path.parent for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {tmp_path / "out" / part for part in ("", "a", "a/b", "b", "...")}


def test_bulk_files_are_spooled_in_pieces(base, monkeypatch):
    monkeypatch.setattr(recoverable_remote, "KEPT_BYTES", 10)
    monkeypatch.setattr(recoverable_remote, "PIECE_BYTES", 200)
    sink = parquet_sink(base)
    state = None
    for number in range(5):
        writer = open_writer(sink, str(number), state)
        writer.write([(number * 100 + n,) for n in range(100)], None)
        writer.prepare_commit(end_of_input=False, checkpoint=False)
        state = writer.snapshot()
    prepared = open_writer(sink, "last", state).prepare_commit(end_of_input=True)
    sink.create_committer().commit(prepared)
    visible, hidden = listed(base)
    assert (len(visible), hidden) == (1, {})
    source = ParquetColumnarRowInputFormat(NUMBERS)
    splits = FileSource.for_bulk_file_format(source, base).build().create_enumerator(1).discover()
    assert [row.n for split in splits for row in read_split(source, split)] == list(range(500))


def test_a_commit_that_was_broken_off_after_the_copy_is_finished(base):
    sink = rows_sink(base)
    writer = open_writer(sink)
    writer.write(["a"], None)
    (prepared, _) = writer.prepare_commit(end_of_input=True)
    system, path = fsspec.core.url_to_fs(prepared.path)
    system.cp_file(path, fsspec.core.url_to_fs(prepared.target)[1])
    sink.create_committer().commit([prepared])
    visible, hidden = listed(base)
    assert (list(visible.values()), hidden) == ([b"a\n"], {})


def test_files_that_are_gone_or_of_another_directory_are_reported(base, monkeypatch):
    monkeypatch.setattr(recoverable_remote, "KEPT_BYTES", 0)
    sink = rows_sink(base)
    writer = open_writer(sink)
    writer.write(["abc"], None)
    state = writer.snapshot()
    with pytest.raises(CheckpointError, match="the sink now writes to"):
        open_writer(rows_sink(f"{base}-elsewhere"), state=state)
    (prepared, _) = writer.prepare_commit(end_of_input=True)
    system, _ = fsspec.core.url_to_fs(base)
    for path in listed(base)[1]:
        system.rm_file(path)
    with pytest.raises(FileNotFoundError, match="does not exist any more"):
        open_writer(sink, state=state)
    with pytest.raises(FileNotFoundError, match="neither"):
        sink.create_committer().commit([prepared])


def test_what_is_not_committed_is_removed_when_the_job_goes_back_and_when_it_ends(base, monkeypatch):
    monkeypatch.setattr(recoverable_remote, "KEPT_BYTES", 0)
    sink = rows_sink(base, RollingPolicy.default_rolling_policy(part_size=4))
    writer = open_writer(sink)
    writer.write(["ok"], None)
    state = writer.snapshot()
    writer.write(["lost", "lost", "lost"], None)
    writer.prepare_commit(end_of_input=False)
    writer.snapshot()
    assert len(listed(base)[1]) > 2
    heir = sink.create_writer(WriterContext(0, 1, "9", "later", with_checkpoints=True))
    heir.recover([pickle.loads(pickle.dumps(state))])
    assert list(listed(base)[1].values()) == [b"ok\n"]
    sink.create_committer().commit(heir.prepare_commit(end_of_input=True))
    visible, hidden = listed(base)
    assert (list(visible.values()), hidden) == ([b"ok\n"], {})


@settings(max_examples=60, deadline=None)
@given(
    epochs=st.lists(st.lists(st.integers(0, 9999), max_size=6), min_size=1, max_size=8),
    part_size=st.integers(1, 60),
    kept=st.integers(0, 30),
    checkpoint_every=st.integers(1, 3),
    seed=st.integers(0, 10_000),
)
def test_every_record_is_in_one_object_whatever_fails(epochs, part_size, kept, checkpoint_every, seed):
    rng = random.Random(seed)
    base = f"memory://{uuid.uuid4().hex}/out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recoverable_remote, "KEPT_BYTES", kept)
        patch.setattr(recoverable_remote, "PIECE_BYTES", 2 * kept + 20)
        sink = rows_sink(base, RollingPolicy.default_rolling_policy(part_size=part_size))
        committer = sink.create_committer()
        checkpoint: tuple = (0, None, [])
        number, state, pending, writer, attempts = 0, None, [], None, 0
        while number < len(epochs):
            if writer is None or rng.random() < 0.5:
                attempts += 1
                writer = open_writer(sink, str(attempts), state)
            values = [f"{number}:{n}:{value}" for n, value in enumerate(epochs[number])]
            if rng.random() < 0.3 and attempts < 60:  # the attempt dies after some of its work
                writer.write(values[: rng.randint(0, len(values))], None)
                if rng.random() < 0.5:
                    writer.prepare_commit(end_of_input=False)
                if rng.random() < 0.5:
                    writer.close()
                writer = None
                continue
            writer.write(values, None)
            pending += writer.prepare_commit(end_of_input=number + 1 == len(epochs))
            state = writer.snapshot()
            number += 1
            if number % checkpoint_every == 0 or number == len(epochs):
                checkpoint = (number, state, [*pending])
                if rng.random() < 0.8:
                    committer.commit(pending)
                    pending = []
                else:  # the job fails, and goes back to the checkpoint
                    number, state, pending = checkpoint
                    committer.commit(pending)
                    pending, writer = [], None
                    if number < len(epochs):
                        writer = open_writer(sink, f"again{number}-{attempts}")
                        writer.recover([pickle.loads(pickle.dumps(state))])
        committer.commit(pending)
        visible, hidden = listed(base)
    expected = [f"{e}:{n}:{value}" for e, values in enumerate(epochs) for n, value in enumerate(values)]
    assert sorted(line for data in visible.values() for line in data.decode().split()) == sorted(expected)
    assert hidden == {}


@pytest.mark.parametrize(
    ("engine", "scheme"), [("inline", "memory"), pytest.param("spark", "local", marks=pytest.mark.spark)]
)
def test_a_program_writes_into_a_store_and_reads_what_it_wrote(engine, scheme, tmp_path):
    base = f"{scheme}://{tmp_path}/out"
    settings = {"flintstream.engine": engine, "execution.checkpointing.interval": "50 ms"}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
    numbers = env.from_collection([str(n) for n in range(1000)], Types.STRING())
    numbers.sink_to(rows_sink(base))
    env.execute()
    source = FileSource.for_record_stream_format(TEXT, base).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "files")
    with stream.execute_and_collect() as found:
        assert sorted(map(int, found)) == list(range(1000))
    assert listed(base)[1] == {}


def test_a_store_without_its_client_or_of_no_kind_is_refused_when_the_program_is_built(monkeypatch):
    with pytest.raises(PlanError, match="no file system supports nowhere:"):
        FileSource.for_record_stream_format(TEXT, "nowhere://x/y")

    def missing(protocol):
        raise ImportError(name="s3fs")

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    for make in (lambda: rows_sink("s3://bucket/out"), lambda: FileSource.for_record_stream_format(TEXT, "s3://b/x")):
        with pytest.raises(ImportError, match=r"s3fs: pip install 'flintstream\[s3\]'"):
            make()
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError, match=r"memory://none/there does not exist"):
        FileSource.for_record_stream_format(TEXT, "memory://none/there").build()


def test_hidden_objects_and_directories_are_left_out():
    base = f"memory://{uuid.uuid4().hex}/in"
    system, top = fsspec.core.url_to_fs(base)
    for name in ("b.txt", "a/z.txt", "a/.hidden", "_SUCCESS", "_logs/x.txt", ".d/y.txt"):
        system.pipe_file(f"{top}/{name}", f"{name}\n".encode())
    assert records_of(TEXT, base) == ["a/z.txt", "b.txt"]
    assert records_of(TEXT, f"{base}/b.txt") == ["b.txt"]


def test_tasks_give_many_files_their_names_and_may_run_twice(base, monkeypatch):
    monkeypatch.setattr(files_sink, "FILES_PER_TASK", 2)
    sink = FileSink.for_row_format(base, Lines()).with_bucket_assigner(ByValue()).build()
    writer = open_writer(sink)
    writer.write(list("abcde"), None)
    prepared = writer.prepare_commit(end_of_input=True)
    committer, started = sink.create_committer(), []

    def run_tasks(functions):
        started.extend(pickle.loads(pickle.dumps(functions)))
        return [function() for function in (*functions[1:], *started)]

    committer.run_tasks = run_tasks
    committer.commit(prepared)
    assert len(started) == 3
    visible, hidden = listed(base)
    assert sorted(visible.values()) == [b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"]
    assert hidden == {}


def test_a_file_that_another_process_names_at_the_same_time_is_no_error(base, monkeypatch):
    sink = rows_sink(base)
    writer = open_writer(sink)
    writer.write(["a"], None)
    prepared = writer.prepare_commit(end_of_input=True)
    move = remote.move

    def late(path, target):
        move(path, target)
        raise FileNotFoundError(path)  # as for the one that comes second

    monkeypatch.setattr(recoverable_remote, "move", late)
    sink.create_committer().commit(prepared)
    assert list(listed(base)[0].values()) == [b"a\n"]
