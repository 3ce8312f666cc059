"""Find the ids that divide a collection into parts of about the same size."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.connectors.mongodb.client import part, passing, reason
from flintstream.connectors.mongodb.ranges import between

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.mongodb.client import Client, Document, MongoAccess

_log = logging.getLogger(__name__)

STRATEGIES = ("default", "single", "sample", "split-vector", "sharded", "pagination")
"""The names of Flink's strategies."""


@dataclass(frozen=True)
class MongoInput:
    """The settings of the source. Tasks get a copy."""

    access: MongoAccess
    make_read: Callable[[], Callable[[Document], object]] = field(repr=False)
    """Returns, in a task, what makes a record of a document."""
    produced_type: TypeInformation | None = None
    fields: tuple[str, ...] | None = None
    """The fields to read; None for all."""
    fetch_size: int = 2048
    limit: int = -1
    """The most documents that a subtask reads; -1 for all."""
    strategy: str = "default"
    partition_bytes: int = 64 << 20
    samples: int = 10
    partition_records: int | None = None
    condition: bytes = b""
    """What documents must meet, as a document of BSON; empty for all."""
    collated: bytes | None = None
    """The same for a collection with its own order of texts; None if that makes no difference."""


def bounds(input: MongoInput) -> list[object]:
    """Return the first id of each part but the first, in order.

    What the server cannot do is done in another way: a sample in place of ``splitVector``, a walk over the ids in place
    of a sample, and one part if it does not tell how many documents there are.
    """
    ways = {"sample": (_sample, _pages), "pagination": (_pages,)}.get(input.strategy, (_split_vector, _sample, _pages))
    errors = part("pymongo.errors")
    client = input.access.connect()
    try:
        for way in ways:
            try:
                return way(input, client)
            except errors.OperationFailure as error:
                if passing(error):
                    raise
                _log.info("%s: %s: %s", input.access.shown, way.__name__.strip("_"), reason(error))
        return []
    finally:
        client.close()


def _statistics(input: MongoInput, client: Client) -> tuple[int, int]:
    """Return the number of documents, and their average size (bytes)."""
    found = client[input.access.database].command("collStats", input.access.collection)
    count = cast("int", found.get("count") or 0)
    size = cast("int", found.get("avgObjSize") or 0) or (cast("int", found.get("size") or 0) // count if count else 0)
    return count, size


def _per_part(input: MongoInput, client: Client) -> tuple[int, int]:
    """Return the number of documents, and how many of them a part has."""
    count, size = _statistics(input, client)
    return count, max(input.partition_bytes // size, 1) if size else count


def _split_vector(input: MongoInput, client: Client) -> list[object]:
    access = input.access
    found = client[access.database].command(
        "splitVector",
        f"{access.database}.{access.collection}",
        keyPattern={"_id": 1},
        maxChunkSizeBytes=input.partition_bytes,
    )
    return [key["_id"] for key in cast("list[dict[str, object]]", found.get("splitKeys") or [])]


def _sample(input: MongoInput, client: Client) -> list[object]:
    count, per_part = _per_part(input, client)
    if per_part >= count:
        return []
    number = input.samples * math.ceil(count / per_part) - 1
    pipeline: list[dict[str, object]] = [{"$sample": {"size": number}}, {"$project": {"_id": 1}}, {"$sort": {"_id": 1}}]
    ids = [document["_id"] for document in input.access.of(client).aggregate(pipeline, allowDiskUse=True)]
    return _different(ids[input.samples - 1 :: input.samples])


def _pages(input: MongoInput, client: Client) -> list[object]:
    """Walk over the ids, from each bound to the next."""
    count, per_part = _per_part(input, client)
    per_part = input.partition_records or per_part
    collection = input.access.of(client)
    found: list[object] = []
    for _ in range(math.ceil(count / per_part) - 1 if per_part else 0):
        conditions = between(found[-1] if found else None, None)
        page = collection.find(
            conditions[0] if conditions else {}, {"_id": 1}, sort=[("_id", 1)], skip=per_part, limit=1
        )
        ids = [document["_id"] for document in page]
        if not ids:
            break
        found += ids
    return found


def _different(ids: list[object]) -> list[object]:
    """Return sorted ids without repetitions: a sample may have a document twice."""
    return [item for i, item in enumerate(ids) if not i or item != ids[i - 1]]
