"""Read columnar files, one row group or stripe at a time. Reading can continue after any row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from flintstream.common._text.secrets import shown_path
from flintstream.connectors.files.arrow_values import ArrowBatch
from flintstream.connectors.files.reader import FileReader
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyarrow import RecordBatch

    from flintstream.connectors.files.reader import FileSplit, OpenFile


class ColumnarFile(Protocol):
    """An open file of row groups."""

    groups: int
    """Number of row groups."""
    size: int
    """Size of the file in bytes."""

    def batches(self, group: int) -> Iterator[Any]:
        """Yield the record batches of a row group."""

    def close(self) -> None:
        """Close the file."""


class RowGroupReader(FileReader):
    """Reads the row groups of file splits."""

    gives_away = True

    def __init__(self, open_columnar: Callable[[str], ColumnarFile], records_of: Callable[[Any], list[Any]]) -> None:
        """Take the functions that open a file and that convert an Arrow record batch to records."""
        super().__init__()
        self._open_columnar = open_columnar
        self._records_of = records_of

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        return _OpenColumnar(self._open_columnar(split.path), split, self._records_of)


class BatchReader(FileReader):
    """Reads the record batches of file splits. Splits have positions in rows, like those of :class:`RowGroupReader`."""

    gives_away = True

    def __init__(
        self,
        open_columnar: Callable[[str], ColumnarFile],
        change: Callable[[RecordBatch], RecordBatch] | None = None,
    ) -> None:
        """Take the function that opens a file, and perhaps one that changes each batch."""
        super().__init__()
        self._open_columnar = open_columnar
        self._change = change

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        return _OpenBatches(self._open_columnar(split.path), split, self._records)

    def _records(self, batch: RecordBatch) -> list[ArrowBatch]:
        return [ArrowBatch(batch if self._change is None else self._change(batch))]


def groups_of(split: FileSplit, groups: int, size: int) -> range:
    """Return the row groups that belong to a split: those whose middle is in it, assuming equal lengths.

    >>> from flintstream.connectors.files.reader import FileSplit
    >>> groups_of(FileSplit("a", "a", 0, 50), 5, 100), groups_of(FileSplit("b", "a", 50, None), 5, 100)
    (range(0, 2), range(2, 5))
    """

    def first(offset: int) -> int:
        # (group + 1/2) / groups >= offset / size, in integers
        return max(0, -(-(2 * offset * groups - size) // (2 * size))) if size else 0

    return range(first(split.start), groups if split.end is None else min(groups, first(split.end)))


class _OpenColumnar:
    def __init__(self, file: ColumnarFile, split: FileSplit, records_of: Callable[[Any], list[Any]]) -> None:
        self._file = file
        self._path = split.path
        self._records_of = records_of
        mine = groups_of(split, file.groups, file.size)
        self._groups = iter(range(mine.start if split.position is None else split.position, mine.stop))
        self._pass_over = split.skip
        self._batches: Iterator[Any] = iter(())
        self._records: list[Any] = []
        self._at = 0
        self.position = split.position
        self.skip = split.skip

    def next(self, size: int) -> list[Any] | None:
        while self._at >= len(self._records):
            batch = self._next_batch()
            if batch is None:
                return None
            self._records = self._convert(batch)
            self._at = 0
        records = self._records[self._at : self._at + size]
        self._at += len(records)
        self.skip += len(records)
        return records

    def _next_batch(self) -> RecordBatch | None:
        """Return the next batch, without the rows that were read before a restart; None at the end."""
        while True:
            batch = next(self._batches, None)
            if batch is not None:
                passed = min(self._pass_over, len(batch))
                self._pass_over -= passed
                self.skip += passed
                return batch.slice(passed) if passed else batch
            group = next(self._groups, None)
            if group is None:
                return None
            self._batches = self._file.batches(group)
            self.position, self.skip = group, 0

    def _convert(self, batch: Any) -> list[Any]:
        try:
            return self._records_of(batch)
        except (ValueError, ArithmeticError) as error:  # malformed UTF-8, or times that Python does not have
            raise FlintstreamError(
                f"cannot read {shown_path(self._path)}: in row group {self.position}: {error}"
            ) from error

    def close(self) -> None:
        self._file.close()


class _OpenBatches(_OpenColumnar):
    def next(self, size: int) -> list[ArrowBatch] | None:
        _ = size  # a batch is a record, whatever its size
        while (batch := self._next_batch()) is not None:
            if len(batch):
                self.skip += len(batch)
                return self._convert(batch)
        return None
