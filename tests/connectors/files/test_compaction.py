from __future__ import annotations

import os
import pickle
import random
import re
import tempfile
import uuid
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.connectors.files.reading import read_file

from flintstream.common.serialization import Encoder
from flintstream.connectors.sink import WriterContext
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
)
from flintstream.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from flintstream.errors import FlintstreamError, PlanError
from flintstream.table.types import DataTypes

CONCAT = FileCompactor.concat_file_compactor()
NUMBERS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])


class Lines(Encoder):
    def encode(self, value, type_info):
        return f"{value}\n".encode()


class ByFirst(BucketAssigner):
    def get_bucket_id(self, element, context):
        return str(element)[0]


class Sorted(FileCompactor):
    def compact(self, inputs, output):
        output.writelines(sorted(line for stream in inputs for line in stream.readlines()))


def strategy(checkpoints=None, size=None, threads=1):
    made = FileCompactStrategy.builder().set_num_compact_threads(threads)
    if checkpoints is not None:
        made.enable_compaction_on_checkpoint(checkpoints)
    return (made if size is None else made.set_size_threshold(size)).build()


def builder(base, *, assigner=None, policy=None):
    made = FileSink.for_row_format(str(base), Lines())
    made = made.with_bucket_assigner(assigner or BucketAssigner.base_path_bucket_assigner())
    return made.with_rolling_policy(policy or RollingPolicy.on_checkpoint_rolling_policy())


def open_writer(sink, attempt="1", state=None, subtask=0):
    context = WriterContext(subtask, 2, attempt, with_checkpoints=True)
    writer = pickle.loads(pickle.dumps(sink)).create_writer(context)
    if state is not None:
        writer.restore(pickle.loads(pickle.dumps(state)))
    return writer


def epoch(sink, writer, values, *, checkpoint=True, end=False):
    writer.write(values, None)
    prepared = writer.prepare_commit(end_of_input=end, checkpoint=checkpoint)
    writer.sync()
    sink.create_committer().commit(pickle.loads(pickle.dumps(prepared)))
    return prepared


def files(base, *, hidden=False):
    found = sorted(Path(d, f) for d, _, names in os.walk(base) for f in names if f.startswith(".") == hidden)
    return {str(path.relative_to(base)): path.read_bytes().decode(errors="replace").split() for path in found}


def test_files_are_merged_after_so_many_checkpoints_and_not_seen_before(tmp_path):
    config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".ext").build()
    sink = builder(tmp_path).with_output_file_config(config).enable_compact(strategy(checkpoints=3), CONCAT).build()
    writer = open_writer(sink)
    for value in "ab":
        epoch(sink, writer, [value])
        assert files(tmp_path) == {}
    epoch(sink, writer, ["c"])
    ((name, lines),) = files(tmp_path).items()
    assert re.fullmatch(r"compacted-pre-[0-9a-f-]{36}-0\.ext", name)
    assert lines == ["a", "b", "c"]
    assert files(tmp_path, hidden=True) == {}
    epoch(sink, writer, ["d"])
    assert len(files(tmp_path)) == 1
    epoch(sink, writer, ["e"], end=True)
    assert sorted(files(tmp_path).values()) == [["a", "b", "c"], ["d", "e"]]
    assert files(tmp_path, hidden=True) == {}


def test_epochs_that_are_no_checkpoints_do_not_count(tmp_path):
    sink = builder(tmp_path, policy=RollingPolicy.default_rolling_policy(part_size=1))
    sink = sink.enable_compact(strategy(checkpoints=1), CONCAT).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a", "b"], checkpoint=False)
    epoch(sink, writer, ["c", "d"], checkpoint=False)
    assert files(tmp_path) == {}
    epoch(sink, writer, [], checkpoint=True)
    assert list(files(tmp_path).values()) == [["a", "b", "c", "d"]]


def test_files_are_merged_when_they_are_larger_than_the_threshold_each_bucket_for_itself(tmp_path):
    sink = builder(tmp_path, assigner=ByFirst()).enable_compact(strategy(size=6, threads=2), CONCAT).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a1", "b1"])
    epoch(sink, writer, ["a2", "b2"])
    assert files(tmp_path) == {}, "two files of 3 bytes are not more than 6 bytes"
    epoch(sink, writer, ["a3", "b3", "c3"])
    assert sorted(files(tmp_path).values()) == [["a1", "a2", "a3"], ["b1", "b2", "b3"]]
    epoch(sink, writer, [], end=True)
    assert sorted(files(tmp_path).values())[2:] == [["c3"]]
    assert {name[0] for name in files(tmp_path)} == set("abc")


def test_a_delimiter_stands_after_each_file(tmp_path):
    compactor = FileCompactor.concat_file_compactor(b"--\n")
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=2), compactor).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a"])
    epoch(sink, writer, ["b"])
    assert list(files(tmp_path).values()) == [["a", "--", "b", "--"]]


def test_the_identical_compactor_passes_on_one_file_and_refuses_several(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=1), FileCompactor.identical_file_compactor()).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a"])
    assert list(files(tmp_path).values()) == [["a"]]
    rolling = RollingPolicy.default_rolling_policy(part_size=1)
    sink = builder(tmp_path, policy=rolling).enable_compact(
        strategy(checkpoints=1), FileCompactor.identical_file_compactor()
    )
    writer = open_writer(sink.build())
    writer.write(["a", "b", "c", "d"], None)
    with pytest.raises(FlintstreamError, match="cannot merge 4 files"):
        writer.prepare_commit(end_of_input=True)


def test_formats_that_cannot_be_concatenated_are_merged_record_by_record(tmp_path):
    factory, reader = ParquetBulkWriters.for_row_type(NUMBERS), ParquetColumnarRowInputFormat(NUMBERS)
    made = FileSink.for_bulk_format(str(tmp_path), factory)
    made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    with pytest.raises(PlanError, match="cannot be concatenated"):
        made.enable_compact(strategy(checkpoints=2), CONCAT)
    compactor = FileCompactor.record_wise_file_compactor(reader, factory)
    sink = made.enable_compact(strategy(checkpoints=2), compactor).build()
    writer = open_writer(sink)
    epoch(sink, writer, [(1,), (2,)])
    epoch(sink, writer, [(3,)])
    (name,) = files(tmp_path)
    assert [row.n for row in read_file(reader, tmp_path / name)] == [1, 2, 3]
    assert files(tmp_path, hidden=True) == {}


def test_a_compactor_of_ones_own_gets_the_files_in_their_order(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=2), Sorted()).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["c", "a"])
    epoch(sink, writer, ["b"])
    assert list(files(tmp_path).values()) == [["a", "b", "c"]]


def test_a_savepoint_holds_no_files_to_be_merged(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=5), CONCAT).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a"])
    writer.write(["b"], None)
    prepared = writer.prepare_savepoint(end_of_input=False, checkpoint=False)
    assert writer.snapshot().held.files == ()
    sink.create_committer().commit(prepared)
    assert list(files(tmp_path).values()) == [["a", "b"]]


def test_a_sink_that_does_not_merge_any_more_commits_what_was_held(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=5), CONCAT).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a"])
    epoch(sink, writer, ["b"])
    state = writer.snapshot()
    plain = builder(tmp_path).enable_compact(strategy(checkpoints=5), CONCAT).disable_compact().build()
    heir = plain.create_writer(WriterContext(0, 2, "9", "later", with_checkpoints=True))
    heir.recover([pickle.loads(pickle.dumps(state))])
    plain.create_committer().commit(heir.prepare_commit(end_of_input=True))
    assert sorted(files(tmp_path).values()) == [["a"], ["b"]]
    assert all(name.startswith("part-") for name in files(tmp_path))


def test_one_writer_takes_over_what_several_held(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=3), CONCAT).build()
    states = []
    for subtask in range(3):
        writer = open_writer(sink, subtask=subtask)
        epoch(sink, writer, [f"s{subtask}"])
        states.append(writer.snapshot())
    heir = sink.create_writer(WriterContext(0, 1, "9", "later", with_checkpoints=True))
    heir.recover(pickle.loads(pickle.dumps(states)))
    epoch(sink, heir, ["next"], end=True)
    assert sorted(chain(*files(tmp_path).values())) == ["next", "s0", "s1", "s2"]
    assert len(files(tmp_path)) == 1
    assert files(tmp_path, hidden=True) == {}


def test_held_files_that_are_gone_are_named(tmp_path):
    sink = builder(tmp_path).enable_compact(strategy(checkpoints=2), CONCAT).build()
    writer = open_writer(sink)
    epoch(sink, writer, ["a"])
    for name in files(tmp_path, hidden=True):
        (tmp_path / name).unlink()
    writer.write(["b"], None)
    with pytest.raises(FlintstreamError, match=r"a part file to be merged .* does not exist any more"):
        writer.prepare_commit(end_of_input=False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FileCompactStrategy.builder().build(), "needs a number of checkpoints or a size"),
        (lambda: strategy(checkpoints=0), "number of checkpoints .* must be positive"),
        (lambda: strategy(size=-1), "must be at least 0"),
        (lambda: strategy(size=1, threads=0), "number of threads .* must be positive"),
    ],
)
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(PlanError, match=message):
        make()


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(TypeError, match="needs a FileCompactStrategy"):
        builder(tmp_path).enable_compact(5, CONCAT)
    with pytest.raises(TypeError, match="needs a FileCompactor"):
        builder(tmp_path).enable_compact(strategy(size=1), "concat")
    with pytest.raises(TypeError, match="must be bytes"):
        FileCompactor.concat_file_compactor("\n")  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(
    epochs=st.lists(st.lists(st.integers(0, 99), max_size=6), min_size=1, max_size=10),
    checkpoints=st.integers(1, 3),
    size=st.none() | st.integers(0, 60),
    checkpoint_every=st.integers(1, 3),
    seed=st.integers(0, 10_000),
    remote=st.booleans(),
)
def test_every_record_is_in_one_finished_file_whatever_fails(epochs, checkpoints, size, checkpoint_every, seed, remote):
    """Attempts die before, while and after they merge; the job rolls back, and commits a checkpoint's output again."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        base = f"memory://{uuid.uuid4().hex}/out" if remote else directory
        policy = RollingPolicy.default_rolling_policy(part_size=rng.choice([5, 20]))
        made = builder(base, assigner=ByFirst(), policy=policy if rng.random() < 0.5 else None)
        sink = made.enable_compact(strategy(checkpoints, size), CONCAT).build()
        committer = sink.create_committer()
        checkpoint: tuple = (0, None, [])
        number, state, pending, writer, attempts = 0, None, [], None, 0
        while number < len(epochs):
            is_checkpoint = (number + 1) % checkpoint_every == 0 or number + 1 == len(epochs)
            if writer is None or rng.random() < 0.5:
                attempts += 1
                writer = open_writer(sink, str(attempts), state)
            values = [f"{value}:{number}:{n}" for n, value in enumerate(epochs[number])]
            if rng.random() < 0.3 and attempts < 60:  # the attempt dies after some of its work
                writer.write(values[: rng.randint(0, len(values))], None)
                if rng.random() < 0.5:
                    writer.prepare_commit(end_of_input=False, checkpoint=is_checkpoint)
                if rng.random() < 0.5:
                    writer.close()
                writer = None
                continue
            writer.write(values, None)
            last = number + 1 == len(epochs)
            pending += writer.prepare_commit(end_of_input=last, checkpoint=is_checkpoint)
            state = writer.snapshot()
            number += 1
            if is_checkpoint:
                checkpoint = (number, state, [*pending])
                if rng.random() < 0.8:
                    committer.commit(pending)
                    pending = []
                    if not last and rng.random() < 0.3:
                        number, state, pending, writer = roll_back(committer, checkpoint, sink, attempts)
                else:
                    number, state, pending, writer = roll_back(committer, checkpoint, sink, attempts)
        committer.commit(pending)
        expected = [f"{value}:{e}:{n}" for e, values in enumerate(epochs) for n, value in enumerate(values)]
        visible, hidden = contents(base)
        assert sorted(chain(*visible.values())) == sorted(expected)
        assert hidden == {}


def roll_back(committer, checkpoint, sink, attempts):
    """The job fails and starts again from a checkpoint."""
    number, state, pending = checkpoint
    committer.commit(pending)
    if state is None:
        return number, state, [], None
    writer = open_writer(sink, f"again{number}-{attempts}")
    writer.recover([pickle.loads(pickle.dumps(state))])
    return number, state, [], writer


def contents(base):
    if not base.startswith("memory:"):
        return files(base), files(base, hidden=True)
    import fsspec

    system, top = fsspec.core.url_to_fs(base)
    found = {path: system.cat_file(path).decode().split() for path in (system.find(top) if system.exists(top) else [])}
    hidden = {path: lines for path, lines in found.items() if path.rpartition("/")[2].startswith(".")}
    return {path: lines for path, lines in found.items() if path not in hidden}, hidden
