"""Sources of the programs in PyFlink's API."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


def numbers(env, records, name="numbers"):
    """Return the numbers from 0; each of two subtasks reads one half of them, in order."""
    return env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), name, Types.LONG())


class LastField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[-1]


def in_event_time(stream):
    """Use the last field of records as their event time; within a subtask it does not go back."""
    return stream.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(LastField())
    )
