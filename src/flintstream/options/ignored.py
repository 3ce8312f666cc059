"""The options that are accepted and have no effect. Some of them have methods, which return what was set."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, MAX_INT, MAX_LONG, TEXT, count, duration, names, size
from flintstream.options.units import KB, SECOND

UNALIGNED = Option(
    "execution.checkpointing.unaligned.enabled",
    FLAG,
    False,
    "an epoch ends everywhere at once: there are no barriers that records could hold up",
    ("execution.checkpointing.unaligned",),
)
FORCE_UNALIGNED = Option("execution.checkpointing.unaligned.forced", FLAG, False, "as above")
ALIGNED_TIMEOUT = Option(
    "execution.checkpointing.aligned-checkpoint-timeout",
    duration(0),
    0,
    "as above",
    ("execution.checkpointing.alignment-timeout",),
)
MAX_CONCURRENT = Option(
    "execution.checkpointing.max-concurrent-checkpoints", count(1), 1, "checkpoints do not overlap: epochs do not"
)
WRITE_BUFFER = Option(
    "execution.checkpointing.write-buffer-size",
    size(maximum=MAX_INT),
    4 * KB,
    "a file is written as a whole",
    ("state.storage.fs.write-buffer-size", "state.backend.fs.write-buffer-size"),
)
SNAPSHOT_COMPRESSION = Option(
    "execution.checkpointing.snapshot-compression", FLAG, False, "files of checkpoints are not compressed"
)
CLAIM_MODE = Option(
    "execution.state-recovery.claim-mode",
    names("NO_CLAIM", "CLAIM", "LEGACY"),
    "NO_CLAIM",
    "what a job starts from is never deleted; `CLAIM` and `LEGACY` warn",
    ("execution.savepoint-restore-mode",),
)
CHANGELOG_STORAGE = Option(
    "state.changelog.storage",
    TEXT,
    "memory",
    "the log is kept where checkpoints are",
    ("state.backend.changelog.storage",),
)
CHAIN_DIFFERENT_MAX_PARALLELISM = Option(
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
    FLAG,
    True,
    "operators are chained whatever their max parallelism",
)
CLOSURE_CLEANER = Option(
    "pipeline.closure-cleaner-level",
    names("NONE", "TOP_LEVEL", "RECURSIVE"),
    "RECURSIVE",
    "Python functions are pickled as they are",
)
OBJECT_REUSE = Option(
    "pipeline.object-reuse", FLAG, False, "chained Python functions hand over the object itself in any case"
)
FORCE_KRYO = Option("pipeline.force-kryo", FLAG, False, "records are Python objects, which no serializer of Java sees")
FORCE_AVRO = Option("pipeline.force-avro", FLAG, False, "as above")
GENERIC_TYPES = Option("pipeline.generic-types", FLAG, True, "as above")
EXECUTION_MODE = Option(
    "execution.mode",
    names("PIPELINED", "PIPELINED_FORCED", "BATCH", "BATCH_FORCED"),
    "PIPELINED",
    "of Flink's DataSet API",
)
LATENCY_INTERVAL = Option("metrics.latency.interval", duration(-MAX_LONG), 0, "no markers measure latency")
CANCELLATION_INTERVAL = Option(
    "task.cancellation.interval", duration(0), 30 * SECOND, "the engine ends tasks by its own rules"
)
CANCELLATION_TIMEOUT = Option("task.cancellation.timeout", duration(0), 180 * SECOND, "as above")

OPTIONS = options_in(globals())
