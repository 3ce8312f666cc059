"""Where the keyed state of a subtask is kept between epochs, so that any worker can go on with it."""

from __future__ import annotations

import contextlib
import os
from typing import Protocol


class StateLog(Protocol):
    """Named blobs, written once."""

    def write(self, name: str, data: bytes) -> None:
        """Store a blob; it must be complete when this returns."""

    def read(self, name: str) -> bytes:
        """Return a blob."""

    def delete(self, name: str) -> None:
        """Forget a blob; it may be gone already."""


class MemoryStateLog:
    """Keeps blobs in this process; for the inline engine."""

    def __init__(self) -> None:
        """Start empty."""
        self.blobs: dict[str, bytes] = {}

    def write(self, name: str, data: bytes) -> None:
        """Store a blob."""
        self.blobs[name] = data

    def read(self, name: str) -> bytes:
        """Return a blob."""
        return self.blobs[name]

    def delete(self, name: str) -> None:
        """Forget a blob."""
        self.blobs.pop(name, None)


class DirectoryStateLog:
    """Keeps blobs as files of a directory that all workers reach."""

    def __init__(self, path: str) -> None:
        """Use the directory ``path``, which exists."""
        self.path = path

    def write(self, name: str, data: bytes) -> None:
        """Store a blob: written aside first, so that a reader never meets half of it."""
        target = os.path.join(self.path, name)  # noqa: PTH118 - hot path of every epoch
        part = f"{target}.{os.getpid()}.part"
        with open(part, "wb") as file:  # noqa: PTH123
            file.write(data)
        os.replace(part, target)  # noqa: PTH105

    def read(self, name: str) -> bytes:
        """Return a blob."""
        with open(os.path.join(self.path, name), "rb") as file:  # noqa: PTH118, PTH123
            return file.read()

    def delete(self, name: str) -> None:
        """Forget a blob."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, name))  # noqa: PTH108, PTH118
