"""Sinks that record the calls of the engine."""

from __future__ import annotations

from typing import ClassVar

from flintstream.connectors.sink import Committer, Sink, SinkWriter


class WatermarkSink(Sink):
    """Keep each record with the watermark at its arrival."""

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
