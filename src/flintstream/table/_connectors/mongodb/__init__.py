"""``'connector' = 'mongodb'``: documents of a collection, read, found by key, inserted, and written by key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.connectors.mongodb.client import part
from flintstream.connectors.mongodb.writer import MongoOutput, MongoTarget
from flintstream.table._connectors.contract import (
    INSERTIONS,
    UPSERTS,
    SinkConnector,
    SourceConnector,
    TableSink,
)
from flintstream.table._connectors.mongodb.reading import source_of
from flintstream.table._connectors.mongodb.settings import SOURCE_ONLY, access_of, at_least, choice, millis
from flintstream.table._connectors.mongodb.values import check_types, equal_to, id_of, is_key, writer
from flintstream.table._errors import SqlError
from flintstream.table._types.row_kinds import RETRACTIONS
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.sink import WriterContext
    from flintstream.table._connectors.contract import (
        ConnectorTable,
        TableSource,
    )
    from flintstream.table._connectors.mongodb.values import Convert

ID = "_id"
_GUARANTEES = ("none", "at-least-once")


class MongoDb(SourceConnector, SinkConnector):
    """Reads documents, once or by key.

    Writes documents: with a primary key, the newest row of each key; without one, each row as a new document.
    """

    def source(self, table: ConnectorTable) -> TableSource:
        """Return the source."""
        return source_of(table)

    def sink(self, table: ConnectorTable) -> TableSink:
        """Return the sink."""
        options = table.options
        options.of_sources(*SOURCE_ONLY)
        choice(options, "sink.delivery-guarantee", _GUARANTEES, "at-least-once")
        options.known("sink.delivery-guarantee", "changes are always written before a checkpoint")
        changes = _Changes.of(table)
        output = MongoOutput(
            access_of(options),
            changes,
            batch_size=at_least(options, "sink.buffer-flush.max-rows", 1000, 1, or_none=True),
            interval_ms=millis(options, "sink.buffer-flush.interval"),
            max_retries=at_least(options, "sink.max-retries", 3, 0),
            retry_ms=millis(options, "sink.retry.interval"),
            ordered=options.flag("sink.ordered-writes", default=True),
            bypasses_validation=options.flag("sink.bypass-document-validation"),
            key_of=changes.key_text if changes.key else None,
        )
        sink: MongoTarget[object] = MongoTarget(output)
        return TableSink(
            sink,
            changes=UPSERTS if changes.key else INSERTIONS,
            parallelism=options.integer("sink.parallelism"),
            overwriting=(lambda: sink) if changes.key else None,
        )


@dataclass
class _Changes:
    """Makes the change for a row, whose kind may follow the columns."""

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    key: tuple[int, ...]
    """The positions of the primary key."""
    shards: tuple[int, ...]
    """The positions of the columns of PARTITIONED BY, by which a collection is sharded."""
    _writers: list[tuple[str, Convert]] | None = field(default=None, repr=False)
    _driver: ModuleType | None = field(default=None, repr=False)

    @staticmethod
    def of(table: ConnectorTable) -> _Changes:
        """Return what makes changes.

        Raises:
            SqlError: A column has a type that documents do not have, or the key is not one of a document.
        """
        names, types = table.names, table.types
        check_types(table.name, names, types)
        if ID in names and list(table.primary_key) != [ID]:
            raise SqlError(
                f"table '{table.name}': the column '{ID}' must be the only one of the PRIMARY KEY, or have another name"
            )
        key = [names.index(name) for name in table.primary_key]
        for position in key:
            if not is_key(types[position]):
                raise SqlError(
                    f"table '{table.name}': an '{ID}' cannot have a {sql_name(types[position])}, as the column "
                    f"'{names[position]}' of the PRIMARY KEY"
                )
        shards = [names.index(name) for name in table.partitions]
        return _Changes(tuple(names), tuple(types), tuple(key), tuple(shards))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_writers": None, "_driver": None}

    def key_text(self, row: object) -> object:
        """Return what is the same for rows of one key."""
        values = cast("Sequence[object]", row)
        return tuple([repr(values[i]) for i in self.key])

    def __call__(self, row: object, context: WriterContext) -> object:
        """Return a document to insert, or the change by key."""
        if self._writers is None or self._driver is None:
            self._writers = [(name, writer(kind)) for name, kind in zip(self.names, self.types, strict=True)]
            self._driver = part("pymongo")
        values = cast("Sequence[object]", row)
        if not self.key:
            return {name: write(value) for (name, write), value in zip(self._writers, values, strict=False)}
        if len(values) > len(self.names) and values[-1] in RETRACTIONS:
            return self._driver.DeleteOne({ID: self._id(values)})
        document = {
            name: write(value)
            for (name, write), value in zip(self._writers, values, strict=False)
            if name != ID  # it cannot be changed
        }
        found = {ID: self._id(values)}
        for i in self.shards:
            if self.names[i] != ID:
                found[self.names[i]] = equal_to(document[self.names[i]], values[i])
        change = {"$set": document} if document else {"$setOnInsert": found}
        return self._driver.UpdateOne(found, change, upsert=True)

    def _id(self, values: Sequence[object]) -> object:
        writers = cast("list[tuple[str, Convert]]", self._writers)
        if len(self.key) == 1:
            position = self.key[0]
            return id_of(writers[position][1](values[position]), values[position])
        return {self.names[i]: writers[i][1](values[i]) for i in self.key}
