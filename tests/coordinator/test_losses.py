"""Files of checkpoints that are deleted under a running job: no checkpoint that begins later refers to them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.coordinator.test_checkpoints import NOTHING, PLAN, report

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.coordinator.checkpointing.checkpoints import Checkpoints
from flintstream.runtime.protocol import StateHandle
from flintstream.storage.memory import MemoryFileStore

NAMES = [f"{number}" for number in range(9)]


@pytest.fixture
def storage():
    storage = MemoryFileStore("losses")
    yield storage
    storage.delete_tree("")


def started(storage, *, logged=False):
    """Return the checkpoints of a job that has taken two, of which the second shares nine files with the first."""
    settings = CheckpointSettings(100, storage=storage, incremental=True)
    plan = replace(PLAN, settings=replace(PLAN.settings, changelog=storage)) if logged else PLAN
    checkpoints = Checkpoints(settings, plan, 0)
    for names in (NAMES, [*NAMES, "new"]):
        assert checkpoints.complete(checkpoints.request(0), [report(checkpoints, *names)], NOTHING, 1)
    return checkpoints


def known(checkpoints):
    """Return the files that the next checkpoint may refer to."""
    return checkpoints.request(2).known


def test_a_checkpoint_refers_to_files_of_the_latest_one(storage):
    assert known(started(storage)) == {f"shared/{name}" for name in [*NAMES, "new"]}


@pytest.mark.parametrize("path", ["chk-2/_metadata", "shared/new", *(f"shared/{name}" for name in NAMES)])
def test_any_file_that_is_gone_makes_the_next_checkpoint_a_whole_one(storage, caplog, path):
    checkpoints = started(storage)
    checkpoints.store.delete(path)
    assert known(checkpoints) == frozenset()
    assert f"files of the checkpoints have been deleted, such as {checkpoints.store.uri(path)}" in caplog.text


def test_files_of_an_older_checkpoint_are_not_missed(storage):
    checkpoints = started(storage)
    checkpoints.store.delete("chk-1/_metadata")
    assert "shared/new" in known(checkpoints)


def test_a_piece_of_a_changelog_that_no_checkpoint_has_yet_is_missed_too(storage, caplog):
    checkpoints = started(storage, logged=True)
    base = StateHandle("0-0-base", "3", full=True, size=1)
    small = StateHandle("0-0-4", "4", full=False, size=1, inline=b"x")
    checkpoints.store.write("shared/0-0-base", b"x")
    checkpoints.request(2, [base, small])
    assert not checkpoints.losses.log
    checkpoints.store.delete("shared/0-0-base")
    checkpoints.request(2, [base, small])
    assert checkpoints.losses.log
    assert known(checkpoints) == frozenset()
    assert caplog.text.count("have been deleted") == 1
    checkpoints.losses.log = False  # an epoch has written new logs
    checkpoints.request(2, [replace(small, version="5")])
    assert not checkpoints.losses.log


class Behind(MemoryFileStore):
    """Lists no file that is new, as an object store may do."""

    def list(self, path):
        return []

    def child(self, path):
        return Behind(self.name, self._key(path))


class Away(MemoryFileStore):
    """A storage that cannot be reached."""

    def list(self, path):
        raise ConnectionError("no route to host")

    def child(self, path):
        return Away(self.name, self._key(path))


@pytest.mark.parametrize("kind", [Behind, Away])
@pytest.mark.parametrize("logged", [False, True])
def test_a_storage_that_is_slow_or_away_has_lost_nothing(storage, kind, logged):
    checkpoints = started(storage, logged=logged)
    checkpoints.store = kind("losses", checkpoints.store.root)
    assert "shared/new" in known(checkpoints)
    assert not checkpoints.losses.log
