"""Pulsar source in a task: reads partitions."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from flintstream.connectors.patience import Patience
from flintstream.connectors.pulsar.client import Position, PulsarError, library, passing, read_id
from flintstream.connectors.pulsar.cursors import AFTER, AT, PUBLISHED, Stop
from flintstream.connectors.several import records_of
from flintstream.connectors.source import SourceReader, Timestamped
from flintstream.errors import add_note

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flintstream.connectors.pulsar.client import Client, Message, Reader
    from flintstream.connectors.pulsar.source import PulsarInput, PulsarSplit
    from flintstream.connectors.source import Fetch
    from flintstream.contracts.functions import RuntimeContext

_WHOLE = sys.maxsize
WAIT_MILLIS = 5
"""How long to wait for a message before other partitions are read."""


def _find_bound(data: bytes) -> Position:
    """Return the place of an id; an entry without an index is meant with all of its messages."""
    at = Position.of(read_id(data))
    return at._replace(batch_index=_WHOLE) if at.batch_index < 0 else at


class _Place:
    """The place in a partition: messages that were received and not read, and what receives them."""

    def __init__(self, split: PulsarSplit) -> None:
        self.position = split.position
        before = split.position or (split.start.id if split.start.kind == AFTER else b"")
        self.last = _find_bound(before) if before else Position(-1, -1, -1)
        """Of the last message that was received."""
        self.messages: deque[Message] = deque()
        self.stop = Stop(split.stop)
        # A partition that was empty when the job started stops at no message.
        empty = split.stop.kind == AFTER and read_id(split.stop.id).entry_id() < 0
        self.stopped = empty or self.stop.is_reached(before)
        """Whether no further messages are to be read."""
        self.reader: Reader | None = None
        self.next_try = 0.0
        self.patience = Patience(f"could not read {split.topic}")

    def close(self) -> None:
        """Disconnect."""
        reader, self.reader = self.reader, None
        if reader is not None:
            with contextlib.suppress(library().PulsarException):
                reader.close()


class PulsarReader(SourceReader):
    """Reads partitions in turn. The client fetches ahead, and connects again when a broker is back."""

    gives_away = True
    _client: Client

    def __init__(self, source: PulsarInput) -> None:
        """Read according to ``source``."""
        self._source = source
        self._places: dict[str, _Place] = {}
        self._ended: dict[str, bytes] = {}

    def open(self, runtime_context: RuntimeContext) -> None:
        """Make the client, which connects with the first request."""
        self._client = self._source.access.client()

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(library().PulsarException):
            self._client.close()

    def progress(self, splits: Sequence[PulsarSplit]) -> object | None:
        """Return the positions, also those of partitions that have been read completely in this epoch."""
        found = {split.topic: split.position for split in splits if split.position}
        ended, self._ended = self._ended, {}
        return ended | found or None

    def set_aside(self, split: PulsarSplit) -> None:
        """Disconnect from a partition."""
        place = self._places.pop(split.split_id, None)
        if place is not None:
            place.close()

    def read(self, split: PulsarSplit, fetch: Fetch) -> Generator[list[object] | Timestamped, None, bool]:
        """Yield the records of a partition."""
        place = self._places.get(split.split_id)
        if place is None or place.position != split.position:  # another worker has read since, or the job restarted
            self.set_aside(split)
            place = self._places[split.split_id] = _Place(split)
        while True:
            if not place.messages and not place.stopped:
                self._receive(place, split, fetch.size)
            if not place.messages:
                if place.stopped:
                    self.set_aside(split)
                    if split.position:
                        self._ended[split.topic] = split.position
                return place.stopped
            # The records of a batch all have event times, or none of them has.
            timed = place.messages[0].event_timestamp() > 0
            messages: list[Message] = []
            while place.messages and len(messages) < fetch.size and (place.messages[0].event_timestamp() > 0) == timed:
                messages.append(place.messages.popleft())
            records = self._records(split, messages)
            split.position = place.position = messages[-1].message_id().serialize()
            if records:
                times = [at for at, _ in records]
                values = [value for _, value in records]
                yield Timestamped(values, times) if timed else values

    def _receive(self, place: _Place, split: PulsarSplit, size: int) -> None:
        """Receive messages."""
        now = time.monotonic()
        if now < place.next_try:
            return
        pulsar, found = library(), place.messages
        try:
            if place.reader is None:
                place.reader = self._connect(split)
            while len(found) < size and not place.stopped:
                message = place.reader.read_next(timeout_millis=0 if found else WAIT_MILLIS)
                at = Position.of(message.message_id())
                if at <= place.last:  # a broker that is back may send some again
                    continue
                if place.stop.precedes(message):
                    place.stopped = True
                    return
                place.last = at
                found.append(message)
                place.stopped = place.stop.is_reached(message.message_id().serialize())
        except pulsar.Timeout:
            if place.reader is None or not place.reader.is_connected():
                delay = place.patience.note_failure("no broker is connected")
                place.next_try = now + (delay if place.reader is None else 0.0)
                return
        except pulsar.PulsarException as error:
            if not passing(error):
                raise PulsarError(f"cannot read {split.topic}: {error}") from None
            place.next_try = now + place.patience.note_failure(str(error))
            return
        place.patience.note_success()

    def _connect(self, split: PulsarSplit) -> Reader:
        source, ids = self._source, library().MessageId
        start, inclusive = ids.earliest, False
        if split.position:
            start = read_id(split.position)
        elif split.start.kind in {AT, AFTER}:
            start, inclusive = read_id(split.start.id), split.start.kind == AT
        reader = self._client.create_reader(
            split.topic,
            start,
            start_message_id_inclusive=inclusive,
            receiver_queue_size=source.queue_size,
            is_read_compacted=source.compacted,
        )
        if not split.position and split.start.kind == PUBLISHED:
            reader.seek(split.start.time)
        return reader

    def _records(self, split: PulsarSplit, messages: list[Message]) -> list[tuple[int, object]]:
        """Return records with their event times."""
        source = self._source
        found: list[tuple[int, object]] = []
        for message in messages:
            keys = source.keys
            if keys is not None and (message.ordering_key() or message.partition_key()) not in keys:
                continue
            try:
                value = source.deserialize(message.data())
            except Exception as error:
                at = Position.of(message.message_id())
                add_note(error, f"while reading the message {at.ledger}:{at.entry}:{at.batch_index} of {split.topic}")
                raise
            at_time = message.event_timestamp()
            found += [(at_time, record) for record in records_of(value)]
        return found
