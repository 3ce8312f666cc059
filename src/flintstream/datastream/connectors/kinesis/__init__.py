"""The Kinesis source, and sinks of Kinesis and Firehose; mirrors ``pyflink.datastream.connectors.kinesis``.

It needs the extra ``aws``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.common._generic import T_co
from flintstream.common.serialization import DeserializationSchema
from flintstream.connectors.aws.client import AwsAccess, as_texts
from flintstream.connectors.aws.properties import fan_out_of, limit_of, seconds_of, start_of
from flintstream.connectors.aws.reader import KinesisReader
from flintstream.connectors.aws.shards import KinesisEnumerator, KinesisInput
from flintstream.connectors.source import Boundedness, Source
from flintstream.datastream.connectors.kinesis._sinks import (
    KinesisFirehoseSink,
    KinesisFirehoseSinkBuilder,
    KinesisStreamsSink,
    KinesisStreamsSinkBuilder,
    PartitionKeyGenerator,
)
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.watermark_strategy import AssignerWithPeriodicWatermarksWrapper
    from flintstream.connectors.aws.shards import KinesisRecord
    from flintstream.connectors.source import SourceReader, SplitEnumerator

__all__ = [
    "FlinkKinesisConsumer",
    "KinesisDeserializationSchema",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
    "KinesisShardAssigner",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "PartitionKeyGenerator",
    "WatermarkTracker",
]


class KinesisShardAssigner:
    """How shards are assigned to subtasks. Subtasks get them in turn, whichever is chosen.

    >>> assigner = KinesisShardAssigner.uniform_shard_assigner()
    >>> assigner = KinesisShardAssigner.default_shard_assigner()
    """

    @staticmethod
    def default_shard_assigner() -> KinesisShardAssigner:
        """Return an assigner."""
        return KinesisShardAssigner()

    @staticmethod
    def uniform_shard_assigner() -> KinesisShardAssigner:
        """Return an assigner."""
        return KinesisShardAssigner()


class KinesisDeserializationSchema:
    """Makes records of complete messages, with key and sequence number. In PyFlink it wraps a Java object.

    >>> class Keyed(KinesisDeserializationSchema):
    ...     def deserialize(self, message):
    ...         return message.partition_key, message.data.decode()
    >>> from flintstream.connectors.aws.shards import KinesisRecord
    >>> Keyed().deserialize(KinesisRecord(b"3 pears", "Bern", "17", 1_700_000_000_000, "orders", "shardId-0"))
    ('Bern', '3 pears')
    >>> Keyed().get_produced_type() is None
    True
    """

    def deserialize(self, message: KinesisRecord) -> object:
        """Return the record of a message, or None to skip it.

        Raises:
            NotImplementedError: A subclass does not override it.
        """
        raise NotImplementedError("override deserialize(), which returns the record of a message")

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the records; None for any."""
        return None


class WatermarkTracker:
    """Kept because PyFlink exports it. It has no effect: use ``WatermarkStrategy.with_watermark_alignment()``.

    >>> tracker = WatermarkTracker.job_manager_watermark_tracker("orders")
    """

    @staticmethod
    def job_manager_watermark_tracker(
        aggregate_name: str, log_accumulator_interval_millis: int = -1
    ) -> WatermarkTracker:
        """Return a tracker, which needs neither of these."""
        del aggregate_name, log_accumulator_interval_millis
        return WatermarkTracker()


@dataclass(frozen=True)
class _ValueOnly:
    """Deserializes the data of a message."""

    schema: DeserializationSchema

    def __call__(self, message: KinesisRecord) -> object:
        return self.schema.deserialize(message.data)


class FlinkKinesisConsumer(Source[T_co]):
    """Reads one or more streams of a region, for ``add_source`` or ``from_source``, each record once.

    The positions in the shards are part of checkpoints. When a stream is resharded, the new shards are read after those
    that they replace, so that the order of a partition key is kept. Records have the time of their arrival.

    >>> from flintstream.common import SimpleStringSchema
    >>> properties = {"aws.region": "eu-central-1", "flink.stream.initpos": "TRIM_HORIZON"}
    >>> consumer = FlinkKinesisConsumer("orders", SimpleStringSchema(), properties)
    >>> consumer = consumer.set_shard_assigner(KinesisShardAssigner.uniform_shard_assigner())
    >>> consumer = consumer.set_watermark_tracker(WatermarkTracker.job_manager_watermark_tracker("orders"))
    >>> consumer.produced_type, consumer.get_boundedness().name
    (String, 'CONTINUOUS_UNBOUNDED')
    >>> consumer.set_periodic_watermark_assigner(None)
    Traceback (most recent call last):
    flintstream.errors.PlanError: use assign_timestamps_and_watermarks() of the stream instead of an assigner in Java
    """

    boundedness = Boundedness.CONTINUOUS_UNBOUNDED
    watermarks_per_split = True

    def __init__(
        self,
        streams: str | Sequence[str],
        deserializer: DeserializationSchema[T_co] | KinesisDeserializationSchema,
        config_props: Mapping[str, str],
    ) -> None:
        """Take the streams, by name or ARN, the schema and the properties.

        Raises:
            PlanError: A property is missing or wrong.
            MissingDependencyError: boto3 is not installed.
        """
        names = (streams,) if isinstance(streams, str) else tuple(streams)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise TypeError(f"the streams must be a str or a list of str, got {streams!r}")
        deserialize: Callable[[KinesisRecord], object]
        if isinstance(deserializer, DeserializationSchema):
            deserialize = _ValueOnly(deserializer)
        elif isinstance(deserializer, KinesisDeserializationSchema):
            deserialize = deserializer.deserialize
        else:
            raise TypeError(f"expected a DeserializationSchema, got {deserializer!r}")
        properties = as_texts(config_props)
        start, time = start_of(properties)
        self._input = KinesisInput(
            AwsAccess(properties).check(),
            names,
            deserialize,
            start,
            time,
            seconds_of(properties, "flink.shard.discovery.intervalmillis", "source.shard.discovery.interval", 10.0),
            limit_of(properties),
            seconds_of(properties, "flink.shard.getrecords.intervalmillis", "", 0.2),
            deserializer.get_produced_type(),
            fan_out_of(properties, names),
        )

    @property
    def produced_type(self) -> TypeInformation[T_co] | None:
        """The type of the records.

        >>> from flintstream.common import SimpleStringSchema
        >>> FlinkKinesisConsumer("orders", SimpleStringSchema(), {"aws.region": "eu-central-1"}).produced_type
        String
        """
        return self._input.produced_type

    def set_shard_assigner(self, shard_assigner: KinesisShardAssigner) -> Self:
        """Do nothing: subtasks get shards in turn."""
        return self

    def set_periodic_watermark_assigner(
        self, periodic_watermark_assigner: AssignerWithPeriodicWatermarksWrapper
    ) -> Self:
        """Refuse: the assigner is a Java object.

        Raises:
            PlanError: Always. Use ``assign_timestamps_and_watermarks()`` of the stream.
        """
        raise PlanError("use assign_timestamps_and_watermarks() of the stream instead of an assigner in Java")

    def set_watermark_tracker(self, watermark_tracker: WatermarkTracker) -> Self:
        """Do nothing: use ``WatermarkStrategy.with_watermark_alignment()``."""
        return self

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return the enumerator, which finds shards."""
        return KinesisEnumerator(self._input)

    def create_reader(self) -> SourceReader:
        """Return a reader, which reads shards."""
        return KinesisReader(self._input)
