"""The environment of a program (PyFlink's ``pyflink.datastream.stream_execution_environment``)."""

from __future__ import annotations

from flintstream.common._public import publish
from flintstream.datastream._streams.environment import StreamExecutionEnvironment

__all__ = ["StreamExecutionEnvironment"]

publish(__name__, __all__, globals())
