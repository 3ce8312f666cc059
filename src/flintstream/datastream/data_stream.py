"""The stream classes (PyFlink's ``pyflink.datastream.data_stream``)."""

from __future__ import annotations

from flintstream.datastream._streams.all_windowed import AllWindowedStream
from flintstream.datastream._streams.base import DataStream
from flintstream.datastream._streams.broadcast import BroadcastConnectedStream, BroadcastStream
from flintstream.datastream._streams.cached import CachedDataStream
from flintstream.datastream._streams.collect import CloseableIterator
from flintstream.datastream._streams.connected import ConnectedStreams
from flintstream.datastream._streams.keyed import KeyedStream
from flintstream.datastream._streams.settings import DataStreamSink
from flintstream.datastream._streams.windowed import WindowedStream
from flintstream.datastream._streams.windowing import WINDOW_STATE_NAME

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
