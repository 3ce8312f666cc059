"""What a writer has prepared for Kafka: records in a file, or within the checkpoint if they are few."""

from __future__ import annotations

import contextlib
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgpack

from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.connectors.kafka.serializing import Block
from flintstream.storage.file_store import file_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flintstream.storage.file_store import FileStore

INLINE_BYTES = 64 << 10
"""What is not larger travels within the committable."""

CHUNK = 1 << 20


class Prepared(NamedTuple):
    """A committable: what one writer got in one epoch."""

    name: str
    """Of the transactions that write it, the ``transactional.id``."""
    run: str
    number: int
    """Counts the epochs of the run: what was prepared before has lower ones."""
    topic: str
    """Of its first record."""
    records: int
    size: int
    checksum: int
    data: bytes | None
    directory: str
    """Where the file is, if there is no data here."""
    file: str

    def blocks(self, store: FileStore | None = None) -> Iterator[Block]:
        """Read the records.

        Raises:
            KafkaConnectorError: The file is not there any more, or damaged.
        """
        if self.data is not None:
            yield from _unpacked(self.data)
            return
        where = f"{self.directory}/{self.file}"
        try:
            with (store or file_store(self.directory)).open(self.file) as source:
                unpacker, checksum = _unpacker(), 0
                while chunk := source.read(CHUNK):
                    checksum = zlib.crc32(chunk, checksum)
                    unpacker.feed(chunk)
                    yield from (Block(*each) for each in unpacker)
        except FileNotFoundError:
            raise KafkaConnectorError(
                f"{where} is gone: the checkpoint refers to output that is not committed, and that was deleted when a "
                "job went on from another checkpoint"
            ) from None
        if checksum != self.checksum:
            raise KafkaConnectorError(f"{where} is damaged: {self.records} records are to be committed from it")

    def delete(self, store: FileStore | None = None) -> None:
        """Delete the file: it is not needed any more."""
        if self.data is None:
            with contextlib.suppress(Exception):  # whatever a storage raises; what it holds is committed
                (store or file_store(self.directory)).delete(self.file)


def _unpacker(**more: Any) -> Any:
    return msgpack.Unpacker(use_list=True, max_buffer_size=0, strict_map_key=False, **more)


def _unpacked(data: bytes) -> Iterator[Block]:
    unpacker = _unpacker()
    unpacker.feed(data)
    return (Block(*each) for each in unpacker)


class Stage:
    """Collects the records of one epoch."""

    def __init__(self, store: FileStore | None, file: str) -> None:
        """Write to ``file`` of ``store`` when there is much; without a store, keep all in memory."""
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

    def prepare(self, name: str, run: str, number: int) -> tuple[Any, ...]:
        """End the file, durably, and return the fields of the committable."""
        data = None
        if self._sink is None:
            data = b"".join(self._parts)
        self._closing.close()
        inline = data is not None
        directory = "" if self._store is None or inline else self._store.uri("")
        file = "" if inline else self._file
        return tuple(
            Prepared(name, run, number, self.topic, self.records, self.size, self.checksum, data, directory, file)
        )

    def discard(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(_Discarded):
            self._closing.__exit__(_Discarded, _Discarded(), None)


class _Discarded(Exception):  # noqa: N818 - no error
    """Ends a file that is not to appear."""
