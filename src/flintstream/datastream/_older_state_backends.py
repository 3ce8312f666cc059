"""The state backends of PyFlink 1, which also define the checkpoint storage."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.datastream._settings import check_bool, warn_removed
from flintstream.datastream._state_backends import EmbeddedRocksDBStateBackend, HashMapStateBackend
from flintstream.datastream.checkpoint_storage import FileSystemCheckpointStorage, JobManagerCheckpointStorage

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.datastream._state_backends import StateBackend
    from flintstream.datastream.checkpoint_storage import CheckpointStorage


class _BackendWithStorage(HashMapStateBackend):
    """Base class of the backends of PyFlink 1, which also define the checkpoint storage."""

    _storage: CheckpointStorage
    _asynchronous: bool

    def is_using_asynchronous_snapshots(self) -> bool:
        """Return the constructor's argument, True by default. It has no effect.

        >>> import warnings
        >>> from flintstream.datastream.state_backend import FsStateBackend
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> FsStateBackend("file:///backup", using_asynchronous_snapshots=False).is_using_asynchronous_snapshots()
        False
        """
        return self._asynchronous

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys of backend and storage. PyFlink has no such method."""
        super().write_to(configuration)
        self._storage.write_to(configuration)


class MemoryStateBackend(_BackendWithStorage):
    """State and checkpoints in memory, from PyFlink 1. Deprecated.

    Newer programs use :class:`HashMapStateBackend` with ``JobManagerCheckpointStorage``.

    >>> import warnings
    >>> warnings.simplefilter("ignore", DeprecationWarning)
    >>> MemoryStateBackend(max_state_size=1_048_576).get_max_state_size()
    1048576
    """

    DEFAULT_MAX_STATE_SIZE = JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        """Create the backend with the arguments of ``JobManagerCheckpointStorage``.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument is out of range.
        """
        warn_removed("MemoryStateBackend", "HashMapStateBackend, with JobManagerCheckpointStorage for checkpoints")
        self._storage: JobManagerCheckpointStorage = JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        self._storage.set_savepoint_path(savepoint_path)
        self._asynchronous = _asynchronous(using_asynchronous_snapshots)

    def get_max_state_size(self) -> int:
        """Return the maximum size of the state of one operator (bytes)."""
        return self._storage.get_max_state_size()


class FsStateBackend(_BackendWithStorage):
    """State in memory, checkpoints in a directory, from PyFlink 1. Deprecated.

    Newer programs use :class:`HashMapStateBackend` with ``FileSystemCheckpointStorage``.

    >>> import warnings
    >>> warnings.simplefilter("ignore", DeprecationWarning)
    >>> backend = FsStateBackend("file:///backup", file_state_size_threshold=1_024, write_buffer_size=8_192)
    >>> backend.get_checkpoint_path(), backend.get_min_file_size_threshold(), backend.get_write_buffer_size()
    ('file:/backup', 1024, 8192)
    """

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        """Create the backend with the arguments of ``FileSystemCheckpointStorage``.

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
        """Return the size (bytes) below which state is stored in the metadata."""
        return self._storage.get_min_file_size_threshold()

    def get_write_buffer_size(self) -> int:
        """Return the size of the write buffer (bytes)."""
        return self._storage.get_write_buffer_size()


class RocksDBStateBackend(EmbeddedRocksDBStateBackend):
    """State in RocksDB, checkpoints in the storage of another backend, from PyFlink 1. Deprecated.

    Newer programs use :class:`EmbeddedRocksDBStateBackend` with ``FileSystemCheckpointStorage``.

    >>> import warnings
    >>> warnings.simplefilter("ignore", DeprecationWarning)
    >>> backend = RocksDBStateBackend("file:///backup")
    >>> backend.get_checkpoint_backend().get_checkpoint_path()
    'file:/backup'
    >>> backend.set_number_of_transfering_threads(8)
    >>> backend.get_number_of_transfering_threads()
    8
    """

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
    ) -> None:
        """Create the backend, with checkpoints in a directory or in the storage of ``checkpoint_stream_backend``.

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
        """Return the backend that defines the checkpoint storage."""
        return self._checkpoint_backend

    def get_number_of_transfering_threads(self) -> int:
        """Return how many files of a checkpoint are copied in parallel."""
        return self.get_number_of_transfer_threads()

    def set_number_of_transfering_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many files of a checkpoint are copied in parallel; see :meth:`set_number_of_transfer_threads`."""
        self.set_number_of_transfer_threads(number_of_transfering_threads)

    def write_to(self, configuration: Configuration) -> None:
        """Set the keys of backend and storage. PyFlink has no such method."""
        self._checkpoint_backend.write_to(configuration)
        super().write_to(configuration)


def _asynchronous(value: bool | None) -> bool:
    return True if value is None else check_bool(value, "using_asynchronous_snapshots")
