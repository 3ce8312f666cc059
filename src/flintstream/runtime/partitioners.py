"""The partitioners, which choose the target subtask of each record on an edge (Flink's stream partitioners)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.runtime.frozen import Frozen


@dataclass(frozen=True)
class Partitioner:
    """Base of all partitioners; the execution plan shows ``name`` (Flink's ``ship_strategy``)."""

    @property
    def name(self) -> str:
        """The partitioner's name in Flink's execution plan."""
        return type(self).__name__.removesuffix("Partitioner").upper()


@dataclass(frozen=True)
class ForwardPartitioner(Partitioner):
    """To the subtask of the same index; needs equal parallelism."""


@dataclass(frozen=True)
class RebalancePartitioner(Partitioner):
    """Round robin over all subtasks."""


@dataclass(frozen=True)
class RescalePartitioner(Partitioner):
    """Round robin over the subtasks that belong to the sender."""


@dataclass(frozen=True)
class ShufflePartitioner(Partitioner):
    """To a random subtask."""


@dataclass(frozen=True)
class BroadcastPartitioner(Partitioner):
    """To every subtask."""


@dataclass(frozen=True)
class GlobalPartitioner(Partitioner):
    """To the first subtask."""


@dataclass(frozen=True)
class KeyGroupPartitioner(Partitioner):
    """To the subtask that owns the key's key group."""

    selector: Callable[[Any], Any] | Frozen
    key_converter: Callable[[Any], Any] | None = None
    """Converts a key to its declared type; called once per distinct key, so there is no cost per record."""
    in_place: bool = False
    """Whether the last keyed step has left each record in the subtask of this key, and the key needs no freezing."""

    @property
    def name(self) -> str:
        """The partitioner's name in Flink's execution plan."""
        return "HASH"


@dataclass(frozen=True)
class CustomPartitioner(Partitioner):
    """To the subtask that the user's partitioner returns."""

    partition: Callable[[Any, int], int] | Frozen
    selector: Callable[[Any], Any] | Frozen
