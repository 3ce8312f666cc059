"""The connectors in whole programs, on the inline engine and on Spark."""

from __future__ import annotations

import time

import pytest
from tests.waiting import wait_for

from flintstream.common import Duration, Encoder, Row, Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.connectors import NumberSequenceSource, StreamingFileSink
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from flintstream.testing import CollectSink

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=["inline", pytest.param("spark", marks=pytest.mark.spark)])
def env(request):
    environment = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": request.param})
    environment.set_parallelism(2)
    return environment


def file_sink(directory, policy=None):
    return (
        FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(policy or RollingPolicy.default_rolling_policy())
        .build()
    )


def lines_of(directory):
    assert not list(directory.rglob(".*")), "no hidden file stays behind"
    return [line for path in directory.rglob("*") if path.is_file() for line in path.read_text().splitlines()]


def test_a_sequence_is_ordered_at_parallelism_1_and_complete_at_2(env):
    collected, ordered = CollectSink(), CollectSink()
    env.from_source(NumberSequenceSource(1, 10_000), NO_WATERMARKS, "all").add_sink(collected)
    one = env.from_source(NumberSequenceSource(1, 10_000), NO_WATERMARKS, "ordered").set_parallelism(1)
    one.add_sink(ordered).set_parallelism(1)
    env.execute()
    expected = list(range(1, 10_001))
    assert sorted(collected.get_results(is_python_object=True, stringify=False)) == expected
    assert ordered.get_results() == [str(number) for number in expected]


def test_files_go_in_and_come_out(env, tmp_path):
    lines = [f"{n},{'x' * (n % 13)}" for n in range(20_000)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("\n".join(lines[:15_000]))
    (tmp_path / "in" / "b.txt").write_text("\n".join(lines[15_000:]))
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "in")).build()
    rows = env.from_source(files, NO_WATERMARKS, "files").map(
        lambda line: Row(*line.split(",")), output_type=Types.ROW([Types.STRING(), Types.STRING()])
    )
    rows.sink_to(file_sink(tmp_path / "out"))
    rows.sink_to(file_sink(tmp_path / "small", RollingPolicy.default_rolling_policy(part_size=10_000)))
    env.execute()
    expected = sorted("+I[{}, {}]".format(*line.split(",")) for line in lines)
    assert sorted(lines_of(tmp_path / "out")) == expected
    assert sorted(lines_of(tmp_path / "small")) == expected
    assert len(list((tmp_path / "small").iterdir())) > 10


def test_the_older_file_sink_works_with_add_sink(env, tmp_path):
    with pytest.warns(DeprecationWarning, match="use FileSink"):
        sink = StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env.from_collection(["a", "b"], Types.STRING()).add_sink(sink)
    env.execute()
    assert sorted(lines_of(tmp_path)) == ["a", "b"]


def test_print_shows_typed_text_and_subtasks(env, capsys):
    env.from_source(NumberSequenceSource(1, 4), NO_WATERMARKS, "numbers").map(
        lambda n: (n, n / 2), output_type=Types.TUPLE([Types.LONG(), Types.DOUBLE()])
    ).print("id")
    env.execute()
    assert capsys.readouterr().out == "id:1> (1,0.5)\nid:1> (2,1.0)\nid:2> (3,1.5)\nid:2> (4,2.0)\n"


def test_new_files_are_read_as_they_appear_until_the_job_is_cancelled(env, tmp_path):
    (tmp_path / "first.txt").write_text("1\n2\n")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    collected = CollectSink()
    env.from_source(source.monitor_continuously(Duration.of_millis(50)).build(), NO_WATERMARKS, "files").add_sink(
        collected
    )
    job = env.execute_async()
    found: list[str] = []

    def more():
        found.extend(collected.get_results())
        return sorted(found)

    try:
        wait_for(more, job, ["1", "2"].__eq__)
        (tmp_path / "second.txt").write_text("3\n")
        wait_for(more, job, ["1", "2", "3"].__eq__)
        time.sleep(0.3)  # time to read something twice
    finally:
        job.cancel().result()
    assert sorted(found + collected.get_results()) == ["1", "2", "3"]
