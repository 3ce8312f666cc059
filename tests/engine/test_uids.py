"""A uid may be any text. It never becomes a part of a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.engine.test_recovery import FIXED_DELAY, settings

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.engine.inline.engine import InlineEngine
from flintstream.runtime.state_log.log import DirectoryStateLog
from flintstream.runtime.task.stage import JobRuntime
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

UIDS = {
    "upwards": "../../x",
    "absolute": "/ABSOLUTE/x",
    "parent": "..",
    "nul": "a\0b",
    "long": "x" * 300,
    "not-ascii": "größe/π 🎉",
    "empty-parts": "//a///",
}
RECORDS = 30


class Count(KeyedProcessFunction):
    """Count the records of a key; fail once at a record, while a file does not exist."""

    def __init__(self, fail_at, marker):
        self.fail_at = fail_at
        self.marker = marker

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("../count", Types.LONG()))

    def process_element(self, value, ctx):
        if value == self.fail_at and not Path(self.marker).exists():
            Path(self.marker).touch()
            raise ValueError("this time it fails")
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


def run(env, uid, marker, fail_at=-1, name="job"):
    sink = CollectSink()
    numbers = env.from_source(PacedSource(RECORDS, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    counted = numbers.key_by(lambda n: n % 3).process(Count(fail_at, str(marker))).uid(uid).name(f"{uid} name")
    counted.sink_to(sink).uid(f"{uid} sink")
    result = env.execute(name)
    expected = sorted((key, count) for key in range(3) for count in range(1, RECORDS // 3 + 1))
    assert sorted(sink.get_results(True, False)) == expected
    return result


@pytest.fixture(params=UIDS)
def uid(request, tmp_path):
    pytest.importorskip("rocksdict", reason="rocksdict is not installed")
    return UIDS[request.param].replace("/ABSOLUTE", str(tmp_path / "absolute"))


class OtherWorkers(InlineEngine):
    """Runs every epoch in a new worker, with the log in a directory as on Spark."""

    directory = ""
    found = False
    """Whether there were files of a database in the log."""

    def start(self, plan):
        super().start(plan)
        Path(self.directory).mkdir(parents=True)
        self.log = DirectoryStateLog(self.directory)  # type: ignore[assignment]
        self.runtime = JobRuntime(plan, self.log)

    def run_epoch(self, items):
        done = super().run_epoch(items)
        self.runtime.close()
        self.runtime = JobRuntime(self.plan, self.log)
        OtherWorkers.found |= any(Path(self.directory).glob("*.files/*/CURRENT"))
        return done

    def stop(self):
        self.runtime.close()


def test_files_of_the_state_log_stay_in_its_directory(uid, make_inline_env, tmp_path, monkeypatch):
    monkeypatch.setattr("flintstream.engine.inline.engine.InlineEngine", OtherWorkers)
    monkeypatch.setattr(OtherWorkers, "directory", str(tmp_path / "one" / "two" / "log"))
    monkeypatch.setattr(OtherWorkers, "found", False)
    env = make_inline_env(1, {"state.backend.type": "rocksdb", "flintstream.epoch.max-duration": "20"})
    run(env, uid, tmp_path / "failed", name=uid)
    assert OtherWorkers.found
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert [path.name for path in (tmp_path / "one" / "two").iterdir()] == ["log"]


def test_a_job_continues_from_a_checkpoint_with_files_of_rocksdb(uid, make_inline_env, tmp_path):
    place = tmp_path / "one"
    place.mkdir()
    result = run(
        make_inline_env(1, {**settings(place, "rocksdb"), **FIXED_DELAY}), uid, tmp_path / "failed", RECORDS - 5, uid
    )
    assert result.get_all_accumulator_results()["numRestarts"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["failed", "one"]


@pytest.mark.spark
@pytest.mark.parametrize("uid", ["upwards"], indirect=True)
def test_a_job_on_spark_continues_from_a_checkpoint_with_files_of_rocksdb(uid, make_spark_env, tmp_path):
    log = tmp_path / "one" / "log"
    given = {**settings(tmp_path / "one", "rocksdb"), **FIXED_DELAY, "flintstream.state.dir": log.as_uri()}
    result = run(make_spark_env(1, given), uid, tmp_path / "failed", RECORDS - 5)
    assert result.get_all_accumulator_results()["numRestarts"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["failed", "one"]
