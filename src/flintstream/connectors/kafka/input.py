"""Configuration of a Kafka source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.connectors.kafka.offsets import Offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.connectors.kafka.offsets import Partition, Subscription
    from flintstream.connectors.kafka.records import Deserializer

__all__ = ["LATER", "KafkaInput"]

LATER = Offsets("earliest")
"""Partitions that appear while the job runs are read from the start: all their records are newer than the job."""


@dataclass(frozen=True)
class KafkaInput:
    """Configuration of a Kafka source. Tasks get a copy."""

    properties: Mapping[str, str] = field(repr=False)  # may contain passwords
    subscription: Subscription
    deserializer: Deserializer
    start: Offsets = LATER
    stop: Offsets | None = None
    discovery_ms: int = -1
    """How often to look for new partitions, in ms; only once if negative."""
    commits_offsets: bool = False
    """Whether to commit offsets to the group when a checkpoint completes."""
    auto_commit_ms: int | None = None
    """How often to commit offsets to the group without checkpoints, in ms; None for never."""
    client_id_prefix: str = ""
    drops_foreign: bool = False
    """Whether to drop partitions of a checkpoint that are no longer subscribed to."""
    ends_of_stream: Callable[[Any], bool] | None = field(default=None)
    """Returns True for a record that ends the stream; None for a stream without end."""

    def reads(self, partition: Partition) -> bool:
        """Tell whether to read a partition, which may come from a checkpoint."""
        return not self.drops_foreign or self.subscription.has(partition)
