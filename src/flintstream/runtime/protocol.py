"""Messages between the coordinator and a subtask: instructions for an epoch, and reports about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.options.checkpointing import INLINE_THRESHOLD
from flintstream.options.rocksdb import TRANSFER_THREADS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.checkpoint.metadata import ChainState, StatePiece
    from flintstream.metrics.reported import Reported
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.failure import FailureReport
    from flintstream.storage.file_store import FileStore

INSTRUCTION = -1
"""The ``edge`` of an item that carries an :class:`Instruction`."""

REPORT = -2
"""The ``edge`` of an item that carries a :class:`Report`; its level is one past the last superstep."""

SHARED = "shared"
"""The job's directory, next to those of its checkpoints, for files that several checkpoints share."""


@dataclass(frozen=True)
class StateHandle:
    """A piece of a subtask's keyed state in the state log: a full snapshot or the changes of one epoch."""

    name: str
    version: str
    """The version of the state after applying this piece."""
    full: bool
    size: int
    """The size in bytes."""
    checksum: str = ""
    operators: tuple[str, ...] = ()
    """The uids of the operators whose state the piece contains."""
    epochs: int = 1
    """Roughly how many epochs' changes the piece contains: a power of the number of pieces that are merged."""
    native: bool = False
    """Whether the keyed state is in a directory of the backend's native files beside the blob."""
    copied: int = 0
    """The size in bytes of these files if they were copied to a store; 0 if they were only linked."""
    inline: bytes | None = None
    """The piece itself if it is small; None if it is a blob. A report omits what its instruction contained."""


@dataclass(frozen=True)
class SnapshotRequest:
    """A request to write a subtask's state at the end of the epoch, for a checkpoint or savepoint."""

    number: int
    form: str
    """How keyed state is written: ``full``, as ``native`` files of the backend, or not again because the durable
    ``log`` has it.
    """
    store: FileStore | None
    """None if there is no file storage."""
    directory: str = ""
    """The directory, below the store's root, for files of this checkpoint alone."""
    shared: str = SHARED
    """The directory for files that later checkpoints may share."""
    known: frozenset[str] = frozenset()
    """Shared files that are known to exist."""
    inline_below: int = INLINE_THRESHOLD.default
    """State files of up to this many bytes travel to the driver and are stored within the metadata."""
    in_metadata: bool = False
    """Whether a larger state file is an error."""
    timeout_ms: int | None = None
    """The longest time that a subtask may take before the checkpoint is abandoned."""
    transfer_threads: int = TRANSFER_THREADS.default


@dataclass(frozen=True)
class Restore:
    """A checkpoint to start from."""

    store: FileStore | None
    """None if all pieces are within the metadata."""
    chains: tuple[ChainState, ...]
    operators: dict[int, tuple[str, int]]
    """Node id -> uid in the checkpoint, and the one of ``chains`` that contained it."""
    transfer_threads: int = TRANSFER_THREADS.default
    """How many files of a backend are downloaded at a time."""


@dataclass(frozen=True)
class Instruction:
    """An instruction for one subtask of one chain to run one epoch."""

    epoch: int
    chain: int
    subtask: int
    attempt: int
    """How often the job was restarted; part of every version, so that results of an abandoned epoch never count as
    valid.
    """
    version: str | None
    """The version to start from; None for the first epoch."""
    run: str = ""
    """Identifies the run; changes with every restart of the job, in any process."""
    operator_state: bytes | None = None
    handles: tuple[StateHandle, ...] = ()
    materializing: int = 0
    """How many of the handles are being materialized and must not change."""
    new_log: bool = False
    """Whether to write all keyed state at the end of this epoch, because files of the log are gone."""
    restore: Restore | None = None
    """The checkpoint to start from if there is no version."""
    snapshot: SnapshotRequest | None = None
    savepoint: bool = False
    """Whether the snapshot is for a savepoint."""
    commit: bool = True
    """Whether the output that sinks prepare at the end of this epoch is committed before the next epoch."""
    max_epoch_ms: int | None = None
    """A shorter limit for the epoch (ms), if any."""
    max_records: int | None = None
    """The most records that a source emits in this epoch; None for no limit, 0 while earlier records keep the
    downstream operators busy.
    """
    drain: bool = False
    """End the input now, as if the sources were exhausted."""
    new_splits: dict[int, list[Any]] = field(default_factory=dict)
    """Node id -> new splits for this subtask."""
    no_more_splits: frozenset[int] = frozenset()
    """Node ids of the sources whose enumerators will discover no more splits."""
    slowest: dict[str, int] = field(default_factory=dict)
    """Alignment group -> lowest watermark (ms) of its sources at the end of the previous epoch."""
    keep_state: bool = True
    """False if no epoch can follow (BATCH), so that nothing needs to be written."""


class NodeReport(NamedTuple):
    """One operator's report about an epoch."""

    node: int
    metrics: Mapping[str, Reported]
    records: int = 0
    """Records received; for a source, records emitted."""
    more: bool = False
    """Whether a source stopped because the epoch was over, with more to read."""
    unread: bool = False
    """Whether a source has unfinished splits."""
    next_processing_time: int | None = None
    """The time to run again even without input (ms since the Unix epoch)."""
    aligned: tuple[str, int] | None = None
    """An alignment group and the watermark (ms) of this operator in it, unless it is idle or has ended."""
    committables: Sequence[Any] = ()
    """The output that a sink has prepared."""
    progress: object | None = None
    """A message to the source's enumerator, delivered when a checkpoint contains the epoch."""
    warning: str | None = None
    """A warning for the user."""
    waited_ms: float = 0
    """The time that a source waited for new records."""


@dataclass(frozen=True)
class Report:
    """The acknowledgement of one subtask's epoch."""

    chain: int
    subtask: int
    version: str
    nodes: tuple[NodeReport, ...] = ()
    """The reports of the operators, in the order of the chain."""
    operator_state: bytes | None = None
    handles: tuple[StateHandle, ...] = ()
    finished: bool = False
    """Whether all inputs of the chain have ended."""
    watermark: int = -(2**63)
    """The lowest event time (ms) of its inputs."""
    pieces: tuple[StatePiece, ...] | None = None
    """The pieces written for the checkpoint, possibly incomplete after an error; None if none was requested."""
    state_ms: int = 0
    """The time taken to write the changes and the checkpoint, if any."""
    left: tuple[Item, ...] = ()
    """Input that did not fit into the epoch; the subtask needs it back in the next epoch."""
    spent_ms: float = 0
    """The time that a subtask took to read its sources and to process its input."""
    slow: bool = False
    """Whether that time was long for the number of records."""
    snapshot_error: str = ""
    """The reason why the state could not be written for the checkpoint."""
    caught_up: bool = False
    """Whether the subtask had to read its state again, because the process did not hold the latest version."""
    failure: FailureReport | None = None

    @property
    def more(self) -> bool:
        """Whether a source stopped because the epoch was over, with more to read."""
        return any(node.more for node in self.nodes)

    @property
    def busy_ms(self) -> float:
        """The time of :attr:`spent_ms` in which its sources did not wait for new records."""
        return max(0.0, self.spent_ms - sum(node.waited_ms for node in self.nodes))

    @property
    def unread(self) -> frozenset[int]:
        """The nodes of the sources with unfinished splits."""
        return frozenset(node.node for node in self.nodes if node.unread)

    @property
    def next_processing_time(self) -> int | None:
        """The time to run again even without input (ms since the Unix epoch)."""
        times = (node.next_processing_time for node in self.nodes)
        return min((time for time in times if time is not None), default=None)
