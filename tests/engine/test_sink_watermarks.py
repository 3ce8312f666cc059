"""Sinks know the watermark, whenever they get their first record."""

from __future__ import annotations

from tests.engine.sinks import WatermarkSink

from flintstream.common import WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner, WatermarkGenerator


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class AfterEveryRecord(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output):
        pass


def test_a_sink_knows_the_watermark_before_its_first_record(make_env):
    WatermarkSink.committed.clear()
    env = make_env()
    strategy = WatermarkStrategy.for_generator(AfterEveryRecord).with_timestamp_assigner(Itself())
    stamped = env.from_collection(range(1, 6)).assign_timestamps_and_watermarks(strategy)
    stamped.filter(lambda n: n > 3).sink_to(WatermarkSink())
    env.execute()
    assert WatermarkSink.committed == [(4, 3), (5, 4)]
