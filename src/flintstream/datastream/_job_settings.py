"""What a job is told of its state and its checkpoints, made of the configuration when the job starts."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flintstream.checkpoint.own_store import OwnFileStore
from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.common.time import Duration
from flintstream.datastream._options import find, spelling_of
from flintstream.datastream._settings import check_integer
from flintstream.datastream.checkpoint_config import CheckpointConfig
from flintstream.datastream.checkpoint_storage import (
    SAVEPOINT_DIRECTORY,
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    check_savepoint_directory,
)
from flintstream.datastream.checkpointing_mode import CheckpointingMode
from flintstream.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention as Retention
from flintstream.datastream.state_backend import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StateBackend,
)
from flintstream.errors import MissingDependencyError, PlanError
from flintstream.state.settings import StateSettings

if TYPE_CHECKING:
    from flintstream.checkpoint.file_store import FileStore
    from flintstream.common.configuration import Configuration
    from flintstream.datastream.checkpoint_storage import CheckpointStorage

__all__ = ["checkpoint_settings", "state_settings"]

RETAINED = "execution.checkpointing.num-retained"
INCREMENTAL = "execution.checkpointing.incremental"
TRANSFER_THREADS = "state.backend.rocksdb.checkpoint.transfer.thread.num"
CHANGELOG = "state.changelog.enabled"
MATERIALIZE = "state.changelog.periodic-materialize.enabled"
MATERIALIZE_INTERVAL = "state.changelog.periodic-materialize.interval"
MATERIALIZE_FAILURES = "state.changelog.max-failures-allowed"
RESTORE_PATH = "execution.state-recovery.path"
ALLOW_NON_RESTORED = "execution.state-recovery.ignore-unclaimed-state"
CLAIM_MODE = "execution.state-recovery.claim-mode"
CLAIM_MODES = ("NO_CLAIM", "CLAIM", "LEGACY")


def checkpoint_settings(
    configuration: Configuration, config: CheckpointConfig | None = None, *, batch: bool = False
) -> CheckpointSettings:
    """Return when and where a job takes checkpoints.

    As in Flink a BATCH job takes none, whatever is configured: it starts from the beginning when it fails.

    Args:
        configuration: keys and values.
        config: the environment's, which knows a storage that no key can express.
        batch: whether the job runs in BATCH mode.

    Raises:
        ValueError: A value is no valid setting; the message names its key.
        PlanError: The directory of checkpoints cannot be written to, or a BATCH job is to start from a savepoint.

    >>> from flintstream.common.configuration import Configuration
    >>> configuration = Configuration.from_dict({"execution.checkpointing.interval": "10 s"})
    >>> checkpoint_settings(configuration).interval_ms
    10000
    >>> checkpoint_settings(configuration, batch=True).interval_ms is None
    True
    """
    config = config or CheckpointConfig(configuration)
    config.validate()
    read = _Reader(configuration)
    restore_path = _restore_path(read, batch=batch)
    common: dict[str, Any] = {
        "savepoint_directory": _savepoint_directory(configuration),
        "restore_path": restore_path,
        "allow_non_restored": read.flag(ALLOW_NON_RESTORED, default=False),
        **_sizes(config.storage()),
        "transfer_threads": read.count(TRANSFER_THREADS, 4, minimum=1),
    }
    if batch or not config.is_checkpointing_enabled():
        return CheckpointSettings(exactly_once=False, **common)
    retention = config.get_externalized_checkpoint_retention()
    materialize = read.millis(MATERIALIZE_INTERVAL, 600_000, minimum=1)
    return CheckpointSettings(
        interval_ms=config.get_checkpoint_interval(),
        min_pause_ms=config.get_min_pause_between_checkpoints(),
        timeout_ms=config.get_checkpoint_timeout(),
        tolerable_failures=config.get_tolerable_checkpoint_failure_number(),
        retained=read.count(RETAINED, 1, minimum=1),
        exactly_once=config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE,
        keep_when_cancelled=retention is Retention.RETAIN_ON_CANCELLATION,
        keep_when_failed=retention is not Retention.NO_EXTERNALIZED_CHECKPOINTS,
        storage=_file_store(config.storage()),
        incremental=read.flag(INCREMENTAL, default=False),
        materialize_interval_ms=materialize if read.flag(MATERIALIZE, default=True) else None,
        materialize_failures=read.count(MATERIALIZE_FAILURES, 3, minimum=0),
        **common,
    )


def state_settings(
    configuration: Configuration, backend: StateBackend | None = None, *, batch: bool = False
) -> StateSettings:
    """Return which backend keeps the state of a job.

    As in Flink a BATCH job keeps the state of one key at a time, in memory, whatever is configured.

    Args:
        configuration: keys and values.
        backend: what the environment was given, where the keys stand for it; they are read without.
        batch: whether the job runs in BATCH mode.

    Raises:
        ValueError: A value is no valid setting; the message names its key.
        MissingDependencyError: The backend is RocksDB, which is not installed.

    >>> from flintstream.common.configuration import Configuration
    >>> state_settings(Configuration.from_dict({"state.changelog.enabled": "true"})).changelog
    True
    """
    backend = backend or StateBackend.from_configuration(configuration)
    ours = ("state.", "flintstream.state.")
    options = {key: value for key, value in configuration.to_dict().items() if key.startswith(ours)}
    changelog = _Reader(configuration).flag(CHANGELOG, default=False)
    if batch:
        return StateSettings(HashMapStateBackend.kind, options)
    factory: Any = None
    if isinstance(backend, CustomStateBackend):
        factory = backend.get_factory()
    elif isinstance(backend, EmbeddedRocksDBStateBackend):
        if find_spec("rocksdict") is None:
            raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend")
        from flintstream.state.rocksdb.options import RocksDBOptions  # noqa: PLC0415 - needs the extra

        factory = backend.get_options_factory()
        RocksDBOptions.of(options, factory)  # what is wrong with them is better said now than by a worker
    return StateSettings(backend.kind, options, factory, changelog)


class _Reader:
    """Reads values under any of their spellings and names that one in errors."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def flag(self, key: str, *, default: bool) -> bool:
        return self._configuration.get_boolean(spelling_of(self._configuration, key), default)

    def count(self, key: str, default: int, *, minimum: int) -> int:
        spelling = spelling_of(self._configuration, key)
        return check_integer(self._configuration.get_integer(spelling, default), f"'{spelling}'", minimum=minimum)

    def millis(self, key: str, default: int, *, minimum: int) -> int:
        spelling = spelling_of(self._configuration, key)
        millis = self._configuration.get_duration(spelling, Duration.of_millis(default)).to_millis()
        return check_integer(millis, f"'{spelling}' in ms", minimum=minimum, maximum=2**63 - 1)

    def text(self, key: str) -> tuple[str, str] | None:
        return find(self._configuration, key)


def _savepoint_directory(configuration: Configuration) -> str | None:
    found = find(configuration, SAVEPOINT_DIRECTORY)
    return None if found is None else check_savepoint_directory(found[1], f"'{found[0]}'")


def _restore_path(read: _Reader, *, batch: bool) -> str | None:
    found = read.text(RESTORE_PATH)
    spelling, mode = read.text(CLAIM_MODE) or (CLAIM_MODE, CLAIM_MODES[0])
    if mode.upper() not in CLAIM_MODES:
        raise ValueError(f"'{spelling}' must be one of {', '.join(CLAIM_MODES)}, got '{mode}'")
    if found is None or not found[1]:
        return None
    if batch:
        raise PlanError(f"'{found[0]}' is {found[1]!r}, but a BATCH job cannot start from a checkpoint or savepoint")
    if mode.upper() != CLAIM_MODES[0]:
        warnings.warn(
            f"'{spelling}' is '{mode}', but a job never deletes the checkpoint or savepoint that it starts from",
            stacklevel=6,  # who calls execute()
        )
    return found[1]


def _sizes(storage: CheckpointStorage | None) -> dict[str, int]:
    if isinstance(storage, JobManagerCheckpointStorage):
        return {"max_state_size": storage.get_max_state_size()}
    if isinstance(storage, FileSystemCheckpointStorage):
        return {"inline_below": storage.get_min_file_size_threshold()}
    return {}


def _file_store(storage: CheckpointStorage | None) -> FileStore | None:
    if isinstance(storage, CustomCheckpointStorage):
        return cast("FileStore", OwnFileStore(storage.get_store()))
    directory = None
    if isinstance(storage, (JobManagerCheckpointStorage, FileSystemCheckpointStorage)):
        directory = storage.get_checkpoint_path()
    if directory is None:
        return None
    from flintstream.checkpoint.file_store import file_store  # noqa: PLC0415 - only jobs with a directory need it

    if directory.startswith("file:"):
        _check_writable(directory)
    return file_store(directory)


def _check_writable(uri: str) -> None:
    """Check that a local directory can be written to, or made; nothing is made yet."""
    path = existing = Path(uri.removeprefix("file:"))
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise PlanError(f"checkpoints cannot be written to {uri}: {existing} is no directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        what = "it" if existing == path else f"it does not exist, and {existing}"
        raise PlanError(f"checkpoints cannot be written to {uri}: {what} is not writable for this user")
