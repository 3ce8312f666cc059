"""The sink of MongoDB, with the names of Flink's builders as Python writes them. PyFlink has no module for it.

It needs the extra ``mongodb``.
"""

from __future__ import annotations

from flintstream.datastream.connectors.mongodb.sink import (
    MongoSerializationSchema,
    MongoSink,
    MongoSinkBuilder,
    MongoSinkContext,
)

__all__ = ["MongoSerializationSchema", "MongoSink", "MongoSinkBuilder", "MongoSinkContext"]
