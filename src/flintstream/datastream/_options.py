"""The keys of the configuration: those of state, checkpoints and restarts, and how any key is found.

The tables in the documentation are made of these: ``python -m flintstream.datastream._options`` prints them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.datastream._general_options import GENERAL
from flintstream.datastream._option import ANY, FLAG, SIZE, Option, Values, count, names, number, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.configuration import Configuration

__all__ = ["ALL", "GENERAL", "OPTIONS", "WITHOUT_EFFECT", "Option", "find", "spelling_of", "spellings", "table"]

_OTHER_STRATEGIES = ("off", "disable", "fixeddelay", "failurerate", "exponentialdelay")

_COMPRESSION = names(
    "NO_COMPRESSION",
    "SNAPPY_COMPRESSION",
    "ZLIB_COMPRESSION",
    "BZLIB2_COMPRESSION",
    "LZ4_COMPRESSION",
    "LZ4HC_COMPRESSION",
    "ZSTD_COMPRESSION",
)
_COMPRESSIONS = Values(
    f"{_COMPRESSION.words}, or several with ';' between them",
    lambda text: all(part.strip() in _COMPRESSION for part in re.split("[;,]", text) if part.strip()),
)

OPTIONS = (
    Option(
        "execution.checkpointing.interval",
        span(10),
        None,
        "time between checkpoints; none are taken while it is not set",
    ),
    Option(
        "execution.checkpointing.mode",
        names("EXACTLY_ONCE", "AT_LEAST_ONCE"),
        "EXACTLY_ONCE",
        "`AT_LEAST_ONCE`: sinks do not wait for checkpoints",
    ),
    Option("execution.checkpointing.timeout", span(10), "10 min", "how long a checkpoint may take"),
    Option(
        "execution.checkpointing.min-pause",
        span(0),
        "0 ms",
        "least time between the end of one and the start of the next",
    ),
    Option(
        "execution.checkpointing.tolerable-failed-checkpoints",
        count(0),
        "0",
        "how many in a row may fail before the job does",
    ),
    Option(
        "execution.checkpointing.externalized-checkpoint-retention",
        names("NO_EXTERNALIZED_CHECKPOINTS", "RETAIN_ON_CANCELLATION", "DELETE_ON_CANCELLATION"),
        "NO_EXTERNALIZED_CHECKPOINTS",
        "what is kept of a job that ends before its input does: `RETAIN_ON_CANCELLATION` its checkpoints, "
        "`DELETE_ON_CANCELLATION` only those of a job that failed",
    ),
    Option(
        "execution.checkpointing.num-retained",
        count(1),
        "1",
        "how many completed checkpoints are kept",
        ("state.checkpoints.num-retained",),
    ),
    Option(
        "execution.checkpointing.storage",
        ANY,
        None,
        "`jobmanager` (the driver's memory), `filesystem`, or `module:Class` for one of your own; `filesystem` where a "
        "directory is set",
        ("state.checkpoint-storage",),
    ),
    Option(
        "execution.checkpointing.dir",
        ANY,
        None,
        "URI of the directory of checkpoints, which all workers must reach",
        ("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
    ),
    Option(
        "execution.checkpointing.savepoint-dir",
        ANY,
        None,
        "where savepoints go that are asked for without a directory",
        ("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
    ),
    Option(
        "execution.checkpointing.data-inline-threshold",
        SIZE,
        "20 kb",
        "state of no more bytes is stored within the metadata",
        ("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"),
    ),
    Option(
        "flintstream.checkpointing.jobmanager.max-state-size",
        SIZE,
        "5 mb",
        "how much state one subtask may have in the driver's memory",
    ),
    Option(
        "execution.checkpointing.incremental",
        FLAG,
        "false",
        "whether checkpoints of RocksDB re-use the files of earlier ones",
        ("state.backend.incremental",),
    ),
    Option(
        "state.backend.type",
        ANY,
        "hashmap",
        "`hashmap`, `rocksdb`, or `module:function` for one of your own; BATCH jobs use a hash map in any case",
        ("state.backend",),
    ),
    Option("state.backend.rocksdb.localdir", ANY, None, "local directories of the databases, with commas between them"),
    Option(
        "state.backend.rocksdb.predefined-options",
        names("DEFAULT", "SPINNING_DISK_OPTIMIZED", "SPINNING_DISK_OPTIMIZED_HIGH_MEM", "FLASH_SSD_OPTIMIZED"),
        "DEFAULT",
        "sets of RocksDB's options for kinds of disks",
    ),
    Option("state.backend.rocksdb.options-factory", ANY, None, "`module:function` that changes RocksDB's options"),
    Option(
        "state.backend.rocksdb.checkpoint.transfer.thread.num", count(1), "4", "how many files are copied at a time"
    ),
    Option(
        "state.backend.rocksdb.memory.managed",
        FLAG,
        "true",
        "whether the databases of a worker share 128 MiB of memory",
    ),
    Option("state.backend.rocksdb.memory.fixed-per-slot", SIZE, None, "how much memory they share, if not that"),
    Option("state.backend.rocksdb.memory.fixed-per-tm", SIZE, None, "the same; `fixed-per-slot` counts first"),
    Option(
        "state.backend.rocksdb.memory.write-buffer-ratio",
        number("greater than 0 and no greater than 1", lambda value: 0 < value <= 1),
        "0.5",
        "how much of it is for write buffers",
    ),
    Option("state.backend.rocksdb.block.cache-size", SIZE, None, "cache of a database that shares no memory"),
    Option("state.backend.rocksdb.block.blocksize", SIZE, None, "size of the blocks that files consist of"),
    Option("state.backend.rocksdb.block.metadata-blocksize", SIZE, None, "size of the blocks of indexes"),
    Option("state.backend.rocksdb.use-bloom-filter", FLAG, "false", "whether files have bloom filters"),
    Option(
        "state.backend.rocksdb.bloom-filter.bits-per-key",
        number("of at least 0", lambda value: value >= 0),
        "10",
        "how large they are",
    ),
    Option("state.backend.rocksdb.bloom-filter.block-based-mode", FLAG, "false", "whether each block has one"),
    Option("state.backend.rocksdb.writebuffer.size", SIZE, None, "size of a write buffer"),
    Option("state.backend.rocksdb.writebuffer.count", count(1), None, "how many write buffers there may be"),
    Option("state.backend.rocksdb.writebuffer.number-to-merge", count(1), None, "how many are merged into one file"),
    Option(
        "state.backend.rocksdb.compaction.style",
        names("LEVEL", "UNIVERSAL"),
        None,
        "`LEVEL` or `UNIVERSAL`; `FIFO` would drop state",
    ),
    Option("state.backend.rocksdb.compaction.level.use-dynamic-size", FLAG, None, "whether the sizes of levels adapt"),
    Option("state.backend.rocksdb.compaction.level.target-file-size-base", SIZE, None, "size of the files of level 1"),
    Option("state.backend.rocksdb.compaction.level.max-size-level-base", SIZE, None, "size of level 1"),
    Option(
        "state.backend.rocksdb.compression.per.level",
        _COMPRESSIONS,
        None,
        "like `LZ4_COMPRESSION`, or several with `;` between them",
    ),
    Option("state.backend.rocksdb.files.open", count(-1), None, "how many files may be open, -1 for all"),
    Option("state.backend.rocksdb.thread.num", count(1), None, "how many threads write buffers out and compact files"),
    Option(
        "flintstream.state.rocksdb.backend.cached-entries",
        count(1),
        "100000",
        "entries of a state kept as objects, per subtask",
    ),
    Option(
        "state.changelog.enabled",
        FLAG,
        "false",
        "whether checkpoints refer to a log of changes instead of writing state anew",
        ("state.backend.changelog.enabled",),
    ),
    Option(
        "state.changelog.periodic-materialize.enabled",
        FLAG,
        "true",
        "whether that log is folded into a new base from time to time",
        ("state.backend.changelog.periodic-materialize.enabled",),
    ),
    Option(
        "state.changelog.periodic-materialize.interval",
        span(1),
        "10 min",
        "how often",
        ("state.backend.changelog.periodic-materialize.interval",),
    ),
    Option(
        "state.changelog.max-failures-allowed",
        count(0),
        "3",
        "how many times in a row that may fail before the job does",
        ("state.backend.changelog.max-failures-allowed",),
    ),
    Option(
        "execution.state-recovery.path",
        ANY,
        None,
        "the checkpoint or savepoint to start from",
        ("execution.savepoint.path",),
    ),
    Option(
        "execution.state-recovery.ignore-unclaimed-state",
        FLAG,
        "false",
        "whether state in it may be left behind that no operator takes over",
        ("execution.savepoint.ignore-unclaimed-state",),
    ),
    Option(
        "flintstream.resume",
        FLAG,
        "false",
        "whether to take the place of a job of the same name that was lost, from its newest checkpoint in the "
        "directory of checkpoints; `--resume`",
    ),
    Option(
        "restart-strategy.type",
        names("none", "fixed-delay", "failure-rate", "exponential-delay", also=_OTHER_STRATEGIES),
        None,
        "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; the last one where it is not set and "
        "checkpoints are taken, else the first",
        ("restart-strategy",),
    ),
    Option("restart-strategy.fixed-delay.attempts", count(0), "1", "how often a job is started again"),
    Option("restart-strategy.fixed-delay.delay", span(0), "1 s", "time before each restart"),
    Option("restart-strategy.failure-rate.max-failures-per-interval", count(1), "1", "how many failures are borne"),
    Option("restart-strategy.failure-rate.failure-rate-interval", span(1), "1 min", "within this time"),
    Option("restart-strategy.failure-rate.delay", span(0), "1 s", "time before each restart"),
    Option("restart-strategy.exponential-delay.initial-backoff", span(1), "1 s", "time before the first restart"),
    Option("restart-strategy.exponential-delay.max-backoff", span(1), "1 min", "the longest time before a restart"),
    Option(
        "restart-strategy.exponential-delay.backoff-multiplier",
        number("greater than 1", lambda value: value > 1),
        "1.5",
        "how much longer it gets each time",
    ),
    Option(
        "restart-strategy.exponential-delay.reset-backoff-threshold",
        span(1),
        "1 h",
        "after so long without a failure it is the initial time again",
    ),
    Option(
        "restart-strategy.exponential-delay.jitter-factor",
        number("from 0 to 1", lambda value: 0 <= value <= 1),
        "0.1",
        "share by which it varies at random",
    ),
    Option(
        "restart-strategy.exponential-delay.attempts-before-reset-backoff",
        count(1),
        "2147483647",
        "how many restarts there are before the job must have lasted that long",
    ),
)

WITHOUT_EFFECT = (
    Option(
        "execution.checkpointing.unaligned.enabled",
        FLAG,
        "false",
        "an epoch ends everywhere at once: there are no barriers that records could hold up",
        ("execution.checkpointing.unaligned",),
    ),
    Option("execution.checkpointing.unaligned.forced", FLAG, "false", "as above"),
    Option(
        "execution.checkpointing.aligned-checkpoint-timeout",
        span(0),
        "0 ms",
        "as above",
        ("execution.checkpointing.alignment-timeout",),
    ),
    Option(
        "execution.checkpointing.max-concurrent-checkpoints", count(1), "1", "checkpoints do not overlap: epochs do not"
    ),
    Option(
        "execution.checkpointing.write-buffer-size",
        SIZE,
        "4096",
        "a file is written as a whole",
        ("state.storage.fs.write-buffer-size", "state.backend.fs.write-buffer-size"),
    ),
    Option(
        "execution.state-recovery.claim-mode",
        names("NO_CLAIM", "CLAIM", "LEGACY"),
        "NO_CLAIM",
        "what a job starts from is never deleted; `CLAIM` and `LEGACY` warn",
        ("execution.savepoint-restore-mode",),
    ),
    Option(
        "state.changelog.storage",
        ANY,
        "memory",
        "the log is kept where checkpoints are",
        ("state.backend.changelog.storage",),
    ),
)

ALL = (*GENERAL, *OPTIONS, *WITHOUT_EFFECT)

_SPELLINGS = {option.key: (option.key, *option.older) for option in ALL}


def spellings(key: str) -> tuple[str, ...]:
    """Return the key and its older spellings, in the order in which they count."""
    return _SPELLINGS.get(key, (key,))


def spelling_of(configuration: Configuration, key: str) -> str:
    """Return the spelling under which the key is set, itself if it is not set at all."""
    return next((spelling for spelling in spellings(key) if configuration.contains_key(spelling)), key)


def find(configuration: Configuration, key: str) -> tuple[str, str] | None:
    """Return the spelling that counts and the value, None if the key is not set."""
    spelling = spelling_of(configuration, key)
    return (spelling, configuration.get_string(spelling, "").strip()) if configuration.contains_key(spelling) else None


def table(options: Sequence[Option]) -> str:
    """Return the options as a table in Markdown."""
    rows = ["| key | default | meaning | older spellings |", "|---|---|---|---|"]
    for option in options:
        default = "" if option.default is None else f"`{option.default}`"
        older = ", ".join(f"`{spelling}`" for spelling in option.older)
        rows.append(f"| `{option.key}` | {default} | {option.meaning} | {older} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(GENERAL), table(OPTIONS), table(WITHOUT_EFFECT), sep="\n\n")  # noqa: T201 - that is what it is for
