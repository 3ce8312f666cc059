"""``'connector' = 'kafka'`` and ``'upsert-kafka'``: topics of Apache Kafka."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from flintstream.common.serialization import SerializationSchema
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
from flintstream.table._connectors.messages import decoder, encoder
from flintstream.table._errors import SqlError, nearest, unsupported
from flintstream.table._operators.rows import AFTER, DELETE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.kafka.records import KafkaRecord
    from flintstream.connectors.sink import Sink
    from flintstream.connectors.source import Source
    from flintstream.table._catalog.catalog import DeclaredTable
    from flintstream.table._connectors.formats import Decoder, Encoder
    from flintstream.table._connectors.options import Options
    from flintstream.table._expressions.expr import Column

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - values of SQL have no zone
_METADATA: dict[str, Callable[[KafkaRecord], Any]] = {
    "topic": lambda record: record.topic,
    "partition": lambda record: record.partition,
    "offset": lambda record: record.offset,
    "timestamp": lambda record: None if record.timestamp < 0 else _EPOCH + timedelta(milliseconds=record.timestamp),
    "timestamp-type": lambda record: "NoTimestampType" if record.timestamp < 0 else "CreateTime",
    "headers": lambda record: dict(record.headers),
    "leader-epoch": lambda _: None,
}
_STARTS = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")


class _Records(KafkaRecordDeserializationSchema[Any]):
    """Makes the tuple of a table's columns."""

    def __init__(self, value: Decoder, key: Decoder | None, order: Sequence[tuple[str, Any]]) -> None:
        """Take where each column comes from: (value, position), (key, position) or (metadata, its name)."""
        self.value, self.key, self.order = value, key, tuple(order)
        self._ready: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ready": None}

    def ready(self) -> Any:
        """Return the functions for the value and the key, and whether the value is all."""
        if self._ready is None:
            plain = self.order == tuple(("value", i) for i in range(len(self.order)))
            self._ready = (self.value.decode(), None if self.key is None else self.key.decode(), plain)
        return self._ready

    def deserialize(self, record: Any) -> Any:
        """Return the tuple; None to skip a record."""
        value_of, key_of, plain = self.ready()
        if record.value is None:
            return None
        value = value_of(record.value)
        if value is None or plain:
            return value
        return self.assembled(record, value, key_of)

    def assembled(self, record: Any, value: Any, key_of: Any) -> tuple[Any, ...]:
        """Return the columns of value, key and metadata in their order."""
        key = () if key_of is None or record.key is None else key_of(record.key)
        return tuple(
            [
                value[what]
                if source == "value"
                else _METADATA[what](record)
                if source == "metadata"
                else (key[what] if key else None)
                for source, what in self.order
            ]
        )

    def get_produced_type(self) -> Any:
        """Return None: records are tuples of the table."""
        return None


class _NewestRows(_Records):
    """Makes the tuple of the newest row of a key, or of a key that is deleted, each with a kind of change."""

    def deserialize(self, record: Any) -> Any:
        """Return the tuple; None to skip a record."""
        value_of, key_of, _ = self.ready()
        if record.value is None:
            nothing = (None,) * (1 + max((what for source, what in self.order if source == "value"), default=0))
            return (*self.assembled(record, nothing, key_of), DELETE)
        value = value_of(record.value)
        return None if value is None else (*self.assembled(record, value, key_of), AFTER)


class _Changes(_Records):
    """Makes tuples of the changes of a message, each with its kind, as one record."""

    def deserialize(self, record: Any) -> Any:
        """Return a tuple of them; None to skip a record."""
        value_of, key_of, plain = self.ready()
        if record.value is None:
            return None
        found = value_of(record.value)
        if found is None:
            return None
        if plain:
            return tuple([(*row, kind) for row, kind in found])
        return tuple([(*self.assembled(record, row, key_of), kind) for row, kind in found])


def kafka_source(physical: Sequence[Column], table: DeclaredTable, options: Options) -> Source:
    """Return the source of a table.

    Raises:
        SqlError: An option is missing or wrong.
    """
    builder = KafkaSource.builder()
    _topics(builder, options)
    properties = options.starting_with("properties.")
    builder.set_properties(properties)
    newest = options.text("connector") == "upsert-kafka"
    if newest:
        builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    else:
        _starts(builder, options)
    _ends(builder, options)
    interval = options.millis("scan.topic-partition-discovery.interval")
    if interval is not None:
        builder.set_property("partition.discovery.interval.ms", str(interval))
    for key in ("scan.parallelism", "scan.watermark.idle-timeout", "scan.watermark.emit.strategy"):
        options.known(key)
    _known_for_sinks(options)
    builder.set_deserializer(_schema(physical, table, options, newest=newest))
    return builder.build()


def _schema(physical: Sequence[Column], table: DeclaredTable, options: Options, *, newest: bool) -> _Records:
    metadata = {each.name: each.metadata for each in table.columns if each.metadata is not None}
    stored = [each for each in physical if each.name not in metadata]
    key_kind: str | None
    if newest:
        keys, values, value_kind, key_kind = _fields_of_newest(stored, table, options)
    else:
        keys, values, value_kind, key_kind = _fields(stored, options)
    prefix, columns = "value." if options.has("value.format") else "", _columns(stored, values)
    of_format = [] if newest else [f"value.{each}" for each in changes.METADATA.get(value_kind, ())]
    for name, found in metadata.items():
        if found not in _METADATA and found not in of_format:
            raise SqlError(
                f"table '{options.table}': the column '{name}' has the metadata '{found}', which Kafka and the format "
                f"{value_kind} do not have{nearest(found, [*_METADATA, *of_format])}"
            )
    more = [each for each in dict.fromkeys(metadata.values()) if each in of_format]
    kind: type[_Records] = _NewestRows if newest else _Records
    if value_kind in changes.FORMATS and not newest:
        value: Decoder = changes.ChangeDecoder(
            value_kind, *columns, options, prefix, [each.removeprefix("value.") for each in more]
        )
        kind = _Changes
    else:
        value = decoder(value_kind, *columns, options, prefix)
    key = None if key_kind is None else decoder(key_kind, *_columns(stored, keys, options), options, "key.")
    order: list[tuple[str, Any]] = []
    for each in physical:
        if metadata.get(each.name) in more:
            order.append(("value", len(values) + more.index(metadata[each.name])))
        elif each.name in metadata:
            order.append(("metadata", metadata[each.name]))
        elif each.name in values and not (newest and each.name in keys):
            order.append(("value", values.index(each.name)))
        else:
            order.append(("key", keys.index(each.name)))
    return kind(value, key, order)


def _columns(
    stored: Sequence[Column], names: Sequence[str], options: Options | None = None
) -> tuple[list[str], list[DataType]]:
    prefix = "" if options is None else options.text("key.fields-prefix", "") or ""
    types = {each.name: each.type for each in stored}
    return [name.removeprefix(prefix) for name in names], [types[name] for name in names]


def _fields(stored: Sequence[Column], options: Options) -> tuple[list[str], list[str], str, str | None]:
    """Return the columns of the key and of the value, and the formats of both."""
    names = [each.name for each in stored]
    key_kind = options.text("key.format")
    given = options.text("key.fields")
    keys = [each.strip() for each in (given or "").split(";") if each.strip()]
    if (key_kind is None) != (not keys):
        raise SqlError(f"table '{options.table}': the options 'key.format' and 'key.fields' belong together")
    for each in keys:
        if each not in names:
            raise SqlError(f"table '{options.table}': 'key.fields' names the column '{each}'{nearest(each, names)}")
    included = options.text("value.fields-include", "ALL")
    if included not in {"ALL", "EXCEPT_KEY"}:
        raise SqlError(
            f"table '{options.table}': 'value.fields-include' must be ALL or EXCEPT_KEY, but got '{included}'"
        )
    options.known("key.fields-prefix")
    values = [each for each in names if included == "ALL" or each not in keys]
    kind = options.text("value.format") or options.text("format")
    if kind is None:
        raise SqlError(f"table '{options.table}': the option 'format' is missing")
    return keys, values, kind, key_kind


def _topics(builder: Any, options: Options) -> None:
    topics, pattern = options.text("topic"), options.text("topic-pattern")
    if (topics is None) == (pattern is None):
        raise SqlError(f"table '{options.table}': give one of the options 'topic' and 'topic-pattern'")
    if topics is not None:
        builder.set_topics(*[each.strip() for each in topics.split(";") if each.strip()])
    else:
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
            pairs = dict(each.split(":", 1) for each in part.split(",") if ":" in each)
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


def _starts(builder: Any, options: Options) -> None:
    mode = options.text("scan.startup.mode", "group-offsets") or ""
    if mode not in _STARTS:
        raise SqlError(f"table '{options.table}': 'scan.startup.mode' has no value '{mode}'{nearest(mode, _STARTS)}")
    builder.set_starting_offsets(_position(mode, "scan.startup.", options))


def _ends(builder: Any, options: Options) -> None:
    mode = options.text("scan.bounded.mode", "unbounded") or ""
    known = ("unbounded", *_STARTS[1:])
    if mode not in known:
        raise SqlError(f"table '{options.table}': 'scan.bounded.mode' has no value '{mode}'{nearest(mode, known)}")
    if mode != "unbounded":
        builder.set_bounded(_position(mode, "scan.bounded.", options))


def _known_for_sinks(options: Options) -> None:
    for key in ("partitioner", "delivery-guarantee", "transactional-id-prefix", "parallelism", "semantic"):
        options.known(f"sink.{key}")


class _Part(SerializationSchema[Any]):
    """Serializes some columns of a tuple; with ``kinds``, a deleted row has no value."""

    def __init__(self, encoded: Encoder, positions: Sequence[int], *, kinds: bool = False) -> None:
        self.encoded, self.positions, self.kinds = encoded, tuple(positions), kinds
        self._ready: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ready": None}

    def serialize(self, value: Any) -> bytes | None:
        """Return the message."""
        if self.kinds and value[-1] == 3:
            return None
        if self._ready is None:
            self._ready = self.encoded.encode()
        found: bytes = self._ready([value[i] for i in self.positions])
        return found


def kafka_sink(columns: Sequence[Column], options: Options) -> Sink:
    """Return the sink of a table of insertions; its records are tuples.

    Raises:
        SqlError: An option is missing or wrong.
    """
    keys, values, value_kind, key_kind = _fields(columns, options)
    return _sink(columns, keys, values, key_kind, value_kind, options)


def upsert_sink(columns: Sequence[Column], table: DeclaredTable, options: Options) -> Sink:
    """Return the sink of a table with a key: a row is the newest of its key, and none deletes it.

    Raises:
        SqlError: The table has no primary key, or an option is missing or wrong.
    """
    keys, values, value_kind, key_kind = _fields_of_newest(columns, table, options)
    return _sink(columns, keys, values, key_kind, value_kind, options, kinds=True)


def _fields_of_newest(
    columns: Sequence[Column], table: DeclaredTable, options: Options
) -> tuple[list[str], list[str], str, str]:
    """Return the columns of the key and of the value of an upsert table, and the formats of value and key."""
    if not table.primary_key:
        raise SqlError(f"table '{options.table}': the connector 'upsert-kafka' needs a PRIMARY KEY (...) NOT ENFORCED")
    included = options.text("value.fields-include", "ALL")
    options.known("key.fields-prefix")
    keys = list(table.primary_key)
    values = [each.name for each in columns if included == "ALL" or each.name not in keys]
    return keys, values, options.required("value.format"), options.required("key.format")


def _sink(
    columns: Sequence[Column],
    keys: Sequence[str],
    values: Sequence[str],
    key_kind: str | None,
    value_kind: str,
    options: Options,
    *,
    kinds: bool = False,
) -> Sink:
    names = [each.name for each in columns]
    prefix = "value." if options.has("value.format") else ""
    positions = [names.index(each) for each in values]
    value: Encoder
    if value_kind in changes.FORMATS:
        value = changes.ChangeEncoder(value_kind, *_columns(columns, values), options, prefix)
        positions.append(-1)
    else:
        value = encoder(value_kind, *_columns(columns, values), options, prefix)
    schema = KafkaRecordSerializationSchema.builder().set_topic(options.required("topic"))
    schema.set_value_serialization_schema(_Part(value, positions, kinds=kinds))
    if key_kind is not None:
        key = encoder(key_kind, *_columns(columns, keys, options), options, "key.")
        schema.set_key_serialization_schema(_Part(key, [names.index(each) for each in keys]))
    builder = KafkaSink.builder().set_record_serializer(schema.build())
    properties = options.starting_with("properties.")
    for key_name, setting in properties.items():
        builder.set_property(key_name, setting)
    guarantees = {each.name.lower().replace("_", "-"): each for each in DeliveryGuarantee}
    given = options.text("sink.delivery-guarantee", "at-least-once") or ""
    if given not in guarantees:
        raise SqlError(
            f"table '{options.table}': 'sink.delivery-guarantee' has no value '{given}'{nearest(given, guarantees)}"
        )
    builder.set_delivery_guarantee(guarantees[given])
    if given == "exactly-once":
        builder.set_transactional_id_prefix(options.required("sink.transactional-id-prefix"))
    if (options.text("sink.partitioner", "default") or "") not in {"default", "fixed", "round-robin"}:
        raise unsupported(f"'sink.partitioner' of table '{options.table}'", None, "leave it out")
    for key_name in (
        "scan.startup.mode",
        "scan.bounded.mode",
        "scan.topic-partition-discovery.interval",
        "topic-pattern",
    ):
        options.known(key_name)
    options.known("sink.transactional-id-prefix")
    options.known("sink.semantic")
    return builder.build()
