"""The keys that do not concern state, checkpoints or restarts."""

from __future__ import annotations

from flintstream.datastream._option import ANY, FLAG, Option, count, names, span

__all__ = ["GENERAL"]

GENERAL = (
    Option("flintstream.engine", ANY, "spark", "`inline` runs in this process, for tests"),
    Option("flintstream.master", ANY, "local[*]", "Spark's master; `--master`"),
    Option(
        "flintstream.state.dir",
        ANY,
        None,
        "where workers hand keyed state to one another, a temporary directory if not set; on a cluster, a directory "
        "that all of them reach",
    ),
    Option(
        "flintstream.epoch.max-duration",
        count(0),
        "5000",
        "ms after which an epoch of STREAMING input ends at the latest",
    ),
    Option("flintstream.epoch.idle-duration", count(0), "200", "ms after which it ends while its tasks only wait"),
    Option(
        "execution.buffer-timeout.interval",
        count(0, also=-1),
        None,
        "ms after which an epoch ends at the latest, for low latency; `set_buffer_timeout`",
    ),
    Option(
        "flintstream.control",
        FLAG,
        "true",
        "whether other processes of this user can [list and stop](command-line.md) the job",
    ),
    Option(
        "flintstream.sticky-subtasks",
        FLAG,
        None,
        "whether a subtask runs in the same Python process epoch after epoch; if not set, on a local master: elsewhere "
        "the executors' Python must have flintstream installed. Read when the Spark session starts",
    ),
    Option(
        "parallelism.default",
        count(1, also=-1),
        None,
        "the number of processors if not set; `--parallelism`, `set_parallelism`",
    ),
    Option(
        "pipeline.max-parallelism",
        count(1, 32768, also=-1),
        None,
        "number of key groups; follows from the parallelism if not set",
    ),
    Option(
        "pipeline.auto-generate-uids",
        FLAG,
        "true",
        "`false`: a step without `uid()` is an error; its state may get lost",
    ),
    Option("pipeline.name", ANY, "Flink Streaming Job", "name of the job"),
    Option(
        "pipeline.auto-watermark-interval",
        span(0),
        "200 ms",
        "how often periodic watermarks are emitted; those of built-in strategies after 4,096 records at the latest",
    ),
    Option(
        "pipeline.operator-chaining.enabled",
        FLAG,
        "true",
        "`false`: results are converted to their declared types between all operators",
        ("pipeline.operator-chaining",),
    ),
    Option("python.operator-chaining.enabled", FLAG, "true", "the same, for Python operators"),
    Option(
        "pipeline.global-job-parameters",
        ANY,
        None,
        "`name:value` pairs, with commas between them, for functions; "
        "or a key `pipeline.global-job-parameters.name` for each",
    ),
    Option(
        "execution.runtime-mode",
        names("STREAMING", "BATCH", "AUTOMATIC"),
        "STREAMING",
        "`BATCH` for bounded input; `AUTOMATIC` chooses",
    ),
    Option("python.files", ANY, None, "files and directories for the workers to import from, with commas between them"),
    Option("python.archives", ANY, None, "archives that are unpacked for the workers; `archive#directory`"),
    Option("python.requirements", ANY, None, "file of packages that the workers need; `file#directory of packages`"),
    Option("python.executable", ANY, None, "the workers' Python, if not the driver's"),
)
