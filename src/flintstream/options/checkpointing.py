"""The options of checkpoints, savepoints and recovery."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, MAX_INT, TEXT, count, duration, names, size
from flintstream.options.units import KB, MB, MINUTE

_SHORTEST = 10  # ms; Flink's bound

INTERVAL = Option(
    "execution.checkpointing.interval",
    duration(_SHORTEST),
    None,
    "time between checkpoints; without it, no checkpoints are taken",
)
MODE = Option(
    "execution.checkpointing.mode",
    names("EXACTLY_ONCE", "AT_LEAST_ONCE"),
    "EXACTLY_ONCE",
    "`AT_LEAST_ONCE`: sinks do not wait for checkpoints",
)
TIMEOUT = Option("execution.checkpointing.timeout", duration(_SHORTEST), 10 * MINUTE, "longest time for a checkpoint")
MIN_PAUSE = Option(
    "execution.checkpointing.min-pause",
    duration(0),
    0,
    "shortest time between the end of a checkpoint and the start of the next",
)
TOLERABLE_FAILURES = Option(
    "execution.checkpointing.tolerable-failed-checkpoints",
    count(0),
    0,
    "number of checkpoints in a row that may fail before the job fails",
)
RETENTION = Option(
    "execution.checkpointing.externalized-checkpoint-retention",
    names("NO_EXTERNALIZED_CHECKPOINTS", "RETAIN_ON_CANCELLATION", "DELETE_ON_CANCELLATION"),
    "NO_EXTERNALIZED_CHECKPOINTS",
    "which checkpoints to keep if a job ends before its input does: with `RETAIN_ON_CANCELLATION`, those of "
    "cancelled and failed jobs; with `DELETE_ON_CANCELLATION`, only those of failed jobs",
)
RETAINED = Option(
    "execution.checkpointing.num-retained",
    count(1),
    1,
    "number of completed checkpoints to keep",
    ("state.checkpoints.num-retained",),
)
STORAGE = Option(
    "execution.checkpointing.storage",
    TEXT,
    None,
    "`jobmanager` (the driver's memory), `filesystem`, or `module:Class` for a custom one; by default `filesystem` if "
    "a directory is set",
    ("state.checkpoint-storage",),
)
DIRECTORY = Option(
    "execution.checkpointing.dir",
    TEXT,
    None,
    "URI of the directory for checkpoints, which all workers must be able to reach",
    ("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
)
SAVEPOINT_DIRECTORY = Option(
    "execution.checkpointing.savepoint-dir",
    TEXT,
    None,
    "default directory for savepoints",
    ("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
)
SAVEPOINT_TARGETS = Option(
    "flintstream.rest.savepoint-dirs",
    TEXT,
    "",
    "directories, separated by `;`, below which the [web page](../how-to/web.md) and the REST interface may write "
    "savepoints, besides those for checkpoints and savepoints. The command line may write them anywhere",
)
INLINE_THRESHOLD = Option(
    "execution.checkpointing.data-inline-threshold",
    size(maximum=1 * MB),
    20 * KB,
    "state files of at most this size are stored inline in the metadata",
    ("state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold"),
)
MAX_STATE_SIZE = Option(
    # In Flink, this can only be set in code.
    "flintstream.checkpointing.jobmanager.max-state-size",
    size(1, MAX_INT),
    5 * MB,
    "largest state of a subtask in the driver's memory",
)
INCREMENTAL = Option(
    "execution.checkpointing.incremental",
    FLAG,
    False,
    "whether checkpoints of RocksDB reuse the files of earlier ones",
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
    "whether the job may leave behind state that matches none of its operators",
    ("execution.savepoint.ignore-unclaimed-state",),
)
RESUME = Option(
    "flintstream.resume",
    FLAG,
    False,
    "whether to continue a lost job with the same name from its newest checkpoint in the directory for checkpoints; "
    "`--resume`",
)
UNTIL_CAUGHT_UP = Option(
    "flintstream.until-caught-up",
    FLAG,
    False,
    "whether the job ends, with a checkpoint that stays, once it has read what its sources had when it started; "
    "`--until-caught-up`",
)

OPTIONS = options_in(globals())
