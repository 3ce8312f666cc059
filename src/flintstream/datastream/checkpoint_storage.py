"""Checkpoint storages.

Each storage corresponds to keys of Flink's configuration. :meth:`CheckpointStorage.write_to` and
:meth:`CheckpointStorage.from_configuration` convert between the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code import by_value
from flintstream.datastream._settings import MAX_INT, Settings, check_for, check_integer, is_java, load_callable
from flintstream.errors import UnsupportedByDesignError
from flintstream.options.checkpointing import (
    DIRECTORY,
    INLINE_THRESHOLD,
    MAX_STATE_SIZE,
    SAVEPOINT_DIRECTORY,
    STORAGE,
)
from flintstream.options.ignored import WRITE_BUFFER
from flintstream.storage.file_store import FileStore
from flintstream.storage.location import Location, names_scheme

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.options.option import Option

__all__ = ["CheckpointStorage", "CustomCheckpointStorage", "FileSystemCheckpointStorage", "JobManagerCheckpointStorage"]


def check_directory(path: str, what: str) -> str:
    """Return the URI ``path`` as Flink displays it; the error message contains ``what``.

    Raises:
        TypeError: ``path`` is not a str.
        ValueError: ``path`` has no scheme, or is the root of a file system.

    >>> check_directory("file:///data//checkpoints/", "the directory")
    'file:/data/checkpoints'
    >>> check_directory("/data", "the directory")
    Traceback (most recent call last):
    ValueError: the directory must be a URI with a scheme, got '/data'; write 'file:///data'
    """
    if not isinstance(path, str):
        raise TypeError(f"{what} must be a URI (str), got {path!r} of type {type(path).__name__}")
    if not names_scheme(path):
        example = f"file://{path.strip()}" if path.strip().startswith("/") else "file:///data/checkpoints"
        raise ValueError(f"{what} must be a URI with a scheme, got {path!r}; write '{example}'")
    return _below_root(Location.parse(path, what), path, what).flink_text


def _below_root(location: Location, given: str, what: str) -> Location:
    if location.is_root:
        raise ValueError(f"{what} must not be the root of a file system, got {given!r}; name a directory below it")
    return location


def check_savepoint_directory(path: str, what: str) -> str:
    """Return the URI or absolute local path as Flink displays it; the error message contains ``what``.

    A relative path is relative to the working directory.

    Raises:
        TypeError: ``path`` is not a str.
        ValueError: ``path`` is empty, or the root of a file system.

    >>> check_savepoint_directory("/data//savepoints/", "the directory")
    '/data/savepoints'
    """
    if not isinstance(path, str) or not path.strip() or names_scheme(path):
        return check_directory(path, what)
    return _below_root(Location.parse(path.strip(), what), path, what).path


def savepoint_directory(configuration: Configuration) -> str | None:
    """Return the default directory of savepoints.

    Raises:
        ValueError: The directory is empty, or the root of a file system.
    """
    found = configuration.find(SAVEPOINT_DIRECTORY)
    return None if found is None else check_savepoint_directory(found[1], f"'{found[0]}'")


def _size(configuration: Configuration, option: Option[int]) -> int:
    """Return the size (bytes) that the configuration has for an option; -1 if it has none."""
    return configuration.get(option) if configuration.find(option) else -1


class CheckpointStorage(Settings, ABC):
    """Base class of checkpoint storages. The working state of a program is in the state backend.

    A storage is a few keys of the configuration:

    >>> from flintstream.common import Configuration
    >>> storage = FileSystemCheckpointStorage("file:///backup/words")
    >>> storage.set_savepoint_path("file:///backup/saved")
    >>> storage.get_savepoint_path()
    'file:/backup/saved'
    >>> configuration = Configuration()
    >>> storage.write_to(configuration)
    >>> configuration.get_string("execution.checkpointing.dir", "none")
    'file:/backup/words'
    >>> CheckpointStorage.from_configuration(configuration).get_savepoint_path()
    'file:/backup/saved'
    """

    _checkpoint_path: str | None

    def __init__(self, checkpoint_path: str | None) -> None:
        """Take the directory of the checkpoints, which the subclass has checked."""
        self._checkpoint_path = checkpoint_path
        self._savepoint_path: str | None = None

    @abstractmethod
    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration keys of this storage and remove those of others. PyFlink has no such method.

        Sizes that the storage does not set are unchanged in the configuration.
        """

    @staticmethod
    def from_configuration(configuration: Configuration) -> CheckpointStorage | None:
        """Return the storage that the configuration describes, or None. PyFlink has no such method.

        As in Flink, a directory without a type means a file system.

        Raises:
            ValueError: a value is invalid; the message names its key.
        """
        found = configuration.find(STORAGE)
        place = configuration.find(DIRECTORY)
        directory = None if place is None else check_directory(place[1], f"'{place[0]}'")
        storage: CheckpointStorage
        if found is None and directory is None:
            return None
        kind = "filesystem" if found is None else found[1].lower()
        if kind == "jobmanager":
            storage = JobManagerCheckpointStorage(directory, configuration.get(MAX_STATE_SIZE))
        elif found is not None and ":" in kind:
            storage = CustomCheckpointStorage.of_name(found[1], found[0])
        elif kind != "filesystem":
            hint = ""
            if kind == CustomCheckpointStorage.kind:
                hint = "; 'custom' refers to the argument of set_checkpoint_storage(CustomCheckpointStorage(...))"
            raise ValueError(
                f"'{STORAGE.key}' must be 'jobmanager' or 'filesystem', or 'module:Class' for a custom store, got "
                f"'{kind}'{hint}"
            )
        elif directory is None:
            raise ValueError(
                f"'{STORAGE.key}' is 'filesystem', so '{DIRECTORY.key}' must name the directory of the checkpoints"
            )
        else:
            threshold, buffer = _size(configuration, INLINE_THRESHOLD), _size(configuration, WRITE_BUFFER)
            storage = FileSystemCheckpointStorage(directory, threshold, buffer)
        storage.set_savepoint_path(savepoint_directory(configuration))
        return storage

    def get_savepoint_path(self) -> str | None:
        """Return the default directory of savepoints."""
        return self._savepoint_path

    def set_savepoint_path(self, savepoint_path: str | None) -> None:
        """Set the default directory of savepoints; None for no default. PyFlink has no such method.

        Raises:
            ValueError: the path is not the URI of a directory.
        """
        what = "the directory of savepoints"
        self._savepoint_path = None if savepoint_path is None else check_savepoint_directory(savepoint_path, what)

    def _write(self, configuration: Configuration, values: dict[Option[Any], str | None]) -> None:
        if self._savepoint_path is not None:
            values[SAVEPOINT_DIRECTORY] = self._savepoint_path
        for option in (STORAGE, DIRECTORY, INLINE_THRESHOLD, WRITE_BUFFER, MAX_STATE_SIZE):
            for key in option.keys:
                configuration.remove_config(key)
        for option, value in values.items():
            if value is not None:
                configuration.set_string(option.key, value)


class JobManagerCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in the driver's memory, for tests and small state. They do not survive the driver.

    >>> JobManagerCheckpointStorage(max_state_size=1024).get_max_state_size()
    1024
    """

    DEFAULT_MAX_STATE_SIZE = MAX_STATE_SIZE.default
    """Default maximum size of the state of one operator: 5 MiB."""

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        """Describe the storage.

        Args:
            checkpoint_path: URI of a directory for the metadata of checkpoints; None to keep it in memory as well.
            max_state_size: the maximum size of the state of one operator (bytes); None for the default.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument is out of range.
        """
        what = "the path of a JobManagerCheckpointStorage"
        super().__init__(None if checkpoint_path is None else check_directory(checkpoint_path, what))
        size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size
        self._max_state_size = check_for(MAX_STATE_SIZE, size, "max_state_size (bytes)")

    def get_checkpoint_path(self) -> str | None:
        """Return the directory for the metadata of checkpoints.

        >>> JobManagerCheckpointStorage("file:///backup").get_checkpoint_path()
        'file:/backup'
        """
        return self._checkpoint_path

    def get_max_state_size(self) -> int:
        """Return the maximum size of the state of one operator (bytes)."""
        return self._max_state_size

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration keys of this storage. PyFlink has no such method."""
        size = str(self._max_state_size)
        self._write(configuration, {STORAGE: "jobmanager", DIRECTORY: self._checkpoint_path, MAX_STATE_SIZE: size})


class FileSystemCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in a directory that all workers must reach.

    >>> storage = FileSystemCheckpointStorage("file:///data/checkpoints")
    >>> storage.get_checkpoint_path(), storage.get_min_file_size_threshold()
    ('file:/data/checkpoints', 20480)
    """

    MAX_FILE_STATE_THRESHOLD = INLINE_THRESHOLD.type.maximum
    """The largest allowed threshold: 1 MiB."""

    _checkpoint_path: str

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        """Describe the storage.

        Args:
            checkpoint_path: URI of the directory, such as ``file:///data/checkpoints``; required.
            file_state_size_threshold: size (bytes) below which state is stored in the metadata; None or -1 for the
                value in the configuration, which is 20 KiB by default.
            write_buffer_size: size of the write buffer (bytes); -1 for the value in the configuration, which is 4 KiB
                by default.

        Raises:
            TypeError: an argument is of the wrong type.
            ValueError: an argument is out of range.
        """
        if checkpoint_path is None:
            raise ValueError("checkpoint_path must not be None; name a directory, such as 'file:///data/checkpoints'")
        threshold = -1 if file_state_size_threshold is None else file_state_size_threshold
        what, hint = "file_state_size_threshold (bytes)", "use -1 for the value in the configuration"
        check_integer(threshold, what, minimum=-1, maximum=self.MAX_FILE_STATE_THRESHOLD, hint=hint)
        check_integer(write_buffer_size, "write_buffer_size (bytes)", minimum=-1, maximum=MAX_INT, hint=hint)
        super().__init__(check_directory(checkpoint_path, "the path of a FileSystemCheckpointStorage"))
        self._threshold = threshold
        self._write_buffer_size = write_buffer_size

    def get_checkpoint_path(self) -> str:
        """Return the directory of the checkpoints."""
        return self._checkpoint_path

    def get_min_file_size_threshold(self) -> int:
        """Return the size (bytes) below which state is stored in the metadata."""
        return INLINE_THRESHOLD.default if self._threshold < 0 else self._threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of the write buffer (bytes).

        >>> FileSystemCheckpointStorage("file:///backup", write_buffer_size=8_192).get_write_buffer_size()
        8192
        """
        return WRITE_BUFFER.default if self._write_buffer_size < 0 else self._write_buffer_size

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration keys of this storage. PyFlink has no such method."""
        threshold = _size(configuration, INLINE_THRESHOLD) if self._threshold < 0 else self._threshold
        buffer = _size(configuration, WRITE_BUFFER) if self._write_buffer_size < 0 else self._write_buffer_size
        values: dict[Option[Any], str | None] = {
            STORAGE: "filesystem",
            DIRECTORY: self._checkpoint_path,
            INLINE_THRESHOLD: None if threshold < 0 else f"{threshold} b",
            WRITE_BUFFER: None if buffer < 0 else str(buffer),
        }
        self._write(configuration, values)


class CustomCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in a custom store.

    PyFlink wraps a Java object. Here it is an object with the methods of
    :class:`~flintstream.storage.file_store.FileStore`. It must be picklable, because workers also write to it, and all
    its copies must access the same files.

    >>> from flintstream.storage.local import LocalFileStore
    >>> class Store(LocalFileStore):
    ...     def write(self, path, data):
    ...         print(f"{len(data)} bytes of {path}")
    >>> CustomCheckpointStorage(Store("/data/checkpoints")).get_store().write("chk-1/_metadata", b"...")
    3 bytes of chk-1/_metadata

    The configuration can name an importable class that needs no arguments:
    ``execution.checkpointing.storage: my_module:MyStore``.
    """

    kind = "custom"

    def __init__(self, custom_checkpoint_storage: FileStore) -> None:
        """Keep checkpoints in ``custom_checkpoint_storage``.

        Raises:
            UnsupportedByDesignError: the store is a Java object, or lacks methods of a ``FileStore``.
            TypeError: the store cannot be pickled.
        """
        super().__init__(None)
        needed = [name for name, member in vars(FileStore).items() if callable(member) and name[0] != "_"]
        missing = [name for name in needed if not callable(getattr(custom_checkpoint_storage, name, None))]
        if is_java(custom_checkpoint_storage) or isinstance(custom_checkpoint_storage, type) or missing:
            lacks = f"; it has no {', '.join(f'{name}()' for name in missing)}" if missing else ""
            raise UnsupportedByDesignError(
                f"CustomCheckpointStorage({custom_checkpoint_storage!r}) needs a Python object with the methods of a "
                f"FileStore, not a Java object{lacks}; otherwise use FileSystemCheckpointStorage, which writes to any "
                "file system that has a Python client"
            )
        try:
            by_value.dumps(custom_checkpoint_storage, names=False)
        except Exception as error:
            raise TypeError(
                f"the store {custom_checkpoint_storage!r} must be picklable, because workers also write to it: {error}"
            ) from error
        self._store = custom_checkpoint_storage

    @staticmethod
    def of_name(name: str, key: str = STORAGE.key) -> CustomCheckpointStorage:
        """Return the storage of the class ``module:Class``. PyFlink has no such method.

        Raises:
            UnsupportedByDesignError: the name does not refer to a Python callable.

        >>> CustomCheckpointStorage.of_name("my_job.storage:Store")
        Traceback (most recent call last):
        flintstream.errors.UnsupportedByDesignError: 'execution.checkpointing.storage' is 'my_job.storage:Store',
        which is not the name of a Python function or class (No module named 'my_job'); Java classes cannot be used:
        write 'module:function', or use 'filesystem' or 'jobmanager'
        """
        return CustomCheckpointStorage(load_callable(name, f"'{key}'", "or use 'filesystem' or 'jobmanager'")())

    def get_store(self) -> FileStore:
        """Return the store. PyFlink has no such method."""
        return self._store

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration key of a custom storage. PyFlink has no such method."""
        self._write(configuration, {STORAGE: self.kind})
