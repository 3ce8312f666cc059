"""Read a collection of MongoDB once, in ranges of ``_id`` that subtasks share."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.checkpoint.registry import record
from flintstream.common._generic import T_co
from flintstream.connectors.mongodb.client import MongoError, part, passing, reason
from flintstream.connectors.mongodb.ranges import after, between
from flintstream.connectors.mongodb.splitting import bounds
from flintstream.connectors.patience import Patience
from flintstream.connectors.source import Boundedness, Source, SourceReader, SourceSplit, SplitEnumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.mongodb.client import Client, Collection, Cursor, Document
    from flintstream.connectors.mongodb.splitting import MongoInput
    from flintstream.connectors.source import Fetch

MOST_ATTEMPTS = 3
"""How often in a row a query may fail before the job does. Each attempt waits up to 30 s for a server."""


@record
@dataclass
class MongoSplit(SourceSplit):
    """A range of ids, and how far it has been read. Ids are documents of BSON with a field ``_id``; empty for none."""

    low: bytes = b""
    """The first id of the range."""
    high: bytes = b""
    """The first id behind it."""
    last: bytes = b""
    """The last id that was read."""
    done: int = 0
    """How many documents have been read."""


class MongoScan(Source[T_co]):
    """Reads the documents of a collection, and ends."""

    boundedness = Boundedness.BOUNDED

    def __init__(self, input: MongoInput) -> None:
        """Take the settings."""
        self.input = input

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the records; None if it is unknown."""
        return self.input.produced_type

    def create_enumerator(self, parallelism: int) -> SplitEnumerator:
        """Return what divides the collection."""
        return _Enumerator(self.input)

    def create_reader(self) -> SourceReader:
        """Return a reader."""
        return _Reader(self.input)


class _Enumerator(SplitEnumerator):
    """Divides the collection when the job starts."""

    def __init__(self, input: MongoInput) -> None:
        self._input = input
        self._divided = False

    def is_finished(self) -> bool:
        return self._divided

    def discover(self) -> Sequence[MongoSplit]:
        if self._divided:
            return ()
        self._divided = True
        found = [b"", *_patiently(self._input, self._bounds), b""]
        return [MongoSplit(str(i), low, high) for i, (low, high) in enumerate(itertools.pairwise(found))]

    def _bounds(self) -> list[bytes]:
        if self._input.strategy == "single":
            return []
        with_ids = bounds(self._input)
        encode = part("bson").encode
        return [encode({"_id": bound}) for bound in with_ids]

    def snapshot(self) -> object:
        return self._divided

    def restore(self, state: object) -> None:
        self._divided = bool(state)


def _patiently(input: MongoInput, ask: Callable[[], list[bytes]]) -> list[bytes]:
    """Ask, and ask again while the server is away.

    Raises:
        MongoError: It stays away, or refuses the request.
    """
    errors, patience = part("pymongo.errors"), Patience(f"could not read {input.access.shown}")
    for attempt in range(1, MOST_ATTEMPTS + 1):
        try:
            return ask()
        except errors.PyMongoError as error:
            if attempt == MOST_ATTEMPTS or not passing(error):
                raise MongoError(f"cannot read {input.access.shown}: {reason(error)}") from None
            time.sleep(patience.note_failure(reason(error)))
    return []  # there is at least one attempt


class _Reader(SourceReader):
    """Reads ranges in the order of their ids, so that reading can continue behind the last one."""

    gives_away = True

    def __init__(self, input: MongoInput) -> None:
        self._input = input
        self._read: Callable[[Document], object] | None = None
        self._client: Client | None = None
        self._condition: dict[str, object] | None = None
        self._count = 0
        self._patience = Patience(f"could not read {input.access.shown}")

    def read(self, split: MongoSplit, fetch: Fetch) -> Generator[list[object], None, bool]:
        errors, attempt = part("pymongo.errors"), 0
        self._count = max(self._count, split.done)
        while True:
            done = split.done
            try:
                yield from self._documents(split, fetch)
            except errors.PyMongoError as error:
                attempt = 1 if split.done > done else attempt + 1
                if attempt >= MOST_ATTEMPTS or not passing(error):
                    raise MongoError(f"cannot read {self._input.access.shown}: {reason(error)}") from None
                time.sleep(self._patience.note_failure(reason(error)))
            else:
                self._patience.note_success()
                return True

    def _documents(self, split: MongoSplit, fetch: Fetch) -> Generator[list[object], None, None]:
        left = self._input.limit - self._count if self._input.limit >= 0 else 0
        if self._input.limit >= 0 and left <= 0:
            return
        if self._read is None:
            self._read = self._input.make_read()
        read, encode = self._read, part("bson").encode
        hides_id = self._input.fields is not None and "_id" not in self._input.fields
        cursor = self._find(split, left)
        try:
            batch: list[object] = []
            last: object = None
            for document in cursor:
                last = document["_id"]
                if hides_id:
                    del document["_id"]
                batch.append(read(document))
                if len(batch) >= max(fetch.size, 1):
                    self._note(split, encode({"_id": last}), len(batch))
                    yield batch
                    batch = []
            if batch:
                self._note(split, encode({"_id": last}), len(batch))
                yield batch
        finally:
            cursor.close()

    def _note(self, split: MongoSplit, last: bytes, count: int) -> None:
        split.last = last
        split.done += count
        self._count += count

    def _find(self, split: MongoSplit, limit: int) -> Cursor:
        """Return the documents that are left of a split."""
        access, fields = self._input.access, self._input.fields
        if self._client is None:
            self._client = access.connect()
        decode = part("bson").decode
        low, high, last = [decode(text)["_id"] if text else None for text in (split.low, split.high, split.last)]
        parts = between(low if split.low and not split.last else None, high if split.high else None)
        if split.last:
            parts.append(after(last))
        if self._condition is None:
            self._condition = self._choose(access.of(self._client))
        if self._condition:
            parts.append(self._condition)
        condition: dict[str, object] = {"$and": parts} if len(parts) > 1 else parts[0] if parts else {}
        return access.of(self._client).find(
            condition,
            None if fields is None else dict.fromkeys(("_id", *fields), 1),
            sort=[("_id", 1)],
            limit=limit,
            batch_size=self._input.fetch_size,
        )

    def _choose(self, collection: Collection) -> dict[str, object]:
        """Return the condition for a collection: its own order of texts is not that of SQL."""
        chosen = self._input.condition
        if self._input.collated is not None and self._has_own_order(collection):
            chosen = self._input.collated
        return part("bson").decode(chosen) if chosen else {}

    @staticmethod
    def _has_own_order(collection: Collection) -> bool:
        try:
            return "collation" in collection.options()
        except part("pymongo.errors").OperationFailure as error:
            if passing(error):
                raise
            return True  # who may not ask reads more

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
