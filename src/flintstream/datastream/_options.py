"""The keys that concern state, checkpoints and restarts: their older spellings, their defaults and what they mean.

The tables in the documentation are made of these: ``python -m flintstream.datastream._options`` prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common.configuration import Configuration

__all__ = ["OPTIONS", "WITHOUT_EFFECT", "Option", "find", "spelling_of", "spellings", "table"]


@dataclass(frozen=True)
class Option:
    """One key of the configuration."""

    key: str
    default: str | None
    """As it would be written in a configuration; None where the key has none."""
    meaning: str
    older: tuple[str, ...] = ()
    """Spellings that count where the key itself is not set, in this order."""


OPTIONS = (
    Option("execution.checkpointing.interval", None, "time between checkpoints; none are taken while it is not set"),
    Option("execution.checkpointing.mode", "EXACTLY_ONCE", "`AT_LEAST_ONCE`: sinks do not wait for checkpoints"),
    Option("execution.checkpointing.timeout", "10 min", "how long a checkpoint may take"),
    Option("execution.checkpointing.min-pause", "0 ms", "least time between the end of one and the start of the next"),
    Option(
        "execution.checkpointing.tolerable-failed-checkpoints", "0", "how many in a row may fail before the job does"
    ),
    Option(
        "execution.checkpointing.externalized-checkpoint-retention",
        "NO_EXTERNALIZED_CHECKPOINTS",
        "what is kept of a job that ends before its input does: `RETAIN_ON_CANCELLATION` its checkpoints, "
        "`DELETE_ON_CANCELLATION` only those of a job that failed",
    ),
    Option(
        "execution.checkpointing.num-retained",
        "1",
        "how many completed checkpoints are kept",
        ("state.checkpoints.num-retained",),
    ),
    Option(
        "execution.checkpointing.storage",
        None,
        "`jobmanager` (the driver's memory), `filesystem`, or `module:Class` for one of your own; `filesystem` where a "
        "directory is set",
        ("state.checkpoint-storage",),
    ),
    Option(
        "execution.checkpointing.dir",
        None,
        "URI of the directory of checkpoints, which all workers must reach",
        ("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
    ),
    Option(
        "execution.checkpointing.savepoint-dir",
        None,
        "where savepoints go that are asked for without a directory",
        ("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
    ),
    Option(
        "execution.checkpointing.data-inline-threshold",
        "20 kb",
        "state of no more bytes is stored within the metadata",
        ("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"),
    ),
    Option(
        "flintstream.checkpointing.jobmanager.max-state-size",
        "5 mb",
        "how much state one subtask may have in the driver's memory",
    ),
    Option(
        "execution.checkpointing.incremental",
        "false",
        "whether checkpoints of RocksDB re-use the files of earlier ones",
        ("state.backend.incremental",),
    ),
    Option(
        "state.backend.type",
        "hashmap",
        "`hashmap`, `rocksdb`, or `module:function` for one of your own; BATCH jobs use a hash map in any case",
        ("state.backend",),
    ),
    Option("state.backend.rocksdb.localdir", None, "local directories of the databases, with commas between them"),
    Option("state.backend.rocksdb.predefined-options", "DEFAULT", "sets of RocksDB's options for kinds of disks"),
    Option("state.backend.rocksdb.options-factory", None, "`module:function` that changes RocksDB's options"),
    Option("state.backend.rocksdb.checkpoint.transfer.thread.num", "4", "how many files are copied at a time"),
    Option("state.backend.rocksdb.memory.managed", "true", "whether the databases of a worker share 128 MiB of memory"),
    Option("state.backend.rocksdb.memory.fixed-per-slot", None, "how much memory they share, if not that"),
    Option("state.backend.rocksdb.memory.fixed-per-tm", None, "the same; `fixed-per-slot` counts first"),
    Option("state.backend.rocksdb.memory.write-buffer-ratio", "0.5", "how much of it is for write buffers"),
    Option("state.backend.rocksdb.block.cache-size", None, "cache of a database that shares no memory"),
    Option("state.backend.rocksdb.block.blocksize", None, "size of the blocks that files consist of"),
    Option("state.backend.rocksdb.block.metadata-blocksize", None, "size of the blocks of indexes"),
    Option("state.backend.rocksdb.use-bloom-filter", "false", "whether files have bloom filters"),
    Option("state.backend.rocksdb.bloom-filter.bits-per-key", "10", "how large they are"),
    Option("state.backend.rocksdb.bloom-filter.block-based-mode", "false", "whether each block has one"),
    Option("state.backend.rocksdb.writebuffer.size", None, "size of a write buffer"),
    Option("state.backend.rocksdb.writebuffer.count", None, "how many write buffers there may be"),
    Option("state.backend.rocksdb.writebuffer.number-to-merge", None, "how many are merged into one file"),
    Option("state.backend.rocksdb.compaction.style", None, "`LEVEL` or `UNIVERSAL`; `FIFO` would drop state"),
    Option("state.backend.rocksdb.compaction.level.use-dynamic-size", None, "whether the sizes of levels adapt"),
    Option("state.backend.rocksdb.compaction.level.target-file-size-base", None, "size of the files of level 1"),
    Option("state.backend.rocksdb.compaction.level.max-size-level-base", None, "size of level 1"),
    Option(
        "state.backend.rocksdb.compression.per.level", None, "like `LZ4_COMPRESSION`, or several with `;` between them"
    ),
    Option("state.backend.rocksdb.files.open", None, "how many files may be open, -1 for all"),
    Option("state.backend.rocksdb.thread.num", None, "how many threads write buffers out and compact files"),
    Option("flintstream.state.rocksdb.cached-entries", "100000", "entries of a state kept as objects, per subtask"),
    Option(
        "state.changelog.enabled",
        "false",
        "whether checkpoints refer to a log of changes instead of writing state anew",
        ("state.backend.changelog.enabled",),
    ),
    Option(
        "state.changelog.periodic-materialize.enabled",
        "true",
        "whether that log is folded into a new base from time to time",
        ("state.backend.changelog.periodic-materialize.enabled",),
    ),
    Option(
        "state.changelog.periodic-materialize.interval",
        "10 min",
        "how often",
        ("state.backend.changelog.periodic-materialize.interval",),
    ),
    Option(
        "state.changelog.max-failures-allowed",
        "3",
        "how many times in a row that may fail before the job does",
        ("state.backend.changelog.max-failures-allowed",),
    ),
    Option(
        "execution.state-recovery.path",
        None,
        "the checkpoint or savepoint to start from",
        ("execution.savepoint.path",),
    ),
    Option(
        "execution.state-recovery.ignore-unclaimed-state",
        "false",
        "whether state in it may be left behind that no operator takes over",
        ("execution.savepoint.ignore-unclaimed-state",),
    ),
    Option(
        "flintstream.resume",
        "false",
        "whether to take the place of a job of the same name that was lost, from its newest checkpoint in the "
        "directory of checkpoints; `--resume`",
    ),
    Option(
        "restart-strategy.type",
        None,
        "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; the last one where it is not set and "
        "checkpoints are taken, else the first",
        ("restart-strategy",),
    ),
    Option("restart-strategy.fixed-delay.attempts", "1", "how often a job is started again"),
    Option("restart-strategy.fixed-delay.delay", "1 s", "time before each restart"),
    Option("restart-strategy.failure-rate.max-failures-per-interval", "1", "how many failures are borne"),
    Option("restart-strategy.failure-rate.failure-rate-interval", "1 min", "within this time"),
    Option("restart-strategy.failure-rate.delay", "1 s", "time before each restart"),
    Option("restart-strategy.exponential-delay.initial-backoff", "1 s", "time before the first restart"),
    Option("restart-strategy.exponential-delay.max-backoff", "1 min", "the longest time before a restart"),
    Option("restart-strategy.exponential-delay.backoff-multiplier", "1.5", "how much longer it gets each time"),
    Option(
        "restart-strategy.exponential-delay.reset-backoff-threshold",
        "1 h",
        "after so long without a failure it is the initial time again",
    ),
    Option("restart-strategy.exponential-delay.jitter-factor", "0.1", "share by which it varies at random"),
    Option(
        "restart-strategy.exponential-delay.attempts-before-reset-backoff",
        "2147483647",
        "how many restarts there are before the job must have lasted that long",
    ),
)

WITHOUT_EFFECT = (
    Option(
        "execution.checkpointing.unaligned.enabled",
        "false",
        "an epoch ends everywhere at once: there are no barriers that records could hold up",
        ("execution.checkpointing.unaligned",),
    ),
    Option("execution.checkpointing.unaligned.forced", "false", "as above"),
    Option(
        "execution.checkpointing.aligned-checkpoint-timeout",
        "0 ms",
        "as above",
        ("execution.checkpointing.alignment-timeout",),
    ),
    Option("execution.checkpointing.max-concurrent-checkpoints", "1", "checkpoints do not overlap: epochs do not"),
    Option(
        "execution.checkpointing.write-buffer-size",
        "4096",
        "a file is written as a whole",
        ("state.storage.fs.write-buffer-size", "state.backend.fs.write-buffer-size"),
    ),
    Option(
        "execution.state-recovery.claim-mode",
        "NO_CLAIM",
        "what a job starts from is never deleted; `CLAIM` and `LEGACY` warn",
        ("execution.savepoint-restore-mode",),
    ),
    Option(
        "state.changelog.storage",
        "memory",
        "the log is kept where checkpoints are",
        ("state.backend.changelog.storage",),
    ),
)

_SPELLINGS = {option.key: (option.key, *option.older) for option in (*OPTIONS, *WITHOUT_EFFECT)}


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
    print(table(OPTIONS), table(WITHOUT_EFFECT), sep="\n\n")  # noqa: T201 - that is what it is for
