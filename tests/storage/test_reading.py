"""Listing remote files for sources."""

from __future__ import annotations

from fsspec.implementations.memory import MemoryFileSystem

from flintstream.storage import reading


def test_the_directory_itself_is_no_file(monkeypatch):
    """What s3fs gives for an empty directory whose first file comes between its two requests."""

    def found(self, path, **_):
        return {"/bucket/in": {"name": "/bucket/in", "size": 0, "type": "directory"}}

    monkeypatch.setattr(MemoryFileSystem, "find", found)
    assert list(reading.find("memory://bucket/in")) == []
