"""The job plan: what the planner hands to the runtime. Plain data, picklable, free of user objects except as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.options.execution import AUTO_WATERMARK_INTERVAL, IDLE_EPOCH, MAX_EPOCH
from flintstream.runtime.process_setup import ProcessSetup
from flintstream.state.settings import StateSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.runtime.exchange.partitioners import Partitioner
    from flintstream.runtime.frozen import Frozen
    from flintstream.storage.file_store import FileStore

RECORDS_PER_BLOCK = 4096
"""Records in a full block of an exchange."""


@dataclass(frozen=True)
class LocalEdge:
    """Hands blocks from one node to another of the same chain by a plain call."""

    source: int
    target: int
    input: int = 0
    side_tag: str | None = None


@dataclass(frozen=True)
class ExchangeEdge:
    """Carries blocks from a chain to a chain of a later superstep."""

    id: int
    source: int
    target: int
    input: int
    partitioner: Partitioner
    source_parallelism: int
    target_parallelism: int
    target_level: int
    max_parallelism: int
    target_chain: int
    side_tag: str | None = None
    priority: int = 0
    """Inputs of lower priority are consumed first: in BATCH mode broadcast (0), then regular (1), then keyed (2); in
    STREAMING mode broadcast, then all others.
    """


@dataclass(frozen=True)
class NodePlan:
    """One operator, source or sink."""

    id: int
    name: str
    uid: str
    operator: Frozen
    """A pickled :class:`~flintstream.runtime.operators.base.Operator`."""
    keyed: bool = False
    side_tags: frozenset[str] = frozenset()
    stateful_source: bool = False
    dealt: bool = False
    """Whether it has, one for one, the records of a step with one subtask, dealt out to its own in turn."""
    side_outputs: int = 0
    """Through how many side outputs its records come."""
    output_type: TypeInformation | None = None
    """The type that results are brought to, if any."""
    side_types: Mapping[str, TypeInformation | None] = field(default_factory=dict)
    """By tag, those of side outputs."""


@dataclass(frozen=True)
class ChainPlan:
    """Nodes that run together in one subtask, connected by plain calls, in topological order."""

    id: int
    level: int
    parallelism: int
    max_parallelism: int
    nodes: tuple[NodePlan, ...]
    local_edges: tuple[LocalEdge, ...]
    inputs: tuple[ExchangeEdge, ...]
    outputs: tuple[ExchangeEdge, ...]
    key_groups_given: bool = False
    """Whether the program says ``max_parallelism``; if not, a checkpoint may."""

    @property
    def name(self) -> str:
        """The operators' names, as Flink shows a chain."""
        return " -> ".join(node.name for node in self.nodes)


@dataclass(frozen=True)
class Superstep:
    """All chains that run in one stage of the epoch's Spark job."""

    level: int
    chains: tuple[ChainPlan, ...]

    @property
    def partitions(self) -> int:
        """Tasks of the stage: as many as its widest chain has subtasks."""
        return max(chain.parallelism for chain in self.chains)


@dataclass(frozen=True)
class JobPlan:
    """A program as a linear list of supersteps."""

    job_name: str
    job_id: str
    batch: bool
    supersteps: tuple[Superstep, ...]
    settings: JobSettings

    @property
    def chains(self) -> tuple[ChainPlan, ...]:
        """All chains, in the order of their supersteps."""
        return tuple(chain for step in self.supersteps for chain in step.chains)

    def sources_of_broadcasts(self) -> frozenset[int]:
        """Return the nodes whose records are broadcast sooner or later."""
        exchanges = [edge for chain in self.chains for edge in chain.outputs]
        pairs = [(edge.source, edge.target) for edge in exchanges]
        pairs += [(edge.source, edge.target) for chain in self.chains for edge in chain.local_edges]
        found = {edge.source for edge in exchanges if edge.priority == 0}
        size = -1
        while size < len(found):
            size = len(found)
            found.update(source for source, target in pairs if target in found)
        return frozenset(found)

    @property
    def bounded(self) -> bool:
        """Whether every source ends by itself."""
        return self.settings.bounded


@dataclass(frozen=True)
class JobSettings:
    """What the tasks need to know of the job's configuration."""

    auto_watermark_interval_ms: int = AUTO_WATERMARK_INTERVAL.default
    bounded: bool = True
    job_parameters: dict[str, str] = field(default_factory=dict)
    process_setup: ProcessSetup = field(default_factory=ProcessSetup)
    max_epoch_ms: int = MAX_EPOCH.default
    """An epoch of STREAMING input ends after this time, however fast the input comes."""
    state: StateSettings = field(default_factory=StateSettings)
    changelog: FileStore | None = None
    """Where the durable log of state changes is kept; None without a changelog."""
    staging: FileStore | None = None
    """Where sinks may keep what they have prepared; None where checkpoints have no directory."""
    commit_with_checkpoint: bool = False
    """Sinks commit when a checkpoint completes, not after every epoch."""
    idle_epoch_ms: int = IDLE_EPOCH.default
    """An epoch of STREAMING input ends after this time while its tasks only wait, for the source or in a function."""
