"""What a message has beside key and value: columns read all of it, and write the time and the headers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import DataTypes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.kafka.records import KafkaRecord

    Row = tuple[object, ...]

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - values of SQL have no zone
_MS = timedelta(milliseconds=1)

HEADERS, TIMESTAMP = "headers", "timestamp"

VALUES: dict[str, Callable[[KafkaRecord], object]] = {
    "topic": lambda record: record.topic,
    "partition": lambda record: record.partition,
    "offset": lambda record: record.offset,
    TIMESTAMP: lambda record: None if record.timestamp < 0 else EPOCH + timedelta(milliseconds=record.timestamp),
    "timestamp-type": lambda record: "NoTimestampType" if record.timestamp < 0 else "CreateTime",
    HEADERS: lambda record: dict(record.headers),
    "leader-epoch": lambda _: None,
}
TYPES: Mapping[str, DataType] = {
    "topic": DataTypes.STRING(),
    "partition": DataTypes.INT(),
    "offset": DataTypes.BIGINT(),
    TIMESTAMP: DataTypes.TIMESTAMP_LTZ(3),
    "timestamp-type": DataTypes.STRING(),
    HEADERS: DataTypes.MAP(DataTypes.STRING(), DataTypes.BYTES()),
    "leader-epoch": DataTypes.INT(),
}
WRITTEN: Mapping[str, DataType] = {key: TYPES[key] for key in (HEADERS, TIMESTAMP)}
