"""Start and end offsets of partitions."""

from __future__ import annotations

import contextlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.client import REQUEST_SECONDS, KafkaConnectorError, library, patiently

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Partition = tuple[str, int]
"""(topic, partition number)."""

EARLIEST, LATEST = -2, -1
"""The times that mean these in Kafka's protocol."""


CREATION_SECONDS = 5.0
"""How long to wait for a new topic to get partitions."""

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's internal topics, which a topic pattern never matches."""


@dataclass(frozen=True)
class Offsets:
    """A strategy that finds an offset for each partition."""

    kind: str
    """``earliest``, ``latest``, ``committed``, ``timestamp`` or ``offsets``."""
    time: int = 0
    """For ``timestamp``: start at the first record that is not older (ms since the epoch)."""
    given: tuple[tuple[Partition, int], ...] = ()
    """For ``offsets``; other partitions start at the offsets that the group has committed."""
    reset: str = "earliest"
    """Where to start in a partition without an offset: ``earliest``, ``latest`` or ``none``."""

    def find(self, consumer: Any, partitions: Sequence[Partition]) -> dict[Partition, int]:
        """Ask the brokers for the offsets.

        Raises:
            KafkaConnectorError: A partition has no offset, or the brokers do not answer.
        """
        if not partitions:
            return {}
        if self.kind in {"earliest", "latest"}:
            return at_times(consumer, partitions, EARLIEST if self.kind == "earliest" else LATEST)
        if self.kind == "timestamp":
            found = at_times(consumer, partitions, self.time)
            later = [partition for partition in partitions if found[partition] < 0]
            return {**found, **at_times(consumer, later, LATEST)}
        given = dict(self.given)
        found = {partition: given[partition] for partition in partitions if partition in given}
        found.update(committed_offsets(consumer, [partition for partition in partitions if partition not in found]))
        left = [partition for partition in partitions if partition not in found]
        if left and self.reset == "none":
            what = "committed offset of the group" if self.kind == "committed" else "given or committed offset"
            raise KafkaConnectorError(f"no {what} for {name(left[0])}, and no reset strategy is set")
        found.update(at_times(consumer, left, EARLIEST if self.reset == "earliest" else LATEST))
        return found


def name(partition: Partition) -> str:
    """Return the name of a partition for messages."""
    return f"partition {partition[1]} of topic '{partition[0]}'"


def at_times(consumer: Any, partitions: Sequence[Partition], time: int) -> dict[Partition, int]:
    """Return the first offset of each partition that is not older than ``time`` (ms); negative if it has none."""
    if not partitions:
        return {}
    asked = [library().TopicPartition(topic, number, time) for topic, number in partitions]
    answers = patiently(
        f"look up offsets of {name(partitions[0])}", lambda: _check_answers(consumer, asked), client=consumer
    )
    return {(answer.topic, answer.partition): answer.offset for answer in answers}


def _check_answers(consumer: Any, asked: list[Any]) -> Any:
    answers = consumer.offsets_for_times(asked, timeout=REQUEST_SECONDS)
    for answer in answers:
        if answer.error is not None:
            raise library().KafkaException(answer.error)
    return answers


def committed_offsets(consumer: Any, partitions: Sequence[Partition]) -> dict[Partition, int]:
    """Return the committed offsets of the consumer's group, for partitions that have one."""
    if not partitions:
        return {}
    asked = [library().TopicPartition(topic, number) for topic, number in partitions]
    answers = patiently(
        "read the group's offsets", lambda: consumer.committed(asked, timeout=REQUEST_SECONDS), client=consumer
    )
    return {(answer.topic, answer.partition): answer.offset for answer in answers if answer.offset >= 0}


@dataclass(frozen=True)
class Subscription:
    """The partitions to read: those of topics, of all topics that match a pattern, or a fixed set."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()
    creates: bool = False
    """Whether to request a missing topic by name, so that brokers with automatic topic creation create it."""

    def find(self, consumer: Any) -> list[Partition]:
        """Ask the brokers for the partitions.

        Raises:
            KafkaConnectorError: A topic or partition does not exist, or the brokers do not answer.
        """
        metadata = patiently(
            "list the topics", lambda: consumer.list_topics(timeout=REQUEST_SECONDS), client=consumer
        ).topics
        there = {topic: sorted(item.partitions) for topic, item in metadata.items() if item.error is None}
        if self.pattern is not None:
            matches = re.compile(self.pattern).fullmatch
            return _all(there, sorted(topic for topic in there if matches(topic) and topic not in INTERNAL))
        wanted = [*self.topics, *(topic for topic, _ in sorted(self.partitions))]
        for topic in wanted:
            if topic not in there and self.creates:
                there.update(_await_creation(consumer, topic))
            if topic not in there:
                raise KafkaConnectorError(f"topic '{topic}' does not exist; existing topics: {_some(there)}")
        for topic, number in sorted(self.partitions):
            if number not in there[topic]:
                raise KafkaConnectorError(
                    f"{name((topic, number))} does not exist: the topic has {len(there[topic])} partitions"
                )
        return sorted(self.partitions) or _all(there, self.topics)

    def has(self, partition: Partition) -> bool:
        """Tell whether a partition belongs to the subscription, judging by its name."""
        if self.pattern is not None:
            return re.fullmatch(self.pattern, partition[0]) is not None
        return partition[0] in self.topics or partition in self.partitions


def _await_creation(consumer: Any, topic: str) -> dict[str, list[int]]:
    """Return the partitions of a topic that is being created, or nothing if it does not appear in time."""
    until = time.monotonic() + CREATION_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(library().KafkaException):
            found = consumer.list_topics(topic, timeout=REQUEST_SECONDS).topics[topic]
            if found.error is None and found.partitions:
                return {topic: sorted(found.partitions)}
        time.sleep(0.1)
    return {}


def _all(there: Mapping[str, Sequence[int]], topics: Iterable[str]) -> list[Partition]:
    return [(topic, number) for topic in topics for number in there[topic]]


def _some(there: Iterable[str], most: int = 10) -> str:
    names = sorted(topic for topic in there if not topic.startswith("__"))
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "") if names else "none"
