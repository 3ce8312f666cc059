"""Where a program keeps the state it works on. Where checkpoints of it go is the checkpoint storage's matter.

As with the storages, each backend stands for the keys of Flink's configuration that say the same.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, NoReturn

from flintstream.datastream._settings import Settings, check_bool, check_integer, check_member, warn_removed
from flintstream.datastream.checkpoint_storage import (
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.datastream.checkpoint_storage import CheckpointStorage

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "FsStateBackend",
    "HashMapStateBackend",
    "MemoryStateBackend",
    "PredefinedOptions",
    "RocksDBStateBackend",
    "StateBackend",
]

BACKEND = "state.backend.type"
OLDER_BACKEND = "state.backend"
INCREMENTAL = "execution.checkpointing.incremental"
OLDER_INCREMENTAL = "state.backend.incremental"
ROCKSDB_PATHS = "state.backend.rocksdb.localdir"
ROCKSDB_THREADS = "state.backend.rocksdb.checkpoint.transfer.thread.num"
ROCKSDB_PREDEFINED = "state.backend.rocksdb.predefined-options"
ROCKSDB_FACTORY = "state.backend.rocksdb.options-factory"


class PredefinedOptions(Enum):
    """Sets of RocksDB options for kinds of disks."""

    DEFAULT = 0
    """RocksDB's own defaults, without syncing: checkpoints make state durable."""

    SPINNING_DISK_OPTIMIZED = 1
    """For hard disks: bigger levels, more parallel compaction."""

    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    """For hard disks where memory is plenty: bigger write buffers and block cache, and bloom filters too."""

    FLASH_SSD_OPTIMIZED = 3
    """For SSDs: more parallel compaction."""


class StateBackend(Settings, ABC):
    """Where a program keeps its state; see the subclasses."""

    @abstractmethod
    def write_to(self, configuration: Configuration) -> None:
        """Set the keys that stand for this backend. PyFlink has no such method."""

    @staticmethod
    def from_configuration(configuration: Configuration) -> StateBackend:
        """Return the backend that the keys stand for, by default a hash map. PyFlink has no such method.

        Raises:
            ValueError: a value is no valid setting; the message names its key.
        """
        key = OLDER_BACKEND if not configuration.contains_key(BACKEND) else BACKEND
        kind = configuration.get_string(key, "hashmap").strip().lower()
        if kind in {"hashmap", "jobmanager", "filesystem"}:  # the last two are names of Flink 1.12
            return HashMapStateBackend()
        if kind == "rocksdb":
            return _rocksdb_of(configuration)
        raise ValueError(f"'{key}' must be 'hashmap' or 'rocksdb', got '{kind}'")


class HashMapStateBackend(StateBackend):
    """Keeps state as Python objects in the memory of the workers; the default, and the fastest while state fits.

    >>> from flintstream.common.configuration import Configuration
    >>> StateBackend.from_configuration(Configuration())
    HashMapStateBackend()
    """

    def write_to(self, configuration: Configuration) -> None:
        """Set the key that stands for this backend. PyFlink has no such method."""
        configuration.set_string(BACKEND, "hashmap")


class EmbeddedRocksDBStateBackend(StateBackend):
    """Keeps state in RocksDB, on the local disks of the workers: for state that is larger than memory.

    >>> backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    >>> backend.set_db_storage_paths("file:///disk1/state", "/disk2/state")
    >>> backend.get_db_storage_paths(), backend.is_incremental_checkpoints_enabled()
    (['/disk1/state', '/disk2/state'], True)
    """

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        """Describe the backend.

        Args:
            enable_incremental_checkpointing: whether checkpoints re-use the files of earlier ones; None for the
                configuration's value, by default False.

        Raises:
            TypeError: the argument is of another type.
        """
        if enable_incremental_checkpointing is not None:
            check_bool(enable_incremental_checkpointing, "enable_incremental_checkpointing")
        self._incremental = enable_incremental_checkpointing
        self._paths: tuple[str, ...] | None = None
        self._predefined_options: PredefinedOptions | None = None
        self._transfer_threads: int | None = None

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the local directories of the databases, over which subtasks are spread; none for the workers' own.

        Raises:
            TypeError: a path is no text.
            ValueError: a path is relative or not local.
        """
        self._paths = tuple(_local_directory(path) for path in paths) or None

    def get_db_storage_paths(self) -> list[str]:
        """Return the local directories of the databases; empty where none are set (PyFlink raises then)."""
        return list(self._paths or ())

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints re-use the files of earlier ones."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Set the options of RocksDB for a kind of disk.

        Raises:
            TypeError: it is no :class:`PredefinedOptions`.
        """
        self._predefined_options = check_member(options, PredefinedOptions, "the predefined options")

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the options of RocksDB for a kind of disk."""
        return self._predefined_options or PredefinedOptions.DEFAULT

    def set_options(self, options_factory_class_name: str) -> NoReturn:
        """Not possible here: an options factory is a Java class.

        Raises:
            UnsupportedByDesignError: always.
        """
        raise UnsupportedByDesignError(
            f"the RocksDB options factory '{options_factory_class_name}' is a Java class; use set_predefined_options()"
        )

    def get_options(self) -> str | None:
        """Return the name of the options factory: None, as there is none here."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """Return how many files of a checkpoint are copied at a time."""
        return 4 if self._transfer_threads is None else self._transfer_threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many files of a checkpoint are copied at a time.

        Raises:
            TypeError: it is no whole number.
            ValueError: it is less than 1.
        """
        check_integer(number_of_transfering_threads, "the number of transfer threads", minimum=1)
        self._transfer_threads = number_of_transfering_threads

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys that stand for this backend. PyFlink has no such method.

        What was not set on the backend stays as it is in the configuration, as in Flink.
        """
        configuration.set_string(BACKEND, "rocksdb")
        if self._incremental is not None:
            configuration.set_boolean(INCREMENTAL, self._incremental)
        if self._paths is not None:
            configuration.set_string(ROCKSDB_PATHS, ",".join(self._paths))
        if self._predefined_options is not None:
            configuration.set_string(ROCKSDB_PREDEFINED, self._predefined_options.name)
        if self._transfer_threads is not None:
            configuration.set_integer(ROCKSDB_THREADS, self._transfer_threads)


class CustomStateBackend(StateBackend):
    """PyFlink's wrapper of a backend that is written in Java; cannot be made here."""

    def __init__(self, custom_state_backend: object) -> None:
        """Refuse.

        Raises:
            UnsupportedByDesignError: always; there are no Java objects.
        """
        raise UnsupportedByDesignError(
            f"CustomStateBackend({custom_state_backend!r}) wraps a Java object; use HashMapStateBackend or "
            "EmbeddedRocksDBStateBackend"
        )

    def write_to(self, configuration: Configuration) -> None:  # pragma: no cover - there are no instances
        """Never called."""
        raise NotImplementedError


class _BackendWithStorage(HashMapStateBackend):
    """What the backends of PyFlink 1 share: they said where checkpoints go, too."""

    _storage: CheckpointStorage
    _asynchronous: bool

    def is_using_asynchronous_snapshots(self) -> bool:
        """Return what the constructor was told, by default True. It changes nothing."""
        return self._asynchronous

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys of backend and storage. PyFlink has no such method."""
        super().write_to(configuration)
        self._storage.write_to(configuration)


class MemoryStateBackend(_BackendWithStorage):
    """State and checkpoints in memory. Deprecated: of PyFlink 1.

    Newer programs use :class:`HashMapStateBackend` with ``JobManagerCheckpointStorage``.
    """

    DEFAULT_MAX_STATE_SIZE = JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        """Describe the backend; the arguments are those of ``JobManagerCheckpointStorage``.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument is out of range.
        """
        warn_removed("MemoryStateBackend", "HashMapStateBackend, with JobManagerCheckpointStorage for checkpoints")
        self._storage: JobManagerCheckpointStorage = JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        self._storage.set_savepoint_path(savepoint_path)
        self._asynchronous = _asynchronous(using_asynchronous_snapshots)

    def get_max_state_size(self) -> int:
        """Return how many bytes the state of one operator may have."""
        return self._storage.get_max_state_size()


class FsStateBackend(_BackendWithStorage):
    """State in memory, checkpoints in a directory. Deprecated: of PyFlink 1.

    Newer programs use :class:`HashMapStateBackend` with ``FileSystemCheckpointStorage``.
    """

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        """Describe the backend; the arguments are those of ``FileSystemCheckpointStorage``.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument is out of range, or there is no ``checkpoint_directory_uri``.
        """
        warn_removed("FsStateBackend", "HashMapStateBackend, with FileSystemCheckpointStorage for checkpoints")
        if checkpoint_directory_uri is None:
            raise ValueError("an FsStateBackend needs checkpoint_directory_uri, such as 'file:///data/checkpoints'")
        self._storage: FileSystemCheckpointStorage = FileSystemCheckpointStorage(
            checkpoint_directory_uri, file_state_size_threshold, -1 if write_buffer_size is None else write_buffer_size
        )
        self._storage.set_savepoint_path(default_savepoint_directory_uri)
        self._asynchronous = _asynchronous(using_asynchronous_snapshots)

    def get_checkpoint_path(self) -> str:
        """Return the directory of the checkpoints."""
        return self._storage.get_checkpoint_path()

    def get_min_file_size_threshold(self) -> int:
        """Return the bytes below which state is stored within the metadata."""
        return self._storage.get_min_file_size_threshold()

    def get_write_buffer_size(self) -> int:
        """Return the bytes to collect before they are written."""
        return self._storage.get_write_buffer_size()


class RocksDBStateBackend(EmbeddedRocksDBStateBackend):
    """State in RocksDB, checkpoints as another backend keeps them. Deprecated: of PyFlink 1.

    Newer programs use :class:`EmbeddedRocksDBStateBackend` with ``FileSystemCheckpointStorage``.
    """

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
    ) -> None:
        """Describe the backend, with checkpoints in a directory or as ``checkpoint_stream_backend`` keeps them.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: not exactly one of the two is given.
        """
        warn_removed(
            "RocksDBStateBackend", "EmbeddedRocksDBStateBackend, with FileSystemCheckpointStorage for checkpoints"
        )
        super().__init__(enable_incremental_checkpointing)
        if (checkpoint_data_uri is None) == (checkpoint_stream_backend is None):
            raise ValueError(
                "a RocksDBStateBackend needs either checkpoint_data_uri, such as 'file:///data/checkpoints', or "
                f"checkpoint_stream_backend, got {checkpoint_data_uri!r} and {checkpoint_stream_backend!r}"
            )
        if checkpoint_stream_backend is None:
            with warnings.catch_warnings():  # one warning is enough
                warnings.simplefilter("ignore", DeprecationWarning)
                checkpoint_stream_backend = FsStateBackend(checkpoint_data_uri)
        if not isinstance(checkpoint_stream_backend, _BackendWithStorage):
            raise TypeError(
                "checkpoint_stream_backend must be an FsStateBackend or a MemoryStateBackend, got "
                f"{checkpoint_stream_backend!r}"
            )
        self._checkpoint_backend = checkpoint_stream_backend

    def get_checkpoint_backend(self) -> StateBackend:
        """Return the backend that keeps the checkpoints."""
        return self._checkpoint_backend

    def get_number_of_transfering_threads(self) -> int:
        """Return how many files of a checkpoint are copied at a time."""
        return self.get_number_of_transfer_threads()

    def set_number_of_transfering_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many files of a checkpoint are copied at a time; see :meth:`set_number_of_transfer_threads`."""
        self.set_number_of_transfer_threads(number_of_transfering_threads)

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys of backend and storage. PyFlink has no such method."""
        self._checkpoint_backend.write_to(configuration)
        super().write_to(configuration)


def _asynchronous(value: bool | None) -> bool:
    return True if value is None else check_bool(value, "using_asynchronous_snapshots")


def _local_directory(path: str) -> str:
    what = "a storage path of RocksDB"
    if not isinstance(path, str):
        raise TypeError(f"{what} must be a text, got {path!r}")
    scheme, colon, rest = path.partition(":")
    if colon and scheme.lower() != "file" and "/" not in scheme:
        raise ValueError(f"{what} must be on a local disk, got {path!r}; checkpoints may go elsewhere")
    directory = re.sub("/+", "/", rest if scheme.lower() == "file" else path)
    if not directory.startswith("/"):
        raise ValueError(f"{what} must be absolute, got {path!r}; write '/{directory}' or the like")
    return posixpath.normpath(directory)


def _rocksdb_of(configuration: Configuration) -> EmbeddedRocksDBStateBackend:
    incremental = OLDER_INCREMENTAL if not configuration.contains_key(INCREMENTAL) else INCREMENTAL
    backend = EmbeddedRocksDBStateBackend(configuration.get_boolean(incremental, default_value=False))
    paths = configuration.get_string(ROCKSDB_PATHS, "")
    if paths:
        backend.set_db_storage_paths(*(path.strip() for path in paths.split(",")))
    if configuration.contains_key(ROCKSDB_THREADS):
        threads = configuration.get_integer(ROCKSDB_THREADS, 4)
        backend.set_number_of_transfer_threads(check_integer(threads, f"'{ROCKSDB_THREADS}'", minimum=1))
    name = configuration.get_string(ROCKSDB_PREDEFINED, "DEFAULT").strip().upper()
    if name not in PredefinedOptions.__members__:
        raise ValueError(
            f"'{ROCKSDB_PREDEFINED}' must be one of {', '.join(PredefinedOptions.__members__)}, got '{name}'"
        )
    backend.set_predefined_options(PredefinedOptions[name])
    if configuration.contains_key(ROCKSDB_FACTORY):
        backend.set_options(configuration.get_string(ROCKSDB_FACTORY, ""))
    return backend
