"""Deserialization of Kafka's records to those of a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.common.serialization import ByteArraySchema, SimpleStringSchema
from flintstream.connectors.several import Several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.serialization import DeserializationSchema
    from flintstream.common.typeinfo import TypeInformation

NEVER_NONE = (SimpleStringSchema, ByteArraySchema)


class KafkaRecord(NamedTuple):
    """A complete Kafka record.

    >>> KafkaRecord("orders", 0, 17, 1_700_000_000_000, b"Bern", b"3 pears", ()).value
    b'3 pears'
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    """In ms since the epoch; -1 if the record has none."""
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Deserializer(ABC):
    """Turns messages of a partition into records."""

    produced_type: TypeInformation | None = None

    @abstractmethod
    def read(self, messages: Sequence[Any], values: list[Any], timestamps: list[int]) -> None:
        """Append the records and their timestamps (ms). If the schema raises, some of them may be missing."""


class ValueDeserializer(Deserializer):
    """Deserializes only values. Skips messages without a value, and those for which the schema returns None."""

    def __init__(self, schema: DeserializationSchema) -> None:
        """Deserialize with ``schema``."""
        self.schema = schema
        self.produced_type = schema.get_produced_type()
        self._never_none = type(schema) in NEVER_NONE
        self._texts = schema if type(schema) is SimpleStringSchema else None

    def read(self, messages: Sequence[Any], values: list[Any], timestamps: list[int]) -> None:
        """Append the records and their timestamps."""
        contents = [message.value() for message in messages]
        times = [message.timestamp()[1] for message in messages]
        if None in contents:
            times = [time for time, content in zip(times, contents, strict=True) if content is not None]
            contents = [content for content in contents if content is not None]
        deserialize = self.schema.deserialize
        if self._never_none:
            values += map(deserialize, contents) if self._texts is None else self._texts.deserialize_all(contents)
            timestamps.extend(times)
            return
        for content, time in zip(contents, times, strict=True):
            value = deserialize(content)
            if type(value) is Several:
                values += value
                timestamps += [time] * len(value)
            elif value is not None:
                values.append(value)
                timestamps.append(time)


class RecordDeserializer(Deserializer):
    """Passes whole records to a schema."""

    def __init__(self, schema: Any) -> None:
        """Deserialize with ``schema``, whose ``deserialize`` takes a :class:`KafkaRecord`."""
        self.schema = schema
        self.produced_type = schema.get_produced_type()

    def read(self, messages: Sequence[Any], values: list[Any], timestamps: list[int]) -> None:
        """Append the records and their timestamps."""
        for message in messages:
            time = message.timestamp()[1]
            record = KafkaRecord(
                message.topic(),
                message.partition(),
                message.offset(),
                time,
                message.key(),
                message.value(),
                tuple(message.headers() or ()),
            )
            value = self.schema.deserialize(record)
            if type(value) is Several:
                values += value
                timestamps += [time] * len(value)
            elif value is not None:
                values.append(value)
                timestamps.append(time)
