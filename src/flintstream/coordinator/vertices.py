"""Vertices of a plan under the ids that Flink would give them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.runtime.plan import ChainPlan, JobPlan


def flink_id(uid: str) -> str:
    """Return an id of the form that Flink gives to operators: 32 hexadecimal digits.

    >>> flink_id("counts")
    '5734be6acd4b538a4450d2f7de5cdecd'
    """
    return hashlib.blake2b(uid.encode(), digest_size=16).hexdigest()


def vertex_id(chain: ChainPlan) -> str:
    """Return the id of a chain, which is that of its first operator."""
    return flink_id(chain.nodes[0].uid)


def describe_plan(plan: JobPlan) -> dict[str, object]:
    """Return the chains of a plan as JSON, under Flink's ids, with their operators and where their input comes from."""
    chains = {node.id: chain for chain in plan.chains for node in chain.nodes}
    return {
        "batch": plan.batch,
        "vertices": [
            {
                "id": vertex_id(chain),
                "name": chain.name,
                "parallelism": chain.parallelism,
                "max_parallelism": chain.max_parallelism,
                "superstep": chain.level,
                "operators": [{"id": flink_id(node.uid), "name": node.name, "uid": node.uid} for node in chain.nodes],
                "inputs": [
                    {"id": vertex_id(chains[edge.source]), "ship_strategy": edge.partitioner.name}
                    for edge in chain.inputs
                ],
            }
            for chain in plan.chains
        ],
    }
