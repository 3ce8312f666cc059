"""The options that are accepted and have no effect. Some of them have methods, which return the set value."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, MAX_INT, MAX_LONG, TEXT, count, duration, names, size
from flintstream.options.units import KB, SECOND

UNALIGNED = Option(
    "execution.checkpointing.unaligned.enabled",
    FLAG,
    False,
    "all subtasks end an epoch together, so no barriers wait for records",
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
    "execution.checkpointing.max-concurrent-checkpoints", count(1), 1, "checkpoints never overlap, as epochs do not"
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
    "a job never deletes the checkpoint or savepoint it starts from; `CLAIM` and `LEGACY` warn",
    ("execution.savepoint-restore-mode",),
)
CHANGELOG_STORAGE = Option(
    "state.changelog.storage",
    TEXT,
    "memory",
    "the log is in the directory for checkpoints",
    ("state.backend.changelog.storage",),
)
CHAIN_DIFFERENT_MAX_PARALLELISM = Option(
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
    FLAG,
    True,
    "operators are chained regardless of their max parallelism",
)
CLOSURE_CLEANER = Option(
    "pipeline.closure-cleaner-level",
    names("NONE", "TOP_LEVEL", "RECURSIVE"),
    "RECURSIVE",
    "Python functions are pickled without changes",
)
OBJECT_REUSE = Option("pipeline.object-reuse", FLAG, False, "chained Python functions always pass on the object itself")
FORCE_KRYO = Option(
    "pipeline.force-kryo", FLAG, False, "records are Python objects, which never pass through Java serializers"
)
FORCE_AVRO = Option("pipeline.force-avro", FLAG, False, "as above")
GENERIC_TYPES = Option("pipeline.generic-types", FLAG, True, "as above")
EXECUTION_MODE = Option(
    "execution.mode",
    names("PIPELINED", "PIPELINED_FORCED", "BATCH", "BATCH_FORCED"),
    "PIPELINED",
    "only for Flink's DataSet API",
)
LATENCY_INTERVAL = Option("metrics.latency.interval", duration(-MAX_LONG), 0, "there are no latency markers")
CANCELLATION_INTERVAL = Option(
    "task.cancellation.interval", duration(0), 30 * SECOND, "the engine has its own rules for ending tasks"
)
CANCELLATION_TIMEOUT = Option("task.cancellation.timeout", duration(0), 180 * SECOND, "as above")

OPTIONS = options_in(globals())
