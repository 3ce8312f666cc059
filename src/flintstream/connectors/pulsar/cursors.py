"""Where the reading of a partition starts and stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.checkpoint.registry import record
from flintstream.connectors.pulsar.client import Position, read_id

if TYPE_CHECKING:
    from flintstream.connectors.pulsar.client import Message

EARLIEST, LATEST, NEVER, AT, AFTER, PUBLISHED = "earliest", "latest", "never", "at", "after", "published"
AT_EVENT, AFTER_EVENT, AT_PUBLISH, AFTER_PUBLISH = "at event", "after event", "at publish", "after publish"


@record
@dataclass(frozen=True)
class Cursor:
    """A place in a partition."""

    kind: str
    id: bytes = b""
    """Of the kinds ``at`` and ``after``."""
    time: int = 0
    """Of the kinds with times (ms since the epoch)."""


class Stop:
    """Whether to stop at a message."""

    def __init__(self, cursor: Cursor) -> None:
        """Prepare the comparisons."""
        self._cursor = cursor
        self._place = Position.of(read_id(cursor.id)) if cursor.kind in {AT, AFTER} else Position(-1, -1, -1)

    def precedes(self, message: Message) -> bool:
        """Return whether the message, and those after it, are not read."""
        kind, time = self._cursor.kind, self._cursor.time
        if kind in {AT, AFTER}:
            place = Position.of(message.message_id())
            return place > self._place or (kind == AT and place == self._place)
        if kind == AT_EVENT:
            return message.event_timestamp() >= time
        if kind == AFTER_EVENT:
            return message.event_timestamp() > time
        if kind == AT_PUBLISH:
            return message.publish_timestamp() >= time
        return kind == AFTER_PUBLISH and message.publish_timestamp() > time

    def is_reached(self, position: bytes) -> bool:
        """Return whether the message at a position was the last one to read."""
        return self._cursor.kind == AFTER and bool(position) and Position.of(read_id(position)) >= self._place
