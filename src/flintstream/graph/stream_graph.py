"""Stream graph: the physical steps of a program and the edges between them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from flintstream.errors import PlanError
from flintstream.graph.transformation import (
    OperatorTransformation,
    PartitionTransformation,
    SideOutputTransformation,
    SinkTransformation,
    SourceTransformation,
)
from flintstream.options import execution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.graph.transformation import Transformation
    from flintstream.runtime.frozen import Frozen
    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.partitioners import Partitioner


@dataclass(frozen=True)
class StreamEdge:
    """A flow of records from one step to another."""

    source: int
    target: int
    input: int
    partitioner: Partitioner | None = None
    """None until the planner chooses forward or rebalance."""
    side_tag: str | None = None
    side_type: TypeInformation | None = None
    exchange: bool = False
    """Whether records change subtask or superstep on this edge; set by the planner."""


@dataclass(frozen=True)
class StreamNode:
    """A source, operator or sink."""

    id: int
    name: str
    role: str
    """SOURCE, OPERATOR or SINK."""
    kind: str
    operator: Operator
    output_type: TypeInformation | None
    parallelism: int | None
    max_parallelism: int | None
    uid: str | None
    uid_hash: str | None
    description: str | None
    slot_sharing_group: str | None
    buffer_timeout_ms: int | None
    chaining: str
    keyed: bool
    bounded: bool = True
    side_tags: frozenset[str] = frozenset()
    follows_input: bool = False
    """Whether to use the parallelism of the input."""
    dealt: bool = False
    """Whether its records correspond one to one to those of a single subtask, dealt out in turn."""
    side_outputs: int = 0
    """Number of side outputs that its records have passed through."""
    level: int = -1
    key_groups_given: bool = False
    """Whether the program sets ``max_parallelism``."""
    frozen: Frozen | None = None
    """The operator, pickled when the step was added; None if it is pickled with the plan."""
    layout: str = ""
    """What the form of its state depends on, as a part of its uid."""
    passing: bool = False
    """Whether uids do not depend on it."""
    converts: bool = False
    """Whether to convert results to the declared type, as PyFlink does where Python operators are not chained."""


@dataclass(frozen=True)
class GraphSettings:
    """Environment settings for the planner."""

    parallelism: int = 1
    max_parallelism: int = execution.MAX_PARALLELISM.default
    mode: str = execution.RUNTIME_MODE.default
    """STREAMING, BATCH or AUTOMATIC."""
    chaining: bool = execution.CHAINING.default
    python_chaining: bool = execution.PYTHON_CHAINING.default
    auto_uids: bool = execution.AUTO_UIDS.default
    """Whether steps without a uid get one derived from their position in the program."""


@dataclass(frozen=True)
class StreamGraph:
    """Steps in topological order, and edges in the order of their consumers' inputs."""

    nodes: tuple[StreamNode, ...]
    edges: tuple[StreamEdge, ...]
    batch: bool = False
    settings: GraphSettings = field(default_factory=GraphSettings)

    @cached_property
    def _nodes_by_id(self) -> dict[int, StreamNode]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _edges_into(self) -> dict[int, tuple[StreamEdge, ...]]:
        return _group_edges(self.edges, [edge.target for edge in self.edges])

    @cached_property
    def _edges_out_of(self) -> dict[int, tuple[StreamEdge, ...]]:
        return _group_edges(self.edges, [edge.source for edge in self.edges])

    def node(self, number: int) -> StreamNode:
        """Return the step with this id."""
        return self._nodes_by_id[number]

    def inputs(self, number: int) -> tuple[StreamEdge, ...]:
        """Return the edges into a step."""
        return self._edges_into.get(number, ())

    def outputs(self, number: int) -> tuple[StreamEdge, ...]:
        """Return the edges out of a step."""
        return self._edges_out_of.get(number, ())

    def with_nodes(self, nodes: Iterable[StreamNode]) -> StreamGraph:
        """Return the graph with these steps."""
        return replace(self, nodes=tuple(nodes))

    def with_edges(self, edges: Iterable[StreamEdge]) -> StreamGraph:
        """Return the graph with these edges."""
        return replace(self, edges=tuple(edges))


def _group_edges(edges: Iterable[StreamEdge], numbers: Iterable[int]) -> dict[int, tuple[StreamEdge, ...]]:
    found: defaultdict[int, list[StreamEdge]] = defaultdict(list)
    for number, edge in zip(numbers, edges, strict=True):
        found[number].append(edge)
    return {number: tuple(group) for number, group in found.items()}


def build_stream_graph(transformations: Iterable[Transformation], settings: GraphSettings) -> StreamGraph:
    """Replace the virtual steps of a program with edges.

    Raises:
        PlanError: The program has no operator, BATCH mode has an unbounded source, a required uid is missing, or a name
            or uid is not text.
    """
    order = in_order(transformations)
    physical = [t for t in order if not t.virtual]
    if not any(isinstance(t, OperatorTransformation) for t in physical):
        raise PlanError(
            "No operators defined in streaming topology. Cannot execute. "
            "Add at least one operator or sink, such as ds.print(), before calling execute().",
        )
    edges: list[StreamEdge] = []
    tags: dict[int, set[str]] = {}
    for side in order:
        if isinstance(side, SideOutputTransformation):
            for edge in edges_from(side.inputs[0], side.id, 0):
                tags.setdefault(edge.source, set()).add(side.tag_id)
    for transformation in physical:
        for number, given in enumerate(transformation.inputs):
            edges.extend(edges_from(given, transformation.id, number))
    for transformation in physical:
        check_text(transformation.name, "the name of an operator")
        if transformation.uid is not None:
            check_text(transformation.uid, f"the uid of operator '{transformation.name}'")
    nodes = [_node(t, frozenset(tags.get(t.id, ()))) for t in physical]
    without = [node.name for node in nodes if node.uid is None and node.uid_hash is None]
    if without and not settings.auto_uids:
        names = ", ".join(f"'{name}'" for name in without)
        raise PlanError(
            f"{names} must have a uid, because disable_auto_generated_uids() was called: set it with uid('...')"
        )
    return StreamGraph(tuple(nodes), tuple(edges), batch=_is_batch(nodes, settings), settings=settings)


def check_text(value: str, what: str) -> None:
    """Check that a name can be written to files and messages.

    Raises:
        PlanError: It cannot.
    """
    if not isinstance(value, str):
        raise PlanError(f"{what} must be a str, but got {value!r} of type {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PlanError(f"{what}, {value!r}, contains an unpaired surrogate, which UTF-8 cannot encode") from None


def in_order(transformations: Iterable[Transformation]) -> list[Transformation]:
    """Return these steps and all that they read from, each after its inputs.

    It follows the inputs without recursion, because programs have chains of thousands of steps.
    """
    order: list[Transformation] = []
    seen: set[int] = set()
    for transformation in transformations:
        open_steps = [(transformation, iter(transformation.inputs))] if transformation.id not in seen else []
        seen.add(transformation.id)
        while open_steps:
            step, inputs = open_steps[-1]
            given = next((item for item in inputs if item.id not in seen), None)
            if given is None:
                order.append(step)
                open_steps.pop()
            else:
                seen.add(given.id)
                open_steps.append((given, iter(given.inputs)))
    return order


def edges_from(given: Transformation, target: int, number: int) -> list[StreamEdge]:
    """Return the edges to an input of the step ``target`` from the steps that run something at or before ``given``.

    Of several partitioners on the way, the last one counts, and of several side outputs, too.
    """
    found: list[StreamEdge] = []
    waiting: list[tuple[Transformation, Partitioner | None, SideOutputTransformation | None]] = [(given, None, None)]
    while waiting:
        step, partitioner, side = waiting.pop()
        if not step.virtual:
            tag, kind = (None, None) if side is None else (side.tag_id, side.output_type)
            found.append(StreamEdge(step.id, target, number, partitioner, tag, kind))
            continue
        if isinstance(step, PartitionTransformation):
            partitioner = partitioner or step.partitioner
        elif isinstance(step, SideOutputTransformation):
            side = side or step
        waiting += [(part, partitioner, side) for part in reversed(step.inputs)]
    return found


def _node(transformation: Transformation, side_tags: frozenset[str]) -> StreamNode:
    assert isinstance(transformation, (SourceTransformation, OperatorTransformation))  # noqa: S101
    assert transformation.operator is not None  # noqa: S101
    role, kind, keyed, bounded, layout, passing = "OPERATOR", "ENGINE", False, True, "", False
    if isinstance(transformation, SourceTransformation):
        role = "SOURCE"
        bounded = transformation.boundedness is None or transformation.boundedness.value == "BOUNDED"
    else:
        kind, keyed = transformation.kind, transformation.keyed
        layout, passing = transformation.layout, transformation.passing
        if isinstance(transformation, SinkTransformation):
            role = "SINK"
    return StreamNode(
        id=transformation.id,
        name=transformation.name,
        role=role,
        kind=kind,
        operator=transformation.operator,
        frozen=transformation.frozen if isinstance(transformation, OperatorTransformation) else None,
        output_type=transformation.output_type,
        parallelism=transformation.parallelism,
        max_parallelism=transformation.max_parallelism,
        uid=transformation.uid,
        uid_hash=transformation.uid_hash,
        description=transformation.description,
        slot_sharing_group=transformation.slot_sharing_group,
        buffer_timeout_ms=transformation.buffer_timeout_ms,
        chaining=transformation.chaining,
        keyed=keyed,
        layout=layout,
        passing=passing,
        bounded=bounded,
        follows_input=isinstance(transformation, SinkTransformation) and transformation.follows_input,
        side_tags=side_tags,
    )


def _is_batch(nodes: list[StreamNode], settings: GraphSettings) -> bool:
    unbounded = [node.name for node in nodes if node.role == "SOURCE" and not node.bounded]
    if settings.mode == "AUTOMATIC":
        return not unbounded
    if settings.mode == "BATCH" and unbounded:
        raise PlanError(
            f"the source '{unbounded[0]}' is unbounded, which BATCH mode cannot run; "
            "use RuntimeExecutionMode.STREAMING or AUTOMATIC",
        )
    return settings.mode == "BATCH"
