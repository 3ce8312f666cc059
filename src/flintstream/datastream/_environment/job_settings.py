"""State and checkpoint settings of a job, made from the configuration when the job starts."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flintstream.checkpoint.settings import CheckpointSettings
from flintstream.datastream.checkpoint_config import CheckpointConfig
from flintstream.datastream.checkpoint_storage import (
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    savepoint_directory,
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
from flintstream.options.checkpointing import (
    DIRECTORY,
    IGNORE_UNCLAIMED,
    INCREMENTAL,
    INTERVAL,
    MIN_PAUSE,
    RESTORE_PATH,
    RETAINED,
    RETENTION,
    STORAGE,
    TIMEOUT,
    TOLERABLE_FAILURES,
    UNTIL_CAUGHT_UP,
)
from flintstream.options.ignored import CLAIM_MODE
from flintstream.options.rocksdb import TRANSFER_THREADS
from flintstream.options.state import CHANGELOG, MATERIALIZE, MATERIALIZE_FAILURES, MATERIALIZE_INTERVAL, PICKLE
from flintstream.state.settings import StateSettings
from flintstream.storage.custom import CustomFileStore
from flintstream.storage.location import Location
from flintstream.storage.stores import file_store

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.datastream.checkpoint_storage import CheckpointStorage
    from flintstream.storage.file_store import FileStore

__all__ = ["checkpoint_settings", "state_settings", "warn_of_idle_changelog"]


def checkpoint_settings(
    configuration: Configuration, config: CheckpointConfig | None = None, *, batch: bool = False
) -> CheckpointSettings:
    """Return the checkpoint settings of a job.

    As in Flink, a BATCH job takes no checkpoints, whatever is configured: it restarts from the beginning.

    Args:
        configuration: keys and values.
        config: the checkpoint configuration of the environment. It may have a storage that no key can express.
        batch: whether the job runs in BATCH mode.

    Raises:
        ValueError: A value is invalid; the message names its key.
        PlanError: The checkpoint directory is not writable, or a BATCH job is configured to start from a savepoint.

    >>> from flintstream.common.configuration import Configuration
    >>> configuration = Configuration.from_dict({"execution.checkpointing.interval": "10 s"})
    >>> checkpoint_settings(configuration).interval_ms
    10000
    >>> checkpoint_settings(configuration, batch=True).interval_ms is None
    True
    """
    config = config or CheckpointConfig(configuration)
    config.validate()
    get, storage = configuration.get, config.storage()
    common: dict[str, Any] = {
        "savepoint_directory": savepoint_directory(configuration),
        "restore_path": _restore_path(configuration, batch=batch),
        "allow_non_restored": get(IGNORE_UNCLAIMED),
        **_sizes(storage),
        "transfer_threads": get(TRANSFER_THREADS),
        "refuse_pickle": get(PICKLE) == "refuse",
    }
    interval_ms = get(INTERVAL)
    if batch or not interval_ms:
        if get(UNTIL_CAUGHT_UP) and not batch:
            raise PlanError(
                f"'{UNTIL_CAUGHT_UP.key}' (--until-caught-up) ends the job with a checkpoint, so it needs "
                f"'{INTERVAL.key}', such as '10 s', and '{DIRECTORY.key}'"
            )
        return CheckpointSettings(exactly_once=False, **common)
    retention = Retention[get(RETENTION)]
    return CheckpointSettings(
        interval_ms=interval_ms,
        min_pause_ms=get(MIN_PAUSE),
        timeout_ms=get(TIMEOUT),
        tolerable_failures=get(TOLERABLE_FAILURES),
        retained=get(RETAINED),
        exactly_once=config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE,
        keep_when_cancelled=retention is Retention.RETAIN_ON_CANCELLATION,
        keep_when_failed=retention is not Retention.NO_EXTERNALIZED_CHECKPOINTS,
        storage=_file_store(storage),
        incremental=get(INCREMENTAL),
        materialize_interval_ms=get(MATERIALIZE_INTERVAL) if get(MATERIALIZE) else None,
        materialize_failures=get(MATERIALIZE_FAILURES),
        until_caught_up=get(UNTIL_CAUGHT_UP),
        **common,
    )


def state_settings(
    configuration: Configuration, backend: StateBackend | None = None, *, batch: bool = False
) -> StateSettings:
    """Return the state settings of a job.

    As in Flink, a BATCH job keeps the state of one key at a time, in memory, whatever is configured.

    Args:
        configuration: keys and values.
        backend: the environment's backend object, if the keys refer to it; otherwise the keys are read.
        batch: whether the job runs in BATCH mode.

    Raises:
        ValueError: A value is invalid; the message names its key.
        MissingDependencyError: The backend is RocksDB, which is not installed.

    >>> from flintstream.common.configuration import Configuration
    >>> state_settings(Configuration.from_dict({"state.changelog.enabled": "true"})).changelog
    True
    """
    backend = backend or StateBackend.from_configuration(configuration)
    ours = ("state.", "flintstream.state.")
    options = {key: value for key, value in configuration.to_dict().items() if key.startswith(ours)}
    changelog = configuration.get(CHANGELOG)
    if batch:
        return StateSettings(HashMapStateBackend.kind, options)
    factory: Any = None
    if isinstance(backend, CustomStateBackend):
        factory = backend.get_factory()
    elif isinstance(backend, EmbeddedRocksDBStateBackend):
        if find_spec("rocksdict") is None:
            raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend")
        from flintstream.state.rocksdb.options import RocksDBOptions

        factory = backend.get_options_factory()
        RocksDBOptions.of(options, factory)  # report invalid options here rather than in a worker
    return StateSettings(backend.kind, options, factory, changelog, configuration.get(PICKLE) == "refuse")


def warn_of_idle_changelog(configuration: Configuration, config: CheckpointConfig, *, stacklevel: int) -> None:
    """Warn if the changelog is on but never written, because there are no checkpoints or no directory.

    Args:
        configuration: keys and values.
        config: the environment's, which knows a storage that no key can express.
        stacklevel: as for ``warnings.warn``, counted from the caller.
    """
    missing = []
    if not config.is_checkpointing_enabled():
        missing.append(f"'{INTERVAL.key}', such as '10 s'")
    storage = config.storage()
    if storage is None:
        missing.append(f"'{DIRECTORY.key}', a directory that all workers reach")
    elif isinstance(storage, JobManagerCheckpointStorage):
        missing.append(f"'{STORAGE.key}' to 'filesystem' and '{DIRECTORY.key}' to a directory that all workers reach")
    if missing:
        key, _ = configuration.find(CHANGELOG) or (CHANGELOG.key, "")
        warnings.warn(f"'{key}' has no effect yet; set {', and '.join(missing)}", stacklevel=stacklevel + 1)


def _restore_path(configuration: Configuration, *, batch: bool) -> str | None:
    mode = configuration.get(CLAIM_MODE)
    key, path = configuration.find(RESTORE_PATH) or ("", "")
    if not path:
        return None
    if batch:
        raise PlanError(f"'{key}' is {path!r}, but a BATCH job cannot start from a checkpoint or savepoint")
    if mode != CLAIM_MODE.default:
        key, given = configuration.find(CLAIM_MODE) or (CLAIM_MODE.key, mode)
        warnings.warn(
            f"'{key}' is '{given}', but a job never deletes the checkpoint or savepoint that it starts from",
            stacklevel=6,  # the caller of execute()
        )
    return path


def _sizes(storage: CheckpointStorage | None) -> dict[str, int]:
    if isinstance(storage, JobManagerCheckpointStorage):
        return {"max_state_size": storage.get_max_state_size()}
    if isinstance(storage, FileSystemCheckpointStorage):
        return {"inline_below": storage.get_min_file_size_threshold()}
    return {}


def _file_store(storage: CheckpointStorage | None) -> FileStore | None:
    if isinstance(storage, CustomCheckpointStorage):
        return cast("FileStore", CustomFileStore(storage.get_store()))
    directory = None
    if isinstance(storage, (JobManagerCheckpointStorage, FileSystemCheckpointStorage)):
        directory = storage.get_checkpoint_path()
    if directory is None:
        return None
    location = Location.parse(directory)
    if location.is_local:
        _check_writable(location)
    return file_store(location)


def _check_writable(location: Location) -> None:
    """Check that a local directory is writable or can be created. Does not create it."""
    uri = location.flink_text
    path = existing = Path(location.path)
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise PlanError(f"checkpoints cannot be written to {uri}: {existing} is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        what = "it" if existing == path else f"it does not exist, and {existing}"
        raise PlanError(f"checkpoints cannot be written to {uri}: {what} is not writable for this user")
