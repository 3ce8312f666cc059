"""Directories for one user: those that we make are private, and those that exist stay as they are."""

from __future__ import annotations

import os
import stat

import pytest

from flintstream.storage.private import make_private


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0, 0o002, 0o022, 0o277], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.promise("S16")
def test_new_directories_are_private_whatever_the_umask_is(tmp_path, umask):
    make_private(tmp_path / "cache" / "flintstream" / "jobs")
    assert {mode(path) for path in tmp_path.rglob("*")} == {0o700}
    assert len(list(tmp_path.rglob("*"))) == 3


@pytest.mark.parametrize("given", [0o500, 0o700, 0o750, 0o755, 0o1755])
def test_a_directory_that_exists_keeps_its_mode(tmp_path, given):
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(given)
    make_private(place)
    assert mode(place) == given


@pytest.mark.promise("S16")
@pytest.mark.parametrize("given", [0o770, 0o775, 0o702, 0o1777])
def test_a_directory_that_others_may_write_to_is_refused_and_left_alone(tmp_path, given):
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(given)
    with pytest.raises(PermissionError, match=f"other users may write to {place}: run 'chmod go-w'"):
        make_private(place)
    assert mode(place) == given


def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(PermissionError, match="belongs to another user"):
        make_private(tmp_path)


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        make_private(tmp_path / "file")


def test_a_link_to_a_directory_of_the_user_is_one(tmp_path):
    (tmp_path / "place").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("place")
    make_private(tmp_path / "link")
