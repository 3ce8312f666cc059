"""Files of checkpoints in their storage."""

from __future__ import annotations

import pytest

from flintstream.checkpoint.metadata import NativeFile, StatePiece
from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator.checkpointing.checkpoints import Checkpoints, Contents
from flintstream.errors import CheckpointError
from flintstream.runtime.frozen import Frozen
from flintstream.runtime.plan import ChainPlan, JobPlan, JobSettings, NodePlan, Superstep
from flintstream.runtime.protocol import Report
from flintstream.state.settings import StateSettings
from flintstream.storage.memory import MemoryFileStore

CHAIN = ChainPlan(0, 0, 1, 128, (NodePlan(1, "count", "count", Frozen(b"", "nothing"), keyed=True),), (), (), ())
PLAN = JobPlan("job", "id", False, (Superstep(0, (CHAIN,)),), JobSettings(state=StateSettings("rocksdb")))
NOTHING = Contents(PLAN.chains, {}, {})


@pytest.fixture
def checkpoints():
    storage = MemoryFileStore("checkpoints")
    settings = CheckpointSettings(100, storage=storage, incremental=True, tolerable_failures=1)
    yield Checkpoints(settings, PLAN, 0)
    storage.delete_tree("")


def report(checkpoints, *names, error=""):
    """Write files that are shared between checkpoints, and return a subtask's report of them."""
    for name in names:
        checkpoints.store.write(f"shared/{name}", b"x")
    files = tuple(NativeFile(f"count/{name}", f"shared/{name}", 1, "") for name in names)
    return Report(0, 0, "1", pieces=(StatePiece(native=files, operators=("count",)),), snapshot_error=error)


def files(checkpoints):
    return sorted(checkpoints.store.list(""))


def test_a_failed_checkpoint_leaves_only_what_others_need(checkpoints):
    checkpoints.complete(checkpoints.request(0), [report(checkpoints, "a", "b")], NOTHING, 1)
    failed = report(checkpoints, "b", "c", error="too slow")
    assert checkpoints.complete(checkpoints.request(1), [failed], NOTHING, 2) is None
    assert files(checkpoints) == ["chk-1/_metadata", "shared/a", "shared/b"]


def test_a_checkpoint_that_is_not_tolerated_leaves_nothing_either(checkpoints):
    for _ in range(checkpoints.settings.tolerable_failures):
        checkpoints.complete(checkpoints.request(0), [report(checkpoints, error="no")], NOTHING, 1)
    with pytest.raises(CheckpointError, match="checkpoint 2 failed: no"):
        checkpoints.complete(checkpoints.request(1), [report(checkpoints, "a", error="no")], NOTHING, 2)
    assert files(checkpoints) == []


def test_files_that_only_a_dropped_checkpoint_needed_are_deleted(checkpoints):
    for names in (("a", "b"), ("b", "c")):
        assert checkpoints.complete(checkpoints.request(0), [report(checkpoints, *names)], NOTHING, 1)
        checkpoints.subsume()
    assert files(checkpoints) == ["chk-2/_metadata", "shared/b", "shared/c"]


class Moody(MemoryFileStore):
    """Raise an error that a storage client should not raise."""

    def write(self, path, data):
        if path.endswith("_metadata"):
            raise RuntimeError("503 slow down")
        super().write(path, data)

    def child(self, path):
        return Moody(self.name, self._key(path))


def test_whatever_a_storage_raises_fails_the_checkpoint_only(checkpoints):
    checkpoints.store = Moody("checkpoints", checkpoints.store.root)
    failed = report(checkpoints, "a")
    assert checkpoints.complete(checkpoints.request(0), [failed], NOTHING, 1) is None
    assert files(checkpoints) == []
    with pytest.raises(CheckpointError, match="checkpoint 2 failed: RuntimeError: 503 slow down"):
        checkpoints.complete(checkpoints.request(0), [failed], NOTHING, 1)
    with pytest.raises(CheckpointError, match="savepoint failed: RuntimeError: 503 slow down"):
        checkpoints.complete_savepoint(checkpoints.request_savepoint(checkpoints.store), [failed], NOTHING, 1)
    with pytest.raises(CheckpointError, match="the last output of the job, failed: RuntimeError: 503"):
        checkpoints.last(NOTHING, 1)


class Failing(MemoryFileStore):
    """Lose the connection before the deletion of a given number, as a driver does that is killed."""

    left = 0

    def _count(self):
        if Failing.left == 0:
            raise ConnectionError("the driver was killed")
        Failing.left -= 1

    def delete(self, path):
        self._count()
        super().delete(path)

    def delete_tree(self, path):
        for name in sorted(self.list(path)):
            self.delete(name)

    def child(self, path):
        return Failing(self.name, self._key(path))


@pytest.mark.parametrize("deletions", range(6))
def test_metadata_never_outlives_the_files_it_refers_to(checkpoints, deletions):
    checkpoints.store = Failing("checkpoints", checkpoints.store.root)
    for names in (("a", "b"), ("c",)):
        assert checkpoints.complete(checkpoints.request(0), [report(checkpoints, *names)], NOTHING, 1)
    checkpoints.store.write("chk-1/piece", b"x")
    Failing.left = deletions
    checkpoints.subsume()
    left = files(checkpoints)
    assert "chk-1/_metadata" not in left or {"chk-1/piece", "shared/a", "shared/b"} <= set(left)
    assert {"chk-2/_metadata", "shared/c"} <= set(left)


def test_a_job_that_ends_keeps_its_checkpoints_and_nothing_else(checkpoints):
    assert checkpoints.complete(checkpoints.request(0), [report(checkpoints, "a")], NOTHING, 1)
    checkpoints.store.write("chk-2/half of a checkpoint", b"x")
    report(checkpoints, "b")
    checkpoints.end(finished=False, cancelled=False, owed=True)
    assert files(checkpoints) == ["chk-1/_metadata", "shared/a"]
