from __future__ import annotations

from pathlib import Path

import pytest

from flintstream.checkpoint.metadata import StatePiece
from flintstream.runtime.protocol import SnapshotRequest
from flintstream.runtime.state_log.native_files import download, files_of, upload
from flintstream.storage.memory import MemoryFileStore


class InFiles:
    tables: tuple[str, ...] = ("count",)

    def write_native(self, directory):
        Path(directory, "deep").mkdir(parents=True)
        Path(directory, "a.sst").write_bytes(b"a")
        Path(directory, "deep", "b.sst").write_bytes(b"b")


@pytest.mark.parametrize("uid", ["count", "shop/count", "deep"])
def test_files_of_an_operator_come_back_under_their_names(uid, tmp_path):
    store = MemoryFileStore(f"native {uid}")
    request = SnapshotRequest(1, "native", store)
    piece = StatePiece(native=upload(request, uid, InFiles()), operators=(uid,))
    download(store, files_of(piece, uid), str(tmp_path))
    assert (tmp_path / "a.sst").read_bytes() == b"a"
    assert (tmp_path / "deep" / "b.sst").read_bytes() == b"b"


def test_a_backend_without_states_stores_nothing():
    class Empty(InFiles):
        tables = ()

    store = MemoryFileStore("native none")
    assert upload(SnapshotRequest(1, "native", store), "count", Empty()) == ()
    assert list(store.list("")) == []


def test_files_of_another_operator_whose_uid_begins_alike_are_left_alone():
    store = MemoryFileStore("native others")
    uid = "shop/count"
    piece = StatePiece(native=upload(SnapshotRequest(1, "native", store), uid, InFiles()), operators=(uid,))
    assert files_of(piece, "shop") == ()
