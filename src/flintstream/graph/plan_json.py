"""The execution plan as Flink's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._text.strict_json import json_text

if TYPE_CHECKING:
    from flintstream.graph.stream_graph import StreamGraph

_ROLES = {"SOURCE": "Data Source", "OPERATOR": "Operator", "SINK": "Data Sink"}


def execution_plan(graph: StreamGraph) -> str:
    """Render an optimized stream graph as the JSON of Flink's ``getExecutionPlan``.

    In addition to Flink's fields, each node has its ``superstep`` and the program's settings: ``max_parallelism``,
    ``slot_sharing_group``, ``chaining`` (``HEAD`` or ``NEVER``) and ``buffer_timeout`` in ms.
    """
    nodes: list[dict[str, Any]] = []
    for node in graph.nodes:
        prefix = "" if node.role == "OPERATOR" else f"{node.role.capitalize()}: "
        name = f"{prefix}{node.name.removeprefix(prefix)}"
        entry: dict[str, Any] = {
            "id": node.id,
            "type": name,
            "pact": _ROLES[node.role],
            "contents": node.description or name,
            "parallelism": node.parallelism,
            "superstep": node.level,
        }
        predecessors = [
            {
                "id": edge.source,
                "ship_strategy": edge.partitioner.name if edge.partitioner is not None else "FORWARD",
                "side": "second" if edge.input else "first",
            }
            for edge in graph.inputs(node.id)
        ]
        if predecessors:
            entry["predecessors"] = predecessors
        settings = {
            "max_parallelism": node.max_parallelism if node.key_groups_given else None,
            "slot_sharing_group": node.slot_sharing_group,
            "chaining": node.chaining if node.chaining != "ALWAYS" else None,
            "buffer_timeout": node.buffer_timeout_ms,
        }
        entry.update({name: value for name, value in settings.items() if value is not None})
        nodes.append(entry)
    return json_text({"nodes": nodes}, indent=2)
