"""The contract of all stores, and the specifics of each."""

from __future__ import annotations

import builtins
import os
import pickle
import uuid
from pathlib import Path

import fsspec
import pytest

from flintstream.errors import MissingDependencyError, PlanError
from flintstream.storage import local
from flintstream.storage.file_store import FileStore
from flintstream.storage.local import LocalFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.remote import FsspecFileStore
from flintstream.storage.stores import file_store


@pytest.fixture(params=["local", "memory", "fsspec file", "fsspec memory", "fsspec like an object store", "s3"])
def store(request, tmp_path, monkeypatch) -> FileStore:
    name = uuid.uuid4().hex
    if request.param == "local":
        return LocalFileStore(str(tmp_path / "root"))
    if request.param == "memory":
        return MemoryFileStore(name)
    if request.param == "fsspec file":
        return FsspecFileStore(f"file://{tmp_path}/root")
    if request.param == "fsspec like an object store":
        monkeypatch.setattr("flintstream.storage.remote.OBJECT_STORES", {"memory"})
    if request.param == "s3":
        return FsspecFileStore(f"{request.getfixturevalue('s3')}/root")
    return FsspecFileStore(f"memory://{name}")


def test_what_is_written_can_be_read(store):
    store.write("a/b/c", b"1")
    store.write("top", b"")
    assert store.read("a/b/c") == b"1"
    assert store.read("top") == b""
    assert (store.size("a/b/c"), store.size("top")) == (1, 0)
    assert store.exists("a/b/c")
    assert not store.exists("a/b/d")


def test_a_file_takes_the_place_of_an_older_one(store):
    store.write("f", b"longer than the new one")
    store.write("f", b"new")
    assert store.read("f") == b"new"
    assert store.list("") == ["f"]


def test_a_store_that_cannot_be_reached_is_not_taken_for_an_empty_one(monkeypatch):
    def fail(*_, **__):
        raise ConnectionError("no server")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "info", fail)
    with pytest.raises(ConnectionError):
        FsspecFileStore(f"memory://{uuid.uuid4().hex}").exists("f")


@pytest.mark.parametrize("path", ["no", "no/where"])
def test_what_is_missing_is_not_found(store, tmp_path, path):
    store.write("yes", b"1")
    for read in (store.read, store.size, lambda p: store.get(p, str(tmp_path / "target")), store.open):
        with pytest.raises(FileNotFoundError):
            read(path)


def test_a_stream_appears_when_it_is_complete(store):
    with store.create("d/f") as file:
        file.write(b"one ")
        assert not store.exists("d/f")
        assert store.list("") == []
        file.write(b"two")
    assert store.read("d/f") == b"one two"


def test_nothing_remains_of_a_stream_that_fails(store):
    store.write("d/f", b"old")

    def fail():
        with store.create("d/f") as file:
            file.write(b"new")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert store.read("d/f") == b"old"
    assert store.list("") == ["d/f"]


def test_an_open_file_can_seek(store):
    store.write("f", bytes(range(100)))
    with store.open("f") as file:
        assert file.seek(0, os.SEEK_END) == 100
        file.seek(10)
        assert file.read(2) == b"\x0a\x0b"


@pytest.mark.parametrize("name", ["data", "1.sst"])
def test_files_are_put_and_got(store, tmp_path, name):
    local, back = tmp_path / name, tmp_path / f"back-{name}"
    local.write_bytes(b"content")
    store.put(str(local), f"shared/{name}")
    store.put(str(local), f"shared/{name}")
    local.unlink()
    store.get(f"shared/{name}", str(back))
    store.delete(f"shared/{name}")
    assert back.read_bytes() == b"content"
    assert store.list("") == []


def test_a_file_that_may_change_is_copied(store, tmp_path):
    local, back = tmp_path / "CURRENT", tmp_path / "back"
    local.write_bytes(b"old")
    store.put(str(local), "f")
    local.write_bytes(b"new")
    assert store.read("f") == b"old"
    store.get("f", str(back))
    back.write_bytes(b"new")
    assert store.read("f") == b"old"


def test_files_below_a_directory_are_listed_and_no_others(store):
    for path in ("a/2", "a/1/x", "ab/3", "4"):
        store.write(path, b"")
    assert store.list("") == ["4", "a/1/x", "a/2", "ab/3"]
    assert store.list("a") == store.list("a/") == ["1/x", "2"]
    assert store.list("nothing") == []


def test_deleting_takes_what_is_there_and_minds_nothing_else(store):
    for path in ("a/2", "a/1/x", "ab/3"):
        store.write(path, b"")
    store.delete("a/2")
    store.delete("a/2")
    assert store.list("") == ["a/1/x", "ab/3"]
    store.delete_tree("a")
    store.delete_tree("a")
    assert store.list("") == ["ab/3"]
    store.delete_tree("")
    assert store.list("") == []
    store.write("a/2", b"again")
    assert store.list("") == ["a/2"]


def test_a_child_is_a_part_of_its_parent(store):
    child = store.child("job").child("chk-1")
    child.write("f", b"1")
    assert store.list("") == ["job/chk-1/f"]
    assert child.uri("f") == store.uri("job/chk-1/f")
    assert child.uri("f").endswith("/job/chk-1/f")


def test_a_copy_leads_to_the_same_files(store):
    store.write("f", b"1")
    copy = pickle.loads(pickle.dumps(store))
    assert copy == store
    assert hash(copy) == hash(store)
    assert copy.read("f") == b"1"


@pytest.mark.parametrize("path", ["../f", "a/../../f", "/etc/passwd"])
def test_no_path_leads_out(store, path):
    for use in (store.read, store.delete, store.delete_tree, store.list, store.child, store.uri):
        with pytest.raises(ValueError, match="not a path within a store"):
            use(path)
    with pytest.raises(ValueError, match="not a path within a store"):
        store.write(path, b"")
    with pytest.raises(ValueError, match="not a path within a store"), store.create(path):
        pass


# -- each in its own way ---------------------------------------------------------------------------------------------


def test_files_and_their_directories_are_on_the_disk_before_anybody_is_told(tmp_path, monkeypatch):
    events: list[object] = []
    fsync, replace = os.fsync, Path.replace

    def noting_fsync(handle):
        events.append(os.fstat(handle).st_ino)
        fsync(handle)

    def noting_replace(self, target):
        events.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(Path, "replace", noting_replace)
    root = tmp_path / "root"
    LocalFileStore(str(root)).write("sub/f", b"1")
    above, top, sub, file = (path.stat().st_ino for path in (tmp_path, root, root / "sub", root / "sub/f"))
    assert events == [above, top, file, "replace", sub]


def test_what_a_crash_left_behind_is_not_listed(tmp_path):
    (tmp_path / ".f.0123.part").write_bytes(b"half")
    (tmp_path / ".hidden").write_bytes(b"")
    assert LocalFileStore(str(tmp_path)).list("") == FsspecFileStore(f"file://{tmp_path}").list("") == [".hidden"]


def test_sst_files_are_linked_in_a_directory(tmp_path):
    local = tmp_path / "1.sst"
    local.write_bytes(b"1")
    store = LocalFileStore(str(tmp_path / "root"))
    store.put(str(local), "shared/abc")
    assert local.samefile(tmp_path / "root/shared/abc")


def test_sst_files_are_copied_where_links_cannot_be(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    local = tmp_path / "1.sst"
    local.write_bytes(b"1")
    store = LocalFileStore(str(tmp_path / "root"))
    store.put(str(local), "f")
    assert store.read("f") == b"1"


def test_a_move_that_is_refused_because_something_is_there_is_done_in_two_steps(monkeypatch):
    store = FsspecFileStore(f"memory://{uuid.uuid4().hex}")
    store.write("f", b"old")
    system = fsspec.filesystem("memory")
    move = type(system).mv

    def refuse(self, source, target):
        if self.exists(target):
            raise FileExistsError(target)
        move(self, source, target)

    monkeypatch.setattr(type(system), "mv", refuse)
    store.write("f", b"new")
    assert store.read("f") == b"new"
    assert store.list("") == ["f"]


def test_a_failed_upload_leaves_nothing(monkeypatch):
    store = FsspecFileStore(f"memory://{uuid.uuid4().hex}")
    store.write("f", b"old")

    def refuse(*_):
        raise OSError("gone")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "mv", refuse)
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "exists", lambda *_: False)
    with pytest.raises(OSError, match="gone"):
        store.write("f", b"new")
    monkeypatch.undo()
    assert store.read("f") == b"old"
    assert len(fsspec.filesystem("memory").find(store.root)) == 1


@pytest.mark.parametrize("uri", ["file:{}/x", "file://{}/x", "file://localhost{}/x", "{}/x", "{}/x/"])
def test_local_directories_have_several_spellings(tmp_path, uri):
    assert file_store(uri.format(tmp_path)) == LocalFileStore(f"{tmp_path}/x")


def test_a_relative_path_is_meant_from_where_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = file_store("here")
    monkeypatch.chdir("/")
    assert store == LocalFileStore(f"{tmp_path}/here")


def test_uris_lead_to_their_stores(tmp_path):
    assert file_store("memory://space/a/b") == MemoryFileStore("space", "a/b")
    assert file_store("memory://space").child("a") == MemoryFileStore("space", "a")
    assert file_store(f"local://{tmp_path}").uri("x") == f"local://{tmp_path}/x"


@pytest.mark.parametrize(
    ("uri", "package", "extra"),
    [("s3://b/k", "s3fs", "s3"), ("s3a://b/k", "s3fs", "s3"), ("gs://b/k", "gcsfs", "gcs"),
     ("abfss://c@a.dfs.core.windows.net/k", "adlfs", "azure"), ("hdfs://name:8020/k", "pyarrow", "hdfs")],
)  # fmt: skip
def test_a_missing_client_is_named_with_the_command_that_installs_it(monkeypatch, uri, package, extra):
    def missing(name, *_):
        raise ImportError(f"Install {name}")

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    with pytest.raises(MissingDependencyError) as caught:
        file_store(uri)
    assert str(caught.value) == f"the directory {uri} needs the package {package}: pip install 'flintstream[{extra}]'"


def test_without_fsspec_the_same_command_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "fsspec":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[s3\]'"):
        file_store("s3://b/k")
    assert file_store("/data").uri("f") == "/data/f"
    assert file_store("memory://space").uri("f") == "memory://space/f"


def test_nobody_knows_every_file_system():
    with pytest.raises(PlanError, match=r"gopher://x is not a directory: no file system supports gopher:"):
        file_store("gopher://x")


@pytest.mark.parametrize("moment", ["before the file is complete", "after it has got its name"])
@pytest.mark.parametrize("way", ["write", "put"])
def test_a_directory_deleted_during_a_write_is_made_again(tmp_path, monkeypatch, way, moment):
    store = LocalFileStore(str(tmp_path / "root"))
    store.write("a/other", b"0")
    (tmp_path / "source").write_bytes(b"1")
    aside = tmp_path / "deleted"

    def sync(path):
        if not aside.exists() and path.is_dir() == (moment == "after it has got its name"):
            (tmp_path / "root").rename(aside)
        original(path)

    original = local.sync
    monkeypatch.setattr(local, "sync", sync)
    monkeypatch.setattr(local, "complete", lambda file: sync(Path(file.name)))
    store.write("a/b", b"1") if way == "write" else store.put(str(tmp_path / "source"), "a/b")
    assert aside.exists()
    assert store.read("a/b") == b"1"


def test_a_file_that_is_missing_is_no_directory_that_was_deleted(tmp_path):
    with pytest.raises(FileNotFoundError):
        LocalFileStore(str(tmp_path)).put(str(tmp_path / "missing"), "a")
