"""Keys of Flink's options by their Java constants, taken from Flink 2.3.0."""

from __future__ import annotations

from functools import cache

__all__ = ["key_of"]

_KEYS = {
    "CheckpointingOptions": """
        ALIGNED_CHECKPOINT_TIMEOUT execution.checkpointing.aligned-checkpoint-timeout
        CHECKPOINTING_CONSISTENCY_MODE execution.checkpointing.mode
        CHECKPOINTING_DURING_RECOVERY_ENABLED execution.checkpointing.during-recovery.enabled
        CHECKPOINTING_INTERVAL execution.checkpointing.interval
        CHECKPOINTING_INTERVAL_DURING_BACKLOG execution.checkpointing.interval-during-backlog
        CHECKPOINTING_TIMEOUT execution.checkpointing.timeout
        CHECKPOINTS_DIRECTORY execution.checkpointing.dir
        CHECKPOINT_STORAGE execution.checkpointing.storage
        CLEANER_PARALLEL_MODE execution.checkpointing.cleaner.parallel-mode
        CREATE_CHECKPOINT_SUB_DIR execution.checkpointing.create-subdir
        ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH execution.checkpointing.checkpoints-after-tasks-finish
        ENABLE_UNALIGNED execution.checkpointing.unaligned.enabled
        ENABLE_UNALIGNED_INTERRUPTIBLE_TIMERS execution.checkpointing.unaligned.interruptible-timers.enabled
        EXTERNALIZED_CHECKPOINT_RETENTION execution.checkpointing.externalized-checkpoint-retention
        FILE_MERGING_ACROSS_BOUNDARY execution.checkpointing.file-merging.across-checkpoint-boundary
        FILE_MERGING_ENABLED execution.checkpointing.file-merging.enabled
        FILE_MERGING_MAX_FILE_SIZE execution.checkpointing.file-merging.max-file-size
        FILE_MERGING_MAX_SPACE_AMPLIFICATION execution.checkpointing.file-merging.max-space-amplification
        FILE_MERGING_MAX_SUBTASKS_PER_FILE execution.checkpointing.file-merging.max-subtasks-per-file
        FILE_MERGING_POOL_BLOCKING execution.checkpointing.file-merging.pool-blocking
        FORCE_UNALIGNED execution.checkpointing.unaligned.forced
        FS_SMALL_FILE_THRESHOLD execution.checkpointing.data-inline-threshold
        FS_WRITE_BUFFER_SIZE execution.checkpointing.write-buffer-size
        INCREMENTAL_CHECKPOINTS execution.checkpointing.incremental
        LOCAL_BACKUP_ENABLED execution.checkpointing.local-backup.enabled
        LOCAL_RECOVERY_TASK_MANAGER_STATE_ROOT_DIRS execution.checkpointing.local-backup.dirs
        MAX_CONCURRENT_CHECKPOINTS execution.checkpointing.max-concurrent-checkpoints
        MAX_RETAINED_CHECKPOINTS execution.checkpointing.num-retained
        MIN_PAUSE_BETWEEN_CHECKPOINTS execution.checkpointing.min-pause
        PAUSE_SOURCES_UNTIL_FIRST_CHECKPOINT pipeline.sources.pause-until-first-checkpoint
        SAVEPOINT_DIRECTORY execution.checkpointing.savepoint-dir
        TOLERABLE_FAILURE_NUMBER execution.checkpointing.tolerable-failed-checkpoints
        UNALIGNED_MAX_SUBTASKS_PER_CHANNEL_STATE_FILE
            execution.checkpointing.unaligned.max-subtasks-per-channel-state-file
        UNALIGNED_RECOVER_OUTPUT_ON_DOWNSTREAM execution.checkpointing.unaligned.recover-output-on-downstream.enabled
    """,
    "CoreOptions": """
        DEFAULT_PARALLELISM parallelism.default
    """,
    "DeploymentOptions": """
        ATTACHED execution.attached
        JOB_LISTENERS execution.job-listeners
        JOB_STATUS_CHANGED_LISTENERS execution.job-status-changed-listeners
        PROGRAM_CONFIG_ENABLED execution.program-config.enabled
        PROGRAM_CONFIG_WILDCARDS execution.program-config.wildcards
        SHUTDOWN_IF_ATTACHED execution.shutdown-on-attached-exit
        SHUTDOWN_ON_APPLICATION_FINISH execution.shutdown-on-application-finish
        SUBMIT_FAILED_JOB_ON_APPLICATION_ERROR execution.submit-failed-job-on-application-error
        TARGET execution.target
        TERMINATE_APPLICATION_ON_ANY_JOB_EXCEPTION execution.terminate-application-on-any-job-terminated-exceptionally
    """,
    "ExecutionOptions": """
        BATCH_SHUFFLE_MODE execution.batch-shuffle-mode
        BUFFER_TIMEOUT execution.buffer-timeout.interval
        BUFFER_TIMEOUT_ENABLED execution.buffer-timeout.enabled
        RUNTIME_MODE execution.runtime-mode
        SNAPSHOT_COMPRESSION execution.checkpointing.snapshot-compression
        SORTED_INPUTS_MEMORY execution.sorted-inputs.memory
        SORT_INPUTS execution.sorted-inputs.enabled
        SORT_KEYED_PARTITION_MEMORY execution.sort-keyed-partition.memory
        SORT_PARTITION_MEMORY execution.sort-partition.memory
        USE_BATCH_STATE_BACKEND execution.batch-state-backend.enabled
    """,
    "PipelineOptions": """
        ALLOW_UNALIGNED_SOURCE_SPLITS pipeline.watermark-alignment.allow-unaligned-source-splits
        AUTO_GENERATE_UIDS pipeline.auto-generate-uids
        AUTO_WATERMARK_INTERVAL pipeline.auto-watermark-interval
        CACHED_FILES pipeline.cached-files
        CLASSPATHS pipeline.classpaths
        CLOSURE_CLEANER_LEVEL pipeline.closure-cleaner-level
        FORCE_AVRO pipeline.force-avro
        FORCE_KRYO pipeline.force-kryo
        FORCE_KRYO_AVRO pipeline.force-kryo-avro
        GENERIC_TYPES pipeline.generic-types
        GLOBAL_JOB_PARAMETERS pipeline.global-job-parameters
        JARS pipeline.jars
        MAX_PARALLELISM pipeline.max-parallelism
        NAME pipeline.name
        OBJECT_REUSE pipeline.object-reuse
        OPERATOR_CHAINING pipeline.operator-chaining.enabled
        OPERATOR_CHAINING_CHAIN_OPERATORS_WITH_DIFFERENT_MAX_PARALLELISM
            pipeline.operator-chaining.chain-operators-with-different-max-parallelism
        PARALLELISM_OVERRIDES pipeline.jobvertex-parallelism-overrides
        SERIALIZATION_CONFIG pipeline.serialization-config
        VERTEX_DESCRIPTION_MODE pipeline.vertex-description-mode
        VERTEX_NAME_INCLUDE_INDEX_PREFIX pipeline.vertex-name-include-index-prefix
        WATERMARK_ALIGNMENT_BUFFER_SIZE pipeline.watermark-alignment.buffer-size
    """,
    "PythonOptions": """
        MAP_STATE_ITERATE_RESPONSE_BATCH_SIZE python.map-state.iterate-response-batch-size
        MAP_STATE_READ_CACHE_SIZE python.map-state.read-cache-size
        MAP_STATE_WRITE_CACHE_SIZE python.map-state.write-cache-size
        MAX_ARROW_BATCH_SIZE python.fn-execution.arrow.batch.size
        MAX_BUNDLE_SIZE python.fn-execution.bundle.size
        MAX_BUNDLE_TIME_MILLS python.fn-execution.bundle.time
        PYTHON_ARCHIVES python.archives
        PYTHON_ARCHIVES_DISTRIBUTED_CACHE_INFO python.internal.archives-key-map
        PYTHON_CLIENT_EXECUTABLE python.client.executable
        PYTHON_EXECUTABLE python.executable
        PYTHON_EXECUTION_MODE python.execution-mode
        PYTHON_FILES python.files
        PYTHON_FILES_DISTRIBUTED_CACHE_INFO python.internal.files-key-map
        PYTHON_JOB_OPTIONS python.job-options
        PYTHON_LOGGING_DEFAULT_LEVEL python.logging.default.level
        PYTHON_LOGGING_LEVEL_OVERRIDE python.logging.level.overrides
        PYTHON_LOOPBACK_SERVER_ADDRESS python.loopback-server.address
        PYTHON_METRIC_ENABLED python.metric.enabled
        PYTHON_OPERATOR_CHAINING_ENABLED python.operator-chaining.enabled
        PYTHON_PATH python.pythonpath
        PYTHON_PROFILE_ENABLED python.profile.enabled
        PYTHON_REQUIREMENTS python.requirements
        PYTHON_REQUIREMENTS_FILE_DISTRIBUTED_CACHE_INFO python.internal.requirements-file-key
        PYTHON_SYSTEMENV_ENABLED python.systemenv.enabled
        STATE_CACHE_SIZE python.state.cache-size
        USE_MANAGED_MEMORY python.fn-execution.memory.managed
    """,
    "RestOptions": """
        BIND_PORT rest.bind-port
        PORT rest.port
    """,
    "RestartStrategyOptions": """
        RESTART_STRATEGY restart-strategy.type
        RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS restart-strategy.exponential-delay.attempts-before-reset-backoff
        RESTART_STRATEGY_EXPONENTIAL_DELAY_BACKOFF_MULTIPLIER restart-strategy.exponential-delay.backoff-multiplier
        RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF restart-strategy.exponential-delay.initial-backoff
        RESTART_STRATEGY_EXPONENTIAL_DELAY_JITTER_FACTOR restart-strategy.exponential-delay.jitter-factor
        RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF restart-strategy.exponential-delay.max-backoff
        RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD
            restart-strategy.exponential-delay.reset-backoff-threshold
        RESTART_STRATEGY_FAILURE_RATE_DELAY restart-strategy.failure-rate.delay
        RESTART_STRATEGY_FAILURE_RATE_FAILURE_RATE_INTERVAL restart-strategy.failure-rate.failure-rate-interval
        RESTART_STRATEGY_FAILURE_RATE_MAX_FAILURES_PER_INTERVAL restart-strategy.failure-rate.max-failures-per-interval
        RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS restart-strategy.fixed-delay.attempts
        RESTART_STRATEGY_FIXED_DELAY_DELAY restart-strategy.fixed-delay.delay
    """,
    "StateBackendOptions": """
        STATE_BACKEND state.backend.type
    """,
    "StateChangelogOptions": """
        ENABLE_STATE_CHANGE_LOG state.changelog.enabled
        MATERIALIZATION_MAX_FAILURES_ALLOWED state.changelog.max-failures-allowed
        PERIODIC_MATERIALIZATION_ENABLED state.changelog.periodic-materialize.enabled
        PERIODIC_MATERIALIZATION_INTERVAL state.changelog.periodic-materialize.interval
        STATE_CHANGE_LOG_STORAGE state.changelog.storage
    """,
    "StateLatencyTrackOptions": """
        LATENCY_TRACK_ENABLED state.latency-track.keyed-state-enabled
        LATENCY_TRACK_HISTORY_SIZE state.latency-track.history-size
        LATENCY_TRACK_SAMPLE_INTERVAL state.latency-track.sample-interval
        LATENCY_TRACK_STATE_NAME_AS_VARIABLE state.latency-track.state-name-as-variable
    """,
    "StateRecoveryOptions": """
        APPROXIMATE_LOCAL_RECOVERY execution.state-recovery.approximate-local-recovery
        CHECKPOINT_ID_OF_IGNORED_IN_FLIGHT_DATA execution.state-recovery.without-channel-state.checkpoint-id
        LOCAL_RECOVERY execution.state-recovery.from-local
        RESTORE_MODE execution.state-recovery.claim-mode
        SAVEPOINT_IGNORE_UNCLAIMED_STATE execution.state-recovery.ignore-unclaimed-state
        SAVEPOINT_PATH execution.state-recovery.path
    """,
    "StateSizeTrackOptions": """
        SIZE_TRACK_ENABLED state.size-track.keyed-state-enabled
        SIZE_TRACK_HISTORY_SIZE state.size-track.history-size
        SIZE_TRACK_SAMPLE_INTERVAL state.size-track.sample-interval
        SIZE_TRACK_STATE_NAME_AS_VARIABLE state.size-track.state-name-as-variable
    """,
}


@cache
def _of(options: str) -> dict[str, str]:
    words = _KEYS.get(options, "").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def key_of(options: str, constant: str) -> str | None:
    """Return the key of an option; None if it is unknown.

    >>> key_of("ExecutionOptions", "RUNTIME_MODE")
    'execution.runtime-mode'
    """
    return _of(options).get(constant)
