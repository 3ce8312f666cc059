"""Serialization of the records of a stream to those of Kafka."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.serialization import SerializationSchema

ANY_PARTITION = -1


class Block(NamedTuple):
    """Records as columns. A column that is the same for all records is a single value; an empty one is None."""

    topics: list[str] | str
    keys: list[bytes | None] | None
    values: list[bytes | None]
    timestamps: list[int] | None
    partitions: list[int] | None
    headers: list[dict[str, bytes | None] | None] | None = None


@dataclass(frozen=True)
class RecordSerializer:
    """Chooses topic and partition of each record, and serializes it."""

    value: SerializationSchema
    key: SerializationSchema | None = None
    topic: str | None = None
    selector: Callable[[Any], str] | None = None
    """Returns the topic of a record; None if all records go to ``topic``."""
    partitioner: Callable[..., int] | None = None
    """Returns the partition of a record, given record, key, value, topic and the topic's partition numbers."""
    time: Callable[..., int] | None = None
    """Returns the time of a record in ms, 0 for now; None to take the times of the stream."""
    headers: Callable[..., dict[str, bytes | None] | None] | None = None
    """Returns the headers of a record."""

    def block(self, records: list[Any], timestamps: list[int] | None, partitions: Callable[[str], list[int]]) -> Block:
        """Return the serialized records; ``partitions`` returns the partition numbers of a topic.

        Raises:
            Exception: A schema or function raised it; a note names the record.
        """
        selector, key = self.selector, self.key
        topics: list[str] | str = self.topic or ""
        if selector is not None:
            topics = _each(lambda record: _check_topic(selector(record)), records, "finding the topic of")
        keys = None if key is None else _each(key.serialize, records, "serializing the key of")
        values = self._values(records)
        times = None if self.time is None else _each(self.time, records, "finding the time of")
        if times is None and timestamps is not None:
            times = timestamps
            if min(timestamps, default=0) < 0:  # Kafka has no timestamps before 1970; 0 means now
                times = [max(0, time) for time in timestamps]
        chosen = None
        if self.partitioner is not None:
            chosen = self._partitions(records, keys, values, topics, partitions)
        headers = None if self.headers is None else _each(self.headers, records, "finding the headers of")
        return Block(topics, keys, values, times, chosen, headers)

    def _values(self, records: list[Any]) -> list[Any]:
        if type(self.value) is SimpleStringSchema:
            with suppress(Exception):  # the loop below raises it again and names the record
                values = self.value.serialize_all(records)
                if values is not None:
                    return values
        return _each(self.value.serialize, records, "serializing")

    def _partitions(
        self,
        records: list[Any],
        keys: Any,
        values: Any,
        topics: list[str] | str,
        partitions: Callable[[str], list[int]],
    ) -> list[int]:
        assert self.partitioner is not None  # noqa: S101
        chosen = []
        for i, record in enumerate(records):
            topic = topics if isinstance(topics, str) else topics[i]
            there = partitions(topic)
            number = self.partitioner(record, None if keys is None else keys[i], values[i], topic, there)
            if number not in there:
                raise KafkaConnectorError(
                    f"the partitioner returned {number!r} for {shorten(record)}, but the partitions of topic '{topic}' "
                    f"are {there}"
                )
            chosen.append(number)
        return chosen


def _each(function: Callable[[Any], Any], records: list[Any], doing: str) -> list[Any]:
    cursor = iter(records)
    try:
        return list(map(function, cursor))
    except Exception as error:
        record = records[len(records) - length_hint(cursor) - 1]
        add_note(error, f"while {doing} {shorten(record)} for Kafka")
        raise


def _check_topic(topic: Any) -> str:
    if not isinstance(topic, str) or not topic:
        raise TypeError(f"a topic must be a non-empty str, but got {shorten(topic)}")
    return topic
