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


@record
@dataclass
class DeltaSplit(SourceSplit):
    """A file of a table, and how many of its rows have been read."""

    path: str
    """Relative to the table, or a URI."""
    partition: dict[str, str | None]
    """The texts of the values of the columns by which the table is partitioned."""
    version: int | None = None
    """The version that marks some of the rows as deleted; None if none does."""
    done: int = 0
