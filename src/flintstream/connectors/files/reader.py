"""What readers of files have in common: splits, and files that stay open from one epoch to the next."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from flintstream.connectors.source import SourceReader, SourceSplit

if TYPE_CHECKING:
    from collections.abc import Generator

    from flintstream.connectors.source import Fetch

MOST_FILES_KEPT_OPEN = 8


@dataclass
class FileSplit(SourceSplit):
    """The records of a file that start in ``[start, end)``, and how many of them were read.

    Offsets count bytes of the file or, where it is decompressed or brought to UTF-8, of what comes out of that.
    """

    path: str
    start: int = 0
    end: int | None = None
    """None: up to the end of the file."""
    position: int | None = None
    """What was read: all before a line, a block or a row group, told as the format tells them; None: nothing yet."""
    skip: int = 0
    """Lines, or records, after ``position`` that were read too."""


class OpenFile(Protocol):
    """A file that is being read."""

    position: int | None
    """As in :class:`FileSplit`: up to where records were handed out."""
    skip: int

    def next(self, size: int) -> list[Any] | None:
        """Return the next records, ``size`` if there are as many, perhaps none yet; None at the end of the split."""

    def close(self) -> None:
        """Close the file."""


class FileReader(SourceReader):
    """Reads file splits, and goes on with an open file where it left one: finding the place again may take long."""

    def __init__(self) -> None:
        """Begin without open files."""
        self._open_files: dict[tuple[str, int | None, int], OpenFile] = {}

    @abstractmethod
    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file where the split stands."""

    def read(self, split: FileSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        """Yield the split's records."""
        file = self._open_files.pop(_place(split), None) or self.open_file(split)
        try:
            while (batch := file.next(max(1, fetch.size))) is not None:
                split.position, split.skip = file.position, file.skip
                if batch:
                    yield batch
        except GeneratorExit:
            self._keep(split, file)
            raise
        except BaseException:
            file.close()
            raise
        file.close()
        return True

    def _keep(self, split: FileSplit, file: OpenFile) -> None:
        stale = self._open_files.pop(_place(split), None)
        if stale is not None:
            stale.close()
        self._open_files[_place(split)] = file
        if len(self._open_files) > MOST_FILES_KEPT_OPEN:
            self._open_files.pop(next(iter(self._open_files))).close()

    def close(self) -> None:
        """Close what is still open."""
        for file in self._open_files.values():
            file.close()
        self._open_files.clear()


def _place(split: FileSplit) -> tuple[str, int | None, int]:
    # By start as well: several splits of a file that nothing was read of have no position yet.
    return f"{split.path}:{split.start}", split.position, split.skip
