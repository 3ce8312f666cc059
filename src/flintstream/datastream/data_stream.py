"""The stream classes (PyFlink's ``pyflink.datastream.data_stream``)."""

from __future__ import annotations

from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.broadcast import BroadcastConnectedStream, BroadcastStream
from flintstream.datastream._streams.cached import CachedDataStream
from flintstream.datastream._streams.collect import CloseableIterator
from flintstream.datastream._streams.connected import ConnectedStreams
from flintstream.datastream._streams.keyed import KeyedStream
from flintstream.datastream._streams.settings import DataStreamSink
from flintstream.datastream._streams.windowed import WINDOW_STATE_NAME, AllWindowedStream, WindowedStream

__all__ = [
    "WINDOW_STATE_NAME",
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]
