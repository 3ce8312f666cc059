"""Kafka source reader, which runs inside a task."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.registry import record
from flintstream.connectors.kafka.client import KafkaConnectorError, close_quietly, consumer, library
from flintstream.connectors.kafka.offsets import name
from flintstream.connectors.source import SourceReader, SourceSplit, Timestamped
from flintstream.errors import add_note

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from flintstream.connectors.kafka.input import KafkaInput
    from flintstream.connectors.kafka.offsets import Partition
    from flintstream.connectors.source import Fetch
    from flintstream.contracts.functions import RuntimeContext

MESSAGES = 500
"""Minimum number of messages per request: a call costs more than a message."""

MOST_WAITING = 50_000
"""Maximum number of buffered messages while a partition waits for its own. Beyond it, other partitions go first."""

AUTO_OFFSET_RESET = "auto.offset.reset"


@record
@dataclass
class KafkaSplit(SourceSplit):
    """A partition from ``position`` to ``stop``, which is exclusive; None for an unbounded split."""

    topic: str
    partition: int
    position: int
    stop: int | None = None


class _Queue:
    """Messages of one partition that were received but not read yet."""

    def __init__(self, position: int) -> None:
        self.messages: list[Any] = []
        self.start = 0
        self.position = position
        """Offset of the next message to read."""
        self.end: int | None = None
        """All messages before this offset have been received."""

    def take(self, size: int) -> list[Any]:
        taken = self.messages[self.start : self.start + size]
        self.start += len(taken)
        if self.start == len(self.messages):
            self.messages, self.start = [], 0
        return taken


def by_partition(messages: list[Any]) -> Mapping[Partition, list[Any]]:
    """Return the messages of each partition; most readers receive those of a single one."""
    topics = [message.topic() for message in messages]
    numbers = [message.partition() for message in messages]
    if messages and topics.count(topics[0]) == numbers.count(numbers[0]) == len(messages):
        return {(topics[0], numbers[0]): messages}
    found: defaultdict[Partition, list[Any]] = defaultdict(list)
    for topic, number, message in zip(topics, numbers, messages, strict=True):
        found[topic, number].append(message)
    return found


class KafkaReader(SourceReader):
    """Reads all its partitions with one consumer, and buffers messages until their partition is read."""

    gives_away = True

    def __init__(self, source: KafkaInput) -> None:
        """Read according to ``source``."""
        self._source = source
        self._queues: dict[Partition, _Queue] = {}
        self._ended: dict[Partition, int] = {}
        self._waiting = 0
        """Number of messages in all queues."""
        self._heard = False
        """Whether a broker has sent anything."""
        self._over = False
        """Whether a record ended the stream."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Make the consumer, which connects in the background."""
        own = runtime_context.get_index_of_this_subtask()
        more = {"enable.partition.eof": "true"}
        prefix = self._source.client_id_prefix
        if prefix:
            more["client.id"] = f"{prefix}-{own}"
        reset = "error" if self._source.start.reset == "none" else self._source.start.reset
        self._consumer = consumer(self._source.properties, **more, **{AUTO_OFFSET_RESET: reset})

    def close(self) -> None:
        """Close the consumer."""
        close_quietly(self._consumer)

    def progress(self, splits: Sequence[Any]) -> object | None:
        """Return the read offset of each partition, or None if there are none."""
        ended, self._ended = self._ended, {}
        return {**ended, **{(split.topic, split.partition): split.position for split in splits}} or None

    def pending_records(self, splits: Sequence[Any]) -> int | None:
        """Return how far the positions are behind the ends of the partitions that brokers named last."""
        pending, known = 0, False
        for split in splits:
            if (split.topic, split.partition) not in self._queues:
                continue
            _, end = self._consumer.get_watermark_offsets(
                library().TopicPartition(split.topic, split.partition), cached=True
            )
            if end >= 0:  # negative until a broker has answered
                known = True
                pending += max(0, (end if split.stop is None else min(end, split.stop)) - split.position)
        return pending if known or not splits else None

    def read(self, split: KafkaSplit, fetch: Fetch) -> Generator[list[Any] | Timestamped, None, bool]:
        """Yield the records of a partition."""
        partition = (split.topic, split.partition)
        if self._over or not self._source.reads(partition):
            return self._end(partition, split)
        queue = self._queue(partition, split)
        while split.stop is None or split.position < split.stop:
            if not queue.messages and not self._receive(max(fetch.size, MESSAGES)):
                break
            messages = queue.take(fetch.size)
            if not messages:
                break
            self._waiting -= len(messages)
            if split.stop is not None and messages[-1].offset() >= split.stop:
                messages = [message for message in messages if message.offset() < split.stop]
                queue.end = split.stop
                if not messages:
                    break
            records = self._records(partition, messages)
            split.position = queue.position = messages[-1].offset() + 1
            if records.values:
                yield records
            if self._over:
                return self._end(partition, split)
        if split.stop is not None and max(split.position, queue.end or 0) >= split.stop:
            # The last offsets may hold transaction markers, which consumers never see.
            split.position = max(split.position, split.stop)
            return self._end(partition, split)
        if queue.end is not None and queue.end > split.position and not queue.messages:
            split.position = queue.position = queue.end
        return False

    def set_aside(self, split: KafkaSplit) -> None:
        """Stop fetching a partition and drop its buffered messages, which would keep others out."""
        if (split.topic, split.partition) in self._queues:
            self._drop((split.topic, split.partition))

    def _queue(self, partition: Partition, split: KafkaSplit) -> _Queue:
        """Return the queue of a partition; start fetching from the split's position if needed."""
        queue = self._queues.get(partition)
        if queue is not None and queue.position == split.position:
            return queue
        there = library().TopicPartition(split.topic, split.partition, split.position)
        if queue is not None:  # the job restarted, or another worker has read since
            self._drop(partition)
        self._consumer.incremental_assign([there])
        queue = self._queues[partition] = _Queue(split.position)
        return queue

    def _end(self, partition: Partition, split: KafkaSplit) -> bool:
        if partition in self._queues:
            self._drop(partition)
            self._ended[partition] = split.position
        return True

    def _drop(self, partition: Partition) -> None:
        queue = self._queues.pop(partition)
        self._waiting -= len(queue.messages) - queue.start
        self._consumer.incremental_unassign([library().TopicPartition(*partition)])

    def _receive(self, size: int) -> bool:
        """Receive messages of all partitions; tell whether there were any."""
        if self._waiting > MOST_WAITING:
            return False
        messages = self._consumer.consume(size, 0)
        if not messages:
            if self._consumer.refusals and not self._heard:
                raise KafkaConnectorError(f"cannot read from Kafka: {self._consumer.refusals[0]}")
            return False
        self._heard = True
        failed = [message for message in messages if message.error() is not None]
        if failed:
            for message in failed:
                self._judge(message.error(), message)
            messages = [message for message in messages if message.error() is None]
        for partition, several in by_partition(messages).items():
            queue = self._queues.get(partition)
            if queue is not None:
                queue.messages.extend(several)
                self._waiting += len(several)
        return True

    def _judge(self, error: Any, message: Any) -> None:
        kafka = library().KafkaError
        if error.code() == kafka._PARTITION_EOF:
            queue = self._queues.get((message.topic(), message.partition()))
            if queue is not None:
                queue.end = message.offset()
        elif error.code() == kafka._AUTO_OFFSET_RESET:
            where = f"{name((message.topic(), message.partition()))} has no offset {message.offset()}"
            raise KafkaConnectorError(f"{where}, and '{AUTO_OFFSET_RESET}' is 'none': {error.str()}")
        elif error.fatal() or error.code() in {
            kafka.UNKNOWN_TOPIC_OR_PART,
            kafka.TOPIC_AUTHORIZATION_FAILED,
            kafka._UNKNOWN_TOPIC,
            kafka._UNKNOWN_PARTITION,
            kafka._BAD_MSG,
        }:
            where = name((message.topic(), message.partition())) if message.topic() else "the topics"
            raise KafkaConnectorError(f"cannot read {where} at offset {message.offset()}: {error.str()}")
        # Other errors are transient: librdkafka continues when a broker is back.

    def _records(self, partition: Partition, messages: list[Any]) -> Timestamped:
        values: list[Any] = []
        timestamps: list[int] = []
        try:
            self._source.deserializer.read(messages, values, timestamps)
        except Exception as error:
            message = self._culprit(messages)
            where = f"{name(partition)} at offset {message.offset()}" if message is not None else name(partition)
            add_note(error, f"while reading the record of {where}")
            raise
        if self._source.ends_of_stream is not None:
            ends = self._source.ends_of_stream
            for place, value in enumerate(values):
                if ends(value):
                    self._over = True
                    return Timestamped(values[:place], timestamps[:place])
        return Timestamped(values, timestamps)

    def _culprit(self, messages: list[Any]) -> Any:
        """Return the message that cannot be deserialized."""
        for message in messages:
            try:
                self._source.deserializer.read([message], [], [])
            except Exception:  # noqa: BLE001 - already being handled
                return message
        return None
