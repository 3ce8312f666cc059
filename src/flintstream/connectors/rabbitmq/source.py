"""RabbitMQ source: the driver receives and acknowledges messages, and the tasks deserialize them.

A message must be acknowledged on the connection that delivered it, after a checkpoint contains it, and must not be read
twice. One place, the driver, takes care of that, regardless of what happens to the tasks and how many there are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.rabbitmq.link import RabbitError
from flintstream.connectors.rabbitmq.receiver import Receiver
from flintstream.connectors.several import records_of
from flintstream.connectors.source import SourceReader, SourceSplit, SplitEnumerator
from flintstream.errors import add_note

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from flintstream.common.serialization import DeserializationSchema
    from flintstream.connectors.rabbitmq.link import RabbitServer
    from flintstream.connectors.rabbitmq.receiver import Message
    from flintstream.connectors.source import Fetch

MOST_MESSAGES = 20_000
MOST_BYTES = 16_000_000
"""Maximum size of the messages that one call passes to the tasks."""

SMALLEST_SPLIT = 100
"""Minimum messages per split, if there are enough: small splits cost more than parallelism gains."""

ACKNOWLEDGED_SECONDS = 10.0
"""How long to remember an id after the server confirmed it: a crash may make the server forget the confirmation.
A lost connection may mean such a crash, so this time ends only while there is a connection.
"""

UNCERTAIN_SECONDS = 3_600.0
"""How long to remember an id whose acknowledgement is uncertain: the message may come again."""


@record
@dataclass
class RabbitSplit(SourceSplit):
    """Messages that are not read yet."""

    messages: list[bytes]


@dataclass(frozen=True)
class RabbitInput:
    """Configuration of a RabbitMQ source."""

    server: RabbitServer
    queue: str
    schema: DeserializationSchema
    with_ids: bool
    """Whether messages have correlation ids, which identify redelivered messages."""
    setup: Callable[[Any], None] = field(compare=False)
    """Declares the queue."""
    ends_of_stream: Callable[[Any], bool] | None = None
    """Returns True for a record that ends the stream; None for a stream without end."""

    def records(self, message: bytes) -> Sequence[object]:
        """Deserialize a message. If the schema raises an error, a note names the queue."""
        try:
            return records_of(self.schema.deserialize(message))
        except Exception as error:
            add_note(error, f"while reading a message of the queue '{self.queue}' of RabbitMQ")
            raise


class RabbitEnumerator(SplitEnumerator):
    """Receives messages, and acknowledges them when a checkpoint contains them.

    A message may come again after a lost connection or a restore. Its id, if it has one, identifies it. Checkpoints
    keep ids until the server has confirmed the acknowledgement.
    """

    def __init__(self, source: RabbitInput, parallelism: int) -> None:
        """Deal messages to ``parallelism`` subtasks."""
        self._source = source
        self._parallelism = parallelism
        self._receiver: Receiver | None = None
        self._checkpoints = False
        self._count = 0
        """Number of splits so far."""
        self._over = False
        self._last: tuple[int, int] | None = None
        """Connection and tag of the last unacknowledged message."""
        self._open: dict[str, int] = {}
        """Ids of dealt messages that are in no checkpoint yet -> their connection."""
        self._saved: dict[str, float] = {}
        """Ids in a checkpoint -> when to forget them."""
        self._connection = 0
        """Number of the connection on which the times to forget were set."""

    def start(self, *, checkpoints: bool, batch: bool) -> None:
        """Connect.

        Raises:
            RabbitError: The connection fails, or the queue does not exist.
        """
        self._checkpoints = checkpoints
        source = self._source
        self._receiver = Receiver(source.server, source.queue, source.setup, in_transactions=checkpoints)

    def discover(self) -> Sequence[RabbitSplit]:
        """Return the arrived messages, in at most as many splits as there are subtasks."""
        if self._over or self._receiver is None:
            return []
        messages = self._receiver.take(MOST_MESSAGES, MOST_BYTES)
        self._keep_after_loss()
        if not messages:
            return []
        messages = self._until_end(messages)
        if messages:
            self._last = (self._receiver.number, messages[-1].tag)
        if not self._checkpoints:
            self._acknowledge()
        elif self._source.with_ids:
            messages = list(self._new(messages))
        return self._splits([message.body for message in messages])

    def _keep_after_loss(self) -> None:
        """Keep all ids for longer after a reconnect: what the server had confirmed before may come again."""
        assert self._receiver is not None  # noqa: S101
        if self._receiver.number != self._connection:
            self._connection = self._receiver.number
            self._saved = dict.fromkeys(self._saved, time.monotonic() + UNCERTAIN_SECONDS)

    def _until_end(self, messages: list[Message]) -> list[Message]:
        ends = self._source.ends_of_stream
        if ends is not None:
            for place, message in enumerate(messages):
                if any(map(ends, self._source.records(message.body))):
                    self._over = True
                    return messages[:place]
        return messages

    def _new(self, messages: list[Message]) -> Iterator[Message]:
        """Skip messages that were dealt before."""
        assert self._receiver is not None  # noqa: S101
        contained = []
        for message in messages:
            if message.id is None:
                raise RabbitError(
                    f"a message of the queue '{self._source.queue}' has no correlation id, which identifies "
                    "redelivered messages: set it in the producer, or use RMQSource with use_correlation_id=False"
                )
            if message.id in self._saved:
                contained.append(message.tag)
            else:
                if message.id not in self._open:
                    yield message
                self._open[message.id] = self._receiver.number
        if contained:  # no restore will use an older checkpoint
            self._receiver.acknowledge_these(contained)

    def _splits(self, bodies: list[bytes]) -> list[RabbitSplit]:
        size = max(-(-len(bodies) // self._parallelism), SMALLEST_SPLIT)
        splits = []
        for start in range(0, len(bodies), size):
            self._count += 1
            splits.append(RabbitSplit(str(self._count), bodies[start : start + size]))
        return splits

    def is_finished(self) -> bool:
        """Tell whether a message has ended the stream."""
        return self._over

    def snapshot(self) -> object:
        """Return the ids of messages that may come again."""
        return (self._count, [*self._open, *self._saved], self._over)

    def restore(self, state: Any) -> None:
        """Remember these ids: their messages are in the checkpoint, or were read before it."""
        self._count, ids, self._over = state
        self._saved = dict.fromkeys(ids, time.monotonic() + UNCERTAIN_SECONDS)

    def checkpoint_completed(self, progress: Sequence[Any]) -> None:
        """Acknowledge all dealt messages: the checkpoint contains their effects, or the messages themselves."""
        confirmed, number = self._acknowledge(), self._receiver.number if self._receiver is not None else 0
        now = time.monotonic()
        if self._saved and self._receiver is not None and self._receiver.is_connected:
            self._saved = {known: until for known, until in self._saved.items() if until > now}
        for known, connection in self._open.items():
            certain = confirmed and connection == number
            self._saved[known] = now + (ACKNOWLEDGED_SECONDS if certain else UNCERTAIN_SECONDS)
        self._open.clear()

    def _acknowledge(self) -> bool:
        """Acknowledge all dealt messages; tell whether the server has confirmed that."""
        last, self._last = self._last, None
        if last is None or self._receiver is None or last[0] != self._receiver.number:
            return False
        return self._receiver.acknowledge(last[1])

    def close(self) -> None:
        """Disconnect. Unacknowledged messages return to the queue."""
        if self._receiver is not None:
            self._receiver.close()


class RabbitReader(SourceReader):
    """Deserializes messages split by split, which keeps the order of the queue."""

    gives_away = True

    def __init__(self, source: RabbitInput) -> None:
        """Deserialize with the schema of ``source``."""
        self._source = source
        self._reads: str | None = None

    def read(self, split: RabbitSplit, fetch: Fetch) -> Generator[list[Any], None, bool]:
        """Yield the records of the messages."""
        if self._reads is not None:  # another split is in progress
            return False
        self._reads = split.split_id
        try:
            while split.messages:
                messages, split.messages = split.messages[: fetch.size], split.messages[fetch.size :]
                records = [record for message in messages for record in self._source.records(message)]
                if records:
                    yield records
        finally:
            self._reads = None
        return True

    def progress(self, splits: Sequence[Any]) -> object:
        """Return a value other than None, so that the enumerator learns about checkpoints."""
        return True
