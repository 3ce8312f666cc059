"""Read records from lines of text, one per line."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common.serialization import DeserializationSchema
from flintstream.connectors.files.bad_records import BadRecordHandler, BadRecords
from flintstream.connectors.files.text import TextLineReader
from flintstream.connectors.several import Several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.connectors.files.reader import FileSplit, OpenFile


class LineSchema(DeserializationSchema[object]):
    """A schema that may read many lines at once."""

    @abstractmethod
    def deserialize_lines(self, lines: Sequence[str]) -> list[object] | None:
        """Return the records of lines, or None to read them one by one."""


class RecordLineReader(TextLineReader):
    """Reads a record from each line of file splits."""

    gives_away = True

    def __init__(
        self, schema: DeserializationSchema, charset: str = "UTF-8", bad_records: BadRecords = BadRecords.FAIL
    ) -> None:
        """Take the schema that decodes records, the charset of the files, and the handling of malformed records."""
        super().__init__(charset)
        self._schema = schema
        self._bad_records = bad_records

    def open_file(self, split: FileSplit) -> OpenFile:
        """Open a split's file."""
        handler = BadRecordHandler(self._bad_records, split.path, self._charset)
        return _RecordLines(super().open_file(split), self._schema, handler)


class _RecordLines:
    def __init__(self, lines: OpenFile, schema: DeserializationSchema, handler: BadRecordHandler) -> None:
        self._lines = lines
        self._deserialize = schema.deserialize
        self._deserialize_lines = schema.deserialize_lines if isinstance(schema, LineSchema) else None
        self._handler = handler
        self.position = lines.position
        self.skip = lines.skip

    def next(self, size: int) -> list[Any] | None:
        before, skip = self.position, self.skip
        lines = self._lines.next(size)
        self.position, self.skip = self._lines.position, self._lines.skip
        if lines is None:
            return None
        if self._deserialize_lines is not None and (found := self._deserialize_lines(lines)) is not None:
            return found
        deserialize = self._deserialize
        records: list[Any] = []
        for number, line in enumerate(lines):
            try:
                record = deserialize(line.encode())
            except Exception as error:  # noqa: BLE001 - whatever a schema raises
                records += self._handler.handle(before, skip + number, line, error)
            else:
                if type(record) is Several:
                    records += record
                elif record is not None:
                    records.append(record)
        return records

    def close(self) -> None:
        self._lines.close()
