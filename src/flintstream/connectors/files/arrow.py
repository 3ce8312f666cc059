"""Read Arrow IPC files, one record batch at a time. Reading can continue after any row."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.files.arrow_values import arrow, rows_of
from flintstream.connectors.source import SourceReader, SourceSplit
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from flintstream.common.types import Row
    from flintstream.connectors.source import Fetch
    from flintstream.storage.file_store import FileStore


@dataclass(frozen=True)
class ArrowFile:
    """The path of a file in a store, and its number of record batches."""

    path: str
    batches: int


@record
@dataclass
class ArrowSplit(SourceSplit):
    """Record batches ``[batch, end)`` of a file, without the first ``row`` rows."""

    store: FileStore
    path: str
    batch: int
    end: int
    row: int = 0


def arrow_splits(store: FileStore, files: Sequence[ArrowFile], parallelism: int) -> list[ArrowSplit]:
    """Cut files into splits, as large as possible while every subtask gets its share.

    >>> [(s.path, s.batch, s.end) for s in arrow_splits(None, [ArrowFile("a", 3), ArrowFile("b", 1)], 2)]
    [('a', 0, 2), ('a', 2, 3), ('b', 0, 1)]
    """
    share = max(1, -(-sum(file.batches for file in files) // parallelism))
    return [
        ArrowSplit(f"{file.path}:{start}", store, file.path, start, min(start + share, file.batches))
        for file in files
        for start in range(0, file.batches, share)
    ]


class ArrowReader(SourceReader):
    """Reads splits one after the other, in the order of their discovery."""

    gives_away = True

    def __init__(self, names: tuple[str, ...]) -> None:
        """Take the names of the columns."""
        self._names = names
        self._reading: str | None = None

    def read(self, split: ArrowSplit, fetch: Fetch) -> Generator[list[Row], None, bool]:
        """Yield the split's rows.

        Raises:
            FlintstreamError: The file does not exist any more, or is damaged.
        """
        if self._reading is not None:
            return False  # alternating between splits would mix old and new records
        self._reading = split.split_id
        try:
            with self._open(split) as file, self._naming_file(split), arrow().ipc.open_file(file) as batches:
                for number in range(split.batch, split.end):
                    batch = batches.get_batch(number)
                    batch.validate(full=True)  # otherwise wrong offsets would lead out of the batch
                    rows = rows_of(batch, self._names)
                    for start in range(split.row, len(rows), size := max(1, fetch.size)):
                        end = start + size
                        split.batch, split.row = (number, end) if end < len(rows) else (number + 1, 0)
                        yield rows[start:end]
        finally:
            self._reading = None
        return True

    @staticmethod
    @contextmanager
    def _naming_file(split: ArrowSplit) -> Iterator[None]:
        try:
            yield
        except (arrow().ArrowException, OSError, ValueError, ArithmeticError) as error:
            raise FlintstreamError(f"cannot read {split.store.uri(split.path)}: {error}") from error

    @staticmethod
    def _open(split: ArrowSplit) -> Any:
        try:
            return arrow().PythonFile(split.store.open(split.path), mode="r")
        except FileNotFoundError:
            raise FlintstreamError(
                f"{split.store.uri(split.path)} does not exist any more. It held data of a DataFrame that this job has "
                "not read yet. It was deleted, or its retention time was too short"
            ) from None
