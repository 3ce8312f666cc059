"""Producer that writes blocks of records."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import REQUEST_SECONDS, KafkaConnectorError, library, patiently, producer
from flintstream.connectors.kafka.offsets import name
from flintstream.connectors.kafka.serializing import ANY_PARTITION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.connectors.kafka.serializing import Block

QUEUE_FULL_SECONDS = 0.05


class Writing:
    """A producer that tracks failed deliveries."""

    def __init__(self, properties: Mapping[str, str], **more: str) -> None:
        """Make the producer, which connects in the background."""
        self.client = producer(properties, self._on_delivery, **more)
        self.failures = 0
        self.failure: str | None = None
        """Why the first failed record was not delivered."""
        self._partitions: dict[str, list[int]] = {}

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failures += 1
            if self.failure is None:
                where = f"topic '{message.topic()}'"
                if message.partition() is not None:  # a partition was assigned
                    where = name((message.topic(), message.partition()))
                self.failure = f"{error.str()}, for a record of {where}"

    def partitions(self, topic: str) -> list[int]:
        """Return the partition numbers of a topic, looked up once."""
        found = self._partitions.get(topic)
        if found is None:
            metadata = patiently(
                f"look up topic '{topic}'",
                lambda: self.client.list_topics(topic, timeout=REQUEST_SECONDS),
                client=self.client,
            ).topics[topic]
            if metadata.error is not None:
                raise KafkaConnectorError(f"cannot write to topic '{topic}': {metadata.error.str()}")
            found = self._partitions[topic] = sorted(metadata.partitions)
        return found

    def write(self, block: Block) -> None:
        """Pass records to the producer, which sends them in the background.

        Raises:
            KafkaConnectorError: The producer rejects a record.
            KafkaException: The producer has failed permanently.
        """
        topics = repeat(block.topics) if isinstance(block.topics, str) else block.topics
        columns: list[Iterable[Any]] = [topics, block.values]
        # Most records have only a value, and omitted arguments cost nothing.
        times, headers = block.timestamps, block.headers
        if any(column is not None for column in (block.keys, block.partitions, times, headers)):
            columns += [block.keys or repeat(None), block.partitions or repeat(ANY_PARTITION)]
        if times is not None or headers is not None:
            columns += [repeat(None), repeat(None), times or repeat(0)]
            columns += [headers] if headers is not None else []
        produce = self.client.produce
        for row in zip(*columns, strict=False):
            try:
                produce(*row)
            except BufferError:
                self._insist(row)
            except library().KafkaException as error:
                raise KafkaConnectorError(f"cannot write to topic '{row[0]}': {error.args[0].str()}") from error
        self.client.poll(0)

    def _insist(self, row: tuple[Any, ...]) -> None:
        """Retry a record until the queue has room."""
        while True:
            self.client.poll(QUEUE_FULL_SECONDS)
            try:
                self.client.produce(*row)
            except BufferError:
                continue
            return

    def flush(self) -> None:
        """Wait until each record is delivered or has failed.

        Raises:
            KafkaConnectorError: The producer has failed permanently.
        """
        try:
            while self.client.flush(1.0):
                if self.client.refusals:
                    raise KafkaConnectorError(f"cannot write to Kafka: {self.client.refusals[0]}")
        except SystemError as error:  # confluent-kafka raises it for a fatal producer error
            raise KafkaConnectorError("the producer has failed permanently; see the log for the reason") from error

    def check(self) -> None:
        """Raise an error if records were not delivered.

        Raises:
            KafkaConnectorError: Some records were not delivered.
        """
        if self.failures:
            failures, self.failures, failure, self.failure = self.failures, 0, self.failure, None
            raise KafkaConnectorError(f"{failures} records were not written: {failure}")
