"""Jobs that have ended are remembered for some time."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.engine.sources import PacedSource
from tests.waiting import wait_for

import flintstream
from flintstream.cli import main
from flintstream.common import JobStatus, WatermarkStrategy
from flintstream.coordinator import registry
from flintstream.coordinator.monitoring import history
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.rest import jobs, records
from flintstream.testing import CollectSink

SOURCE = str(Path(flintstream.__file__).parents[1])


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))
    return tmp_path / "history"


def listed(*options):
    result = CliRunner().invoke(main, ["list", *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def run(name="ended", numbers=(1, 2, 3), **settings):
    configuration = {"flintstream.engine": "inline", **settings}
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection(list(numbers)).map(lambda n: 6 // n).name("six").sink_to(CollectSink())
    return env.execute_async(name)


def finished(*arguments, **settings):
    client = run(*arguments, **settings)
    client.get_job_execution_result().result()
    wait_for(lambda: not registry.entries())
    return str(client.get_job_id())


def failed(**settings):
    client = run("broken", (1, 0), **settings)
    with pytest.raises(ZeroDivisionError):
        client.get_job_execution_result().result()
    wait_for(lambda: not registry.entries())
    return str(client.get_job_id())


def test_a_finished_job_is_listed_with_its_totals():
    assert listed("-a") == "No jobs.\n"
    job = finished("two  words")
    assert "No running jobs." in listed()
    first, second = listed("-a").splitlines()
    assert first.split(" : ")[1:] == [job, "two words (FINISHED)"]
    assert second.startswith("    ended ")
    assert "  in 3  out 3  watermark " in second


def test_a_failed_job_says_why():
    failed()
    first, _, error = listed("-a").splitlines()
    assert "broken (FAILED)" in first
    assert error.startswith("    ZeroDivisionError: ")
    assert "six" in listed("-a", "-v")


def test_the_latest_job_comes_first():
    older, newer = finished("older"), finished("newer")
    ids = [line.split(" : ")[1] for line in listed("-a").splitlines() if " : " in line]
    assert ids == [newer, older]


def test_a_record_has_configuration_plan_metrics_checkpoints_and_exceptions(place):
    job = failed(**{"my.password": "abc", "url": "amqp://me:abc@host", "restart-strategy.type": "fixed-delay"})
    file = place / f"{job}.json"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "abc" not in file.read_text()
    record = json.loads(file.read_text())
    assert record["configuration"]["my.password"] == "***"
    assert record["configuration"]["url"] == "amqp://me:***@host"
    assert record["status"]["state"] == JobStatus.FAILED.name
    assert record["status"]["restarts"] == 1
    vertices = record["plan"]["vertices"]
    assert "six" in [operator["name"] for vertex in vertices for operator in vertex["operators"]]
    known = {vertex["id"] for vertex in vertices}
    assert all(edge["id"] in known for vertex in vertices for edge in vertex["inputs"])
    assert record["checkpoints"]["completed"] == 0
    assert record["metrics"]["totals"]["numRestarts"] == 1
    assert [item["type"] for item in record["exceptions"]] == ["ZeroDivisionError"] * 2
    assert "operator 'six'" in record["exceptions"][0]["text"]
    assert record["error"].startswith("ZeroDivisionError")
    assert record["started_ms"] <= record["exceptions"][0]["at_ms"] <= record["ended_ms"]


@pytest.mark.parametrize("interval", ["1 h", "70 ms"], ids=["from the beginning", "from a checkpoint"])
def test_records_that_are_read_again_after_a_restart_count_once(tmp_path, interval):
    flag = tmp_path / "failed"

    def fail_once(n):
        if n == 30 and not flag.exists():
            flag.touch()
            raise ValueError("once")
        return n

    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.engine": "inline",
            "flintstream.epoch.max-duration": "20",
            "execution.checkpointing.interval": interval,
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.delay": "10 ms",
        }
    )
    numbers = env.from_source(PacedSource(40, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(fail_once).sink_to(CollectSink())
    totals = env.execute("failed once").get_all_accumulator_results()
    assert (totals["numRecordsIn"], totals["numRecordsOut"], totals["numRestarts"]) == (40, 40, 1)
    assert "  in 40  out 40  " in listed("-a")
    (record,) = history.records()
    assert record["status"]["repeated_in"] >= (1 if interval == "1 h" else 0)
    read = [sample["in"] for sample in record["curves"]]
    assert read == sorted(read)  # the curves show all work


def test_only_so_many_records_are_kept():
    jobs = [finished(**{"flintstream.history.max-jobs": "2"}) for _ in range(4)]
    assert [record["job_id"] for record in history.records()] == [jobs[3], jobs[2]]


def test_records_that_are_too_old_are_deleted():
    finished()
    time.sleep(0.01)
    newest = finished(**{"flintstream.history.max-age": "5 ms"})
    assert [record["job_id"] for record in history.records()] == [newest]


def test_a_job_that_ends_reads_each_older_record_only_once(place, monkeypatch):
    read = []
    content = registry.content

    def noted(path, longest):
        read.append(path)
        return content(path, longest)

    monkeypatch.setattr(registry, "content", noted)
    jobs = [finished() for _ in range(4)]
    assert sorted(path.stem for path in read if path.parent == place) == sorted(jobs[:-1])


@pytest.mark.parametrize("setting", [{"flintstream.history.max-jobs": "0"}, {"flintstream.control": "false"}])
def test_a_job_may_keep_no_record(place, setting):
    finished(**setting)
    assert not place.exists()


def test_a_directory_that_cannot_be_written_does_not_disturb_the_job(place, caplog):
    place.write_text("a file")
    finished()
    assert "'flintstream list -a' will not show how the job 'ended' has ended" in caplog.text


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 2, "job_id": "odd"}', "[" * 100_000])
def test_a_file_that_is_no_record_is_ignored(place, text):
    job = finished()
    (place / "odd.json").write_text(text)
    (place / "odd.json").chmod(0o600)
    assert [record["job_id"] for record in history.records()] == [job]


@pytest.mark.promise("S17")
def test_records_that_others_could_have_written_are_ignored(place):
    job = finished()
    (place / f"{job}.json").chmod(0o622)
    assert history.records() == []
    (place / f"{job}.json").chmod(0o600)
    place.chmod(0o777)
    assert history.records() == []


ENDLESS = """
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.common import WatermarkStrategy
from flintstream.testing import CollectSink
from tests.engine.sources import PacedSource
env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
env.from_source(PacedSource(10**9, 0.01), WatermarkStrategy.no_watermarks(), "paced").sink_to(CollectSink())
env.execute("killed")
"""


@pytest.mark.kills
def test_a_job_whose_process_was_killed_is_lost(tmp_path):
    (tmp_path / "job.py").write_text(ENDLESS)
    path = os.pathsep.join([SOURCE, str(Path(__file__).parents[2])])
    process = subprocess.Popen([sys.executable, str(tmp_path / "job.py")], env={**os.environ, "PYTHONPATH": path})  # noqa: S603
    try:
        wait_for(lambda: "killed (RUNNING)" in listed("-a"), processes=[process])
        assert "LOST" not in listed("-a")
        wait_for(
            lambda: history.records()[0]["status"]["records_in"], processes=[process]
        )  # it is written again while the job runs
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    lines = listed("-a").splitlines()
    assert lines[0].endswith(" : killed (LOST)")
    assert lines[1].startswith("    its process ended without reporting a result  ")
    assert "  in 0  " not in lines[1]
    told = jobs.job(records.record_of(history.records()[0]["job_id"]))
    assert told["state"] == "FAILED"  # Flink has no state for it
    assert told["end-time"] > told["start-time"]


def test_the_record_of_a_running_job_is_written_again_less_and_less_often(monkeypatch):
    job: Any = SimpleNamespace(uptime_ms=0)
    written: list[int] = []
    monkeypatch.setattr(history, "_write", lambda job, started, ended, *, warns: written.append(job.uptime_ms))
    renew = history._renewal(job, 0)
    for job.uptime_ms in range(0, 60_000, 100):
        renew(None)
    assert written == [1000, 2000, 4000, 8000, 16_000, 26_000, 36_000, 46_000, 56_000]


def test_a_record_that_cannot_be_written_again_does_not_stop_the_job(monkeypatch):
    monkeypatch.setattr(history, "_write", lambda *arguments, **options: 1 // 0)
    job: Any = SimpleNamespace(uptime_ms=5000, job=SimpleNamespace(plan=SimpleNamespace(job_name="orders")))
    history._renewal(job, 0)(None)
