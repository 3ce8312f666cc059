"""Partitions and offsets in the API."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from flintstream.common._java_view import Wrapper
from flintstream.connectors.kafka.offsets import Offsets
from flintstream.datastream._settings import MAX_LONG, check_integer, check_member
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.connectors.kafka.offsets import Partition


class KafkaTopicPartition:
    """A partition of a topic, compared by value.

    >>> KafkaTopicPartition("orders", 3) in {KafkaTopicPartition("orders", 3)}
    True
    """

    def __init__(self, topic: str, partition: int) -> None:
        if not isinstance(topic, str) or not topic:
            raise TypeError(f"the topic of a KafkaTopicPartition must be a str, got {topic!r}")
        self._topic = topic
        self._partition = check_integer(partition, "the number of a partition", minimum=0)

    def _pair(self) -> Partition:
        return (self._topic, self._partition)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KafkaTopicPartition) and self._pair() == other._pair()

    def __hash__(self) -> int:
        return hash(self._pair())

    def __repr__(self) -> str:
        return f"KafkaTopicPartition({self._topic!r}, {self._partition})"


class KafkaOffsetResetStrategy(enum.Enum):
    """Where to start in a partition for which the requested offset does not exist.

    >>> [member.name for member in KafkaOffsetResetStrategy]
    ['LATEST', 'EARLIEST', 'NONE']
    """

    LATEST = 0
    """At the end."""
    EARLIEST = 1
    """At the beginning."""
    NONE = 2
    """Do not start: the job fails."""


class KafkaOffsetsInitializer(metaclass=Wrapper):
    """Defines where a source starts or stops in each partition.

    >>> from flintstream.common import SimpleStringSchema
    >>> from flintstream.datastream.connectors.kafka import KafkaOffsetResetStrategy, KafkaSource, KafkaTopicPartition
    >>> builder = KafkaSource.builder().set_bootstrap_servers("localhost:9092").set_topics("orders")
    >>> builder = builder.set_value_only_deserializer(SimpleStringSchema()).set_group_id("shop")
    >>> for start in (
    ...     KafkaOffsetsInitializer.earliest(),
    ...     KafkaOffsetsInitializer.timestamp(1_700_000_000_000),
    ...     KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST),
    ...     KafkaOffsetsInitializer.offsets({KafkaTopicPartition("orders", 0): 17}),
    ... ):
    ...     source = builder.set_starting_offsets(start).set_bounded(KafkaOffsetsInitializer.latest()).build()
    >>> source.get_boundedness().name
    'BOUNDED'
    """

    def __init__(self, offsets: Offsets) -> None:
        """Take the offsets; programs call one of the static methods instead."""
        if not isinstance(offsets, Offsets):
            raise TypeError("create a KafkaOffsetsInitializer with one of its static methods, such as earliest()")
        self._offsets = offsets

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Use the offsets that the group has committed. The strategy applies to partitions without one."""
        return KafkaOffsetsInitializer(Offsets("committed", reset=_reset(offset_reset_strategy)))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Use the first record with this or a later timestamp (ms since the epoch), or the end if there is none.

        Raises:
            ValueError: ``timestamp`` is negative.
        """
        check_integer(timestamp, "the timestamp (ms)", minimum=0, maximum=MAX_LONG)
        return KafkaOffsetsInitializer(Offsets("timestamp", time=timestamp, reset="latest"))

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Use the beginning of each partition."""
        return KafkaOffsetsInitializer(Offsets("earliest", reset="earliest"))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Use the end of each partition at the time of its discovery."""
        return KafkaOffsetsInitializer(Offsets("latest", reset="latest"))

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Use these offsets; for other partitions the group's committed offsets or, without one, the strategy.

        Raises:
            ValueError: An offset is negative.
        """
        if not offsets:
            raise PlanError("KafkaOffsetsInitializer.offsets() needs the offset of at least one partition")
        given = []
        for partition, offset in offsets.items():
            if not isinstance(partition, KafkaTopicPartition):
                raise TypeError(f"the keys of offsets must be KafkaTopicPartition, got {partition!r}")
            check_integer(offset, f"the offset of {partition}", minimum=0, maximum=MAX_LONG)
            given.append((partition._pair(), offset))
        return KafkaOffsetsInitializer(Offsets("offsets", given=tuple(given), reset=_reset(offset_reset_strategy)))


def _reset(strategy: KafkaOffsetResetStrategy) -> str:
    return check_member(strategy, KafkaOffsetResetStrategy, "the offset reset strategy").name.lower()


def offsets_of(initializer: object, what: str) -> Offsets:
    """Return the offsets of an initializer.

    Raises:
        TypeError: ``initializer`` is not a KafkaOffsetsInitializer.
    """
    if not isinstance(initializer, KafkaOffsetsInitializer):
        raise TypeError(f"{what} must be a KafkaOffsetsInitializer, got {initializer!r}")
    return initializer._offsets
