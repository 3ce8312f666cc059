"""Keys of Flink that have no effect here. Configurations of clusters contain them, so they are not misspellings."""

from __future__ import annotations

__all__ = ["is_of_flink", "keys_of_flink"]

_KEYS = {
    "execution.": """
        allow-client-job-configurations attached batch-shuffle-mode batch-state-backend.enabled buffer-timeout
        buffer-timeout.enabled job-listeners job-status-changed-listeners
        program-config.enabled program-config.wildcards shutdown-on-application-finish shutdown-on-attached-exit
        sort-keyed-partition.memory sort-partition.memory sorted-inputs.enabled sorted-inputs.memory
        submit-failed-job-on-application-error target terminate-application-on-any-job-terminated-exceptionally
    """,
    "execution.checkpointing.": """
        approximate-local-recovery checkpoints-after-tasks-finish checkpoints-after-tasks-finish.enabled
        cleaner.parallel-mode create-subdir during-recovery.enabled interval-during-backlog local-backup.dirs
        local-backup.enabled recover-without-channel-state.checkpoint-id
        unaligned.interruptible-timers.enabled unaligned.max-subtasks-per-channel-state-file
        unaligned.recover-output-on-downstream.enabled
    """,
    "execution.state-recovery.": "approximate-local-recovery from-local without-channel-state.checkpoint-id",
    "pipeline.": """
        cached-files classpaths default-kryo-serializers force-kryo-avro jars jobvertex-parallelism-overrides
        registered-kryo-types registered-pojo-types
        serialization-config sources.pause-until-first-checkpoint vertex-description-mode
        vertex-name-include-index-prefix watermark-alignment.allow-unaligned-source-splits
        watermark-alignment.buffer-size
    """,
    "python.": """
        client.executable execution-mode fn-execution.arrow.batch.size fn-execution.buffer.memory.size
        fn-execution.bundle.size fn-execution.bundle.time fn-execution.framework.memory.size
        fn-execution.memory.managed job-options logging.default.level logging.level.overrides loopback-server.address
        map-state.iterate-response-batch-size map-state.read-cache-size map-state.write-cache-size metric.enabled
        profile.enabled pythonpath state.cache-size systemenv.enabled
    """,
    "state.": """
        backend.async backend.latency-track.history-size backend.latency-track.keyed-state-enabled
        backend.latency-track.sample-interval backend.latency-track.state-name-as-variable backend.local-recovery
        checkpoint.cleaner.parallel-mode checkpoints.create-subdir
    """,
    "state.backend.rocksdb.": """
        compaction.filter.periodic-compaction-time compaction.filter.query-time-after-num-entries
        incremental-restore-async-compact-after-rescale log.dir log.file-num log.level log.max-file-size
        memory.high-prio-pool-ratio memory.partitioned-index-filters rescaling.use-delete-files-in-range
        restore-overlap-fraction-threshold timer-service.cache-size timer-service.factory use-ingest-db-restore-mode
        write-batch-size
    """,
}

_FAMILIES = (
    "execution.async-state.",
    "execution.batch.",
    "execution.checkpointing.file-merging.",
    "pipeline.jobvertex-parallelism-overrides.",
    "python.internal.",
    "python.job-options.",
    "python.logging.level.overrides.",
    "state.backend.forst.",
    "state.backend.rocksdb.manual-compaction.",
    "state.backend.rocksdb.metrics.",
    "state.changelog.dstl.",
    "state.latency-track.",
    "state.size-track.",
)
"""Prefixes of keys without effect."""

_FULL = frozenset(prefix + name for prefix, group in _KEYS.items() for name in group.split())


def keys_of_flink() -> frozenset[str]:
    """Return the keys of Flink that have no effect here, without those in whole families of keys."""
    return _FULL


def is_of_flink(key: str) -> bool:
    """Return whether the key is one of Flink's keys that have no effect here.

    >>> is_of_flink("state.backend.rocksdb.metrics.bytes-read"), is_of_flink("state.backend.rocksdb.localdirs")
    (True, False)
    """
    return key in _FULL or key.startswith(_FAMILIES)
