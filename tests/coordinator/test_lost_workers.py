"""A lost worker is a warning, a count, and an entry with its time, process, subtask, end, and what followed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.engine.sources import PacedSource
from tests.waiting import wait_for

from flintstream.cli import main
from flintstream.common import WatermarkStrategy
from flintstream.coordinator import registry
from flintstream.coordinator.engine import Loss
from flintstream.coordinator.monitoring import history
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.inline.engine import InlineEngine
from flintstream.errors import WorkerLostError
from flintstream.testing import CollectSink

KILLED = "was killed by signal 9 (SIGKILL)"


@pytest.fixture
def lossy(monkeypatch, tmp_path):
    """An engine that loses a worker twice: in an epoch that it repeats, and in one that fails."""
    monkeypatch.setenv(registry.DIRECTORY, str(tmp_path / "jobs"))
    monkeypatch.setenv(history.DIRECTORY, str(tmp_path / "history"))
    run, epochs = InlineEngine.run_epoch, []

    def run_epoch(engine, items):
        epochs.append(engine)
        engine.way = replace(InlineEngine.way, lost=Loss(KILLED, 17, 1) if len(epochs) == 3 else None)
        if len(epochs) == 5:
            raise WorkerLostError("a Python worker (process 18) was killed", KILLED, 18, 0)
        return run(engine, items)

    monkeypatch.setattr(InlineEngine, "run_epoch", run_epoch)


def test_lost_workers_are_in_log_record_and_metrics(lossy, caplog):
    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.engine": "inline",
            "flintstream.epoch.max-duration": "20",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.delay": "10 ms",
        }
    )
    numbers = env.from_source(PacedSource(60, 0.005), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.sink_to(CollectSink())
    env.execute("lossy")
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert f"job 'lossy' has lost a worker (process 17, subtask 2): it {KILLED}; the epoch ran again" in warned
    assert "job 'lossy' failed and restarts in 10 ms from the beginning: " in "".join(warned)
    assert "(process 18) was killed" in "".join(warned)
    wait_for(lambda: not registry.entries())
    (record,) = history.records()
    first, second = record["status"]["losses"]
    assert (first["process"], first["subtask"]) == (17, 1)
    assert (first["how"], first["then"]) == (KILLED, "the epoch ran again")
    assert (second["process"], second["then"]) == (18, "the job restarts from the beginning")
    assert record["started_ms"] <= first["at_ms"] <= second["at_ms"] <= record["ended_ms"]
    assert record["metrics"]["totals"]["numLostWorkers"] == 2
    assert CliRunner().invoke(main, ["list", "-a", "-v"]).stdout.count("lost a worker") == 2
