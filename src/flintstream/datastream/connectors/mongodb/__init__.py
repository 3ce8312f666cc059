"""The source and the sink of MongoDB, with the names of Flink's builders as Python writes them.

PyFlink has no module for them. They need the extra ``mongodb``.
"""

from __future__ import annotations

from flintstream.datastream.connectors.mongodb.sink import (
    MongoSerializationSchema,
    MongoSink,
    MongoSinkBuilder,
    MongoSinkContext,
)
from flintstream.datastream.connectors.mongodb.source import (
    MongoDeserializationSchema,
    MongoSource,
    MongoSourceBuilder,
    PartitionStrategy,
)

__all__ = [
    "MongoDeserializationSchema",
    "MongoSerializationSchema",
    "MongoSink",
    "MongoSinkBuilder",
    "MongoSinkContext",
    "MongoSource",
    "MongoSourceBuilder",
    "PartitionStrategy",
]
