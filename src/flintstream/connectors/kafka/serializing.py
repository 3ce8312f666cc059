"""From the records of a stream to those of Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from operator import length_hint
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.connectors.kafka.client import KafkaConnectorError
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.serialization import SerializationSchema

ANY_PARTITION = -1


class Block(NamedTuple):
    """Records as columns; a column that says the same of all of them, or nothing, is no list."""

    topics: list[str] | str
    keys: list[bytes | None] | None
    values: list[bytes | None]
    timestamps: list[int] | None
    partitions: list[int] | None


@dataclass(frozen=True)
class RecordSerializer:
    """Where records go, and what they are there."""

    value: SerializationSchema
    key: SerializationSchema | None = None
    topic: str | None = None
    selector: Callable[[Any], str] | None = None
    """Finds the topic of a record; None if all go to ``topic``."""
    partitioner: Callable[..., int] | None = None
    """Finds the partition of a record: by record, key, value, topic, and the numbers of its partitions."""

    def block(self, records: list[Any], timestamps: list[int] | None, partitions: Callable[[str], list[int]]) -> Block:
        """Return what to write; ``partitions`` tells those of a topic.

        Raises:
            Exception: Whatever a schema or function raises, with a note that names the record.
        """
        selector, key = self.selector, self.key
        topics: list[str] | str = self.topic or ""
        if selector is not None:
            topics = _each(lambda record: _checked(selector(record)), records, "finding the topic of")
        keys = None if key is None else _each(key.serialize, records, "serializing the key of")
        values = _each(self.value.serialize, records, "serializing")
        times = None
        if timestamps is not None:
            times = [max(0, time) for time in timestamps]  # Kafka has none before 1970: 0 is for now
        chosen = None
        if self.partitioner is not None:
            chosen = self._partitions(records, keys, values, topics, partitions)
        return Block(topics, keys, values, times, chosen)

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
                    f"the partitioner returned {number!r} for {shorten(record)}; topic '{topic}' has partitions {there}"
                )
            chosen.append(number)
        return chosen


def _each(function: Callable[[Any], Any], records: list[Any], doing: str) -> list[Any]:
    cursor = iter(records)
    try:
        return list(map(function, cursor))
    except Exception as error:
        record = records[len(records) - length_hint(cursor) - 1]
        error.add_note(f"while {doing} {shorten(record)} for Kafka")
        raise


def _checked(topic: Any) -> str:
    if not isinstance(topic, str) or not topic:
        raise TypeError(f"a topic must be a text, got {shorten(topic)}")
    return topic
