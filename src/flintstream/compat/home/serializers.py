"""Serializers for streams of bytes (``pyflink.serializers``)."""

from __future__ import annotations

import pickle
import struct
from abc import abstractmethod
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO

from flintstream.common.serializer import TypeSerializer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "BatchedSerializer",
    "IterableSerializer",
    "PickleSerializer",
    "SpecialLengths",
    "VarLengthDataSerializer",
    "read_int",
    "write_int",
]

_INT = struct.Struct(">i")


class SpecialLengths:
    """Lengths with a special meaning."""

    END_OF_DATA_SECTION = -1
    NULL = -2


def read_int(stream: BinaryIO) -> int:
    """Read a 32-bit integer.

    Raises:
        EOFError: The stream has ended.
    """
    content = stream.read(_INT.size)
    if not content:
        raise EOFError
    return int(_INT.unpack(content)[0])


def write_int(value: int, stream: BinaryIO) -> None:
    """Write a 32-bit integer."""
    stream.write(_INT.pack(value))


class IterableSerializer(TypeSerializer):
    """Serializes many objects in sequence."""

    def _load_from_stream_without_unbatching(self, stream: Any) -> Iterator[Any]:
        return ([item] for item in self.deserialize(stream))


class VarLengthDataSerializer(IterableSerializer):
    """Writes the length of each object in bytes, followed by its bytes."""

    def serialize(self, iterable: Iterable[Any], stream: Any) -> None:
        """Write all objects.

        Raises:
            ValueError: :meth:`dumps` returned None.
        """
        for item in iterable:
            content = self.dumps(item)
            if content is None:
                raise ValueError(f"dumps() returned None for {item!r}")
            write_int(len(content), stream)
            stream.write(content)

    def deserialize(self, stream: Any) -> Iterator[Any]:
        """Read objects until the stream ends."""
        while True:
            try:
                length = read_int(stream)
            except EOFError:
                return
            if length == SpecialLengths.END_OF_DATA_SECTION:
                return
            if length == SpecialLengths.NULL:
                yield None
                continue
            content = stream.read(length)
            if len(content) < length:
                return
            yield self.loads(content)

    @abstractmethod
    def dumps(self, obj: Any) -> bytes:
        """Return the object as bytes."""

    @abstractmethod
    def loads(self, obj: bytes) -> Any:
        """Return the object that the bytes encode."""


class PickleSerializer(VarLengthDataSerializer):
    """Serializes objects with pickle.

    >>> from io import BytesIO
    >>> stream = BytesIO()
    >>> PickleSerializer().serialize(["to", 2], stream)
    >>> list(PickleSerializer().deserialize(BytesIO(stream.getvalue())))
    ['to', 2]
    """

    def dumps(self, obj: Any) -> bytes:
        """Return the object as bytes."""
        return pickle.dumps(obj, 3)

    def loads(self, obj: bytes) -> Any:
        """Return the object that the bytes encode."""
        return pickle.loads(obj, encoding="bytes")


class BatchedSerializer(IterableSerializer):
    """Writes lists of ``batch_size`` objects with another serializer; a single list by default."""

    UNLIMITED_BATCH_SIZE = -1
    UNKNOWN_BATCH_SIZE = 0

    def __init__(self, serializer: VarLengthDataSerializer, batch_size: int = UNLIMITED_BATCH_SIZE) -> None:
        self.serializer = serializer
        self.batch_size = batch_size

    def __repr__(self) -> str:
        return f"BatchedSerializer({self.serializer}, {self.batch_size})"

    def _batch(self, iterable: Iterable[Any]) -> Iterator[list[Any]]:
        rest = iter(iterable)
        if self.batch_size == self.UNLIMITED_BATCH_SIZE:
            yield list(rest)
            return
        while batch := list(islice(rest, self.batch_size)):
            yield batch

    def serialize(self, iterable: Iterable[Any], stream: Any) -> None:
        """Write all objects in batches."""
        self.serializer.serialize(self._batch(iterable), stream)

    def deserialize(self, stream: Any) -> Iterator[Any]:
        """Read the objects of all batches."""
        return chain.from_iterable(self._load_from_stream_without_unbatching(stream))

    def _load_from_stream_without_unbatching(self, stream: Any) -> Iterator[Any]:
        return self.serializer.deserialize(stream)
