"""Keyed state that goes from one worker to the next through a store rather than a directory."""

from __future__ import annotations

import uuid

import pytest
from tests.engine.tally import expected, ordered, tally

from flintstream.engine.inline.engine import InlineEngine
from flintstream.runtime.state_log.log import StoreStateLog
from flintstream.runtime.task.stage import JobRuntime
from flintstream.storage.stores import file_store

RECORDS = 60


class OtherWorkers(InlineEngine):
    """Runs every epoch in a new worker, which knows nothing of those before it."""

    epochs = 0

    def start(self, plan):
        super().start(plan)
        self.store = file_store(f"memory://{uuid.uuid4().hex}/log")
        self.log = StoreStateLog(self.store)  # type: ignore[assignment]
        self.runtime = JobRuntime(plan, self.log)

    def run_epoch(self, items):
        done = super().run_epoch(items)
        self.runtime.close()
        self.runtime = JobRuntime(self.plan, self.log)
        OtherWorkers.epochs += 1
        OtherWorkers.native |= any("-native.files/" in path for path in self.store.list(""))
        return done

    native = False

    def stop(self):
        self.runtime.close()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_every_epoch_continues_in_another_worker(backend, make_inline_env, monkeypatch):
    if backend == "rocksdb":
        pytest.importorskip("rocksdict", reason="rocksdict is not installed")
    monkeypatch.setattr("flintstream.engine.inline.engine.InlineEngine", OtherWorkers)
    monkeypatch.setattr(OtherWorkers, "epochs", 0)
    monkeypatch.setattr(OtherWorkers, "native", False)
    settings = {"state.backend.type": backend, "flintstream.epoch.max-duration": "20"}
    env = make_inline_env(2, settings)
    sink = tally(env, RECORDS, 0.005)
    env.execute()
    assert ordered(sink.get_results(True, False)) == expected(range(RECORDS))
    assert OtherWorkers.epochs > 3
    assert OtherWorkers.native == (backend == "rocksdb")
