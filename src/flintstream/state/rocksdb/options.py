"""The options of RocksDB, from the configuration to a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.errors import MissingDependencyError
from flintstream.options import rocksdb
from flintstream.options.units import KB, MB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.options.option import Option

try:
    import rocksdict
except ImportError as error:
    raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend") from error

T = TypeVar("T")

_SPINNING: dict[str, Any] = {
    "compaction.style": "LEVEL",
    "compaction.level.use-dynamic-size": True,
    "parallelism": 4,
    "files.open": -1,
}
PREDEFINED: dict[str, dict[str, Any]] = {
    "DEFAULT": {},
    "SPINNING_DISK_OPTIMIZED": _SPINNING,
    "SPINNING_DISK_OPTIMIZED_HIGH_MEM": {
        **_SPINNING,
        "compaction.level.target-file-size-base": 256 * MB,
        "compaction.level.max-size-level-base": 1024 * MB,
        "writebuffer.size": 64 * MB,
        "writebuffer.number-to-merge": 3,
        "writebuffer.count": 4,
        "block.cache-size": 256 * MB,
        "block.blocksize": 128 * KB,
        "use-bloom-filter": True,
    },
    "FLASH_SSD_OPTIMIZED": {"parallelism": 4, "files.open": -1},
}
"""The predefined sets of options, by key without the prefix. ``parallelism`` has no key."""


def _name(option: Option[Any]) -> str:
    return option.key.removeprefix(rocksdb.PREFIX)


_READ_ELSEWHERE = {rocksdb.DIRECTORIES, rocksdb.FACTORY, rocksdb.TRANSFER_THREADS}

READ = tuple(option for option in rocksdb.OPTIONS if option not in _READ_ELSEWHERE)
"""The options of a single database."""


@dataclass(frozen=True)
class RocksDBOptions:
    """The options of the databases of a worker."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """The predefined options updated with the configured ones, by key without the prefix."""
    directories: tuple[str, ...] = ()
    """Directories for databases. If empty, the directory for temporary files is used."""
    factory: Callable[..., Any] | None = None
    """Receives the options of each database, an ``Options`` of rocksdict, and returns the same or other options.

    A function, or a class without arguments whose objects are callable.
    """

    @staticmethod
    def of(configuration: Mapping[str, str], factory: Any = None) -> RocksDBOptions:
        """Return the options in a configuration.

        Raises:
            ValueError: A value is invalid. The message names its key.

        >>> RocksDBOptions.of({"state.backend.rocksdb.writebuffer.size": "32 mb"}).values
        {'writebuffer.size': 33554432}
        """
        given = {_name(option): option.read(configuration) for option in READ if option.key_in(configuration)}
        predefined = PREDEFINED[given.pop(_name(rocksdb.PREDEFINED), rocksdb.PREDEFINED.default)]
        directories = (rocksdb.DIRECTORIES.read(configuration) or "").split(",")
        return RocksDBOptions(
            {**predefined, **given},
            tuple(re.sub("^file:/*", "/", directory.strip()) for directory in directories if directory.strip()),
            factory,
        )

    def value(self, option: Option[T]) -> T:
        """Return the configured or predefined value of an option, or else its default."""
        value: T = self.values.get(_name(option), option.default)
        return value

    @property
    def cache_entries(self) -> int:
        """Number of entries per state that are kept as objects."""
        return self.value(rocksdb.CACHED_ENTRIES)

    @property
    def cache_bytes(self) -> int:
        """Bytes that the entries of a state that are kept as objects may have, encoded."""
        return self.value(rocksdb.CACHED_BYTES)

    @property
    def shared_memory(self) -> int | None:
        """Bytes of memory that all databases of a worker share; None if each has separate memory."""
        for option in (rocksdb.MEMORY_PER_SLOT, rocksdb.MEMORY_PER_WORKER):
            fixed = self.value(option)
            if fixed is not None:
                return fixed
        return rocksdb.MANAGED_MEMORY if self.value(rocksdb.MEMORY_MANAGED) else None

    def build(self) -> Any:
        """Return options for one database.

        Raises:
            TypeError: The factory returned something other than ``Options``.
        """
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_use_fsync(False)
        # Keep RocksDB's own log small, as it is never read.
        options.set_keep_log_file_num(1)
        options.set_max_log_file_size(MB)
        # Compact files in which most rows are deleted, so that expired state leaves the disk.
        options.add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5)
        # Most reads are of rows that are not in the write buffer, and searching it takes half the time of a read.
        options.set_memtable_whole_key_filtering(True)
        options.set_memtable_prefix_bloom_ratio(self._buffer_filter)
        for name, apply in _SETTERS.items():
            if name in self.values:
                apply(options, self.values[name])
        options.set_block_based_table_factory(self._tables(options))
        if self.factory is None:
            return options
        made = (self.factory() if isinstance(self.factory, type) else self.factory)(options)
        if not isinstance(made, rocksdict.Options):
            raise TypeError(
                f"the RocksDB options factory {self.factory!r} must return the rocksdict Options it receives, or "
                f"other Options, but returned {made!r}"
            )
        return made

    @property
    def _buffer_filter(self) -> float:
        """Part of the configured size of a write buffer that its filter takes, if less memory is shared for all."""
        size, shared = self.value(rocksdb.WRITE_BUFFER_SIZE) or USUAL_BUFFER, self.shared_memory
        most = size if shared is None else shared * self.value(rocksdb.WRITE_BUFFER_RATIO)
        return BUFFER_FILTER * min(most / size, 1)

    def _tables(self, options: Any) -> Any:
        tables = rocksdict.BlockBasedOptions()
        shared = self.shared_memory
        cache_size = self.value(rocksdb.BLOCK_CACHE)
        block_size, metadata_block_size = self.value(rocksdb.BLOCK_SIZE), self.value(rocksdb.METADATA_BLOCK_SIZE)
        if shared is not None:
            cache, manager = _memory(shared, self.value(rocksdb.WRITE_BUFFER_RATIO), block_size)
            tables.set_block_cache(cache)
            # Otherwise they would be outside the shared memory.
            tables.set_cache_index_and_filter_blocks(True)
            tables.set_pin_l0_filter_and_index_blocks_in_cache(True)
            options.set_write_buffer_manager(manager)
        elif cache_size is not None:
            tables.set_block_cache(_cache(cache_size, block_size))
        if block_size is not None:
            tables.set_block_size(block_size)
        if metadata_block_size is not None:
            tables.set_metadata_block_size(metadata_block_size)
        if self.value(rocksdb.BLOOM_FILTER):
            bits: Any = self.value(rocksdb.BLOOM_BITS)  # the type stub requires an int
            tables.set_bloom_filter(bits, self.value(rocksdb.BLOOM_BLOCKS))
        return tables


def _set_compression(options: Any, levels: list[str]) -> None:
    compressions = [getattr(rocksdict.DBCompressionType, rocksdb.COMPRESSIONS[name])() for name in levels]
    if len(compressions) == 1:
        options.set_compression_type(compressions[0])
    else:
        options.set_compression_per_level(compressions)


_SETTERS: dict[str, Callable[[Any, Any], None]] = {
    "parallelism": lambda o, v: o.increase_parallelism(v),
    "compaction.style": lambda o, v: o.set_compaction_style(getattr(rocksdict.DBCompactionStyle, v.lower())()),
    "compaction.level.use-dynamic-size": lambda o, v: o.set_level_compaction_dynamic_level_bytes(v),
    "compaction.level.target-file-size-base": lambda o, v: o.set_target_file_size_base(v),
    "compaction.level.max-size-level-base": lambda o, v: o.set_max_bytes_for_level_base(v),
    "compression.per.level": _set_compression,
    "files.open": lambda o, v: o.set_max_open_files(v),
    "thread.num": lambda o, v: o.set_max_background_jobs(v),
    "writebuffer.size": lambda o, v: o.set_write_buffer_size(v),
    "writebuffer.count": lambda o, v: o.set_max_write_buffer_number(v),
    "writebuffer.number-to-merge": lambda o, v: o.set_min_write_buffer_number_to_merge(v),
}


BUFFER_FILTER = 0.02
"""Part of a write buffer that is a filter of its rows: 10 bits each, if they have 64 bytes."""

USUAL_BUFFER = 64 * MB
"""The size of a write buffer if none is configured."""

USUAL_BLOCK = 4 * KB
"""The block size of RocksDB if none is configured."""


def _cache(size: int, block_size: int | None) -> Any:
    """Return a cache of blocks.

    Not an LRU cache, whose shards have 2 MiB of 128: when write buffers take their part of a shard, the index of a file
    does not fit into the rest, and each read of a row reads it again.
    """
    return rocksdict.Cache.new_hyper_clock_cache(size, block_size or USUAL_BLOCK)


_memories: dict[tuple[int, float], tuple[Any, Any]] = {}


def _memory(size: int, write_buffer_ratio: float, block_size: int | None) -> tuple[Any, Any]:
    """Return the block cache and the write buffer manager that all databases of this process share."""
    found = _memories.get((size, write_buffer_ratio))
    if found is None:
        cache = _cache(size, block_size)
        buffers = int(size * write_buffer_ratio)
        manager = rocksdict.WriteBufferManager.new_write_buffer_manager_with_cache(buffers, False, cache)
        found = _memories[size, write_buffer_ratio] = (cache, manager)
    return found
