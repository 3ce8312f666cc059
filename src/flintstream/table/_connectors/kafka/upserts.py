"""``'connector' = 'upsert-kafka'``: topics with the newest row of each key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from flintstream.connectors.several import Several
from flintstream.datastream.connectors.kafka import KafkaOffsetsInitializer
from flintstream.table._connectors.contract import UPSERTS, Records
from flintstream.table._connectors.kafka.tables import Fields, Kafka, RecordReader, places
from flintstream.table._connectors.messages import decoder
from flintstream.table._errors import SqlError
from flintstream.table._types.row_kinds import DELETE, UPDATE_AFTER

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable, TableSink, TableSource
    from flintstream.table._connectors.options import Options


class UpsertKafka(Kafka):
    """Reads and writes topics of newest rows; a message without a value deletes the row of its key."""

    deletes_by_key = True

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        return replace(super().source(table), records=Records.TUPLES, changes=UPSERTS)

    def start(self, options: Options) -> KafkaOffsetsInitializer:
        """Return the beginning: the newest row of a key may be the first message."""
        return KafkaOffsetsInitializer.earliest()

    def fields(self, table: ConnectorTable) -> Fields:
        """Return where the columns are, other than metadata: the primary key is the key of a message."""
        options, keys = table.options, table.primary_key
        if not keys:
            raise SqlError(f"table '{table.name}': the connector 'upsert-kafka' needs a PRIMARY KEY (...) NOT ENFORCED")
        stored = [column for column in table.columns if column.name not in table.metadata]
        included = options.text("value.fields-include", "ALL")
        for key in ("max-rows", "interval"):
            options.known(f"sink.buffer-flush.{key}", "rows are written in blocks, with every change of a key")
        values = [column.name for column in stored if included == "ALL" or column.name not in keys]
        return Fields(stored, keys, options.required("key.format"), values, options.required("value.format"))

    def reader(self, table: ConnectorTable, fields: Fields) -> RecordReader:
        """Return what reads a message."""
        value = decoder(fields.value_format, *fields.of_value(table.options))
        return _NewestRows(value, *places(table, fields, key_first=True))

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        return replace(super().sink(table), changes=UPSERTS)


class _NewestRows(RecordReader):
    """Makes the tuple of the newest row of a key, or of a key that is deleted, each with a kind of change."""

    def deserialize(self, record: Any) -> tuple[object, ...] | None:
        """Return the tuple; None to skip a record."""
        value_of, key_of, _ = self.ready()
        if record.value is None:
            nothing = (None,) * (1 + max((what for source, what in self.order if source == "value"), default=0))
            return (*self.assemble(record, nothing, key_of), DELETE)
        value = value_of(record.value)
        if type(value) is Several:
            return Several(
                [(*self.assemble(record, cast("tuple[object, ...]", row), key_of), UPDATE_AFTER) for row in value]
            )
        return None if value is None else (*self.assemble(record, value, key_of), UPDATE_AFTER)
