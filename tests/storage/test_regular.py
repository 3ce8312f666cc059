"""Named pipes, sockets, devices and directories where a file should be: refused by name, and never waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from flintstream.connectors.files.enumerator import list_files
from flintstream.storage.local import LocalFileStore
from flintstream.storage.reading import open_file
from flintstream.storage.regular import open_regular


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL = {"a named pipe": make_pipe, "a socket": make_socket, "a device": link_to_device}


@pytest.fixture(params=SPECIAL)
def special(request, tmp_path, monkeypatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    SPECIAL[request.param](Path("in.csv"))
    return request.param, str(tmp_path / "in.csv")


@pytest.mark.promise("S38")
def test_what_is_not_a_file_is_not_opened(special):
    kind, path = special
    for opened in (open_file, open_regular):
        with pytest.raises(OSError, match=f"cannot read {path}: it is {kind}"):
            opened(path)


@pytest.mark.promise("S38")
def test_what_is_not_a_file_is_not_listed_as_an_input(special):
    kind, path = special
    for given in (path, str(Path(path).parent)):
        with pytest.raises(OSError, match=f"cannot read {path}: it is {kind}"):
            list(list_files([given]))


def test_hidden_pipes_in_an_input_are_skipped(tmp_path):
    os.mkfifo(tmp_path / ".control")
    (tmp_path / "a").write_text("x")
    assert list(list_files([str(tmp_path)])) == [(str(tmp_path / "a"), 1)]


@pytest.mark.promise("S38")
def test_a_store_does_not_read_pipes(tmp_path):
    os.mkfifo(tmp_path / "_metadata")
    store = LocalFileStore(str(tmp_path))
    for read in (store.read, store.open):
        with pytest.raises(OSError, match="_metadata: it is a named pipe"):
            read("_metadata")


def test_a_store_does_not_read_directories(tmp_path):
    (tmp_path / "_metadata").mkdir()
    with pytest.raises(OSError, match="_metadata: it is a directory"):
        LocalFileStore(str(tmp_path)).read("_metadata")


def test_files_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    store = LocalFileStore(str(tmp_path))
    with store.open("a") as opened, open_file(str(tmp_path / "a")) as file:
        assert (store.read("a"), opened.read(1), file.read()) == (b"abc", b"a", b"abc")
    with pytest.raises(FileNotFoundError):
        store.read("b")
