from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from flintstream.checkpoint.metadata import NativeFile, StatePiece
from flintstream.errors import CorruptCheckpointError
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


@pytest.mark.promise("S18")
@pytest.mark.parametrize("name", ["../escaped.sst", "a/../../escaped.sst", "/escaped.sst", "a\0.sst"])
def test_names_of_files_that_lead_out_of_their_directory_are_refused_before_anything_is_written(name, tmp_path):
    store = MemoryFileStore("native names")
    store.write("shared/content", b"x")
    target = tmp_path / "inner"
    target.mkdir()
    good = NativeFile("good.sst", "shared/content", 1, hashlib.sha256(b"x").hexdigest())
    with pytest.raises(CorruptCheckpointError, match="is not a path within a store"):
        download(store, [good, replace(good, name=name)], str(target))
    assert list(tmp_path.rglob("*")) == [target]


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
