"""The options for execution: all that do not concern state, checkpoints or restarts."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, TEXT, count, duration, names
from flintstream.options.units import DAY, SECOND

MAX_KEY_GROUPS = 32_768
"""Flink's limit."""

ENGINE = Option("flintstream.engine", TEXT, "spark", "`inline` runs in this process, for tests")
MASTER = Option("flintstream.master", TEXT, "local[*]", "Spark's master; `--master`")
STATE_DIRECTORY = Option(
    "flintstream.state.dir",
    TEXT,
    None,
    "path or URI of the directory through which workers exchange keyed state, such as `s3://bucket/state`. All workers "
    "must reach it. By default, a temporary directory on a local master, and a directory below the checkpoints "
    "elsewhere",
)
MAX_EPOCH = Option(
    "flintstream.epoch.max-duration", duration(0), 5 * SECOND, "an epoch of STREAMING input ends after this time"
)
IDLE_EPOCH = Option(
    "flintstream.epoch.idle-duration", duration(0), 200, "an epoch whose tasks only wait ends after this time"
)
RESIDENT_TASKS = Option(
    "flintstream.resident-tasks",
    FLAG,
    True,
    "whether a job with short epochs keeps its Spark tasks from one epoch to the next, for low latency. Each of these "
    "tasks needs a core, and gives it up when another Spark job in the session needs it",
)
ENCRYPT_RESIDENT_TASKS = Option(
    "flintstream.resident-tasks.encrypt",
    FLAG,
    None,
    "whether the connections of resident tasks are encrypted, which needs `pip install 'flintstream[tls]'` where the "
    "driver runs; by default on a cluster if Spark encrypts its own (`spark.network.crypto.enabled`, "
    "`spark.ssl.enabled`, `spark.ssl.rpc.enabled`)",
)
BUFFER_TIMEOUT = Option(
    "execution.buffer-timeout.interval",
    duration(-1),
    100,
    "if set, an epoch ends after this time, for low latency; `-1` for no limit; `set_buffer_timeout`",
    ("execution.buffer-timeout",),
)
CONTROL = Option(
    "flintstream.control",
    FLAG,
    True,
    "whether other processes of this user can [list and stop](command-line.md) the job",
)
HISTORY_AGE = Option(
    "flintstream.history.max-age",
    duration(0),
    7 * DAY,
    "how long the [records of ended jobs](command-line.md#ended-jobs) of this user are kept",
)
HISTORY_JOBS = Option(
    "flintstream.history.max-jobs",
    count(0),
    100,
    "the largest number of these records. `0`: this job keeps none, as with `flintstream.control` set to `false`",
)
ROWS_WITH_KEYS = Option(
    "flintstream.keyed-stream.rows-with-keys",
    FLAG,
    True,
    "what `sink_to`, `execute_and_collect` and `connect` with an unkeyed stream get of a keyed stream: "
    "`Row(f0=key, f1=value)`, as in PyFlink; `false`: the value alone",
)
STICKY_SUBTASKS = Option(
    "flintstream.sticky-subtasks",
    FLAG,
    None,
    "whether a subtask runs in the same Python process in every epoch; by default only on a local master. Elsewhere "
    "it needs flintstream installed in the executors' Python. Read when the Spark session starts",
)
PARALLELISM = Option(
    "parallelism.default",
    count(1, also=-1),
    -1,
    "`-1` means as many subtasks as Spark has cores for the job; `--parallelism`, `set_parallelism`",
)
MAX_PARALLELISM = Option(
    "pipeline.max-parallelism",
    count(1, MAX_KEY_GROUPS, also=-1),
    -1,
    "number of key groups; `-1` derives it from the parallelism",
)
AUTO_UIDS = Option(
    "pipeline.auto-generate-uids",
    FLAG,
    True,
    "`false`: an operator without `uid()` is an error, as its state may get lost",
)
JOB_NAME = Option("pipeline.name", TEXT, "Flink Streaming Job", "name of the job")
AUTO_WATERMARK_INTERVAL = Option(
    "pipeline.auto-watermark-interval",
    duration(0),
    200,
    "interval of periodic watermarks; built-in strategies emit one after 4,096 records at the latest",
)
CHAINING = Option(
    "pipeline.operator-chaining.enabled",
    FLAG,
    True,
    "`false`: results are converted to their declared types between all operators",
    ("pipeline.operator-chaining",),
)
PYTHON_CHAINING = Option("python.operator-chaining.enabled", FLAG, True, "same as above, for Python operators")
JOB_PARAMETERS = Option(
    "pipeline.global-job-parameters",
    TEXT,
    None,
    "`name:value` pairs for functions, separated by commas; or one key `pipeline.global-job-parameters.name` for each",
)
RUNTIME_MODE = Option(
    "execution.runtime-mode",
    names("STREAMING", "BATCH", "AUTOMATIC"),
    "STREAMING",
    "`BATCH` for bounded input; `AUTOMATIC` chooses",
)
PYTHON_FILES = Option(
    "python.files", TEXT, None, "files and directories from which workers import, separated by commas"
)
PYTHON_ARCHIVES = Option("python.archives", TEXT, None, "archives to unpack for the workers; `archive#directory`")
PYTHON_REQUIREMENTS = Option(
    "python.requirements",
    TEXT,
    None,
    "requirements file of the packages that the workers need; `file#directory of packages`",
)
PYTHON_EXECUTABLE = Option("python.executable", TEXT, None, "the workers' Python; by default the driver's")

OPTIONS = options_in(globals())
