"""Changes of a database's rows in Avro, as Debezium writes them: the format ``debezium-avro-confluent``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._types.data_types import DataTypes
from flintstream.table._connectors.avro import dict_of, schema_of, tuple_of
from flintstream.table._connectors.changes import changes_of_images
from flintstream.table._connectors.formats import Decoder, Encoder
from flintstream.table._connectors.registries.confluent import RegistryRecords
from flintstream.table._types.row_kinds import is_insert_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._connectors.changes import Changes
    from flintstream.table._connectors.formats import Encode
    from flintstream.table._connectors.options import Options

DEBEZIUM_AVRO = "debezium-avro-confluent"


class AvroChanges(Decoder, Encoder):
    """A message is a record with the row before a change, the row after it, and what has changed it."""

    def __init__(self, names: Sequence[str], types: Sequence[DataType], options: Options, prefix: str) -> None:
        """Take the columns.

        Raises:
            SqlError: Avro has no type for a column, or an option is missing or wrong.
        """
        self.names, self.types = tuple(names), tuple(types)
        row = DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in zip(names, types, strict=True)])
        envelope = schema_of(("before", "after", "op"), (row, row, DataTypes.STRING()))
        self.records = RegistryRecords(envelope, options, DEBEZIUM_AVRO, prefix, "value")

    def decode(self) -> Any:
        """Return the function that reads a message; None means to skip it."""
        read, row_of = self.records.reader(), tuple_of(self.names, self.types)

        def decode(message: bytes | None) -> Changes | None:
            if not message:
                return None  # a tombstone
            return list(changes_of_images(read(message), row_of))

        return decode

    def encode(self) -> Encode:
        """Return the function that writes a row with its kind: an update is a deletion and an insertion."""
        write, record_of = self.records.writer(), dict_of(self.names, self.types)

        def encode(row: Sequence[Any]) -> bytes:
            record = record_of(row[:-1])
            if is_insert_like(row[-1]):
                return write({"before": None, "after": record, "op": "c"})
            return write({"before": record, "after": None, "op": "d"})

        return encode
