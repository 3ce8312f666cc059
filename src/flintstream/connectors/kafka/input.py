"""What a Kafka source is to read, and how."""

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
"""Where partitions begin that come up while the job runs: all that is in them came after it was started."""


@dataclass(frozen=True)
class KafkaInput:
    """What is to be read, and how; travels to the tasks."""

    properties: Mapping[str, str] = field(repr=False)  # there are passwords in it
    subscription: Subscription
    deserializer: Deserializer
    start: Offsets = LATER
    stop: Offsets | None = None
    discovery_ms: int = -1
    """How often to look for new partitions; once if negative."""
    commits_offsets: bool = False
    """Whether a completed checkpoint is told to the group."""
    auto_commit_ms: int | None = None
    """How often the group is told where there are no checkpoints; None for never."""
    client_id_prefix: str = ""
    drops_foreign: bool = False
    """Whether partitions of a checkpoint that are not subscribed to any more are left aside."""
    ends_of_stream: Callable[[Any], bool] | None = field(default=None)
    """Whether a record says that nothing follows; None if none does."""

    def reads(self, partition: Partition) -> bool:
        """Tell whether a partition, which may be from a checkpoint, is to be read."""
        return not self.drops_foreign or self.subscription.has(partition)
