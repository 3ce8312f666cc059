"""Records that a writer has prepared for the committer: in a file, or inside the checkpoint if they are small."""

from __future__ import annotations

import contextlib
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgpack

from flintstream.checkpoint.registry import record
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.serializing import Block
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

INLINE_BYTES = 64 << 10
"""Epochs up to this size travel inside the committable."""

CHUNK = 1 << 20


@record
class Prepared(NamedTuple):
    """A committable: the records of one writer in one epoch."""

    name: str
    """The ``transactional.id`` of the transactions that write it."""
    run: str
    number: int
    """Number of the epoch within the run, ascending."""
    topic: str
    """Topic of the first record."""
    records: int
    size: int
    checksum: int
    data: bytes | None
    directory: str
    """Directory of the file, if the data is not inline."""
    file: str
    subtask: int = 0
    ids: int = 0
    """The number of transactional ids by subtask, one of which writes these records; 0 if the driver writes them,
    together with those of other subtasks.
    """

    @property
    def alone(self) -> bool:
        """Whether a task writes the records, under the id of the subtask."""
        return self.ids > 0

    def blocks(self, store: FileStore | None = None) -> Iterator[Block]:
        """Read the records.

        Raises:
            KafkaConnectorError: The file is missing or damaged.
        """
        if self.data is not None:
            yield from _unpack(self.data)
            return
        where = f"{self.directory}/{self.file}"
        try:
            with (store or file_store(self.directory)).open(self.file) as source:
                unpacker, checksum = _unpacker(), 0
                while chunk := source.read(CHUNK):
                    checksum = zlib.crc32(chunk, checksum)
                    unpacker.feed(chunk)
                    yield from (Block(*item) for item in unpacker)
        except FileNotFoundError:
            raise KafkaConnectorError(
                f"{where} is missing: the checkpoint refers to uncommitted output that was deleted when a job restored "
                "from another checkpoint"
            ) from None
        if checksum != self.checksum:
            raise KafkaConnectorError(f"{where} is damaged, and {self.records} records from it cannot be committed")

    def delete(self, store: FileStore | None = None) -> None:
        """Delete the file after its records are committed."""
        if self.data is None:
            with contextlib.suppress(Exception):  # storages raise anything; the records are committed
                (store or file_store(self.directory)).delete(self.file)


def _unpacker(**more: Any) -> Any:
    return msgpack.Unpacker(use_list=True, max_buffer_size=0, strict_map_key=False, **more)


def _unpack(data: bytes) -> Iterator[Block]:
    unpacker = _unpacker()
    unpacker.feed(data)
    return (Block(*item) for item in unpacker)


class Stage:
    """Collects the records of one epoch."""

    def __init__(self, store: FileStore | None, file: str) -> None:
        """Write large epochs to ``file`` of ``store``; without a store, keep all in memory."""
        self._store = store
        self._file = file
        self._pack = msgpack.Packer().pack
        self._parts: list[bytes] = []
        self._sink: BinaryIO | None = None
        self._closing = contextlib.ExitStack()
        self.topic = ""
        self.records = 0
        self.size = 0
        self.checksum = 0

    def add(self, block: Block) -> None:
        """Add records."""
        if not self.records:
            self.topic = block.topics if isinstance(block.topics, str) else block.topics[0]
        data = self._pack(block)
        self.records += len(block.values)
        self.size += len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        if self._sink is not None:
            self._sink.write(data)
            return
        self._parts.append(data)
        if self._store is not None and self.size > INLINE_BYTES:
            self._sink = self._closing.enter_context(self._store.create(self._file))
            self._sink.write(b"".join(self._parts))
            self._parts.clear()

    def prepare(self, name: str, run: str, number: int, subtask: int = 0, ids: int = 0) -> tuple[Any, ...]:
        """Close the file durably, and return the fields of the committable."""
        data = None
        if self._sink is None:
            data = b"".join(self._parts)
        self._closing.close()
        inline = data is not None
        directory = "" if self._store is None or inline else self._store.uri("")
        file = "" if inline else self._file
        fields = (name, run, number, self.topic, self.records, self.size, self.checksum, data, directory, file)
        return tuple(Prepared(*fields, subtask, ids))

    def discard(self) -> None:
        """Delete everything written so far."""
        with contextlib.suppress(_Discarded):
            self._closing.__exit__(_Discarded, _Discarded(), None)


class _Discarded(Exception):  # noqa: N818 - not an error
    """Aborts a file before it appears in the store."""
