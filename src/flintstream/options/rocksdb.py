"""The options of RocksDB."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, SIZE, TEXT, count, names, number, several
from flintstream.options.units import MB, size_text

PREFIX = "state.backend.rocksdb."
"""Common prefix of the keys of these options, except :data:`CACHED_ENTRIES`."""

MANAGED_MEMORY = 128 * MB
"""Bytes that the databases of a worker share for blocks and write buffers, by default."""

COMPRESSIONS = {
    "NO_COMPRESSION": "none",
    "SNAPPY_COMPRESSION": "snappy",
    "ZLIB_COMPRESSION": "zlib",
    "BZLIB2_COMPRESSION": "bz2",
    "LZ4_COMPRESSION": "lz4",
    "LZ4HC_COMPRESSION": "lz4hc",
    "ZSTD_COMPRESSION": "zstd",
}
"""Flink's name of a compression -> RocksDB's."""

DIRECTORIES = Option(f"{PREFIX}localdir", TEXT, None, "local directories for the databases, separated by commas")
PREDEFINED = Option(
    f"{PREFIX}predefined-options",
    names("DEFAULT", "SPINNING_DISK_OPTIMIZED", "SPINNING_DISK_OPTIMIZED_HIGH_MEM", "FLASH_SSD_OPTIMIZED"),
    "DEFAULT",
    "a set of RocksDB options for a kind of disk",
)
FACTORY = Option(f"{PREFIX}options-factory", TEXT, None, "`module:function` that changes RocksDB options")
TRANSFER_THREADS = Option(f"{PREFIX}checkpoint.transfer.thread.num", count(1), 4, "number of files to copy at a time")
MEMORY_MANAGED = Option(
    f"{PREFIX}memory.managed",
    FLAG,
    True,
    f"whether the databases of a worker share {size_text(MANAGED_MEMORY)} of memory",
)
MEMORY_PER_SLOT = Option(f"{PREFIX}memory.fixed-per-slot", SIZE, None, "size of that shared memory, instead of 128 mb")
MEMORY_PER_WORKER = Option(
    f"{PREFIX}memory.fixed-per-tm", SIZE, None, "another name for that size; `fixed-per-slot` takes precedence"
)
WRITE_BUFFER_RATIO = Option(
    f"{PREFIX}memory.write-buffer-ratio",
    number("greater than 0 and no greater than 1", lambda value: 0 < value <= 1),
    0.5,
    "fraction of the shared memory for write buffers",
)
BLOCK_CACHE = Option(f"{PREFIX}block.cache-size", SIZE, None, "cache of a database without shared memory")
BLOCK_SIZE = Option(f"{PREFIX}block.blocksize", SIZE, None, "size of the blocks in files")
METADATA_BLOCK_SIZE = Option(f"{PREFIX}block.metadata-blocksize", SIZE, None, "size of the blocks in indexes")
BLOOM_FILTER = Option(f"{PREFIX}use-bloom-filter", FLAG, False, "whether files have bloom filters")
BLOOM_BITS = Option(
    f"{PREFIX}bloom-filter.bits-per-key", number("of at least 0", lambda value: value >= 0), 10.0, "size of the filters"
)
BLOOM_BLOCKS = Option(f"{PREFIX}bloom-filter.block-based-mode", FLAG, False, "whether each block has a filter")
WRITE_BUFFER_SIZE = Option(f"{PREFIX}writebuffer.size", SIZE, None, "size of a write buffer")
WRITE_BUFFERS = Option(f"{PREFIX}writebuffer.count", count(1), None, "largest number of write buffers")
WRITE_BUFFERS_TO_MERGE = Option(
    f"{PREFIX}writebuffer.number-to-merge", count(1), None, "number of write buffers to merge into one file"
)
COMPACTION = Option(
    f"{PREFIX}compaction.style",
    names("LEVEL", "UNIVERSAL"),
    None,
    "`LEVEL` or `UNIVERSAL`; not `FIFO`, which would drop state",
)
DYNAMIC_LEVELS = Option(
    f"{PREFIX}compaction.level.use-dynamic-size", FLAG, None, "whether the sizes of levels adapt to the data"
)
LEVEL_FILE_SIZE = Option(f"{PREFIX}compaction.level.target-file-size-base", SIZE, None, "size of the files of level 1")
LEVEL_SIZE = Option(f"{PREFIX}compaction.level.max-size-level-base", SIZE, None, "size of level 1")
COMPRESSION = Option(
    f"{PREFIX}compression.per.level",
    several(COMPRESSIONS),
    None,
    "a compression such as `LZ4_COMPRESSION` for all levels, or one for each level, separated by `;`",
)
OPEN_FILES = Option(f"{PREFIX}files.open", count(-1), None, "largest number of open files; -1 for no limit")
THREADS = Option(f"{PREFIX}thread.num", count(1), None, "number of threads that flush buffers and compact files")
CACHED_ENTRIES = Option(
    "flintstream.state.rocksdb.cached-entries",
    count(1),
    100_000,
    "number of entries per state and subtask to keep as objects",
)
CACHED_BYTES = Option(
    "flintstream.state.rocksdb.cached-bytes",
    SIZE,
    128 * MB,
    "approximate limit on the encoded size of these entries; fewer are kept if they are large",
)

OPTIONS = options_in(globals())
