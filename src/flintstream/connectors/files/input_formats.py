"""Read PyFlink's older input formats, which have parts but no positions in them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.files.reader import FileReader, FileSplit
from flintstream.connectors.source import Source, StaticEnumerator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.common.io import InputFormat
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.files.reader import OpenFile
    from flintstream.connectors.source import SourceReader, SplitEnumerator


@record
@dataclass
class InputPart(FileSplit):
    """A part of an input, and the number of records read from it."""

    part: Any = None


class InputFormatSource(Source):
    """Reads the parts of an input format. A restored job skips the records of a part that it has already read."""

    def __init__(self, input_format: InputFormat) -> None:
        """Take the format."""
        self._format = input_format

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records."""
        return self._format.get_produced_type()

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return an enumerator of the parts."""
        parts = enumerate(self._format.create_splits(parallelism))
        return StaticEnumerator([InputPart(str(number), str(number), part=part) for number, part in parts])

    def create_reader(self) -> SourceReader:
        """Return a reader of parts."""
        return _Reader(self._format)


class _Reader(FileReader):
    def __init__(self, input_format: InputFormat) -> None:
        super().__init__()
        self._format = input_format

    def open_file(self, split: FileSplit) -> OpenFile:
        assert isinstance(split, InputPart)  # noqa: S101 - made above
        return _OpenPart(self._format.read(split.part), split.skip)


class _OpenPart:
    def __init__(self, records: Iterator[Any], skip: int) -> None:
        self._records = iter(records)
        deque(islice(self._records, skip), 0)
        self.position: int | None = None
        self.skip = skip

    def next(self, size: int) -> list[Any] | None:
        records = list(islice(self._records, size))
        self.skip += len(records)
        return records or None

    def close(self) -> None:
        close = getattr(self._records, "close", None)
        if close is not None:
            close()
