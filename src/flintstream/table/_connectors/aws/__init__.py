"""``'connector' = 'kinesis'`` and ``'connector' = 'firehose'``: streams of AWS, with insertions."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, cast

from flintstream.common._types.data_types import DataTypes
from flintstream.common.serialization import SerializationSchema
from flintstream.connectors.aws.client import client_properties
from flintstream.connectors.several import Several
from flintstream.datastream.connectors.kinesis import (
    FlinkKinesisConsumer,
    KinesisDeserializationSchema,
    KinesisFirehoseSink,
    KinesisStreamsSink,
    PartitionKeyGenerator,
)
from flintstream.errors import PlanError
from flintstream.table._connectors.contract import SinkConnector, SourceConnector, TableSink, TableSource
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._errors import SqlError, unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.aws.shards import KinesisRecord
    from flintstream.datastream.connectors.kinesis import KinesisFirehoseSinkBuilder, KinesisStreamsSinkBuilder
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.formats import Decode, Decoder, Encode, Encoder
    from flintstream.table._connectors.options import Options

    Row = tuple[object, ...]

MOST_KEY_LENGTH = 256
"""The longest partition key that the service takes."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc).replace(tzinfo=None)  # values of SQL have no zone
_METADATA: dict[str, Callable[[KinesisRecord], object]] = {
    "timestamp": lambda message: _EPOCH + timedelta(milliseconds=message.timestamp),
    "shard-id": lambda message: message.shard,
    "sequence-number": lambda message: message.sequence_number,
}
_TYPES = {
    "timestamp": DataTypes.TIMESTAMP_LTZ(3),
    "shard-id": DataTypes.VARCHAR(128),
    "sequence-number": DataTypes.VARCHAR(128),
}
_OLDER = {
    "scan.stream.initpos": "flink.stream.initpos",
    "scan.stream.initpos-timestamp": "flink.stream.initpos.timestamp",
    "scan.stream.initpos-timestamp-format": "flink.stream.initpos.timestamp.format",
    "scan.shard.discovery.intervalmillis": "flink.shard.discovery.intervalmillis",
    "scan.shard.getrecords.maxrecordcount": "flink.shard.getrecords.maxrecordcount",
    "scan.shard.getrecords.intervalmillis": "flink.shard.getrecords.intervalmillis",
}
"""Options of tables of older releases, and the properties that they set."""


class _Messages(KinesisDeserializationSchema):
    """Makes the tuple of a table's columns."""

    def __init__(self, value: Decoder, order: Sequence[tuple[str, int]]) -> None:
        """Take where each column comes from: the name of its metadata, or its position in the value."""
        self.value, self.order = value, tuple(order)
        self._ready: Decode | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def deserialize(self, message: KinesisRecord) -> Row | None:
        """Return the tuple; None to skip a record."""
        if self._ready is None:
            self._ready = self.value.decode()
        found = self._ready(message.data)
        if found is None:
            return None
        if type(found) is Several:
            return Several([self._assemble(message, cast("Row", row)) for row in found])
        return self._assemble(message, found)

    def _assemble(self, message: KinesisRecord, found: Row) -> Row:
        return tuple([_METADATA[key](message) if key else found[position] for key, position in self.order])


class _Values(SerializationSchema["Row"]):
    """Makes the data of a tuple."""

    def __init__(self, value: Encoder) -> None:
        self.value = value
        self._ready: Encode | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def serialize(self, value: Row) -> bytes:
        """Return the data."""
        if self._ready is None:
            self._ready = self.value.encode()
        return self._ready(value)


class _KeyOfColumns:
    """Makes a partition key of columns."""

    def __init__(self, positions: Sequence[int], delimiter: str) -> None:
        self.positions, self.delimiter = tuple(positions), delimiter

    def __call__(self, value: object) -> str:
        row: Row = value  # type: ignore[assignment]  # a sink of tables gets tuples
        return self.delimiter.join([str(row[position]) for position in self.positions])[:MOST_KEY_LENGTH]


def _format(options: Options) -> str:
    """Return the name of the format."""
    found = options.text("format") or options.text("value.format")
    if found is None:
        raise SqlError(f"table '{options.table}': the option 'format' is missing")
    return found


def access_of(options: Options, arn: str = "") -> dict[str, str]:
    """Return the properties of a client; the region may be that of the stream."""
    found = client_properties(options.starting_with("aws."))
    if arn.startswith("arn:") and arn.count(":") > 3:
        found.setdefault("aws.region", arn.split(":")[3])
    return found


def _stream(options: Options) -> str:
    """Return the ARN or the name of a stream."""
    found = options.text("stream.arn") or options.text("stream")
    if found is None:
        raise SqlError(f"table '{options.table}': the option 'stream.arn' is missing")
    return found


def _set_sending(builder: KinesisStreamsSinkBuilder | KinesisFirehoseSinkBuilder, options: Options) -> None:
    """Set the options that both sinks have."""
    builder.set_fail_on_error(options.flag("sink.fail-on-error"))
    size, most = options.integer("sink.batch.max-size"), options.integer("sink.flush-buffer.size")
    if size is not None:
        builder.set_max_batch_size(size)
    if most is not None:
        builder.set_max_batch_size_in_bytes(most)
    for key in ("sink.requests.max-inflight", "sink.requests.max-buffered"):
        options.known(key, "a subtask sends one request at a time")
    options.known("sink.flush-buffer.timeout", "records are written when an epoch ends")


class Kinesis(SourceConnector, SinkConnector):
    """Reads and writes a stream."""

    def metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of the metadata of a message."""
        return _TYPES

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        options, stream = table.options, _stream(table.options)
        properties = access_of(options, stream)
        properties |= {f"source.{key}": value for key, value in options.starting_with("source.").items()}
        for key, older in _OLDER.items():
            value = options.text(key)
            if value is not None:
                properties[older] = value
        stored = [column for column in table.columns if column.name not in table.metadata]
        names = [column.name for column in stored]
        order = []
        for name in table.names:
            key = table.metadata.get(name, "")
            order.append((key, 0 if key else names.index(name)))
        decoded = decoder(_format(options), names, [column.type for column in stored], options)
        options.of_sinks("sink.parallelism")
        options.starting_with("sink.")
        try:
            return TableSource(FlinkKinesisConsumer(stream, _Messages(decoded, order), properties))
        except PlanError as error:
            raise SqlError(f"table '{table.name}': {error}") from None

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options, stream = table.options, _stream(table.options)
        builder = KinesisStreamsSink.builder().set_kinesis_client_properties(access_of(options, stream))
        builder.set_stream_name(stream)
        builder.set_serialization_schema(_Values(encoder(_format(options), table.names, table.types, options)))
        builder.set_partition_key_generator(_keys(table))
        _set_sending(builder, options)
        for prefix in ("source.", "scan.", "sink.producer.", "sink.http-client."):
            options.starting_with(prefix)
        try:
            return TableSink(builder.build(), parallelism=options.integer("sink.parallelism"))
        except (PlanError, ValueError) as error:
            raise SqlError(f"table '{table.name}': {error}") from None


def _keys(table: ConnectorTable) -> PartitionKeyGenerator:
    """Return what makes partition keys: of the columns of PARTITIONED BY, or at random."""
    options = table.options
    kind = options.text("sink.partitioner")
    delimiter = options.text("sink.partitioner-field-delimiter", "|") or ""
    if table.partitions:
        if kind is not None:
            raise SqlError(f"table '{table.name}': leave 'sink.partitioner' out, or PARTITIONED BY")
        return PartitionKeyGenerator(_KeyOfColumns([table.names.index(name) for name in table.partitions], delimiter))
    if kind not in {None, "random", "fixed"}:
        raise unsupported(f"'sink.partitioner' = '{kind}' of table '{table.name}'", None, "use PARTITIONED BY")
    return PartitionKeyGenerator.fixed() if kind == "fixed" else PartitionKeyGenerator.random()


class Firehose(SinkConnector):
    """Writes to a delivery stream."""

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        builder = KinesisFirehoseSink.builder().set_firehose_client_properties(access_of(options))
        builder.set_delivery_stream_name(options.required("delivery-stream"))
        builder.set_serialization_schema(_Values(encoder(_format(options), table.names, table.types, options)))
        _set_sending(builder, options)
        options.starting_with("sink.http-client.")
        try:
            return TableSink(builder.build(), parallelism=options.integer("sink.parallelism"))
        except (PlanError, ValueError) as error:
            raise SqlError(f"table '{table.name}': {error}") from None
