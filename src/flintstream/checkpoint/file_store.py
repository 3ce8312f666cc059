"""Names of ``flintstream.storage`` that programs with a custom checkpoint storage import from here."""

from __future__ import annotations

from flintstream.storage.file_store import FileStore
from flintstream.storage.local import LocalFileStore
from flintstream.storage.memory import MemoryFileStore
from flintstream.storage.paths import check_path
from flintstream.storage.stores import file_store

__all__ = ["FileStore", "LocalFileStore", "MemoryFileStore", "check_path", "file_store"]
