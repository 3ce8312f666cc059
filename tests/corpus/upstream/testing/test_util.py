"""``pyflink.datastream.tests.test_util``: what the tests of tables use of it."""

from __future__ import annotations

from flintstream.testing import CollectSink


class DataStreamTestSinkFunction(CollectSink):
    """Collects the records of a stream."""
