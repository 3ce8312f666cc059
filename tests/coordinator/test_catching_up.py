"""Jobs that end, with a checkpoint for their next run, when they have read what their sources had at the start."""

from __future__ import annotations

import pytest

from flintstream.common import Duration, Types, WatermarkStrategy
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, StaticEnumerator
from flintstream.coordinator import sources
from flintstream.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import FileSource, StreamFormat
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.errors import PlanError

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()}"


class Words(Source):
    """Gives some words, then waits for more that never come."""

    def get_boundedness(self):
        return Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, parallelism):
        return StaticEnumerator([Position("words")])

    def create_reader(self):
        return Reader()


class Position(SourceSplit):
    def __init__(self, split_id):
        super().__init__(split_id)
        self.position = 0


class Reader(SourceReader):
    def read(self, split, fetch):
        while split.position < 3:
            split.position += 1
            yield [f"word{split.position}"]
        return False


def environment(tmp_path, **more):
    settings = {
        "flintstream.engine": "inline",
        "flintstream.resume": "true",
        "flintstream.until-caught-up": "true",
        "execution.checkpointing.interval": "10 min",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = StreamExecutionEnvironment.get_execution_environment(settings | more)
    env.set_parallelism(1)
    return env


def count_files(env, directory):
    found = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory))
    watched = found.monitor_continuously(Duration.of_millis(20)).build()
    lines = env.from_source(watched, NO_WATERMARKS, "lines")
    lines.key_by(lambda line: line).process(Count(), Types.STRING()).print()
    env.execute("counts")


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_each_run_reads_what_is_new_and_knows_the_state_of_the_last_one(tmp_path, capsys, engine):
    settings = {"flintstream.engine": engine, "flintstream.master": "local[2]"}
    lines = tmp_path / "lines"
    lines.mkdir()
    (lines / "one").write_text("to\nbe\n")
    count_files(environment(tmp_path, **settings), lines)
    assert capsys.readouterr().out.split("\n")[:-1] == ["to 1", "be 1"]

    (lines / "two").write_text("to\n")
    count_files(environment(tmp_path, **settings), lines)
    assert capsys.readouterr().out.split("\n")[:-1] == ["to 2"]

    count_files(environment(tmp_path, **settings), lines)
    assert capsys.readouterr().out == ""


def test_a_source_that_does_not_know_its_end_is_read_until_it_is_idle(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sources, "IDLE_MS", 50)
    for expected in (["word1", "word2", "word3"], []):
        env = environment(tmp_path)
        env.from_source(Words(), NO_WATERMARKS, "words").print()
        env.execute("words")
        assert capsys.readouterr().out.split("\n")[:-1] == expected


def test_a_job_whose_input_ends_leaves_no_checkpoint(tmp_path, capsys):
    for _ in range(2):
        env = environment(tmp_path)
        env.from_collection([1, 2]).print()
        env.execute("bounded")
        assert capsys.readouterr().out.split("\n")[:-1] == ["1", "2"]
    assert not list((tmp_path / "checkpoints").rglob("_metadata"))


def test_checkpoints_must_be_on():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.until-caught-up": "true"})
    env.from_collection([1]).print()
    with pytest.raises(PlanError, match=r"'execution\.checkpointing\.interval', such as '10 s'"):
        env.execute()
