"""The options that do not concern state, checkpoints or restarts."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, TEXT, count, duration, names
from flintstream.options.units import SECOND

MAX_KEY_GROUPS = 32_768
"""Flink's bound."""

ENGINE = Option("flintstream.engine", TEXT, "spark", "`inline` runs in this process, for tests")
MASTER = Option("flintstream.master", TEXT, "local[*]", "Spark's master; `--master`")
STATE_DIRECTORY = Option(
    "flintstream.state.dir",
    TEXT,
    None,
    "where workers hand keyed state to one another, a temporary directory if not set; on a cluster, a directory that "
    "all of them reach. It must be on this machine or mounted there",
)
MAX_EPOCH = Option(
    "flintstream.epoch.max-duration", duration(0), 5 * SECOND, "an epoch of STREAMING input ends after this time"
)
IDLE_EPOCH = Option(
    "flintstream.epoch.idle-duration", duration(0), 200, "an epoch whose tasks only wait ends after this time"
)
BUFFER_TIMEOUT = Option(
    "execution.buffer-timeout.interval",
    duration(-1),
    100,
    "an epoch ends after this time if the option is set, for low latency; `-1` for no such bound; `set_buffer_timeout`",
)
CONTROL = Option(
    "flintstream.control",
    FLAG,
    True,
    "whether other processes of this user can [list and stop](command-line.md) the job",
)
STICKY_SUBTASKS = Option(
    "flintstream.sticky-subtasks",
    FLAG,
    None,
    "whether a subtask runs in the same Python process epoch after epoch; if not set, on a local master: elsewhere "
    "the executors' Python must have flintstream installed. Read when the Spark session starts",
)
PARALLELISM = Option(
    "parallelism.default",
    count(1, also=-1),
    -1,
    "`-1` stands for the number of processors; `--parallelism`, `set_parallelism`",
)
MAX_PARALLELISM = Option(
    "pipeline.max-parallelism",
    count(1, MAX_KEY_GROUPS, also=-1),
    -1,
    "number of key groups; with `-1` it follows from the parallelism",
)
AUTO_UIDS = Option(
    "pipeline.auto-generate-uids", FLAG, True, "`false`: a step without `uid()` is an error; its state may get lost"
)
JOB_NAME = Option("pipeline.name", TEXT, "Flink Streaming Job", "name of the job")
AUTO_WATERMARK_INTERVAL = Option(
    "pipeline.auto-watermark-interval",
    duration(0),
    200,
    "how often periodic watermarks are emitted; those of built-in strategies after 4,096 records at the latest",
)
CHAINING = Option(
    "pipeline.operator-chaining.enabled",
    FLAG,
    True,
    "`false`: results are converted to their declared types between all operators",
    ("pipeline.operator-chaining",),
)
PYTHON_CHAINING = Option("python.operator-chaining.enabled", FLAG, True, "the same, for Python operators")
JOB_PARAMETERS = Option(
    "pipeline.global-job-parameters",
    TEXT,
    None,
    "`name:value` pairs, with commas between them, for functions; "
    "or a key `pipeline.global-job-parameters.name` for each",
)
RUNTIME_MODE = Option(
    "execution.runtime-mode",
    names("STREAMING", "BATCH", "AUTOMATIC"),
    "STREAMING",
    "`BATCH` for bounded input; `AUTOMATIC` chooses",
)
PYTHON_FILES = Option(
    "python.files", TEXT, None, "files and directories for the workers to import from, with commas between them"
)
PYTHON_ARCHIVES = Option(
    "python.archives", TEXT, None, "archives that are unpacked for the workers; `archive#directory`"
)
PYTHON_REQUIREMENTS = Option(
    "python.requirements", TEXT, None, "file of packages that the workers need; `file#directory of packages`"
)
PYTHON_EXECUTABLE = Option("python.executable", TEXT, None, "the workers' Python, if not the driver's")

OPTIONS = options_in(globals())
