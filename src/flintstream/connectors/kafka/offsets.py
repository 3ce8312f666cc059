"""Where to begin in a partition, and where to end."""

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
"""Topic and number."""

EARLIEST, LATEST = -2, -1
"""What Kafka's protocol has in the place of a time."""


CREATION_SECONDS = 5.0
"""How long a new topic may take to have partitions."""

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Topics of Kafka itself, which no pattern is meant for."""


@dataclass(frozen=True)
class Offsets:
    """A way to find an offset for each partition."""

    kind: str
    """``earliest``, ``latest``, ``committed``, ``timestamp`` or ``offsets``."""
    time: int = 0
    """For ``timestamp``: the first record that is not older (ms since the epoch)."""
    given: tuple[tuple[Partition, int], ...] = ()
    """For ``offsets``; other partitions begin at the offsets that the group has committed."""
    reset: str = "earliest"
    """Where to go on in a partition for which there is no such offset: ``earliest``, ``latest`` or ``none``."""

    def find(self, consumer: Any, partitions: Sequence[Partition]) -> dict[Partition, int]:
        """Ask the brokers.

        Raises:
            KafkaConnectorError: There is no offset for a partition, or no answer.
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
        found.update(committed(consumer, [partition for partition in partitions if partition not in found]))
        left = [partition for partition in partitions if partition not in found]
        if left and self.reset == "none":
            what = "offset is committed by the group" if self.kind == "committed" else "offset is given or committed"
            raise KafkaConnectorError(f"no {what} for {name(left[0])}, and there is no reset strategy")
        found.update(at_times(consumer, left, EARLIEST if self.reset == "earliest" else LATEST))
        return found


def name(partition: Partition) -> str:
    """Return how a partition is called in messages."""
    return f"partition {partition[1]} of topic '{partition[0]}'"


def at_times(consumer: Any, partitions: Sequence[Partition], time: int) -> dict[Partition, int]:
    """Return the first offset that is not older than a time (ms); below 0 where there is none."""
    if not partitions:
        return {}
    asked = [library().TopicPartition(topic, number, time) for topic, number in partitions]
    answers = patiently(f"look up offsets of {name(partitions[0])}", lambda: _checked(consumer, asked), client=consumer)
    return {(each.topic, each.partition): each.offset for each in answers}


def _checked(consumer: Any, asked: list[Any]) -> Any:
    answers = consumer.offsets_for_times(asked, timeout=REQUEST_SECONDS)
    for each in answers:
        if each.error is not None:
            raise library().KafkaException(each.error)
    return answers


def committed(consumer: Any, partitions: Sequence[Partition]) -> dict[Partition, int]:
    """Return the offsets that the consumer's group has committed, where it has."""
    if not partitions:
        return {}
    asked = [library().TopicPartition(topic, number) for topic, number in partitions]
    answers = patiently(
        "read the offsets of the group", lambda: consumer.committed(asked, timeout=REQUEST_SECONDS), client=consumer
    )
    return {(each.topic, each.partition): each.offset for each in answers if each.offset >= 0}


@dataclass(frozen=True)
class Subscription:
    """Which partitions are read: of topics, of all topics whose name matches, or these alone."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()
    creates: bool = False
    """Whether a topic that is not there is asked for by its name, which has a broker create it that does so."""

    def find(self, consumer: Any) -> list[Partition]:
        """Ask the brokers which partitions there are.

        Raises:
            KafkaConnectorError: A topic or partition does not exist, or there is no answer.
        """
        metadata = patiently(
            "list the topics", lambda: consumer.list_topics(timeout=REQUEST_SECONDS), client=consumer
        ).topics
        there = {topic: sorted(each.partitions) for topic, each in metadata.items() if each.error is None}
        if self.pattern is not None:
            matches = re.compile(self.pattern).fullmatch
            return _all(there, sorted(topic for topic in there if matches(topic) and topic not in INTERNAL))
        wanted = [*self.topics, *(topic for topic, _ in sorted(self.partitions))]
        for topic in wanted:
            if topic not in there and self.creates:
                there.update(_created(consumer, topic))
            if topic not in there:
                raise KafkaConnectorError(f"there is no topic '{topic}'; topics there are: {_some(there)}")
        for topic, number in sorted(self.partitions):
            if number not in there[topic]:
                raise KafkaConnectorError(f"there is no {name((topic, number))}, which has {len(there[topic])}")
        return sorted(self.partitions) or _all(there, self.topics)

    def has(self, partition: Partition) -> bool:
        """Tell whether a partition is one of these, as far as its name says."""
        if self.pattern is not None:
            return re.fullmatch(self.pattern, partition[0]) is not None
        return partition[0] in self.topics or partition in self.partitions


def _created(consumer: Any, topic: str) -> dict[str, list[int]]:
    """Return the partitions of a topic that comes up now; nothing if it does not."""
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
