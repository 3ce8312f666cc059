"""Checkpoints and savepoints that are complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.checkpoint.metadata import Metadata
    from flintstream.storage.file_store import FileStore


@dataclass(frozen=True)
class Completed:
    """A checkpoint or savepoint that a job can start from."""

    metadata: Metadata
    store: FileStore | None
    """The root of the paths in the metadata. None if the checkpoint is in memory."""
    directory: str
    """The directory of ``_metadata``, relative to the store's root."""
    own: bool = True
    """Whether this job wrote the checkpoint and may therefore delete it."""
    metadata_bytes: int = 0
    """The size of its metadata, if this job wrote it to a store."""

    @property
    def where(self) -> str:
        """Its location, for messages."""
        return "memory" if self.store is None else self.store.uri(self.directory)
