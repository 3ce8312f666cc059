"""``'connector' = 'kafka'``: topics of Apache Kafka, with insertions or with changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from flintstream.connectors.kafka.serializing import RecordSerializer
from flintstream.connectors.several import Several
from flintstream.datastream.connectors._kafka.sink import with_output
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
)
from flintstream.table._connectors import changes
from flintstream.table._connectors.contract import (
    CHANGES,
    INSERTIONS,
    Records,
    SinkConnector,
    SourceConnector,
    TableSink,
    TableSource,
)
from flintstream.table._connectors.kafka import metadata
from flintstream.table._connectors.kafka.writing import HeadersOf, OnePartition, Part, TimeOf
from flintstream.table._connectors.messages import OF_CHANGES, change_decoder, change_encoder, decoder, encoder
from flintstream.table._connectors.times import ALIGNMENT
from flintstream.table._errors import SqlError, nearest, unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.kafka.records import KafkaRecord
    from flintstream.datastream.connectors.kafka import KafkaSourceBuilder
    from flintstream.table._connectors.contract import ConnectorTable
    from flintstream.table._connectors.formats import Decode, Decoder, Encoder
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Column

    Row = tuple[object, ...]

_OF_SINKS = (
    "buffer-flush.interval",
    "buffer-flush.max-rows",
    "delivery-guarantee",
    "parallelism",
    "partitioner",
    "semantic",
    "transactional-id-prefix",
)
_OF_SOURCES = (
    "bounded.mode",
    "bounded.specific-offsets",
    "bounded.timestamp-millis",
    "parallelism",
    "startup.mode",
    "startup.specific-offsets",
    "startup.timestamp-millis",
    "topic-partition-discovery.interval",
    "watermark.emit.strategy",
    "watermark.idle-timeout",
    *(key.removeprefix("scan.") for key in ALIGNMENT),
)
_STARTS = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")


class RecordReader(KafkaRecordDeserializationSchema["Row"]):
    """Makes the tuple of a table's columns."""

    def __init__(self, value: Decoder, key: Decoder | None, order: Sequence[tuple[str, Any]]) -> None:
        """Take where each column comes from: (value, position), (key, position) or (metadata, its name)."""
        self.value, self.key, self.order = value, key, tuple(order)
        self._ready: tuple[Decode, Decode | None, bool] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_ready": None}

    def ready(self) -> tuple[Decode, Decode | None, bool]:
        """Return the functions for the value and the key, and whether the value is all."""
        if self._ready is None:
            plain = self.order == tuple(("value", i) for i in range(len(self.order)))
            self._ready = (self.value.decode(), None if self.key is None else self.key.decode(), plain)
        return self._ready

    def deserialize(self, record: Any) -> Row | None:
        """Return the tuple; None to skip a record."""
        value_of, key_of, plain = self.ready()
        if record.value is None:
            return None
        value = value_of(record.value)
        if value is None or plain:
            return value
        if type(value) is Several:
            return Several([self.assemble(record, cast("Row", row), key_of) for row in value])
        return self.assemble(record, value, key_of)

    def assemble(self, record: KafkaRecord, value: Row, key_of: Decode | None) -> Row:
        """Return the columns of value, key and metadata in their order."""
        key = () if key_of is None or record.key is None else key_of(record.key)
        return tuple(
            [
                value[what]
                if source == "value"
                else metadata.VALUES[what](record)
                if source == "metadata"
                else (key[what] if key else None)
                for source, what in self.order
            ]
        )

    def get_produced_type(self) -> None:
        """Return None: records are tuples of the table."""


class _ChangeReader(RecordReader):
    """Makes tuples of the changes of a message, each with its kind, as one record."""

    def deserialize(self, record: Any) -> Row | None:
        """Return a tuple of them; None to skip a record."""
        value_of, key_of, plain = self.ready()
        if record.value is None:
            return None
        found = value_of(record.value)
        if found is None:
            return None
        rows = found if plain else [(self.assemble(record, row, key_of), kind) for row, kind in found]
        return tuple([(*row, kind) for row, kind in rows])


class Fields(NamedTuple):
    """The columns in the messages of a topic, those of the key and of the value, and the formats of both."""

    stored: Sequence[Column]
    keys: Sequence[str]
    key_format: str | None
    values: Sequence[str]
    value_format: str

    @property
    def has_changes(self) -> bool:
        """Whether a message is a change of a row."""
        return self.value_format in OF_CHANGES

    def of_value(self, options: Options) -> tuple[list[str], list[DataType], Options, str]:
        """Return the arguments of a format for the values: names, types, options and their prefix."""
        types = {column.name: column.type for column in self.stored}
        prefix = "value." if options.has("value.format") else ""
        return list(self.values), [types[name] for name in self.values], options, prefix

    def of_key(self, options: Options) -> tuple[list[str], list[DataType], Options, str]:
        """Return the arguments of a format for the keys."""
        prefix = options.text("key.fields-prefix", "") or ""
        types = {column.name: column.type for column in self.stored}
        names = [name.removeprefix(prefix) for name in self.keys]
        return names, [types[name] for name in self.keys], options, "key."


class Kafka(SourceConnector, SinkConnector):
    """Reads and writes topics; with a format of changes, their messages are changes of rows."""

    deletes_by_key: ClassVar[bool] = False
    """Whether a message without a value deletes the row of its key."""

    def metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of what a message has beside key and value, and of what the format of values tells."""
        kind = table.options.text("value.format") or table.options.text("format") or ""
        return {**metadata.TYPES, **{f"value.{key}": of for key, (of, _) in changes.METADATA.get(kind, {}).items()}}

    def written_metadata(self, table: ConnectorTable) -> Mapping[str, DataType]:
        """Return the types of the time and the headers of a message."""
        return metadata.WRITTEN

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        builder, options = KafkaSource.builder(), table.options
        _topics(builder, options)
        builder.set_properties(options.starting_with("properties."))
        if not options.has("properties.group.id") and options.text("scan.startup.mode") in {None, "group-offsets"}:
            builder.set_group_id(f"KafkaSource-{options.table}")
        builder.set_starting_offsets(self.start(options))
        _ends(builder, options)
        interval = options.millis("scan.topic-partition-discovery.interval")
        if interval is not None:
            builder.set_property("partition.discovery.interval.ms", str(interval))
        options.known("scan.watermark.emit.strategy", "watermarks are emitted after blocks of rows, and periodically")
        options.of_sources("scan.watermark.idle-timeout", *ALIGNMENT)
        options.of_sinks(*(f"sink.{key}" for key in _OF_SINKS))
        fields = self.fields(table)
        builder.set_deserializer(self.reader(table, fields))
        if fields.has_changes:
            return TableSource(builder.build(), Records.LISTS, CHANGES)
        return TableSource(builder.build())

    def start(self, options: Options) -> KafkaOffsetsInitializer:
        """Return where to start."""
        mode = options.text("scan.startup.mode", "group-offsets") or ""
        if mode not in _STARTS:
            known = nearest(mode, _STARTS)
            raise SqlError(f"table '{options.table}': 'scan.startup.mode' does not accept '{mode}'{known}")
        return _position(mode, "scan.startup.", options)

    def fields(self, table: ConnectorTable) -> Fields:
        """Return where the columns are, other than metadata."""
        options, stored = table.options, [column for column in table.columns if column.name not in table.metadata]
        names = [column.name for column in stored]
        key_kind = options.text("key.format")
        given = options.text("key.fields")
        keys = [key.strip() for key in (given or "").split(";") if key.strip()]
        if (key_kind is None) != (not keys):
            raise SqlError(f"table '{options.table}': the options 'key.format' and 'key.fields' must be set together")
        for key in keys:
            if key not in names:
                raise SqlError(
                    f"table '{options.table}': 'key.fields' names the unknown column '{key}'{nearest(key, names)}"
                )
        included = options.text("value.fields-include", "ALL")
        if included not in {"ALL", "EXCEPT_KEY"}:
            raise SqlError(
                f"table '{options.table}': 'value.fields-include' must be ALL or EXCEPT_KEY, but got '{included}'"
            )
        options.of_sources("key.fields-prefix")
        values = [name for name in names if included == "ALL" or name not in keys]
        kind = options.text("value.format") or options.text("format")
        if kind is None:
            raise SqlError(f"table '{options.table}': the option 'format' is missing")
        return Fields(stored, keys, key_kind, values, kind)

    def reader(self, table: ConnectorTable, fields: Fields) -> RecordReader:
        """Return what reads a message."""
        of_format = [f"value.{name}" for name in changes.METADATA.get(fields.value_format, ())]
        more = [key for key in dict.fromkeys(table.metadata.values()) if key in of_format]
        placed = places(table, fields, more)
        if not fields.has_changes:
            return RecordReader(decoder(fields.value_format, *fields.of_value(table.options)), *placed)
        added = [key.removeprefix("value.") for key in more]
        value = change_decoder(fields.value_format, *fields.of_value(table.options), added)
        return _ChangeReader(value, *placed)

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options, names = table.options, table.names
        fields = self.fields(table)
        positions = [names.index(name) for name in fields.values]
        value: Encoder
        if fields.has_changes:
            value = change_encoder(fields.value_format, *fields.of_value(options))
            positions.append(-1)
        else:
            value = encoder(fields.value_format, *fields.of_value(options))
        key = None
        if fields.key_format is not None:
            key = Part(encoder(fields.key_format, *fields.of_key(options)), [names.index(name) for name in fields.keys])
        partitioner = options.text("sink.partitioner", "default") or ""
        if partitioner not in {"default", "fixed", "round-robin"}:
            raise unsupported(f"'sink.partitioner' of table '{options.table}'", None, "leave it out")
        time, headers = (written_by(table, of) for of in (metadata.TIMESTAMP, metadata.HEADERS))
        serializer = RecordSerializer(
            Part(value, positions, kinds=self.deletes_by_key),
            key,
            options.required("topic"),
            partitioner=OnePartition() if partitioner == "fixed" else None,
            time=None if time is None else TimeOf(time),
            headers=None if headers is None else HeadersOf(headers),
        )
        builder = KafkaSink.builder().set_record_serializer(KafkaRecordSerializationSchema(serializer))
        for name, setting in options.starting_with("properties.").items():
            builder.set_property(name, setting)
        guarantees = {item.name.lower().replace("_", "-"): item for item in DeliveryGuarantee}
        given = options.text("sink.delivery-guarantee", options.text("sink.semantic", "at-least-once")) or ""
        if given not in guarantees:
            raise SqlError(
                f"table '{options.table}': 'sink.delivery-guarantee' does not accept "
                f"'{given}'{nearest(given, guarantees)}"
            )
        builder.set_delivery_guarantee(guarantees[given])
        if given == "exactly-once":
            builder.set_transactional_id_prefix(options.required("sink.transactional-id-prefix"))
        options.of_sinks("sink.transactional-id-prefix")
        options.of_sources("topic-pattern", *(f"scan.{name}" for name in _OF_SOURCES))
        mode = CHANGES if fields.has_changes else INSERTIONS
        sink = builder.build()
        with_output(sink, writes_timestamps=False)  # a message has another time than its row, as in Flink
        return TableSink(sink, changes=mode, parallelism=options.integer("sink.parallelism"))


def written_by(table: ConnectorTable, key: str) -> int | None:
    """Return the position of the column that has metadata of a key."""
    return next((i for i, name in enumerate(table.names) if table.metadata.get(name) == key), None)


def places(
    table: ConnectorTable,
    fields: Fields,
    more: Sequence[str] = (),
    *,
    key_first: bool = False,
) -> tuple[Decoder | None, list[tuple[str, object]]]:
    """Return what reads the key, and where each column is.

    Args:
        table: The columns.
        fields: Those of key and value.
        more: The metadata of the format of values, which follow the columns of the value.
        key_first: Whether to take columns that are in key and value from the key.
    """
    order: list[tuple[str, Any]] = []
    for name in table.names:
        found = table.metadata.get(name)
        if found in more:
            order.append(("value", len(fields.values) + more.index(found)))
        elif found is not None:
            order.append(("metadata", found))
        elif name in fields.keys and (key_first or name not in fields.values):
            order.append(("key", fields.keys.index(name)))
        else:
            order.append(("value", fields.values.index(name)))
    key = None if fields.key_format is None else decoder(fields.key_format, *fields.of_key(table.options))
    return key, order


def _topics(builder: KafkaSourceBuilder[Row], options: Options) -> None:
    topics, pattern = options.text("topic"), options.text("topic-pattern")
    if (topics is None) == (pattern is None):
        raise SqlError(f"table '{options.table}': set either the option 'topic' or 'topic-pattern'")
    if topics is not None:
        builder.set_topics(*[part.strip() for part in topics.split(";") if part.strip()])
    elif pattern is not None:
        builder.set_topic_pattern(pattern)


def _position(mode: str, prefix: str, options: Options) -> KafkaOffsetsInitializer:
    if mode == "earliest-offset":
        return KafkaOffsetsInitializer.earliest()
    if mode == "latest-offset":
        return KafkaOffsetsInitializer.latest()
    if mode == "timestamp":
        return KafkaOffsetsInitializer.timestamp(int(options.required(f"{prefix}timestamp-millis")))
    if mode == "specific-offsets":
        topics = options.text("topic") or ""
        text = options.required(f"{prefix}specific-offsets")
        offsets = {}
        for part in filter(None, text.split(";")):
            pairs = dict(item.split(":", 1) for item in part.split(",") if ":" in item)
            if set(pairs) != {"partition", "offset"}:
                raise SqlError(
                    f"table '{options.table}': '{prefix}specific-offsets' must look like 'partition:0,offset:42;...', "
                    f"but got '{text}'"
                )
            offsets[KafkaTopicPartition(topics, int(pairs["partition"]))] = int(pairs["offset"])
        return KafkaOffsetsInitializer.offsets(offsets)
    reset = {"earliest": KafkaOffsetResetStrategy.EARLIEST, "latest": KafkaOffsetResetStrategy.LATEST}
    given = options.text("properties.auto.offset.reset", "none") or "none"
    return KafkaOffsetsInitializer.committed_offsets(reset.get(given, KafkaOffsetResetStrategy.NONE))


def _ends(builder: KafkaSourceBuilder[Row], options: Options) -> None:
    mode = options.text("scan.bounded.mode", "unbounded") or ""
    known = ("unbounded", *_STARTS[1:])
    if mode not in known:
        raise SqlError(f"table '{options.table}': 'scan.bounded.mode' does not accept '{mode}'{nearest(mode, known)}")
    if mode != "unbounded":
        builder.set_bounded(_position(mode, "scan.bounded.", options))
