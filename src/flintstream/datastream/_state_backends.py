"""State backends: in memory, RocksDB, or custom."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable  # noqa: TC003 - documentation tools evaluate annotations
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.datastream._settings import (
    Settings,
    check_bool,
    check_for,
    check_member,
    is_java,
    load_callable,
    name_of,
)
from flintstream.errors import UnsupportedByDesignError
from flintstream.options.checkpointing import INCREMENTAL
from flintstream.options.rocksdb import DIRECTORIES, FACTORY, PREDEFINED, TRANSFER_THREADS
from flintstream.options.state import BACKEND
from flintstream.state.custom import CheckedFactory
from flintstream.storage.location import Location, names_scheme

if TYPE_CHECKING:
    from flintstream.common.configuration import Configuration
    from flintstream.state.backend import KeyedStateBackend


class StateBackend(Settings, ABC):
    """Base class of state backends.

    A backend is a few keys of the configuration:

    >>> from flintstream.common import Configuration
    >>> configuration = Configuration()
    >>> HashMapStateBackend().write_to(configuration)
    >>> configuration.get_string("state.backend.type", "none")
    'hashmap'
    >>> type(StateBackend.from_configuration(configuration)).__name__
    'HashMapStateBackend'
    """

    kind: ClassVar[str]
    """The value of ``state.backend.type`` for this backend."""

    @abstractmethod
    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration keys of this backend. PyFlink has no such method."""

    @staticmethod
    def from_configuration(configuration: Configuration) -> StateBackend:
        """Return the backend that the configuration describes, by default a hash map. PyFlink has no such method.

        Raises:
            ValueError: a value is invalid; the message names its key.
        """
        key, value = configuration.find(BACKEND) or (BACKEND.key, BACKEND.default)
        kind = value.lower()
        if kind in {"hashmap", "jobmanager", "filesystem"}:  # the last two are names from Flink 1.12
            return HashMapStateBackend()
        if kind == "rocksdb":
            return _rocksdb_of(configuration)
        if ":" in value:
            return CustomStateBackend.of_name(value, key)
        hint = ""
        if kind == CustomStateBackend.kind:
            hint = "; 'custom' refers to the argument of set_state_backend(CustomStateBackend(...))"
        raise ValueError(
            f"'{key}' must be 'hashmap' or 'rocksdb', or 'module:function' for a custom backend, got '{value}'{hint}"
        )


class HashMapStateBackend(StateBackend):
    """Keeps state as Python objects in the memory of the workers: the default, and the fastest as long as state fits.

    >>> from flintstream.common.configuration import Configuration
    >>> StateBackend.from_configuration(Configuration())
    HashMapStateBackend()
    """

    kind = "hashmap"

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration key of this backend. PyFlink has no such method."""
        configuration.set_string(BACKEND.key, self.kind)


class CustomStateBackend(StateBackend):
    """Keeps state in a custom backend.

    PyFlink wraps a Java object. Here the factory is a Python class or function. Workers call it once for each keyed
    operator and subtask, with the operator's name and a function from keys to key groups. It must return a
    :class:`~flintstream.state.backend.KeyedStateBackend`.

    >>> from flintstream.state.hash_map import HashMapStateBackend as Keyed
    >>> class Counting(Keyed):
    ...     accesses = 0
    ...
    ...     def state(self, descriptor, scope=None):
    ...         Counting.accesses += 1
    ...         return super().state(descriptor, scope)
    >>> backend = CustomStateBackend(lambda operator, key_group: Counting(operator))

    The configuration can name an importable function: ``state.backend.type: my_module:make``.
    """

    kind = "custom"

    def __init__(self, custom_state_backend: Callable[[str, Callable[[Any], int]], KeyedStateBackend]) -> None:
        """Use the backend that ``custom_state_backend(operator_name, key_group)`` returns.

        Raises:
            UnsupportedByDesignError: the argument is a Java object, or not callable.
        """
        if is_java(custom_state_backend) or not callable(custom_state_backend):
            raise UnsupportedByDesignError(
                f"CustomStateBackend({custom_state_backend!r}) needs a Python class or function that is called with "
                "(operator_name, key_group) and returns a KeyedStateBackend, not a Java object; otherwise use "
                "HashMapStateBackend or EmbeddedRocksDBStateBackend"
            )
        self._factory = custom_state_backend

    @staticmethod
    def of_name(name: str, key: str = BACKEND.key) -> CustomStateBackend:
        """Return the backend of the factory ``module:function``. PyFlink has no such method.

        Raises:
            UnsupportedByDesignError: the name does not refer to a Python callable.

        >>> backend = CustomStateBackend.of_name("flintstream.state.hash_map:HashMapStateBackend")
        >>> type(backend).__name__
        'CustomStateBackend'
        """
        return CustomStateBackend(load_callable(name, f"'{key}'", "or use 'hashmap' or 'rocksdb'"))

    def get_factory(self) -> CheckedFactory:
        """Return the factory, which checks the backends that it creates. PyFlink has no such method.

        >>> from flintstream.state.hash_map import HashMapStateBackend as HashMap
        >>> callable(CustomStateBackend(HashMap).get_factory())
        True
        """
        return CheckedFactory(self._factory)

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration key of a custom backend. PyFlink has no such method."""
        configuration.set_string(BACKEND.key, self.kind)


class PredefinedOptions(Enum):
    """Sets of RocksDB options for kinds of disks.

    >>> [member.name for member in PredefinedOptions]
    ['DEFAULT', 'SPINNING_DISK_OPTIMIZED', 'SPINNING_DISK_OPTIMIZED_HIGH_MEM', 'FLASH_SSD_OPTIMIZED']
    """

    DEFAULT = 0
    """RocksDB's own defaults, without syncing: checkpoints make state durable."""

    SPINNING_DISK_OPTIMIZED = 1
    """For hard disks: bigger levels, more parallel compaction."""

    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    """For hard disks with plenty of memory: bigger write buffers and block cache, and Bloom filters."""

    FLASH_SSD_OPTIMIZED = 3
    """For SSDs: more parallel compaction."""


class EmbeddedRocksDBStateBackend(StateBackend):
    """Keeps state in RocksDB on the local disks of the workers, for state that is larger than memory.

    >>> backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    >>> backend.set_db_storage_paths("file:///disk1/state", "/disk2/state")
    >>> backend.get_db_storage_paths(), backend.is_incremental_checkpoints_enabled()
    (['/disk1/state', '/disk2/state'], True)

    >>> backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    >>> backend.set_predefined_options(PredefinedOptions.SPINNING_DISK_OPTIMIZED)
    >>> backend.get_predefined_options().name
    'SPINNING_DISK_OPTIMIZED'
    >>> backend.set_number_of_transfer_threads(8)
    >>> backend.get_number_of_transfer_threads()
    8
    """

    kind = "rocksdb"

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        """Create the backend.

        Args:
            enable_incremental_checkpointing: whether checkpoints reuse the files of earlier ones; None for the
                value in the configuration, which is False by default.

        Raises:
            TypeError: the argument has a different type.
        """
        if enable_incremental_checkpointing is not None:
            check_bool(enable_incremental_checkpointing, "enable_incremental_checkpointing")
        self._incremental = enable_incremental_checkpointing
        self._paths: tuple[str, ...] | None = None
        self._predefined_options: PredefinedOptions | None = None
        self._transfer_threads: int | None = None
        self._options_factory: Callable[..., Any] | None = None

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the local directories of the databases, to which subtasks are distributed; none for the workers' own.

        Raises:
            TypeError: a path is not a str.
            ValueError: a path is relative or not local.
        """
        self._paths = tuple(_local_directory(path) for path in paths) or None

    def get_db_storage_paths(self) -> list[str]:
        """Return the local directories of the databases; empty if none are set (PyFlink raises an error)."""
        return list(self._paths or ())

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints reuse the files of earlier ones."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Set the options of RocksDB for a kind of disk.

        Raises:
            TypeError: ``options`` is not a :class:`PredefinedOptions`.
        """
        self._predefined_options = check_member(options, PredefinedOptions, "the predefined options")

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the predefined options of RocksDB."""
        return self._predefined_options or PredefinedOptions[PREDEFINED.default]

    def set_options(self, options_factory_class_name: str | Callable[..., Any]) -> None:
        """Set the factory that changes RocksDB options: a Python class or function, or its name ``module:function``.

        PyFlink takes the name of a Java class.

        Raises:
            UnsupportedByDesignError: there is nothing of that name that Python can call.

        >>> backend = EmbeddedRocksDBStateBackend()
        >>> backend.set_options("operator:pos")
        >>> backend.get_options(), backend.get_options_factory().__name__
        ('_operator:pos', 'pos')
        """
        if isinstance(options_factory_class_name, str):
            self._options_factory = load_callable(
                options_factory_class_name, "the RocksDB options factory", "or use set_predefined_options()"
            )
        elif callable(options_factory_class_name):
            self._options_factory = options_factory_class_name
        else:
            raise TypeError(
                "the RocksDB options factory must be a function or class, or its name as 'module:function', got "
                f"{options_factory_class_name!r}"
            )

    def get_options(self) -> str | None:
        """Return the name of the RocksDB options factory; None if there is none.

        >>> EmbeddedRocksDBStateBackend().get_options() is None
        True
        """
        return None if self._options_factory is None else name_of(self._options_factory)

    def get_options_factory(self) -> Callable[..., Any] | None:
        """Return the RocksDB options factory. PyFlink has no such method.

        >>> EmbeddedRocksDBStateBackend().get_options_factory() is None
        True
        """
        return self._options_factory

    def get_number_of_transfer_threads(self) -> int:
        """Return how many files of a checkpoint are copied in parallel."""
        return TRANSFER_THREADS.default if self._transfer_threads is None else self._transfer_threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many files of a checkpoint are copied in parallel.

        Raises:
            TypeError: the number is not an int.
            ValueError: the number is less than 1.
        """
        check_for(TRANSFER_THREADS, number_of_transfering_threads, "the number of transfer threads")
        self._transfer_threads = number_of_transfering_threads

    def write_to(self, configuration: Configuration) -> None:
        """Set the configuration keys of this backend. PyFlink has no such method.

        As in Flink, settings that the backend does not set are unchanged in the configuration.
        """
        configuration.set_string(BACKEND.key, self.kind)
        if self._incremental is not None:
            configuration.set_boolean(INCREMENTAL.key, self._incremental)
        if self._paths is not None:
            configuration.set_string(DIRECTORIES.key, ",".join(self._paths))
        if self._predefined_options is not None:
            configuration.set_string(PREDEFINED.key, self._predefined_options.name)
        if self._transfer_threads is not None:
            configuration.set_integer(TRANSFER_THREADS.key, self._transfer_threads)
        if self._options_factory is not None:
            configuration.set_string(FACTORY.key, name_of(self._options_factory))


def _local_directory(path: str) -> str:
    what = "a storage path of RocksDB"
    if not isinstance(path, str):
        raise TypeError(f"{what} must be a str, got {path!r}")
    if not path.startswith("/") and not names_scheme(path):
        raise ValueError(f"{what} must be absolute, got {path!r}; write for example '/{path}'")
    location = Location.parse(path, what)
    if not location.is_local:
        raise ValueError(f"{what} must be on a local disk, got {path!r}; checkpoints may go elsewhere")
    return location.path


def _rocksdb_of(configuration: Configuration) -> EmbeddedRocksDBStateBackend:
    """Return the backend that the RocksDB keys describe."""
    backend = EmbeddedRocksDBStateBackend(configuration.get(INCREMENTAL))
    paths = configuration.get(DIRECTORIES)
    if paths:
        backend.set_db_storage_paths(*(path.strip() for path in paths.split(",")))
    if configuration.find(TRANSFER_THREADS):
        backend.set_number_of_transfer_threads(configuration.get(TRANSFER_THREADS))
    backend.set_predefined_options(PredefinedOptions[configuration.get(PREDEFINED)])
    factory = configuration.get(FACTORY)
    if factory is not None:
        backend.set_options(factory)
    return backend
