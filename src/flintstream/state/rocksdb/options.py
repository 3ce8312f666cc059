"""What the configuration says of RocksDB, and what that means for a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

try:
    import rocksdict
except ImportError as error:
    raise MissingDependencyError("rocksdict", extra="rocksdb", purpose="EmbeddedRocksDBStateBackend") from error

PREFIX = "state.backend.rocksdb."
CACHE_ENTRIES = "flintstream.state.rocksdb.backend.cached-entries"
"""The one key without :data:`PREFIX`: entries of a state that are kept as objects in a subtask."""

MANAGED_MEMORY = 128 << 20
"""Bytes that the databases of a worker share for blocks and write buffers unless the configuration says otherwise."""

_MiB = 1 << 20
_UNITS = {"": 1, "b": 1, "bytes": 1, "kb": 1 << 10, "k": 1 << 10, "mb": _MiB, "m": _MiB, "gb": 1 << 30, "g": 1 << 30}
_SIZE = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE | re.ASCII)

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
        "compaction.level.target-file-size-base": 256 * _MiB,
        "compaction.level.max-size-level-base": 1 << 30,
        "writebuffer.size": 64 * _MiB,
        "writebuffer.number-to-merge": 3,
        "writebuffer.count": 4,
        "block.cache-size": 256 * _MiB,
        "block.blocksize": 128 << 10,
        "use-bloom-filter": True,
    },
    "FLASH_SSD_OPTIMIZED": {"parallelism": 4, "files.open": -1},
}
"""What the sets of options stand for, in terms of the configuration's keys (``parallelism`` has no key)."""


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError("a memory size like '64 mb'")
    return int(match[1]) * _UNITS[match[2].lower()]


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _positive(text: str) -> int:
    number = _integer(text)
    if number < 1:
        raise ValueError("a whole number of at least 1")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _ratio(text: str) -> float:
    ratio = _number(text)
    if not 0 < ratio <= 1:
        raise ValueError("a number greater than 0 and no greater than 1")
    return ratio


def _flag(text: str) -> bool:
    if text.strip().lower() not in {"true", "false"}:
        raise ValueError("'true' or 'false'")
    return text.strip().lower() == "true"


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.strip().upper() not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return text.strip().upper()

    return read


_COMPRESSIONS = {
    "NO_COMPRESSION": "none",
    "SNAPPY_COMPRESSION": "snappy",
    "ZLIB_COMPRESSION": "zlib",
    "BZLIB2_COMPRESSION": "bz2",
    "LZ4_COMPRESSION": "lz4",
    "LZ4HC_COMPRESSION": "lz4hc",
    "ZSTD_COMPRESSION": "zstd",
}
_compression = _one_of(*_COMPRESSIONS)


def _compressions(text: str) -> list[str]:
    return [_compression(part) for part in re.split("[;,]", text) if part.strip()]


READERS: dict[str, Callable[[str], Any]] = {
    "predefined-options": _one_of(*PREDEFINED),
    "block.blocksize": _size,
    "block.cache-size": _size,
    "block.metadata-blocksize": _size,
    "bloom-filter.bits-per-key": _number,
    "bloom-filter.block-based-mode": _flag,
    "use-bloom-filter": _flag,
    "compaction.style": _one_of("LEVEL", "UNIVERSAL"),  # FIFO drops state when there is much of it
    "compaction.level.use-dynamic-size": _flag,
    "compaction.level.target-file-size-base": _size,
    "compaction.level.max-size-level-base": _size,
    "compression.per.level": _compressions,
    "files.open": _integer,
    "thread.num": _positive,
    "writebuffer.size": _size,
    "writebuffer.count": _positive,
    "writebuffer.number-to-merge": _positive,
    "memory.managed": _flag,
    "memory.fixed-per-slot": _size,
    "memory.fixed-per-tm": _size,
    "memory.write-buffer-ratio": _ratio,
    CACHE_ENTRIES: _positive,
}
"""The keys that have an effect, without :data:`PREFIX`, and how their values are read."""


@dataclass(frozen=True)
class RocksDBOptions:
    """How the databases of a worker are set up."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """By key without :data:`PREFIX`: what was configured, on top of the predefined options."""
    directories: tuple[str, ...] = ()
    """Where databases go; the directory for temporary files when there are none."""
    factory: Callable[..., Any] | None = None
    """Is given the options of each database, an ``Options`` of rocksdict, and returns them, or others.

    It is a function, or a class without arguments whose objects can be called.
    """

    @staticmethod
    def of(configuration: Mapping[str, str], factory: Any = None) -> RocksDBOptions:
        """Return what the keys of a configuration say.

        Raises:
            ValueError: A value is no valid setting; the message names its key.

        >>> RocksDBOptions.of({"state.backend.rocksdb.writebuffer.size": "32 mb"}).values
        {'writebuffer.size': 33554432}
        """
        given: dict[str, Any] = {}
        for name, read in READERS.items():
            key = name if name == CACHE_ENTRIES else PREFIX + name
            text = configuration.get(key)
            if text is not None:
                try:
                    given[name] = read(str(text))
                except ValueError as error:
                    raise ValueError(f"'{key}' must be {error}, got '{text}'") from None
        predefined = PREDEFINED[given.pop("predefined-options", "DEFAULT")]
        directories = str(configuration.get(PREFIX + "localdir", "")).split(",")
        return RocksDBOptions(
            {**predefined, **given},
            tuple(re.sub("^file:/*", "/", directory.strip()) for directory in directories if directory.strip()),
            factory,
        )

    @property
    def cache_entries(self) -> int:
        """How many entries of a state are kept as objects."""
        return int(self.values.get(CACHE_ENTRIES, 100_000))

    @property
    def shared_memory(self) -> int | None:
        """Bytes that all databases of a worker share; None where each has memory of its own."""
        for name in ("memory.fixed-per-slot", "memory.fixed-per-tm"):
            if name in self.values:
                return int(self.values[name])
        return MANAGED_MEMORY if self.values.get("memory.managed", True) else None

    def build(self) -> Any:
        """Return options for one database.

        Raises:
            TypeError: The factory returned something else.
        """
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_use_fsync(False)
        # RocksDB's own log of what it does, which nobody reads
        options.set_keep_log_file_num(1)
        options.set_max_log_file_size(_MiB)
        # files of which most rows were removed are compacted, so that expired state leaves the disk
        options.add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5)
        for name, apply in _SETTERS.items():
            if name in self.values:
                apply(options, self.values[name])
        options.set_block_based_table_factory(self._tables(options))
        if self.factory is None:
            return options
        made = (self.factory() if isinstance(self.factory, type) else self.factory)(options)
        if not isinstance(made, rocksdict.Options):
            raise TypeError(
                f"the RocksDB options factory {self.factory!r} must return the rocksdict Options it is given, or "
                f"others, but returned {made!r}"
            )
        return made

    def _tables(self, options: Any) -> Any:
        values = self.values
        tables = rocksdict.BlockBasedOptions()
        shared = self.shared_memory
        if shared is not None:
            cache, manager = _memory(shared, values.get("memory.write-buffer-ratio", 0.5))
            tables.set_block_cache(cache)
            # else they would come on top of what is shared
            tables.set_cache_index_and_filter_blocks(True)
            tables.set_pin_l0_filter_and_index_blocks_in_cache(True)
            options.set_write_buffer_manager(manager)
        elif "block.cache-size" in values:
            tables.set_block_cache(rocksdict.Cache(values["block.cache-size"]))
        if "block.blocksize" in values:
            tables.set_block_size(values["block.blocksize"])
        if "block.metadata-blocksize" in values:
            tables.set_metadata_block_size(values["block.metadata-blocksize"])
        if values.get("use-bloom-filter"):
            bits = values.get("bloom-filter.bits-per-key", 10)
            tables.set_bloom_filter(bits, values.get("bloom-filter.block-based-mode", False))
        return tables


def _set_compression(options: Any, levels: list[str]) -> None:
    kinds = [getattr(rocksdict.DBCompressionType, _COMPRESSIONS[name])() for name in levels]
    if len(kinds) == 1:
        options.set_compression_type(kinds[0])
    else:
        options.set_compression_per_level(kinds)


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


_memories: dict[tuple[int, float], tuple[Any, Any]] = {}


def _memory(size: int, write_buffer_ratio: float) -> tuple[Any, Any]:
    """Return the block cache and the manager of write buffers that all databases of this process share."""
    found = _memories.get((size, write_buffer_ratio))
    if found is None:
        cache = rocksdict.Cache(size)
        buffers = int(size * write_buffer_ratio)
        manager = rocksdict.WriteBufferManager.new_write_buffer_manager_with_cache(buffers, False, cache)
        found = _memories[size, write_buffer_ratio] = (cache, manager)
    return found
