"""What replies contain, for the description of the requests."""

from __future__ import annotations

__all__ = ["reply_schema"]

# A list begins with []. The names are those of Flink's replies; a reply may have more.
_NAMES = {
    "GET /applications/:applicationid": "duration end-time id jobs name start-time status timestamps",
    "POST /applications/:applicationid/cancel": "",
    "GET /applications/:applicationid/exceptions": "exceptionHistory",
    "GET /applications/overview": "applications",
    "GET /config": "features flink-revision flink-version refresh-interval timezone-name timezone-offset",
    "GET /flintstream/jobs": "[] batch ended_ms error host job_id name pid started_ms status",
    "GET /flintstream/jobs/:jobid": (
        "checkpoints configuration ended_ms exceptions host job_id metrics name pid plan started_ms status"
    ),
    "GET /flintstream/jobs/:jobid/curves": "[] at_ms",
    "GET /flintstream/jobs/:jobid/log": "[] at_ms level logger text",
    "POST /flintstream/jobs/:jobid/rescale": "",
    "GET /jobmanager/config": "[] key value",
    "GET /jobmanager/environment": "classpath jvm",
    "GET /jobmanager/logs": "logs",
    "GET /jobmanager/metrics": "[] id",
    "GET /jobs": "jobs",
    "GET /jobs/:jobid": (
        "application-id duration end-time isStoppable jid job-type maxParallelism name now pending-operators "
        "plan schedulerType start-time state status-counts timestamps vertices"
    ),
    "PATCH /jobs/:jobid": "",
    "GET /jobs/:jobid/accumulators": "job-accumulators serialized-user-task-accumulators user-task-accumulators",
    "GET /jobs/:jobid/checkpoints": "counts history latest summary",
    "GET /jobs/:jobid/checkpoints/config": (
        "aligned_checkpoint_timeout changelog_periodic_materialization_interval changelog_storage "
        "checkpoint_storage checkpoints_after_tasks_finish externalization interval max_concurrent min_pause "
        "mode state_backend state_changelog_enabled timeout tolerable_failed_checkpoints "
        "unaligned_checkpoints"
    ),
    "GET /jobs/:jobid/checkpoints/details/:checkpointid": (
        "alignment_buffered checkpoint_type checkpointed_size className discarded end_to_end_duration "
        "external_path id is_savepoint latest_ack_timestamp num_acknowledged_subtasks num_subtasks "
        "persisted_data processed_data savepointFormat state_size status tasks trigger_timestamp"
    ),
    "GET /jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid": (
        "alignment_buffered checkpointed_size end_to_end_duration id latest_ack_timestamp "
        "num_acknowledged_subtasks num_subtasks persisted_data processed_data state_size status subtasks "
        "summary"
    ),
    "GET /jobs/:jobid/config": "execution-config jid name",
    "GET /jobs/:jobid/exceptions": "exceptionHistory",
    "GET /jobs/:jobid/jobmanager/config": "[] key value",
    "GET /jobs/:jobid/jobmanager/environment": "classpath jvm",
    "GET /jobs/:jobid/metrics": "[] id",
    "GET /jobs/:jobid/plan": "plan",
    "GET /jobs/:jobid/resource-requirements": "",
    "PUT /jobs/:jobid/resource-requirements": "",
    "POST /jobs/:jobid/savepoints": "request-id",
    "GET /jobs/:jobid/savepoints/:triggerid": "operation status",
    "GET /jobs/:jobid/status": "status",
    "POST /jobs/:jobid/stop": "request-id",
    "GET /jobs/:jobid/vertices/:vertexid": "aggregated id maxParallelism name now parallelism subtasks",
    "GET /jobs/:jobid/vertices/:vertexid/accumulators": "id user-accumulators",
    "GET /jobs/:jobid/vertices/:vertexid/backpressure": (
        "backpressure-level backpressureLevel end-timestamp status subtasks"
    ),
    "GET /jobs/:jobid/vertices/:vertexid/metrics": "[] id",
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex": (
        "attempt duration end-time endpoint metrics start-time start_time status status-duration subtask taskmanager-id"
    ),
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex/attempts/:attempt": (
        "attempt duration end-time endpoint metrics start-time start_time status status-duration subtask taskmanager-id"
    ),
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex/attempts/:attempt/accumulators": (
        "attempt id subtask user-accumulators"
    ),
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/:subtaskindex/metrics": "[] id",
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/accumulators": "id parallelism subtasks",
    "GET /jobs/:jobid/vertices/:vertexid/subtasks/metrics": "[] id",
    "GET /jobs/:jobid/vertices/:vertexid/subtasktimes": "id name now subtasks",
    "GET /jobs/:jobid/vertices/:vertexid/taskmanagers": "id name now taskmanagers",
    "GET /jobs/:jobid/vertices/:vertexid/watermarks": "[] id value",
    "GET /jobs/metrics": "[] id",
    "GET /jobs/overview": "jobs",
    "GET /overview": (
        "flink-commit flink-version jobs-cancelled jobs-failed jobs-finished jobs-running slots-available "
        "slots-total taskmanagers"
    ),
    "GET /taskmanagers": "taskmanagers",
    "GET /taskmanagers/:taskmanagerid": (
        "allocatedSlots assignedTasks dataPort freeResource freeSlots hardware id jmxPort memoryConfiguration "
        "metrics path slotsNumber timeSinceLastHeartbeat totalResource"
    ),
    "GET /taskmanagers/:taskmanagerid/logs": "logs",
    "GET /taskmanagers/:taskmanagerid/metrics": "[] id",
    "GET /taskmanagers/metrics": "[] id",
}


def reply_schema(method: str, path: str) -> dict[str, object]:
    """Return the schema of a reply.

    >>> reply_schema("GET", "/jobs")
    {'type': 'object', 'required': ['jobs']}
    """
    names = _NAMES[f"{method} {path}"].split() if f"{method} {path}" in _NAMES else []
    if names[:1] == ["[]"]:
        return {"type": "array", "items": _object(names[1:])}
    return _object(names)


def _object(names: list[str]) -> dict[str, object]:
    return {"type": "object", **({"required": names} if names else {})}
