"""Find documents by the values of some fields: what joins with tables of MongoDB read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from flintstream.connectors.mongodb.client import MongoError, part, passing, reason
from flintstream.connectors.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.mongodb.client import Client, Document, MongoAccess

    Key = tuple[object, ...]
    Row = tuple[object, ...]

KEYS_PER_QUERY = 100


class Converters:
    """What a lookup needs in a task: made there, because functions of the driver's types do not travel."""

    def __init__(
        self,
        write: Sequence[Callable[[object], object]],
        read: Sequence[Callable[[object], object]],
        row: Callable[[Document], Row],
    ) -> None:
        """Take the functions.

        Args:
            write: What makes a value of a document of each part of a key.
            read: What makes a part of a key of a value of a document.
            row: What makes a row of a document.
        """
        self.write, self.read, self.row = tuple(write), tuple(read), row


class MongoLookup:
    """Asks for the documents of many keys in one query, and again, after a while, if the server is away."""

    def __init__(
        self,
        access: MongoAccess,
        fields: Sequence[str],
        keys: Sequence[str],
        make: Callable[[], Converters],
        max_retries: int,
        retry_ms: int,
    ) -> None:
        """Take what to read.

        Args:
            access: The collection.
            fields: The fields to read.
            keys: The fields that must equal the parts of a key.
            make: Returns the converters, in a task.
            max_retries: How often to ask again after a failure that may pass.
            retry_ms: The first wait. The second is twice as long, and so on.
        """
        self.access, self.fields, self.keys, self.make = access, tuple(fields), tuple(keys), make
        self.max_retries, self.retry_ms = max_retries, retry_ms
        self._client: Client | None = None
        self._converters: Converters | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out what belongs to a process."""
        return {**self.__dict__, "_client": None, "_converters": None}

    def find(self, keys: Sequence[Key]) -> dict[Key, list[Row]]:
        """Return the rows of the keys that have some.

        Raises:
            MongoError: MongoDB cannot be reached, or refuses the query.
        """
        if self._converters is None:
            self._converters = self.make()
        found: dict[Key, list[Row]] = {}
        for start in range(0, len(keys), KEYS_PER_QUERY):
            some = keys[start : start + KEYS_PER_QUERY]
            for key, row in self._rows_of(some, self._converters):
                found.setdefault(key, []).append(row)
        return found

    def _rows_of(self, keys: Sequence[Key], converters: Converters) -> list[tuple[Key, Row]]:
        conditions: list[dict[str, object]] = []
        wanted: dict[Row, list[Key]] = {}
        for key in keys:
            values = [write(value) for write, value in zip(converters.write, key, strict=True)]
            conditions.append(self._condition(values))
            # As it is read from a document: a time in ms, a decimal with the digits of its column.
            read = tuple([convert(value) for convert, value in zip(converters.read, values, strict=True)])
            wanted.setdefault(read, []).append(key)
        rows: list[tuple[Key, Row]] = []
        for document in self._patiently({"$or": conditions} if len(conditions) > 1 else conditions[0]):
            read = tuple(
                [convert(document.get(name)) for convert, name in zip(converters.read, self.keys, strict=True)]
            )
            if read in wanted:
                row = converters.row(document)
                rows += [(key, row) for key in wanted[read]]
        return rows

    def _condition(self, values: Sequence[object]) -> dict[str, object]:
        """Return the condition for a key; a text that may be an ``ObjectId`` finds both."""
        kind = part("bson.objectid").ObjectId
        found: dict[str, object] = {}
        for name, value in zip(self.keys, values, strict=True):
            both = isinstance(value, str) and len(value) == 24 and kind.is_valid(value)
            found[name] = {"$in": [value, kind(value)]} if both else {"$eq": value}  # it may look like an operator
        return found

    def _patiently(self, condition: dict[str, object]) -> list[Document]:
        errors, patience = part("pymongo.errors"), Patience(f"could not look up keys in {self.access.shown}")
        for attempt in range(1, self.max_retries + 2):
            try:
                return self._ask(condition)
            except errors.PyMongoError as error:
                self.close()
                if attempt > self.max_retries or not passing(error):
                    raise MongoError(f"cannot look up keys in {self.access.shown}: {reason(error)}") from None
                patience.note_failure(reason(error))
                time.sleep(self.retry_ms * attempt / 1000)
        return []  # there is at least one attempt

    def _ask(self, condition: dict[str, object]) -> list[Document]:
        if self._client is None:
            self._client = self.access.connect()
        hidden = {} if "_id" in self.fields else {"_id": 0}
        projection = cast("dict[str, object]", {**dict.fromkeys(self.fields, 1), **hidden})
        return list(self.access.of(self._client).find(condition, projection))

    def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
