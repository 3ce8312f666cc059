"""The planner: an ordered tuple of small pure rewrites turns a stream graph into supersteps."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.errors import PlanError
from flintstream.graph.frozen import freeze
from flintstream.graph.stream_graph import check_text
from flintstream.runtime.copies import has_frozen_values
from flintstream.runtime.partitioners import (
    ForwardPartitioner,
    KeyGroupPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
)
from flintstream.runtime.plan import (
    RECORDS_PER_BLOCK,
    RECORDS_PER_LARGE_BLOCK,
    ChainPlan,
    ExchangeEdge,
    JobPlan,
    LocalEdge,
    NodePlan,
    Superstep,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.graph.stream_graph import StreamEdge, StreamGraph, StreamNode
    from flintstream.runtime.plan import JobSettings

MIN_KEY_GROUPS, MAX_KEY_GROUPS = 128, 32768
LONGEST_CHAIN = 64
"""Most steps in a row within a chain: each calls the next one, and Python's stack also has to hold what they call."""


def default_max_parallelism(parallelism: int) -> int:
    """Return Flink's default number of key groups: the power of two at or above 1.5 x parallelism, 128 to 32768.

    >>> default_max_parallelism(2), default_max_parallelism(200)
    (128, 512)
    """
    wanted = parallelism + parallelism // 2
    return min(max(1 << max(wanted - 1, 0).bit_length(), MIN_KEY_GROUPS), MAX_KEY_GROUPS)


def resolve_parallelism(graph: StreamGraph) -> StreamGraph:
    """Assign each step its parallelism and number of key groups."""
    found: dict[int, int] = {}

    def resolve(node: StreamNode) -> StreamNode:
        parallelism = node.parallelism or (follow(node) if node.follows_input else graph.settings.parallelism)
        found[node.id] = parallelism
        most = node.max_parallelism or graph.settings.max_parallelism
        given = most > 0
        if not given:
            most = default_max_parallelism(parallelism)
        if parallelism > most:
            raise PlanError(
                f"operator '{node.name}' has parallelism {parallelism}, which exceeds its max parallelism {most}: "
                "raise set_max_parallelism() or lower set_parallelism()",
            )
        return replace(node, parallelism=parallelism, max_parallelism=most, key_groups_given=given)

    def follow(node: StreamNode) -> int:
        """Return the input's parallelism if records can stay in place; otherwise 1, like PyFlink."""
        edges = graph.inputs(node.id)
        before = {found[edge.source] for edge in edges}
        return before.pop() if len(before) == 1 and all(edge.partitioner is None for edge in edges) else 1

    return graph.with_nodes(map(resolve, graph.nodes))


def resolve_partitioners(graph: StreamGraph) -> StreamGraph:
    """Use forward edges between equal parallelisms, and round robin between different ones.

    Records that are in the subtask of their key already stay there.
    """

    def resolve(edge: StreamEdge) -> StreamEdge:
        source, target = graph.node(edge.source), graph.node(edge.target)
        same = source.parallelism == target.parallelism
        if edge.partitioner is None:
            return replace(edge, partitioner=ForwardPartitioner() if same else RebalancePartitioner())
        if isinstance(edge.partitioner, ForwardPartitioner) and not same:
            raise PlanError(
                f"forward() from '{source.name}' (parallelism {source.parallelism}) to '{target.name}' "
                f"(parallelism {target.parallelism}) needs equal parallelism: use rebalance() or rescale()",
            )
        if isinstance(edge.partitioner, KeyGroupPartitioner) and edge.partitioner.in_place and not graph.batch:
            return replace(edge, partitioner=ForwardPartitioner()) if _stay(graph, source, target) else edge
        return edge

    return graph.with_edges(map(resolve, graph.edges))


def _stay(graph: StreamGraph, source: StreamNode, target: StreamNode) -> bool:
    """Return whether records from the last keyed step before ``target`` reach it without a change of their subtask."""
    wanted = target.parallelism, target.max_parallelism
    step = source
    while (step.parallelism, step.max_parallelism) == wanted:
        if step.keyed:
            return True
        edges = graph.inputs(step.id)
        if len(edges) != 1 or not isinstance(edges[0].partitioner, (ForwardPartitioner, type(None))):
            return False
        step = graph.node(edges[0].source)
    return False


def assign_uids(graph: StreamGraph) -> StreamGraph:
    """Assign each step a uid: the user's, or a hash of the step and everything upstream of it.

    The hash does not depend on other parts of the program, nor on names or parallelism. For a step of a query, it
    depends on the form of its state, so that a changed query does not take over state that does not fit.
    """
    hashes: dict[int, str] = {}
    taken: dict[str, str] = {}
    alike: Counter[str] = Counter()
    nodes = []
    for node in graph.nodes:
        if node.uid_hash is not None:
            uid = node.uid_hash
        elif node.uid is not None:
            uid = node.uid
        else:
            senders = (f"{hashes[edge.source]}/{edge.side_tag or ''}/{edge.input}" for edge in graph.inputs(node.id))
            place = "|".join([node.role, node.kind, *([node.layout] if node.layout else []), *senders])
            alike[place] += 1
            uid = hashlib.sha1(f"{place}|{alike[place]}".encode(), usedforsecurity=False).hexdigest()
        if uid in taken:
            raise PlanError(
                f"operators '{taken[uid]}' and '{node.name}' have the same uid '{uid}': uids must be unique"
            )
        taken[uid] = node.name
        hashes[node.id] = hashes[graph.inputs(node.id)[0].source] if node.passing else uid
        nodes.append(replace(node, uid=uid))
    return graph.with_nodes(nodes)


def mark_conversions(graph: StreamGraph) -> StreamGraph:
    """Decide which steps convert their results to the declared type.

    PyFlink passes raw Python objects between chained Python operators, and serializes them everywhere else. It chains a
    plain function to the only consumer of its input if nothing separates the two. A step that passes on immutable
    records of its own type does not convert them a second time.
    """

    def chained_in_pyflink(edge: StreamEdge) -> bool:
        source, target = graph.node(edge.source), graph.node(edge.target)
        return (
            graph.settings.chaining
            and graph.settings.python_chaining
            and source.kind != "ENGINE"
            and target.kind == "PROCESS"
            and target.role == "OPERATOR"
            and len(graph.outputs(source.id)) == 1
            and edge.side_tag is None
            and isinstance(edge.partitioner, ForwardPartitioner)
            and source.max_parallelism == target.max_parallelism
            and source.slot_sharing_group == target.slot_sharing_group
            and target.chaining == "ALWAYS"
            and source.chaining != "NEVER"
            and len(graph.inputs(target.id)) == 1
        )

    def mark(node: StreamNode) -> StreamNode:
        outputs = graph.outputs(node.id)
        return replace(node, converts=bool(outputs) and not all(map(chained_in_pyflink, outputs)))

    def unless_converted(node: StreamNode) -> StreamNode:
        if not (node.converts and node.operator.passes_records and has_frozen_values(node.output_type)):
            return node
        sources = [(converted[edge.source], edge.side_tag) for edge in graph.inputs(node.id)]
        alike = [s.converts and tag is None and s.output_type == node.output_type for s, tag in sources]
        return replace(node, converts=not all(alike))

    converted = {node.id: mark(node) for node in graph.nodes}
    return graph.with_nodes(map(unless_converted, converted.values()))


def mark_order(graph: StreamGraph) -> StreamGraph:
    """Determine the order in which the driver shows records from several subtasks or sinks.

    If the records of a single subtask were dealt out in turn, one for one, taking them in turn restores their order.
    Side outputs follow the output that they were split from, as they usually do in PyFlink.
    """
    nodes: dict[int, StreamNode] = {}
    for node in graph.nodes:
        edges = graph.inputs(node.id)
        dealt = False
        if len(edges) == 1 and edges[0].side_tag is None and (node.role == "SINK" or node.operator.one_for_one):
            before, partitioner = nodes[edges[0].source], edges[0].partitioner
            in_turn = isinstance(partitioner, (RebalancePartitioner, RescalePartitioner)) and before.parallelism == 1
            dealt = in_turn or (isinstance(partitioner, ForwardPartitioner) and before.dealt)
        aside = max((nodes[edge.source].side_outputs + (edge.side_tag is not None) for edge in edges), default=0)
        nodes[node.id] = replace(node, dealt=dealt, side_outputs=aside)
    return graph.with_nodes(nodes.values())


def assign_levels(graph: StreamGraph) -> StreamGraph:
    """Assign each step to the earliest superstep in which all its inputs are available.

    An exchange leads to the next superstep. A forward edge stays in the same one, unless another input delays its
    target, or as many steps as a chain may have are before it.
    """
    levels: dict[int, int] = {}
    before: dict[int, int] = {}
    nodes = []
    for node in graph.nodes:
        forward = [edge.source for edge in graph.inputs(node.id) if isinstance(edge.partitioner, ForwardPartitioner)]
        others = [edge.source for edge in graph.inputs(node.id) if not isinstance(edge.partitioner, ForwardPartitioner)]
        level = max([0, *(levels[source] for source in forward), *(levels[source] + 1 for source in others)])
        steps = max((before[source] + 1 for source in forward if levels[source] == level), default=0)
        if steps >= LONGEST_CHAIN:
            level, steps = level + 1, 0
        levels[node.id], before[node.id] = level, steps
        nodes.append(replace(node, level=level))
    edges = [
        replace(
            edge,
            exchange=not isinstance(edge.partitioner, ForwardPartitioner) or levels[edge.source] != levels[edge.target],
        )
        for edge in graph.edges
    ]
    return graph.with_nodes(nodes).with_edges(edges)


REWRITES: tuple[Callable[[StreamGraph], StreamGraph], ...] = (
    resolve_parallelism,
    resolve_partitioners,
    assign_uids,
    mark_conversions,
    mark_order,
    assign_levels,
)
"""The rewrites in the order of their dependencies."""


def optimize(graph: StreamGraph) -> StreamGraph:
    """Apply all rewrites."""
    for rewrite in REWRITES:
        graph = rewrite(graph)
    return graph


def chains_of(graph: StreamGraph) -> list[list[StreamNode]]:
    """Group the steps that forward edges connect within a superstep, each group in topological order."""
    chain_of: dict[int, int] = {node.id: node.id for node in graph.nodes}

    def find(number: int) -> int:
        while chain_of[number] != number:
            number = chain_of[number]
        return number

    for edge in graph.edges:
        if not edge.exchange:
            first, second = sorted((find(edge.source), find(edge.target)))
            chain_of[second] = first
    groups: dict[int, list[StreamNode]] = {}
    for node in graph.nodes:
        groups.setdefault(find(node.id), []).append(node)
    return list(groups.values())


def plan_job(graph: StreamGraph, job_name: str, job_id: str, settings: JobSettings) -> JobPlan:
    """Convert an optimized stream graph to the list of supersteps that an engine runs in order.

    Raises:
        PlanError: The name is not text.
        UnpicklableError: A function cannot be pickled; the message names the operator.
    """
    check_text(job_name, "the name of the job")
    groups = chains_of(graph)
    chain_ids = {node.id: number for number, group in enumerate(groups) for node in group}
    # By position: a stream that is united with itself has two equal edges.
    exchanges = [
        _exchange(graph, number, edge, chain_ids[edge.target])
        for number, edge in enumerate(e for e in graph.edges if e.exchange)
    ]
    local: dict[int, list[LocalEdge]] = {}
    for e in graph.edges:
        if not e.exchange:
            local.setdefault(chain_ids[e.target], []).append(LocalEdge(e.source, e.target, e.input, e.side_tag))
    inputs: dict[int, list[ExchangeEdge]] = {}
    outputs: dict[int, list[ExchangeEdge]] = {}
    for exchange in exchanges:
        inputs.setdefault(exchange.target_chain, []).append(exchange)
        outputs.setdefault(chain_ids[exchange.source], []).append(exchange)
    levels: dict[int, list[ChainPlan]] = {}
    for number, group in enumerate(groups):
        levels.setdefault(group[0].level, []).append(
            ChainPlan(
                id=number,
                level=group[0].level,
                parallelism=group[0].parallelism or 1,
                max_parallelism=group[0].max_parallelism or MIN_KEY_GROUPS,
                nodes=tuple(_node_plan(graph, node) for node in group),
                local_edges=tuple(local.get(number, ())),
                inputs=tuple(inputs.get(number, ())),
                outputs=tuple(outputs.get(number, ())),
                key_groups_given=any(node.key_groups_given for node in group),
            ),
        )
    depth = max(node.level for node in graph.nodes) + 1
    supersteps = tuple(Superstep(level, tuple(levels.get(level, ()))) for level in range(depth))
    return JobPlan(job_name, job_id, graph.batch, supersteps, settings)


def _exchange(graph: StreamGraph, number: int, edge: StreamEdge, target_chain: int) -> ExchangeEdge:
    source, target = graph.node(edge.source), graph.node(edge.target)
    assert edge.partitioner is not None  # noqa: S101
    keyed = isinstance(edge.partitioner, KeyGroupPartitioner)
    broadcast = edge.partitioner.name == "BROADCAST"
    return ExchangeEdge(
        id=number,
        source=edge.source,
        target=edge.target,
        input=edge.input,
        partitioner=edge.partitioner,
        source_parallelism=source.parallelism or 1,
        target_parallelism=target.parallelism or 1,
        target_level=target.level,
        max_parallelism=target.max_parallelism or MIN_KEY_GROUPS,
        target_chain=target_chain,
        side_tag=edge.side_tag,
        priority=2 if keyed else 0 if broadcast else 1,
        block=RECORDS_PER_LARGE_BLOCK if target.operator.groups_records else RECORDS_PER_BLOCK,
    )


def _node_plan(graph: StreamGraph, node: StreamNode) -> NodePlan:
    side_types = {edge.side_tag: edge.side_type for edge in graph.outputs(node.id) if edge.side_tag is not None}
    return NodePlan(
        id=node.id,
        name=node.name,
        uid=node.uid or "",
        operator=node.frozen or freeze(node.name, node.operator),
        output_type=node.output_type if node.converts else None,
        side_types=side_types,
        keyed=node.keyed,
        side_tags=node.side_tags,
        stateful_source=node.role == "SOURCE",
        dealt=node.dealt,
        side_outputs=node.side_outputs,
    )
