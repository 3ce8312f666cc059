"""Settings of checkpoints, as the coordinator uses them."""

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
    """Return the path or URI in ``flintstream.state.dir``, or None if it is not set.

    Raises:
        PlanError: It is not a path or URI.

    >>> state_directory({"flintstream.state.dir": "file:///mnt/state"})
    '/mnt/state'
    >>> state_directory({"flintstream.state.dir": "s3://bucket/state/"})
    's3://bucket/state'
    """
    given = STATE_DIRECTORY.read(configuration)
    return str(Location.parse(given, f"'{STATE_DIRECTORY.key}'")) if given else None


@dataclass(frozen=True)
class CheckpointSettings:
    """Settings of checkpoints. Times are in ms. Without an interval, only requested savepoints are taken."""

    interval_ms: int | None = None
    min_pause_ms: int = MIN_PAUSE.default
    timeout_ms: int = TIMEOUT.default
    tolerable_failures: int = TOLERABLE_FAILURES.default
    """Number of checkpoints in a row that may fail before the job fails."""
    retained: int = RETAINED.default
    """Number of completed checkpoints to keep."""
    exactly_once: bool = True
    """Whether sinks wait for the checkpoint before they commit."""
    keep_when_cancelled: bool = False
    keep_when_failed: bool = False
    storage: FileStore | None = None
    """The store for ``<job id>/chk-<n>``; None for the driver's memory."""
    max_state_size: int | None = None
    """Largest state of a subtask in bytes if all state goes into the metadata; None if state goes into files."""
    inline_below: int = INLINE_THRESHOLD.default
    """Largest size in bytes of state files that are stored inline in the metadata."""
    incremental: bool = INCREMENTAL.default
    """Whether a backend's own files are shared between checkpoints."""
    transfer_threads: int = TRANSFER_THREADS.default
    materialize_interval_ms: int | None = MATERIALIZE_INTERVAL.default
    """Interval at which the changelog is materialized into a new base; None for never."""
    materialize_failures: int = MATERIALIZE_FAILURES.default
    """Number of materializations in a row that may fail before the job fails."""
    savepoint_directory: str | None = None
    """The default directory of savepoints."""
    restore_path: str | None = None
    """The checkpoint or savepoint to start from."""
    resumed_job: str | None = None
    """The id of the job that wrote it, if this job continues that job and owns its checkpoints."""
    allow_non_restored: bool = IGNORE_UNCLAIMED.default
    """Whether the restore may leave behind state that matches no operator of the program."""
    until_caught_up: bool = False
    """Whether the job ends with a checkpoint once it has read what its sources had at its start."""
    refuse_pickle: bool = False
    """Whether pickled state is an error."""
