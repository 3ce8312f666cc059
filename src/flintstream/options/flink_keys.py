"""Keys of Flink that are known, but have no effect here, and why."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GROUPS", "KeyGroup", "is_of_flink", "keys_of_flink", "misleading"]


@dataclass(frozen=True)
class KeyGroup:
    """Keys that have no effect for the same reason. A key that ends with ``.*`` stands for all that begin so."""

    because: str
    """Why, in Markdown."""
    keys: tuple[str, ...]
    warns: bool = False
    """Whether a job that sets one gets a warning, because its author counts on it."""


def _below(because: str, keys: dict[str, str], *, warns: bool = False) -> KeyGroup:
    """Return a group of keys that are listed by what they begin with."""
    return KeyGroup(because, tuple(prefix + name for prefix, names in keys.items() for name in names.split()), warns)


GROUPS = (
    _below(
        "The program runs in the process that starts it, and its job on Spark; `flintstream run` and Spark's settings "
        "determine where",
        {
            "execution.": """
                attached program-config.enabled allow-client-job-configurations program-config.wildcards
                shutdown-on-application-finish shutdown-on-attached-exit submit-failed-job-on-application-error target
                terminate-application-on-any-job-terminated-exceptionally
            """,
            "python.": "client.executable job-options job-options.* internal.* loopback-server.address",
        },
    ),
    _below(
        "There is no Java in a job: use Python objects, `env.add_python_file()` and `flintstream run --pyFiles`",
        {
            "pipeline.": "classpaths jars",
            "execution.": "job-listeners job-status-changed-listeners",
            "table.": "catalog-modification.listeners",
        },
        warns=True,
    ),
    _below(
        "Functions run in Spark's Python workers, which get blocks of records",
        {
            "python.": """
                execution-mode fn-execution.buffer.memory.size fn-execution.framework.memory.size
                fn-execution.memory.managed map-state.iterate-response-batch-size map-state.read-cache-size
                map-state.write-cache-size metric.enabled state.cache-size systemenv.enabled
            """,
            "execution.": "buffer-timeout.enabled",
        },
    ),
    KeyGroup(
        "Workers import from `python.files` and from what is installed in `python.executable`",
        ("python.pythonpath",),
        warns=True,
    ),
    _below(
        "Use Python's `logging` ([logs](../how-to/logs.md)) and profilers",
        {"python.": "logging.default.level logging.level.overrides logging.level.overrides.* profile.enabled"},
        warns=True,
    ),
    KeyGroup("Use `env.add_python_file()` to send files to the workers", ("pipeline.cached-files",), warns=True),
    KeyGroup(
        "Use `set_parallelism()` of an operator",
        ("pipeline.jobvertex-parallelism-overrides", "pipeline.jobvertex-parallelism-overrides.*"),
        warns=True,
    ),
    _below(
        "Records are Python objects, which never pass through Java serializers",
        {
            "pipeline.": """
                default-kryo-serializers force-kryo-avro registered-kryo-types registered-pojo-types
                serialization-config
            """
        },
    ),
    _below(
        "Names of operators do not change", {"pipeline.": "vertex-description-mode vertex-name-include-index-prefix"}
    ),
    _below(
        "Sources compare their watermarks at the end of epochs, and splits of a source always do",
        {
            "pipeline.": """
                watermark-alignment.allow-unaligned-source-splits watermark-alignment.buffer-size
                sources.pause-until-first-checkpoint
            """
        },
    ),
    _below(
        "There is no CEP library", {"pipeline.cep.sharedbuffer.cache.": "entry-slots event-slots statistics-interval"}
    ),
    _below(
        "Batches go through Spark's stages: its settings for memory, retries, speculation and adaptive plans apply",
        {
            "execution.": """
                batch.* batch-shuffle-mode batch-state-backend.enabled sort-keyed-partition.memory
                sort-partition.memory sorted-inputs.enabled sorted-inputs.memory
            """
        },
    ),
    _below(
        "State is local to the worker that uses it, so accesses do not wait",
        {"execution.": "async-state.*", "table.exec.": "async-state.enabled"},
    ),
    _below(
        "A checkpoint is complete at the end of an epoch, with nothing in flight; its files are written and deleted by "
        "flintstream's own rules ([state format](state-format.md))",
        {
            "execution.checkpointing.": """
                approximate-local-recovery checkpoints-after-tasks-finish checkpoints-after-tasks-finish.enabled
                cleaner.parallel-mode create-subdir during-recovery.enabled file-merging.* interval-during-backlog
                local-backup.dirs local-backup.enabled recover-without-channel-state.checkpoint-id
                unaligned.interruptible-timers.enabled unaligned.max-subtasks-per-channel-state-file
                unaligned.recover-output-on-downstream.enabled
            """,
            "execution.state-recovery.": """
                approximate-local-recovery from-local without-channel-state.checkpoint-id
            """,
            "state.": """
                backend.async backend.local-recovery changelog.dstl.* checkpoint.cleaner.parallel-mode
                checkpoints.create-subdir
            """,
        },
    ),
    _below(
        "[Metrics](metrics.md) of state are the same for all backends",
        {"state.": "backend.latency-track.* latency-track.* size-track.* backend.rocksdb.metrics.*"},
    ),
    KeyGroup(
        "This state backend is not available: use `hashmap` or `rocksdb`",
        ("state.backend.forst.*",),
        warns=True,
    ),
    _below(
        "flintstream's RocksDB has no such setting",
        {
            "state.backend.rocksdb.": """
                compaction.filter.periodic-compaction-time compaction.filter.query-time-after-num-entries
                incremental-restore-async-compact-after-rescale log.dir log.file-num log.level log.max-file-size
                manual-compaction.* memory.high-prio-pool-ratio memory.partitioned-index-filters
                rescaling.use-delete-files-in-range restore-overlap-fraction-threshold timer-service.cache-size
                timer-service.factory use-ingest-db-restore-mode write-batch-size
            """
        },
    ),
    _below(
        "It changes how Flink computes a result, not the result",
        {
            "table.optimizer.": """
                adaptive-broadcast-join.strategy bushy-join-reorder-threshold delta-join.strategy
                distinct-agg.split.bucket-num distinct-agg.split.enabled dynamic-filtering.enabled
                incremental-agg-enabled join-reorder-enabled join.broadcast-threshold multi-join.enabled
                multiple-input-enabled ptf.max-tables
                reuse-optimize-block-with-digest-enabled reuse-sink-enabled
                runtime-filter.enabled runtime-filter.max-build-data-size
                runtime-filter.min-filter-ratio runtime-filter.min-probe-data-size
                skewed-join-optimization.skewed-factor skewed-join-optimization.skewed-threshold
                skewed-join-optimization.strategy source.report-statistics-enabled sql2rel.project-merge.enabled
                union-all-as-breakpoint-enabled
            """,
            "table.exec.": """
                deduplicate.insert-update-after-sensitive-enabled deduplicate.mini-batch.compact-changes-enabled
                delta-join.cache-enabled delta-join.left.cache-size delta-join.right.cache-size disabled-operators
                interval-join.min-cleanup-interval local-hash-agg.adaptive.distinct-value-rate-threshold
                local-hash-agg.adaptive.enabled local-hash-agg.adaptive.sampling-threshold
                operator-fusion-codegen.enabled rank.topn-cache-size sort.async-merge-enabled
                dynamic-filtering.threshold sort.max-num-file-handles sink.upsert-materialize-strategy.*
                unbounded-over.version window-agg.buffer-size-limit
            """,
            "table.": "generated-code.max-length generated-code.max-members legacy-nested-row-nullability",
        },
    ),
    _below(
        "Spark's settings determine the memory of workers",
        {
            "table.exec.": """
                resource.external-buffer-memory resource.hash-agg.memory resource.hash-join.memory
                resource.sort.memory spill-compression.block-size spill-compression.enabled
            """
        },
    ),
    _below(
        "Each block of records is a mini-batch, whatever its size",
        {"table.exec.mini-batch.": "allow-latency size"},
    ),
    _below(
        "[Lookups](table.md#connectors) query all keys of a block together, and wait for the result",
        {
            "table.exec.async-lookup.": "buffer-capacity key-ordered-enabled output-mode timeout",
        },
    ),
    _below(
        "Table functions are not `async` in Python",
        {
            "table.exec.async-table.": "max-concurrent-operations max-retries retry-delay retry-strategy timeout",
        },
        warns=True,
    ),
    KeyGroup(
        "A stream is sorted by its rowtime, or with a `LIMIT`; a batch by anything",
        ("table.exec.sort.non-temporal.enabled",),
        warns=True,
    ),
    _below(
        "There are no such functions",
        {
            "table.exec.async-ml-predict.": "max-concurrent-operations output-mode timeout",
            "table.exec.async-vector-search.": "max-concurrent-operations output-mode timeout",
            "table.": "secret-store.kind",
        },
    ),
    _below(
        "A statement is planned when it runs, and the state of an operator is identified by its position in the plan",
        {
            "table.": """
                exec.simplify-operator-name-enabled exec.uid.format exec.uid.generation resources.download-dir
                rtas-ctas.atomicity-enabled
            """
        },
    ),
)
"""All of them. Configurations of clusters contain such keys, so they are not misspellings."""

_FULL = frozenset(key for group in GROUPS for key in group.keys if not key.endswith(".*"))
_FAMILIES = tuple(key[:-1] for group in GROUPS for key in group.keys if key.endswith(".*"))


def keys_of_flink() -> frozenset[str]:
    """Return the keys of Flink that have no effect here, without those in whole families of keys."""
    return _FULL


def is_of_flink(key: str) -> bool:
    """Return whether the key is one of Flink's keys that have no effect here.

    >>> is_of_flink("state.backend.rocksdb.metrics.bytes-read"), is_of_flink("state.backend.rocksdb.localdirs")
    (True, False)
    """
    return key in _FULL or key.startswith(_FAMILIES)


def misleading(key: str) -> str | None:
    """Return why a key has no effect, if the author of a program that sets it counts on one.

    >>> misleading("python.pythonpath")
    'Workers import from `python.files` and from what is installed in `python.executable`'
    >>> misleading("python.execution-mode")
    """
    for group in GROUPS:
        if group.warns and any(key == own or (own.endswith(".*") and key.startswith(own[:-1])) for own in group.keys):
            return group.because
    return None
