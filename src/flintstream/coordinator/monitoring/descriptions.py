"""What there is to tell of a job that runs, as JSON: its status, checkpoints, metrics and record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import flintstream
from flintstream.coordinator import registry
from flintstream.coordinator.checkpointing.history import state_of
from flintstream.coordinator.monitoring import output_file
from flintstream.coordinator.monitoring.measured import names_of, of_job, of_operators, of_tasks
from flintstream.coordinator.vertices import describe_plan, shown_chain, vertex_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flintstream.coordinator.monitoring.observed import ObservedJob

FORMAT = 1


def status_of(job: ObservedJob) -> dict[str, object]:
    """Return the progress of a job, as JSON."""
    progress = job.coordinator.statistics.progress
    return {
        "state": job.status().name,
        "epochs": progress.epochs,
        "restarts": progress.restarts,
        "checkpoints": progress.checkpoints,
        "failed_checkpoints": job.coordinator.checkpoints.failed,
        "records_in": progress.records_in,
        "records_out": progress.records_out,
        "repeated_in": progress.repeated_in,
        "watermark": None if progress.watermark == -(2**63) else progress.watermark,
        "log_file": output_file.own(),
        "losses": job.coordinator.statistics.losses.to_json(),
    }


def checkpoints_of(job: ObservedJob) -> dict[str, object]:
    """Return the checkpoints of a job, as JSON. The job would go back to the last one in ``kept``."""
    checkpoints = job.coordinator.checkpoints
    settings, latest = checkpoints.settings, checkpoints.latest
    return {
        "interval_ms": settings.interval_ms,
        "completed": job.coordinator.statistics.progress.checkpoints,
        "failed": checkpoints.failed,
        "last_duration_ms": checkpoints.duration_ms,
        "started_from": settings.restore_path,
        "settings": {
            "min_pause_ms": settings.min_pause_ms,
            "timeout_ms": settings.timeout_ms,
            "tolerable_failures": settings.tolerable_failures,
            "retained": settings.retained,
            "exactly_once": settings.exactly_once,
            "incremental": settings.incremental,
            "keep_when_cancelled": settings.keep_when_cancelled,
            "keep_when_failed": settings.keep_when_failed,
            "directory": None if checkpoints.store is None else checkpoints.store.uri(""),
            "savepoint_directory": settings.savepoint_directory,
            "backend": job.job.plan.settings.state.backend,
            "changelog": checkpoints.logged,
            "materialize_interval_ms": settings.materialize_interval_ms,
        },
        "history": checkpoints.history.to_json(),
        "state": [] if latest is None else state_of(latest.metadata),
        "kept": [
            {
                "number": item.metadata.number,
                "kind": item.metadata.purpose,
                "path": item.where,
                "created_ms": item.metadata.created_ms,
                "bytes": item.metadata.size(),
            }
            for item in tuple(checkpoints.completed)
        ],
    }


def metrics_of(job: ObservedJob) -> dict[str, object]:
    """Return the metrics of a job, its tasks and its operators, as JSON."""
    names = names_of(job)
    vertices = {node.id: vertex_id(chain) for chain in job.job.plan.chains for node in chain.nodes}
    operators = [
        {
            "operator": operator.operator,
            "operator_id": operator.operator_id,
            "subtask": operator.subtask,
            "values": dict(operator.values),
            "vertex": vertices[operator.operator_id],
        }
        for operator in of_operators(job)
    ]
    load, clock = job.coordinator.statistics.load, job.coordinator.clock
    chains = {chain.id: chain for chain in load.plan.chains}
    lived_ms, totals = load.lived_ms(clock.now_ms()), dict(zip(chains, load.by_chain(), strict=True))
    tasks = []
    for (chain, subtask), values in of_tasks(load, clock.now_ms()).items():
        _, _, busy, held, engine = (total[subtask] for total in totals[chain])
        idle = max(0, lived_ms - busy - held - engine)
        spent = {"busy": busy, "held": held, "idle": idle, "engine": engine}
        place = {"task": shown_chain(chains[chain], names), "vertex": vertex_id(chains[chain]), "subtask": subtask}
        tasks.append({**place, "values": values, "spent_ms": spent})
    told: dict[str, object] = {"job": job.job.plan.job_name, "totals": of_job(job)}
    return {**told, "epochs": job.coordinator.statistics.epochs.to_json(), "tasks": tasks, "operators": operators}


PARTS: dict[str, Callable[[ObservedJob], object]] = {
    "plan": lambda job: describe_plan(job.job.plan, names_of(job)),
    "status": status_of,
    "checkpoints": checkpoints_of,
    "metrics": metrics_of,
    "exceptions": lambda job: [dict(failure) for failure in tuple(job.coordinator.failures)],
    "configuration": lambda job: job.configuration,
}
"""The parts of the record of a job that are large or slow to describe."""


def record_of(job: ObservedJob, parts: Collection[str] | None = None) -> dict[str, object]:
    """Return what there is to tell of a job that runs, as JSON: who it is, and all of :data:`PARTS` or some of them."""
    plan = job.job.plan
    return {
        "format": FORMAT,
        "release": flintstream.__version__,
        "job_id": plan.job_id,
        "name": plan.job_name,
        "host": registry.host(),
        "pid": os.getpid(),
        **{name: describe(job) for name, describe in PARTS.items() if parts is None or name in parts},
    }
