"""Checkpoints of earlier commits are restored, with the files of RocksDB in them."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.compat.record_checkpoint import CHECKPOINTS, RECORDS, started

RECORDED = sorted(path.name for path in CHECKPOINTS.iterdir())


@pytest.mark.parametrize("state", ["rocksdb", "hashmap"])
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_checkpoint_is_restored(name, state, tmp_path):
    pytest.importorskip("rocksdict", reason="rocksdict is not installed")
    shutil.copytree(CHECKPOINTS / name, tmp_path / "recorded")
    (metadata,) = (tmp_path / "recorded").glob("chk-*/_metadata")
    assert '"native": [{' in metadata.read_text()
    (tmp_path / "released").touch()
    given = {"execution.state-recovery.path": str(metadata.parent), "state.backend.type": state}
    client, sink = started(tmp_path, tmp_path / "released", **given)
    client.get_job_execution_result().result()
    results = sink.get_results(True, False)
    first = min(value for value, _, _ in results)
    assert sorted(results) == [(n, sum(range(n % 4, n + 1, 4)), n // 4 + 1) for n in range(first, RECORDS)]
    assert first == RECORDS // 2


def test_something_is_recorded():
    assert json.loads(next(CHECKPOINTS.glob("*/chk-*/_metadata")).read_text())["content"]["chains"]
