"""The options of checkpoints and savepoints, and of what a job starts from."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, MAX_INT, TEXT, count, duration, names, size
from flintstream.options.units import KB, MB, MINUTE

_SHORTEST = 10  # ms; Flink's bound

INTERVAL = Option(
    "execution.checkpointing.interval",
    duration(_SHORTEST),
    None,
    "time between checkpoints; none are taken while it is not set",
)
MODE = Option(
    "execution.checkpointing.mode",
    names("EXACTLY_ONCE", "AT_LEAST_ONCE"),
    "EXACTLY_ONCE",
    "`AT_LEAST_ONCE`: sinks do not wait for checkpoints",
)
TIMEOUT = Option("execution.checkpointing.timeout", duration(_SHORTEST), 10 * MINUTE, "how long a checkpoint may take")
MIN_PAUSE = Option(
    "execution.checkpointing.min-pause",
    duration(0),
    0,
    "least time between the end of one and the start of the next",
)
TOLERABLE_FAILURES = Option(
    "execution.checkpointing.tolerable-failed-checkpoints",
    count(0),
    0,
    "how many in a row may fail before the job does",
)
RETENTION = Option(
    "execution.checkpointing.externalized-checkpoint-retention",
    names("NO_EXTERNALIZED_CHECKPOINTS", "RETAIN_ON_CANCELLATION", "DELETE_ON_CANCELLATION"),
    "NO_EXTERNALIZED_CHECKPOINTS",
    "what is kept of a job that ends before its input does: `RETAIN_ON_CANCELLATION` its checkpoints, "
    "`DELETE_ON_CANCELLATION` only those of a job that failed",
)
RETAINED = Option(
    "execution.checkpointing.num-retained",
    count(1),
    1,
    "how many completed checkpoints are kept",
    ("state.checkpoints.num-retained",),
)
STORAGE = Option(
    "execution.checkpointing.storage",
    TEXT,
    None,
    "`jobmanager` (the driver's memory), `filesystem`, or `module:Class` for one of your own; `filesystem` where a "
    "directory is set",
    ("state.checkpoint-storage",),
)
DIRECTORY = Option(
    "execution.checkpointing.dir",
    TEXT,
    None,
    "URI of the directory of checkpoints, which all workers must reach",
    ("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
)
SAVEPOINT_DIRECTORY = Option(
    "execution.checkpointing.savepoint-dir",
    TEXT,
    None,
    "where savepoints go that are asked for without a directory",
    ("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
)
INLINE_THRESHOLD = Option(
    "execution.checkpointing.data-inline-threshold",
    size(maximum=1 * MB),
    20 * KB,
    "state of no more bytes is stored within the metadata",
    ("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"),
)
MAX_STATE_SIZE = Option(
    # Flink can set this one in code only.
    "flintstream.checkpointing.jobmanager.max-state-size",
    size(1, MAX_INT),
    5 * MB,
    "how much state one subtask may have in the driver's memory",
)
INCREMENTAL = Option(
    "execution.checkpointing.incremental",
    FLAG,
    False,
    "whether checkpoints of RocksDB re-use the files of earlier ones",
    ("state.backend.incremental",),
)

RESTORE_PATH = Option(
    "execution.state-recovery.path",
    TEXT,
    None,
    "the checkpoint or savepoint to start from",
    ("execution.savepoint.path",),
)
IGNORE_UNCLAIMED = Option(
    "execution.state-recovery.ignore-unclaimed-state",
    FLAG,
    False,
    "whether state in it may be left behind that no operator takes over",
    ("execution.savepoint.ignore-unclaimed-state",),
)
RESUME = Option(
    "flintstream.resume",
    FLAG,
    False,
    "whether to take the place of a job of the same name that was lost, from its newest checkpoint in the directory of "
    "checkpoints; `--resume`",
)

OPTIONS = options_in(globals())
