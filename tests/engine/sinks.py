"""Sinks for tests that want to know what a sink is told."""

from __future__ import annotations

from typing import ClassVar

from flintstream.connectors.sink import Committer, Sink, SinkWriter


class WatermarkSink(Sink):
    """Keeps each record with the watermark at which it came."""

    committed: ClassVar[list] = []

    def create_writer(self, context):
        return WatermarkWriter()

    def create_committer(self):
        return Keep()


class WatermarkWriter(SinkWriter):
    def __init__(self):
        self.watermark = None
        self.rows = []

    def write(self, values, timestamps):
        self.rows += [(value, self.watermark) for value in values]

    def on_watermark(self, timestamp):
        self.watermark = timestamp

    def prepare_commit(self, *, end_of_input, **_):
        rows, self.rows = self.rows, []
        return rows


class Keep(Committer):
    def commit(self, committables):
        WatermarkSink.committed += committables
