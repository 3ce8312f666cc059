"""What the coordinator sends to a subtask for an epoch, and what comes back."""

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
"""The ``edge`` of an item that carries a :class:`Report`; its level lies behind the last superstep."""

SHARED = "shared"
"""The directory of a job, beside those of its checkpoints, for files that several checkpoints need."""


@dataclass(frozen=True)
class StateHandle:
    """A piece of a subtask's keyed state in the state log: a full snapshot or the changes of one epoch."""

    name: str
    version: str
    """The version that a subtask has after applying this piece."""
    full: bool
    size: int
    """Bytes."""
    checksum: str = ""
    operators: tuple[str, ...] = ()
    """Uids of the operators whose state is in it."""
    epochs: int = 1
    """Of how many epochs it has the changes."""
    native: bool = False
    """The keyed state is in a directory of the backend's own files beside the blob."""


@dataclass(frozen=True)
class SnapshotRequest:
    """Asks a subtask to write its state at the end of the epoch, for a checkpoint or savepoint."""

    number: int
    form: str
    """How keyed state is written: ``full``, as ``native`` files of the backend, or not at all, as the durable ``log``
    has it.
    """
    store: FileStore | None
    """None when there is nowhere to store a file."""
    directory: str = ""
    """Where the files of this checkpoint alone go, below the store's root."""
    shared: str = SHARED
    """Where files go that later checkpoints may need, too."""
    known: frozenset[str] = frozenset()
    """Shared files that are there for sure."""
    inline_below: int = INLINE_THRESHOLD.default
    """State files of no more bytes travel to the driver and are stored within the metadata."""
    in_metadata: bool = False
    """Whether a larger state file is an error."""
    timeout_ms: int | None = None
    """How long a subtask may take before the checkpoint is given up."""
    transfer_threads: int = TRANSFER_THREADS.default


@dataclass(frozen=True)
class Restore:
    """A checkpoint to start from."""

    store: FileStore | None
    """None when all pieces are within the metadata."""
    chains: tuple[ChainState, ...]
    operators: dict[int, tuple[str, int]]
    """Node id -> uid in the checkpoint, and which of ``chains`` it was in."""
    transfer_threads: int = TRANSFER_THREADS.default
    """How many files of a backend are fetched at a time."""


@dataclass(frozen=True)
class Instruction:
    """Tells one subtask of one chain to run one epoch."""

    epoch: int
    chain: int
    subtask: int
    attempt: int
    """How often the job was started again; part of every version, so that nothing of an abandoned epoch is ever taken
    for valid.
    """
    version: str | None
    """The version to start from, None at the very beginning."""
    run: str = ""
    """Changes whenever the job is started again, by whatever process."""
    memo: bytes | None = None
    handles: tuple[StateHandle, ...] = ()
    folding: int = 0
    """How many of the handles are being folded, and so have to stay as they are."""
    restore: Restore | None = None
    """What to start from when there is no version."""
    snapshot: SnapshotRequest | None = None
    savepoint: bool = False
    """The snapshot is for a savepoint."""
    commit: bool = True
    """What sinks prepare at the end of this epoch will be committed before the next one."""
    max_epoch_ms: int | None = None
    """When to end the epoch, if earlier than otherwise."""
    max_records: int | None = None
    """How many records a source emits in this epoch, if not as many as it can: 0 while what it has read before keeps
    those that follow busy.
    """
    drain: bool = False
    """End the input now, as if the sources were used up."""
    new_splits: dict[int, list[Any]] = field(default_factory=dict)
    """Node id -> splits that this subtask shall read from now on."""
    no_more_splits: frozenset[int] = frozenset()
    """Node ids of the sources whose enumerator will not discover any more."""
    slowest: dict[str, int] = field(default_factory=dict)
    """Alignment group -> lowest watermark (ms) of its sources at the end of the previous epoch."""
    keep_state: bool = True
    """False when no epoch can follow (BATCH), so that nothing needs to be written."""


class NodeReport(NamedTuple):
    """What one operator has to say of an epoch."""

    node: int
    metrics: Mapping[str, Reported]
    records: int = 0
    """Records it was given; for a source, records it emitted."""
    more: bool = False
    """A source stopped because the epoch was over, not because there was nothing left to read."""
    unread: bool = False
    """A source holds splits that are not used up."""
    next_processing_time: int | None = None
    """When to run again even without input (ms since the epoch)."""
    aligned: tuple[str, int] | None = None
    """An alignment group and the watermark (ms) of this operator in it, unless it is idle or has ended."""
    committables: Sequence[Any] = ()
    """What a sink has prepared."""
    progress: object | None = None
    """What the enumerator of a source is told when a checkpoint contains the epoch."""
    warning: str | None = None
    """What the user is to be told."""


@dataclass(frozen=True)
class Report:
    """Acknowledges one subtask's epoch."""

    chain: int
    subtask: int
    version: str
    nodes: tuple[NodeReport, ...] = ()
    """One for each operator, in the order of the chain."""
    memo: bytes | None = None
    handles: tuple[StateHandle, ...] = ()
    finished: bool = False
    """All inputs of the chain have ended."""
    watermark: int = -(2**63)
    """The lowest event time (ms) of its inputs."""
    pieces: tuple[StatePiece, ...] | None = None
    """What was written for the checkpoint, None when none was asked for; some of it when that failed."""
    state_ms: int = 0
    """How long it took to write what changed, and the checkpoint if there was one."""
    left: tuple[Item, ...] = ()
    """Input that there was no time for: the subtask wants it back in the next epoch."""
    spent_ms: float = 0
    """How long a subtask with input from others took for it."""
    slow: bool = False
    """That was long for so few records."""
    snapshot_error: str = ""
    """Why the state could not be written for the checkpoint."""
    failure: FailureReport | None = None

    @property
    def more(self) -> bool:
        """Whether a source stopped because the epoch was over, not because there was nothing left to read."""
        return any(node.more for node in self.nodes)

    @property
    def unread(self) -> frozenset[int]:
        """The nodes of the sources that hold splits which are not used up."""
        return frozenset(node.node for node in self.nodes if node.unread)

    @property
    def next_processing_time(self) -> int | None:
        """When to run again even without input (ms since the epoch)."""
        times = (node.next_processing_time for node in self.nodes)
        return min((time for time in times if time is not None), default=None)
