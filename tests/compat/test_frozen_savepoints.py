"""This release restores the savepoints of earlier ones."""

from __future__ import annotations

import json

import pytest
from tests.compat.record_savepoint import SAVEPOINTS
from tests.savepoints.everything import build, collected, sinks
from tests.savepoints.test_matrix import configuration, final, joined, resume

RELEASES = sorted(path.name for path in SAVEPOINTS.iterdir())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    sink = sinks()
    build(configuration(tmp_path_factory.mktemp("whole"), "hashmap"), 2, sink).execute("everything")
    return final(collected(sink))


def test_there_is_something_to_restore():
    assert RELEASES


@pytest.mark.parametrize(("state", "parallelism"), [("hashmap", 2), ("rocksdb with changelog", 3)])
@pytest.mark.parametrize("release", RELEASES)
def test_the_savepoint_of_a_release_is_restored(release, state, parallelism, uninterrupted, tmp_path):
    before = json.loads((SAVEPOINTS / release / "output.json").read_text())
    after = resume(tmp_path, str(SAVEPOINTS / release / "savepoint"), state, parallelism)
    assert final(joined(before, after)) == uninterrupted
    assert {text.split(" ", 2)[2] for text in after["rules"]} == {"[0, 1, 2]"}
