"""Vertices of a plan under the ids that Flink would give them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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


def shown_names(plan: JobPlan, sources: Collection[int], sinks: Collection[int]) -> dict[int, str]:
    """Return the names of operators by node as Flink's server and reporters show them: with what the ends are."""
    return {
        node.id: _with_prefix("Source: " if node.id in sources else "Sink: " if node.id in sinks else "", node.name)
        for chain in plan.chains
        for node in chain.nodes
    }


def _with_prefix(prefix: str, name: str) -> str:
    """Return a name with a prefix, once.

    >>> _with_prefix("Sink: ", "shop"), _with_prefix("Sink: ", "Sink: shop")
    ('Sink: shop', 'Sink: shop')
    """
    return name if name.startswith(prefix) else prefix + name


def shown_chain(chain: ChainPlan, names: Mapping[int, str]) -> str:
    """Return the name of a chain, made of the shown names of its operators."""
    return " -> ".join(names[node.id] for node in chain.nodes)


def describe_plan(plan: JobPlan, names: Mapping[int, str]) -> dict[str, object]:
    """Return the chains of a plan as JSON, under Flink's ids, with their operators and where their input comes from."""
    chains = {node.id: chain for chain in plan.chains for node in chain.nodes}
    return {
        "batch": plan.batch,
        "vertices": [
            {
                "id": vertex_id(chain),
                "name": shown_chain(chain, names),
                "parallelism": chain.parallelism,
                "max_parallelism": chain.max_parallelism,
                "superstep": chain.level,
                "operators": [
                    {"id": flink_id(node.uid), "name": names[node.id], "uid": node.uid} for node in chain.nodes
                ],
                "inputs": [
                    {"id": vertex_id(chains[edge.source]), "ship_strategy": edge.partitioner.name}
                    for edge in chain.inputs
                ],
            }
            for chain in plan.chains
        ],
    }
