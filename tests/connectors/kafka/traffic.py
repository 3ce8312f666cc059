"""What runs beside a job whose processes are killed: a program that feeds its topic, and one that reads its output."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

if TYPE_CHECKING:
    from tests.connectors.kafka.broker import Broker
    from tests.connectors.kafka.kills import Course

PARTITIONS = 4


class Feeder(threading.Thread):
    """Write the numbers, a fixed number ahead of the committed ones, so that the job always has some work left."""

    def __init__(self, course: Course, topic: str, ahead: int) -> None:
        super().__init__(daemon=True)
        self.broker, self.watcher, self.message = course.broker, course.watcher, course.message
        self.records, self.ahead, self.per_line = course.records * course.per_line, ahead, course.per_line
        self.topic = topic

    def run(self) -> None:
        # Idempotent: records that are sent again after a kill of the broker must not be duplicated.
        config = {"bootstrap.servers": self.broker.servers, "enable.idempotence": True, "log_level": 0}
        client = Producer({**config, "delivery.timeout.ms": 600_000})
        for number in range(self.records):
            while number % 100 == 0 and self._is_ahead(number):
                client.poll(0.01)
            client.produce(self.topic, self.message(number), partition=number % PARTITIONS)
        client.flush()

    def _is_ahead(self, number: int) -> bool:
        lines = self.watcher.count + self.ahead
        return number > lines * self.per_line and not self.watcher.stopped.is_set()


class Watcher(threading.Thread):
    """Read the lines like another program: only committed ones."""

    def __init__(self, broker: Broker, topic: str) -> None:
        super().__init__(daemon=True)
        self.lines: Counter[bytes] = Counter()
        self.count = 0
        self.stopped = threading.Event()
        config = {"bootstrap.servers": broker.servers, "group.id": "watcher", "isolation.level": "read_committed"}
        self.consumer = Consumer({**config, "log_level": 0, "auto.offset.reset": "error"})
        self.consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(PARTITIONS)])

    def run(self) -> None:
        while not self.stopped.is_set():
            messages = self.consumer.consume(10_000, 0.1)
            self.lines.update(m.value() or b"" for m in messages if m.error() is None)
            self.count = self.lines.total() if messages else self.count
        self.consumer.close()
