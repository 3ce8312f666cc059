"""The job plan, which the planner passes to the runtime: plain, picklable data with user objects only as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.options.execution import AUTO_WATERMARK_INTERVAL, IDLE_EPOCH, MAX_EPOCH
from flintstream.runtime.process_setup import ProcessSetup
from flintstream.state.settings import StateSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.runtime.frozen import Frozen
    from flintstream.runtime.partitioners import Partitioner
    from flintstream.storage.file_store import FileStore

RECORDS_PER_BLOCK = 1024
"""Records in a full block: few enough that they are still in the processor's caches when the next function runs."""

RECORDS_PER_LARGE_BLOCK = 4096
"""Records in a full block on the way to an operator that handles the records of a block in groups."""


@dataclass(frozen=True)
class LocalEdge:
    """An edge between two nodes of the same chain; blocks pass by a plain call."""

    source: int
    target: int
    input: int = 0
    side_tag: str | None = None


@dataclass(frozen=True)
class ExchangeEdge:
    """An edge from a chain to a chain of a later superstep."""

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
    block: int = RECORDS_PER_BLOCK
    """Records in a full block."""


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
    """Whether its records are, one for one, those of a step with one subtask, distributed round robin."""
    side_outputs: int = 0
    """The number of side outputs that its records pass through."""
    output_type: TypeInformation | None = None
    """The type that results are converted to, if any."""
    side_types: Mapping[str, TypeInformation | None] = field(default_factory=dict)
    """The types of side outputs, by tag."""


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
    """Whether the program sets ``max_parallelism``; otherwise a checkpoint may set it."""

    @property
    def name(self) -> str:
        """The operators' names, formatted like Flink's chains."""
        return " -> ".join(node.name for node in self.nodes)


@dataclass(frozen=True)
class Superstep:
    """All chains that run in one stage of the epoch's Spark job."""

    level: int
    chains: tuple[ChainPlan, ...]

    @property
    def partitions(self) -> int:
        """The number of tasks of the stage: the subtasks of its widest chain."""
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
        """Return the nodes whose records are eventually broadcast."""
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
        """Whether every source is bounded."""
        return self.settings.bounded


@dataclass(frozen=True)
class JobSettings:
    """The parts of the job's configuration that tasks need."""

    auto_watermark_interval_ms: int = AUTO_WATERMARK_INTERVAL.default
    bounded: bool = True
    job_parameters: dict[str, str] = field(default_factory=dict)
    process_setup: ProcessSetup = field(default_factory=ProcessSetup)
    max_epoch_ms: int = MAX_EPOCH.default
    """The longest time (ms) for an epoch of STREAMING input, however fast the input arrives."""
    state: StateSettings = field(default_factory=StateSettings)
    changelog: FileStore | None = None
    """The location of the durable log of state changes; None without a changelog."""
    state_log: FileStore | None = None
    """The location of the log of keyed state if workers share no machine; None if checkpoints have no directory."""
    staging: FileStore | None = None
    """The location for output that sinks have prepared; None if checkpoints have no directory."""
    commit_with_checkpoint: bool = False
    """Whether sinks commit when a checkpoint completes rather than after every epoch."""
    idle_epoch_ms: int = IDLE_EPOCH.default
    """The longest time (ms) for an epoch of STREAMING input whose tasks only wait, for the source or in a function."""
