"""Batches of Arrow as bytes and back; mirrors ``pyflink.table.serializers``."""

from __future__ import annotations

from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Protocol

from flintstream.table._functions.series import array_of, arrow, column_of, from_pandas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import BinaryIO

    from pandas import DataFrame, Series
    from pyarrow import RecordBatch, Schema

    from flintstream.common._types.data_types import RowType

__all__ = ["ArrowSerializer"]


class Pieces(Protocol):
    """An iterator of Java over the pieces of a stream of bytes."""

    def hasNext(self) -> bool:
        """Tell whether there is another piece."""

    def next(self) -> bytes:
        """Return the next piece."""


class _Joined(RawIOBase):
    """A file that has the bytes of pieces, one after another."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # typeshed's Buffer is 3.12's
        while not self._rest:
            if not self._pieces.hasNext():
                return 0
            self._rest = bytes(self._pieces.next())
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


class ArrowSerializer:
    """Writes and reads the columns of a table as a stream of Arrow's batches.

    >>> from io import BytesIO
    >>> from pandas import Series
    >>> from flintstream.table.types import DataTypes, create_arrow_schema
    >>> schema = create_arrow_schema(["id"], [DataTypes.BIGINT()])
    >>> serializer = ArrowSerializer(schema, DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())]), "UTC")
    >>> stream = BytesIO()
    >>> serializer.serialize([[Series([1, 2])], [Series([3])]], stream)
    >>> [list(column) for (column,) in serializer.deserialize(BytesIO(stream.getvalue()))]
    [[1, 2], [3]]

    A stream may come in pieces, from an iterator as Java has them:

    >>> class Pieces:
    ...     def __init__(self, *pieces):
    ...         self.pieces = list(pieces)
    ...
    ...     def hasNext(self):
    ...         return bool(self.pieces)
    ...
    ...     def next(self):
    ...         return self.pieces.pop(0)
    >>> data = stream.getvalue()
    >>> [batch.num_rows for batch in serializer.load_from_iterator(Pieces(data[:100], data[100:]))]
    [2, 1]
    """

    def __init__(self, schema: Schema, row_type: RowType, timezone: tzinfo | str) -> None:
        """Take Arrow's schema of the columns, their types, and the time zone of ``TIMESTAMP_LTZ``."""
        self._schema, self._row_type, self._zone = schema, row_type, str(timezone)

    def __repr__(self) -> str:
        """Name the class."""
        return "ArrowSerializer"

    def serialize(self, iterable: Iterable[list[Series | DataFrame]], stream: BinaryIO) -> None:
        """Write batches, each of which is a list of columns.

        Raises:
            RuntimeError: A column does not fit its type.
        """
        kinds = self._row_type.field_types()
        with arrow().ipc.new_stream(stream, self._schema) as writer:
            for columns in iterable:
                pairs = zip(columns, kinds, strict=True)
                arrays = [array_of(from_pandas(column, kind, self._zone), kind) for column, kind in pairs]
                writer.write_batch(arrow().RecordBatch.from_arrays(arrays, schema=self._schema))

    def deserialize(self, stream: BinaryIO) -> Iterator[list[Series | DataFrame]]:
        """Read batches, each of which is a list of columns."""
        for batch in arrow().ipc.open_stream(stream):
            pairs = zip(batch.columns, self._row_type.fields, strict=True)
            yield [column_of(column, part.data_type, part.name, self._zone) for column, part in pairs]

    def load_from_iterator(self, itor: Pieces) -> Iterator[RecordBatch]:
        """Read batches of a stream that comes in pieces; none if it has no piece."""
        if itor.hasNext():
            yield from arrow().ipc.open_stream(BufferedReader(_Joined(itor)))
