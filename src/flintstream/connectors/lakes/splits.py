"""The parts of tables that tasks read."""

from __future__ import annotations

from dataclasses import dataclass

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import SourceSplit


@record
@dataclass
class IcebergSplit(SourceSplit):
    """A file of a version of a table, or a file that a commit has appended, and how many rows have been read."""

    metadata: str
    """The location of the metadata in which the version is."""
    snapshot: int
    path: str
    appended: bool
    done: int = 0
