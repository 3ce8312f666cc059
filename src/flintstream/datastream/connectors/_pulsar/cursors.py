"""Where a Pulsar source starts and stops, and which keys it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.pulsar import cursors
from flintstream.connectors.pulsar.client import read_id
from flintstream.connectors.pulsar.cursors import Cursor
from flintstream.datastream._settings import MAX_LONG, check_integer

if TYPE_CHECKING:
    from collections.abc import Iterable


def _at_time(kind: str, timestamp: int) -> Cursor:
    return Cursor(kind, time=check_integer(timestamp, "the timestamp in ms", minimum=0, maximum=MAX_LONG))


def _at_id(kind: str, message_id: bytes) -> Cursor:
    if not isinstance(message_id, (bytes, bytearray)):
        raise TypeError(f"the id of a message must be bytes, from MessageId.serialize(), got {message_id!r}")
    try:
        read_id(bytes(message_id))
    except ValueError as error:
        raise ValueError(f"{bytes(message_id)!r} is not the id of a message: {error}") from None
    return Cursor(kind, bytes(message_id))


class StartCursor:
    """Where a source starts to read a partition without a checkpoint.

    A subscription that exists continues where it is, if the source has the URL of administration.

    >>> cursors = [StartCursor.default_start_cursor(), StartCursor.earliest(), StartCursor.latest()]
    >>> cursors.append(StartCursor.from_publish_time(1_700_000_000_000))
    >>> cursors.append(StartCursor.from_message_time(1_700_000_000_000))
    >>> [cursor.cursor.kind for cursor in cursors]
    ['earliest', 'earliest', 'latest', 'published', 'published']
    >>> import pulsar
    >>> message_id = pulsar.MessageId(0, 7, 3, -1).serialize()
    >>> StartCursor.from_message_id(message_id).cursor.kind
    'at'
    >>> StartCursor.from_message_id(message_id, inclusive=False).cursor.kind
    'after'
    """

    def __init__(self, cursor: Cursor) -> None:
        """Take the place; programs use the static methods."""
        self.cursor = cursor

    @staticmethod
    def default_start_cursor() -> StartCursor:
        """Return the cursor of :meth:`earliest`."""
        return StartCursor.earliest()

    @staticmethod
    def earliest() -> StartCursor:
        """Return a cursor at the oldest message that Pulsar has kept."""
        return StartCursor(Cursor(cursors.EARLIEST))

    @staticmethod
    def latest() -> StartCursor:
        """Return a cursor behind the last message at the start of the job. Later partitions are read completely."""
        return StartCursor(Cursor(cursors.LATEST))

    @staticmethod
    def from_message_id(message_id: bytes, inclusive: bool = True) -> StartCursor:
        """Return a cursor at a message, or behind it.

        Raises:
            TypeError: ``message_id`` is not bytes.
            ValueError: It is not the id of a message.
        """
        return StartCursor(_at_id(cursors.AT if inclusive else cursors.AFTER, message_id))

    @staticmethod
    def from_publish_time(timestamp: int) -> StartCursor:
        """Return a cursor at the first message that was sent at a time (ms since the epoch) or later."""
        return StartCursor(_at_time(cursors.PUBLISHED, timestamp))

    @staticmethod
    def from_message_time(timestamp: int) -> StartCursor:
        """Return the same as :meth:`from_publish_time`, whose earlier name this is."""
        return StartCursor.from_publish_time(timestamp)


class StopCursor:
    """Where a source stops to read a partition.

    >>> cursors = [StopCursor.default_stop_cursor(), StopCursor.never(), StopCursor.latest()]
    >>> cursors += [StopCursor.at_event_time(5), StopCursor.after_event_time(5)]
    >>> cursors += [StopCursor.at_publish_time(5), StopCursor.after_publish_time(5)]
    >>> [cursor.cursor.kind for cursor in cursors]
    ['never', 'never', 'latest', 'at event', 'after event', 'at publish', 'after publish']
    >>> import pulsar
    >>> message_id = pulsar.MessageId(0, 7, 3, -1).serialize()
    >>> StopCursor.at_message_id(message_id).cursor.kind, StopCursor.after_message_id(message_id).cursor.kind
    ('at', 'after')
    """

    def __init__(self, cursor: Cursor) -> None:
        """Take the place; programs use the static methods."""
        self.cursor = cursor

    @staticmethod
    def default_stop_cursor() -> StopCursor:
        """Return the cursor of :meth:`never`."""
        return StopCursor.never()

    @staticmethod
    def never() -> StopCursor:
        """Return a cursor that does not stop."""
        return StopCursor(Cursor(cursors.NEVER))

    @staticmethod
    def latest() -> StopCursor:
        """Return a cursor behind the last message at the start of the job."""
        return StopCursor(Cursor(cursors.LATEST))

    @staticmethod
    def at_event_time(timestamp: int) -> StopCursor:
        """Return a cursor before the first message whose event time (ms) is this one or a later one."""
        return StopCursor(_at_time(cursors.AT_EVENT, timestamp))

    @staticmethod
    def after_event_time(timestamp: int) -> StopCursor:
        """Return a cursor before the first message with a later event time (ms)."""
        return StopCursor(_at_time(cursors.AFTER_EVENT, timestamp))

    @staticmethod
    def at_publish_time(timestamp: int) -> StopCursor:
        """Return a cursor before the first message that was sent at this time (ms) or later."""
        return StopCursor(_at_time(cursors.AT_PUBLISH, timestamp))

    @staticmethod
    def after_publish_time(timestamp: int) -> StopCursor:
        """Return a cursor before the first message that was sent later than this time (ms)."""
        return StopCursor(_at_time(cursors.AFTER_PUBLISH, timestamp))

    @staticmethod
    def at_message_id(message_id: bytes) -> StopCursor:
        """Return a cursor before a message."""
        return StopCursor(_at_id(cursors.AT, message_id))

    @staticmethod
    def after_message_id(message_id: bytes) -> StopCursor:
        """Return a cursor behind a message."""
        return StopCursor(_at_id(cursors.AFTER, message_id))


class RangeGenerator:
    """Which keys a source reads.

    >>> RangeGenerator.full().keys is None
    True
    >>> sorted(RangeGenerator.fixed_key(keys=["pear", "plum"]).keys)
    ['pear', 'plum']
    >>> sorted(RangeGenerator.fixed_key(support_null_key=True, key_bytes=b"pear", ordering_key_bytes=b"fig").keys)
    ['', 'fig', 'pear']
    """

    def __init__(self, keys: Iterable[str] | None) -> None:
        """Take the keys; programs use the static methods."""
        self.keys = None if keys is None else frozenset(keys)

    @staticmethod
    def full() -> RangeGenerator:
        """Return a generator of all keys."""
        return RangeGenerator(None)

    @staticmethod
    def fixed_key(
        support_null_key: bool = False,
        keys: str | list[str] | None = None,
        key_bytes: bytes | None = None,
        ordering_key_bytes: bytes | None = None,
    ) -> RangeGenerator:
        """Return a generator of some keys. Messages with other keys are skipped.

        Args:
            support_null_key: read messages without a key, too.
            keys: one or more keys.
            key_bytes: a key as bytes.
            ordering_key_bytes: an ordering key, which Pulsar prefers to the key.
        """
        found = [keys] if isinstance(keys, str) else list(keys or ())
        found += [key.decode() for key in (key_bytes, ordering_key_bytes) if key is not None]
        if support_null_key:
            found.append("")
        if not found:
            raise ValueError("fixed_key() needs a key")
        return RangeGenerator(found)
