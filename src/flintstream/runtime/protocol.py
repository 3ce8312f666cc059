"""What the coordinator sends to a subtask for an epoch, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.options.checkpointing import INLINE_THRESHOLD
from flintstream.options.rocksdb import TRANSFER_THREADS

if TYPE_CHECKING:
    from flintstream.checkpoint.file_store import FileStore
    from flintstream.checkpoint.metadata import ChainState, StatePiece
    from flintstream.runtime.exchange.receiving import Item
    from flintstream.runtime.failure import FailureReport

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
    kind: str
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


@dataclass(frozen=True)
class Report:
    """Acknowledges one subtask's epoch."""

    chain: int
    subtask: int
    version: str
    memo: bytes | None = None
    handles: tuple[StateHandle, ...] = ()
    finished: bool = False
    """All inputs of the chain have ended."""
    more: bool = False
    """A source stopped because the epoch was over, not because there was nothing left to read."""
    unread: frozenset[int] = frozenset()
    """Node ids of the sources that hold splits which are not used up."""
    next_processing_time: int | None = None
    """When to run again even without input (ms since the epoch)."""
    watermark: int = -(2**63)
    aligned: dict[str, int] = field(default_factory=dict)
    """Alignment group -> watermark (ms) of this subtask's sources, unless they are idle or have ended."""
    committables: dict[int, list[Any]] = field(default_factory=dict)
    progress: dict[int, Any] = field(default_factory=dict)
    """Node id -> what the enumerator of this source is told when a checkpoint contains the epoch."""
    records: dict[int, int] = field(default_factory=dict)
    """Node id -> records it was given in this epoch; for sources, records it emitted."""
    metrics: dict[int, dict[str, Any]] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    """Node id -> what the user is to be told of it."""
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
