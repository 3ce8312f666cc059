"""Records of Kinesis that a producer has put together, as Amazon's producer library does."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

MAGIC = b"\xf3\x89\x9a\xc2"
"""The first bytes of records that have others in them; the last ones are an MD5 of what is between."""
_DIGEST = 16
_MOST_BITS = 63
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_KEYS, _HASH_KEYS, _RECORDS = 1, 2, 3
"""Fields of the whole."""
_KEY, _HASH_KEY, _DATA = 1, 2, 3
"""Fields of a record: the positions of its keys among those of the whole, and its content."""


class _Message(TypedDict):
    SequenceNumber: str
    ApproximateArrivalTimestamp: datetime
    Data: bytes
    PartitionKey: str


class Message(_Message, total=False):
    """A record as the service returns it, or one of those in it."""

    Part: int
    """The position of one that is in a record, unless it is the last one there."""


class UserRecord(NamedTuple):
    """A record as the program of the producer has it."""

    partition_key: str
    data: bytes
    hash_key: int
    """What decides the shard: a number of 128 bits, of the producer or of the partition key."""


def user_records(data: bytes) -> list[UserRecord] | None:
    """Return the records in a record; None if it is a record of its own.

    >>> user_records(b"text") is None
    True
    """
    if not data.startswith(MAGIC) or len(data) < len(MAGIC) + _DIGEST:
        return None
    content = data[len(MAGIC) : -_DIGEST]
    if hashlib.md5(content, usedforsecurity=False).digest() != data[-_DIGEST:]:
        return None
    try:
        return _parse(content)
    except (IndexError, ValueError):  # not what it seems to be
        return None


def hash_of(partition_key: str) -> int:
    """Return the number that the service makes of a partition key.

    >>> hash_of("ann") < 2**128
    True
    """
    return int.from_bytes(hashlib.md5(partition_key.encode(), usedforsecurity=False).digest(), "big")


def _parse(content: bytes) -> list[UserRecord]:
    keys: list[str] = []
    hash_keys: list[int] = []
    found: list[UserRecord] = []
    for number, value in _fields(content):
        if number == _KEYS and isinstance(value, bytes):
            keys.append(value.decode())
        if number == _HASH_KEYS and isinstance(value, bytes):
            hash_keys.append(int(value))
        if number == _RECORDS and isinstance(value, bytes):
            parts = dict(_fields(value))
            key, hash_key, data = parts.get(_KEY), parts.get(_HASH_KEY), parts.get(_DATA)
            if not isinstance(key, int) or not isinstance(data, bytes):
                raise ValueError("a record lacks its key or its content")
            decides = hash_keys[hash_key] if isinstance(hash_key, int) else hash_of(keys[key])
            found.append(UserRecord(keys[key], data, decides))
    return found


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message of Protobuf: numbers, and bytes."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _number(message, place)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            length, place = _number(message, place)
        elif kind in {_FIXED64, _FIXED32}:
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field has the unknown kind {kind}")
        if place + length > len(message):
            raise ValueError("a field ends behind the message")
        yield tag >> 3, message[place : place + length]
        place += length


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, of which each byte has seven bits, and the place behind it."""
    found = shift = 0
    while True:
        byte = message[place]
        if shift > _MOST_BITS:
            raise ValueError("a number is too long")
        found |= (byte & 127) << shift
        shift, place = shift + 7, place + 1
        if byte < 128:
            return found, place
