"""Base classes of sources and sinks; mirrors ``pyflink.datastream.connectors.base``."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import Any

from flintstream.connectors.sink import Sink
from flintstream.connectors.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class DeliveryGuarantee(enum.Enum):
    """How often a sink may deliver a record when the job fails and restarts.

    >>> from flintstream.common import SimpleStringSchema
    >>> from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
    >>> schema = KafkaRecordSerializationSchema.builder().set_topic("sums")
    >>> builder = KafkaSink.builder().set_bootstrap_servers("127.0.0.1:9092").set_transactional_id_prefix("sums")
    >>> builder = builder.set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
    >>> sink = builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()
    """

    EXACTLY_ONCE = 0
    """No record is lost or repeated."""
    AT_LEAST_ONCE = 1
    """No record is lost, but records may be repeated."""
    NONE = 2
    """Records may be lost or repeated."""


class StreamTransformer(ABC):
    """Changes a stream before it reaches a sink.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class WithoutEmpty(StreamTransformer):
    ...     def apply(self, ds):
    ...         return ds.filter(bool)
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> list(WithoutEmpty().apply(env.from_collection(["to", "", "be"])).execute_and_collect(limit=9))
    ['to', 'be']
    """

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """Return the changed stream."""


class SupportsPreprocessing(ABC):
    """A sink that transforms its input stream.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.testing import CollectSink
    >>> class Upper(StreamTransformer):
    ...     def apply(self, ds):
    ...         return ds.map(str.upper)
    >>> class UpperSink(CollectSink, SupportsPreprocessing):
    ...     def get_transformer(self):
    ...         return Upper()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sink = UpperSink()
    >>> _ = env.from_collection(["to", "be"]).sink_to(sink)
    >>> _ = env.execute()
    >>> sink.get_results()
    ['to', 'be']
    """

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformer, or None."""
