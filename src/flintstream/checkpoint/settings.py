"""When and where checkpoints are taken; what the coordinator needs to know of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.options.checkpointing import (
    IGNORE_UNCLAIMED,
    INCREMENTAL,
    INLINE_THRESHOLD,
    MIN_PAUSE,
    RETAINED,
    TIMEOUT,
    TOLERABLE_FAILURES,
)
from flintstream.options.execution import STATE_DIRECTORY
from flintstream.options.rocksdb import TRANSFER_THREADS
from flintstream.options.state import MATERIALIZE_FAILURES, MATERIALIZE_INTERVAL
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.storage.file_store import FileStore


def state_directory(configuration: Mapping[str, Any]) -> str | None:
    """Return the local path that ``flintstream.state.dir`` names, None where it names none.

    Raises:
        PlanError: It is not on this machine or mounted there.

    >>> state_directory({"flintstream.state.dir": "file:///mnt/state"})
    '/mnt/state'
    >>> state_directory({"flintstream.state.dir": "s3://bucket/state"})
    Traceback (most recent call last):
    flintstream.errors.PlanError: 'flintstream.state.dir' must be on this machine or mounted there, got
    's3://bucket/state'
    """
    given, what = STATE_DIRECTORY.read(configuration), f"'{STATE_DIRECTORY.key}'"
    return Location.parse(given, what).local_path(what) if given else None


@dataclass(frozen=True)
class CheckpointSettings:
    """Times are in ms. Without an interval there are no checkpoints but the savepoints that are asked for."""

    interval_ms: int | None = None
    min_pause_ms: int = MIN_PAUSE.default
    timeout_ms: int = TIMEOUT.default
    tolerable_failures: int = TOLERABLE_FAILURES.default
    """How many checkpoints in a row may fail before the job does."""
    retained: int = RETAINED.default
    """How many completed checkpoints are kept."""
    exactly_once: bool = True
    """Whether sinks wait for the checkpoint before they commit."""
    keep_when_cancelled: bool = False
    keep_when_failed: bool = False
    storage: FileStore | None = None
    """Where ``<job id>/chk-<n>`` goes; None for the driver's memory."""
    max_state_size: int | None = None
    """Bytes that a subtask's state may have in the metadata, if all of it belongs there; None if there are files."""
    inline_below: int = INLINE_THRESHOLD.default
    """State files of no more bytes are stored within the metadata."""
    incremental: bool = INCREMENTAL.default
    """Whether a backend's own files are shared between checkpoints."""
    transfer_threads: int = TRANSFER_THREADS.default
    materialize_interval_ms: int | None = MATERIALIZE_INTERVAL.default
    """How often the changelog is folded into a new base; None for never."""
    materialize_failures: int = MATERIALIZE_FAILURES.default
    """How many materialisations in a row may fail before the job does."""
    savepoint_directory: str | None = None
    """Where savepoints go that are asked for without a directory."""
    restore_path: str | None = None
    """The checkpoint or savepoint to start from."""
    resumed_job: str | None = None
    """The id of the job that wrote it, where this one takes its place: its checkpoints are this one's, then."""
    allow_non_restored: bool = IGNORE_UNCLAIMED.default
    """Whether state in it may be left behind that no operator of the program takes over."""
