"""Common parts of file readers: splits, and files that stay open from one epoch to the next."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.checkpoint.registry import record
from flintstream.connectors.source import SourceReader, SourceSplit

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.source import Fetch

MOST_FILES_KEPT_OPEN = 8


@record
@dataclass
class FileSplit(SourceSplit):
    """The records of a file that start in ``[start, end)``, and the position up to which they were read.

    Offsets count bytes of the file, after decompression or transcoding to UTF-8 if that applies.
    """

    path: str
    start: int = 0
    end: int | None = None
    """None for the end of the file."""
    position: int | None = None
    """The line, block or row group before which everything was read, in units of the format; None for nothing yet."""
    skip: int = 0
    """Lines or records after ``position`` that were also read."""
    size: int = 0
    """How many bytes of the file it had when it was found; 0 if that is unknown."""


class OpenFile(Protocol):
    """A file that is being read."""

    position: int | None
    """As in :class:`FileSplit`: the position up to which records were returned."""
    skip: int

    def next(self, size: int) -> list[Any] | None:
        """Return up to ``size`` records, perhaps none yet; None at the end of the split."""

    def close(self) -> None:
        """Close the file."""


class FileReader(SourceReader):
    """Reads file splits. It keeps a partly read file open, because finding the position again may be slow."""

    def __init__(self) -> None:
        """Start without open files."""
        self._open_files: dict[tuple[str, int | None, int], OpenFile] = {}
        self._begun: dict[str, int] = {}
        """How many records were read of the splits that are partly read."""
        self._ended = (0, 0)
        """How many records and bytes the splits had that were read to their ends."""

    @abstractmethod
    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file at the position of the split."""

    def read(self, split: FileSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        """Yield the split's records."""
        file = self._open_files.pop(_place(split), None) or self.open_file(split)
        whole = split.split_id in self._begun or split.position is None
        count = self._begun.pop(split.split_id, 0)
        try:
            while (batch := file.next(max(1, fetch.size))) is not None:
                split.position, split.skip = file.position, file.skip
                if batch:
                    count += len(batch)
                    yield batch
        except GeneratorExit:
            self._keep(split, file)
            if whole:
                self._begun[split.split_id] = count
            raise
        except BaseException:
            file.close()
            raise
        file.close()
        if whole:
            records, size = self._ended
            self._ended = records + count, size + split.size
        return True

    def pending_records(self, splits: Sequence[FileSplit]) -> int | None:
        """Estimate the records of the splits by their bytes; None until a split was read to its end."""
        if not splits:
            return 0
        records, size = self._ended
        if not size:
            return None
        return max(0, sum(split.size for split in splits) * records // size - sum(self._begun.values()))

    def _keep(self, split: FileSplit, file: OpenFile) -> None:
        stale = self._open_files.pop(_place(split), None)
        if stale is not None:
            stale.close()
        self._open_files[_place(split)] = file
        if len(self._open_files) > MOST_FILES_KEPT_OPEN:
            self._open_files.pop(next(iter(self._open_files))).close()

    def close(self) -> None:
        """Close the files that are still open."""
        for file in self._open_files.values():
            file.close()
        self._open_files.clear()


def _place(split: FileSplit) -> tuple[str, int | None, int]:
    # Include the start: several unread splits of a file have no position yet.
    return f"{split.path}:{split.start}", split.position, split.skip
