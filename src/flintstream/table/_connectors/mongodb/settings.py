"""Options that reading and writing a table of MongoDB share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.mongodb.client import MongoAccess
from flintstream.errors import PlanError
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.table._connectors.options import Options

SOURCE_ONLY = (
    "filter.handling.policy",
    "lookup.cache",
    "lookup.max-retries",
    "lookup.partial-cache.cache-missing-key",
    "lookup.partial-cache.expire-after-access",
    "lookup.partial-cache.expire-after-write",
    "lookup.partial-cache.max-rows",
    "lookup.retry.interval",
    "scan.cursor.no-timeout",
    "scan.fetch-size",
    "scan.parallelism",
    "scan.partition.record-size",
    "scan.partition.samples",
    "scan.partition.size",
    "scan.partition.strategy",
)
SINK_ONLY = (
    "sink.buffer-flush.interval",
    "sink.buffer-flush.max-rows",
    "sink.bypass-document-validation",
    "sink.delivery-guarantee",
    "sink.max-retries",
    "sink.ordered-writes",
    "sink.parallelism",
    "sink.retry.interval",
)


def access_of(options: Options) -> MongoAccess:
    """Return the collection of a table.

    Raises:
        SqlError: An option is missing, or the URI is not one of MongoDB.
    """
    access = MongoAccess(*[options.required(key) for key in ("uri", "database", "collection")])
    try:
        return access.check()
    except PlanError as error:
        raise SqlError(f"table '{options.table}': {error}") from None


def choice(options: Options, key: str, known: Sequence[str], default: str, *, upper: bool = False) -> str:
    """Return one of the values that an option has.

    Raises:
        SqlError: It has another.
    """
    found = options.text(key, default) or default
    found = found.upper() if upper else found
    if found not in known:
        raise SqlError(
            f"table '{options.table}': '{key}' does not accept '{found}'{nearest(found, known)}; available: "
            f"{', '.join(known)}"
        )
    return found


def at_least(options: Options, key: str, default: int, least: int, *, or_none: bool = False) -> int:
    """Return a number; -1 means no limit if ``or_none``.

    Raises:
        SqlError: It is too small.
    """
    found = options.integer(key, default)
    if found is None or (found < least and not (or_none and found == -1)):
        raise SqlError(f"table '{options.table}': '{key}' must be at least {least}, but got {found}")
    return found


def millis(options: Options, key: str) -> int:
    """Return a duration (ms), of a second unless the option says otherwise."""
    found = options.millis(key)
    return 1000 if found is None else found
