from __future__ import annotations

import pickle

import pytest

from flintstream.common.time import Duration
from flintstream.common.typeinfo import Types
from flintstream.connectors.files.enumerator import FileMonitor, plan_splits
from flintstream.connectors.source import Boundedness, Fetch
from flintstream.datastream.connectors.file_system import (
    BulkFormat,
    FileEnumeratorProvider,
    FileSource,
    FileSplitAssignerProvider,
    StreamFormat,
)
from flintstream.errors import PlanError

TEXT = StreamFormat.text_line_format()


def paths_of(splits):
    return [split.path for split in splits]


def lines_of(source, parallelism=1):
    source = pickle.loads(pickle.dumps(source))
    reader = source.create_reader()
    splits = source.create_enumerator(parallelism).discover()
    return [line for split in splits for batch in reader.read(split, Fetch()) for line in batch]


def test_directories_are_read_recursively_without_hidden_files(tmp_path):
    for name in ["b.txt", "a/z.txt", "a/.hidden", "_SUCCESS", "_logs/x.txt", ".d/y.txt", "c.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    source = FileSource.for_record_stream_format(TEXT, str(tmp_path)).process_static_file_set().build()
    assert source.get_boundedness() is Boundedness.BOUNDED
    assert lines_of(source) == ["a/z.txt", "b.txt", "c.txt"]
    assert source.produced_type == Types.STRING()


def test_a_hidden_path_gives_nothing_and_a_warning(tmp_path):
    path = tmp_path / "_data.txt"
    path.write_text("x\n")
    with pytest.warns(UserWarning, match=r"nothing is read from .*_data\.txt"):
        source = FileSource.for_record_stream_format(TEXT, str(path)).build()
    assert lines_of(source) == []


def test_several_paths_with_and_without_scheme_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        (tmp_path / name).write_text(name)
    source = FileSource.for_record_stream_format(TEXT, f"file://{tmp_path}/a", "b", f"{tmp_path}/c").build()
    monkeypatch.chdir("/")
    assert lines_of(source) == ["a", "b", "c"]


def test_a_missing_path_is_named_when_the_source_is_built(tmp_path):
    builder = FileSource.for_record_stream_format(TEXT, f"file://{tmp_path}/nothing-here")
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/nothing-here does not exist"):
        builder.build()


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="must be a str or a path object, not 3"):
        FileSource.for_record_stream_format(TEXT, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a StreamFormat"):
        FileSource.for_record_stream_format("/data")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="at least one path"):
        FileSource.for_record_stream_format(TEXT)
    with pytest.raises(PlanError, match="unknown charset 'klingon'"):
        StreamFormat.text_line_format("klingon")
    with pytest.raises(PlanError, match="BulkFormat cannot read files"):
        FileSource.for_bulk_file_format(BulkFormat(), "/data")
    with pytest.raises(PlanError, match="must be positive"):
        FileSource.for_record_stream_format(TEXT, "/data").monitor_continuously(Duration.of_millis(0))


def test_a_file_is_cut_so_that_every_subtask_gets_a_share():
    mb = 1 << 20
    assert len(plan_splits([("/a", 40 * mb)], 4, splittable=True)) == 4
    assert len(plan_splits([("/a", 640 * mb)], 2, splittable=True)) == 10
    assert len(plan_splits([("/a", 1 * mb), ("/b", 1 * mb)], 4, splittable=True)) == 2
    assert len(plan_splits([("/a.gz", 640 * mb)], 2, splittable=True)) == 1
    assert len(plan_splits([("/a", 640 * mb)], 2, splittable=False)) == 1
    splits = plan_splits([("/a", 130 * mb + 1)], 1, splittable=True)
    assert [s.end for s in splits] == [*(s.start for s in splits[1:]), None]
    assert splits[0].start == 0


def test_splits_of_one_file_give_its_lines_once(tmp_path):
    path = tmp_path / "big.txt"
    expected = [f"{n:09}" for n in range(1_300_000)]
    path.write_text("\n".join(expected) + "\n")
    source = FileSource.for_record_stream_format(TEXT, str(path)).build()
    assert len(source.create_enumerator(3).discover()) == 3
    assert lines_of(source, 3) == expected
    whole = (
        FileSource.for_record_stream_format(TEXT, str(path))
        .set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
        .set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
        .build()
    )
    assert len(whole.create_enumerator(3).discover()) == 1


def test_wide_charsets_are_not_split(tmp_path):
    path = tmp_path / "big.txt"
    path.write_text("x\n" * 10_000_000, encoding="utf-16")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format("UTF-16"), str(path)).build()
    assert len(source.create_enumerator(4).discover()) == 1


def test_monitoring_finds_each_new_file_once_and_looks_no_more_often_than_told(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("flintstream.connectors.files.enumerator.time.monotonic", lambda: clock[0])
    (tmp_path / "a").write_text("1")
    source = (
        FileSource.for_record_stream_format(TEXT, str(tmp_path)).monitor_continuously(Duration.of_seconds(2)).build()
    )
    assert source.get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    enumerator = source.create_enumerator(1)
    assert paths_of(enumerator.discover()) == [f"{tmp_path}/a"]
    (tmp_path / "b").write_text("2")
    clock[0] += 1.9
    assert enumerator.discover() == []
    clock[0] += 0.1
    assert paths_of(enumerator.discover()) == [f"{tmp_path}/b"]
    assert not enumerator.is_finished()

    restored = source.create_enumerator(1)
    restored.restore(pickle.loads(pickle.dumps(enumerator.snapshot())))
    (tmp_path / "c").write_text("3")
    assert paths_of(restored.discover()) == [f"{tmp_path}/c"]


def test_a_file_that_vanishes_while_looking_is_left_out(tmp_path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").symlink_to(tmp_path / "gone")
    assert paths_of(FileMonitor([str(tmp_path)], 1, 10, splittable=True).discover()) == [f"{tmp_path}/a"]


def test_lines_added_after_the_file_was_found_are_read(tmp_path):
    path = tmp_path / "a"
    path.write_text("1\n")
    source = FileSource.for_record_stream_format(TEXT, str(path)).build()
    splits = source.create_enumerator(1).discover()
    path.write_text("1\n2\n")
    assert [batch for s in splits for batch in source.create_reader().read(s, Fetch())] == [["1", "2"]]
