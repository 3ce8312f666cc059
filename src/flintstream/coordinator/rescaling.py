"""Another parallelism for a running job: its program is planned again, and continues from a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.coordinator.checkpointing.recovery import with_key_groups
from flintstream.coordinator.vertices import vertex_id
from flintstream.errors import PlanError
from flintstream.graph.planner import optimize, plan_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.coordinator.job import Job
    from flintstream.runtime.plan import JobPlan


def plan_rescaled(job: Job, parallelism: int) -> JobPlan:
    """Return the plan of a job with this parallelism for all operators to which the program gives none.

    Raises:
        PlanError: An operator allows less, the program gives all operators their parallelism, or the job cannot
            change.
    """
    graph = _graph(job)
    if all(node.parallelism is not None or node.follows_input for node in graph.nodes):
        raise PlanError(
            f"the program sets the parallelism of all operators of '{job.plan.job_name}' (set_parallelism), so there "
            "is none to change"
        )
    return _plan_again(job, parallelism, {})


def with_vertices(job: Job, vertices: Mapping[str, int]) -> JobPlan:
    """Return the plan of a job with these parallelisms of its chains, by the id of the vertex. All must be there.

    Raises:
        PlanError: An id is missing or unknown, an operator allows less, or the job cannot change.
    """
    _graph(job)
    chains = {vertex_id(chain): chain for chain in job.plan.chains}
    unknown, missing = vertices.keys() - chains.keys(), chains.keys() - vertices.keys()
    if unknown:
        raise PlanError(f"'{min(unknown)}' is not a vertex of the job '{job.plan.job_name}'")
    if missing:
        raise PlanError(f"the parallelism of the vertex '{min(missing)}' ({chains[min(missing)].name}) is missing")
    return _plan_again(job, 1, {node.id: vertices[key] for key, chain in chains.items() for node in chain.nodes})


def parallelisms(plan: JobPlan) -> dict[str, int]:
    """Return the parallelism of each operator, by its uid."""
    return {node.uid: chain.parallelism for chain in plan.chains for node in chain.nodes}


def describe_change(before: JobPlan, after: JobPlan) -> list[dict[str, object]]:
    """Return the operators with their parallelism in two plans of a program, as JSON."""
    old = parallelisms(before)
    return [
        {"name": node.name, "from": old[node.uid], "to": chain.parallelism}
        for chain in after.chains
        for node in chain.nodes
    ]


def _graph(job: Job) -> Any:
    if job.plan.batch:
        raise PlanError("a job in BATCH mode cannot be rescaled, because it takes no checkpoints")
    if job.program is None:
        raise PlanError("this job cannot be rescaled: its program is not known")
    return job.program


def _plan_again(job: Job, parallelism: int, own: Mapping[int, int]) -> JobPlan:
    """Plan the program of a job again. ``own`` has the parallelism of nodes, instead of that of the program."""
    known = {node.id: node.operator for chain in job.plan.chains for node in chain.nodes}
    graph = _graph(job)
    nodes = [
        replace(node, parallelism=own.get(node.id, node.parallelism), frozen=known[node.id]) for node in graph.nodes
    ]
    changed = replace(graph, nodes=tuple(nodes), settings=replace(graph.settings, parallelism=parallelism))
    plan = plan_job(optimize(changed), job.plan.job_name, job.plan.job_id, job.plan.settings)
    most = {node.uid: chain.max_parallelism for chain in job.plan.chains for node in chain.nodes if node.keyed}
    for chain in plan.chains:
        for node in chain.nodes:
            if chain.parallelism > most.get(node.uid, chain.parallelism):
                raise PlanError(
                    f"operator '{node.name}' cannot have parallelism {chain.parallelism}, because its maximum "
                    f"parallelism is {most[node.uid]}, which cannot change while it has keyed state"
                )
    return with_key_groups(plan, most, "this job")


def default_parallelism(job: Job) -> int | None:
    """Return the parallelism of the operators to which the program gives none; None if there are none."""
    if job.program is None:
        return None
    free = {node.id for node in job.program.nodes if node.parallelism is None and not node.follows_input}
    found = (chain.parallelism for chain in job.plan.chains for node in chain.nodes if node.id in free)
    return max(found, default=None)
