"""Partitions and offsets, as users name them."""

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
    """A partition of a topic; equal ones are interchangeable.

    >>> KafkaTopicPartition("orders", 3) in {KafkaTopicPartition("orders", 3)}
    True
    """

    def __init__(self, topic: str, partition: int) -> None:
        if not isinstance(topic, str) or not topic:
            raise TypeError(f"the topic of a KafkaTopicPartition must be a text, not {topic!r}")
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
    """Where to begin in a partition that has no such offset."""

    LATEST = 0
    """At its end."""
    EARLIEST = 1
    """At its beginning."""
    NONE = 2
    """Nowhere: the job fails."""


class KafkaOffsetsInitializer(metaclass=Wrapper):
    """Says where a source begins in each partition, or where it ends."""

    def __init__(self, offsets: Offsets) -> None:
        """Take what one of the static methods made; use those."""
        if not isinstance(offsets, Offsets):
            raise TypeError("a KafkaOffsetsInitializer is made by one of its static methods, such as earliest()")
        self._offsets = offsets

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Use the offsets that the group has committed; the strategy is for partitions without one."""
        return KafkaOffsetsInitializer(Offsets("committed", reset=_reset(offset_reset_strategy)))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Use the first record whose timestamp (ms since the epoch) is not lower; the end where there is none.

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
        """Use the end of each partition at the time when it is found."""
        return KafkaOffsetsInitializer(Offsets("latest", reset="latest"))

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Use these offsets; for other partitions what the group has committed, else what the strategy says.

        Raises:
            ValueError: An offset is negative.
        """
        if not offsets:
            raise PlanError("KafkaOffsetsInitializer.offsets() needs an offset of at least one partition")
        given = []
        for partition, offset in offsets.items():
            if not isinstance(partition, KafkaTopicPartition):
                raise TypeError(f"offsets are given by KafkaTopicPartition, not by {partition!r}")
            check_integer(offset, f"the offset of {partition}", minimum=0, maximum=MAX_LONG)
            given.append((partition._pair(), offset))  # noqa: SLF001 - the same module
        return KafkaOffsetsInitializer(Offsets("offsets", given=tuple(given), reset=_reset(offset_reset_strategy)))


def _reset(strategy: KafkaOffsetResetStrategy) -> str:
    return check_member(strategy, KafkaOffsetResetStrategy, "the offset reset strategy").name.lower()


def offsets_of(initializer: object, what: str) -> Offsets:
    """Return what an initializer says.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(initializer, KafkaOffsetsInitializer):
        raise TypeError(f"{what} must be a KafkaOffsetsInitializer, got {initializer!r}")
    return initializer._offsets  # noqa: SLF001 - the same module
