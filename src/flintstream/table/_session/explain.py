"""What EXPLAIN shows of plans."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flintstream.datastream._streams.collect import collect_into
from flintstream.datastream._streams.steps import add_collect_sink
from flintstream.table._errors import SqlError
from flintstream.table._logical.sharing import expect
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.narrowing import narrow
from flintstream.table._plan.translate import translate
from flintstream.table._session.inserts import Insert
from flintstream.table._session.plan_lines import kinds_of, plan_lines
from flintstream.table.explain_detail import ExplainDetail

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.session import Session

NO_ADVICE = "No available advice..."
ADVICE = (
    "advice[1]: [ADVICE] You might want to enable local-global two-phase optimization by configuring "
    "('table.exec.mini-batch.enabled' to 'true', 'table.exec.mini-batch.allow-latency' to a positive long value, "
    "'table.exec.mini-batch.size' to a positive long value)."
)
"""What Flink says of a group without mini-batches: programs look for it."""


def explain(session: Session, parts: Sequence[Node | Insert], details: Collection[object] = ()) -> str:
    """Return the plans of queries and inserts as text, in the sections of Flink.

    Args:
        session: Its settings decide about the execution plan in JSON.
        parts: They are translated together.
        details: Those of ``ExplainDetail``. Plans have no costs, so ESTIMATED_COST adds nothing. Kinds of changes are
            only part of plans for STREAMING mode, as in Flink.

    Raises:
        SqlError: PLAN_ADVICE is asked for in BATCH mode, in which Flink has none either.
    """
    streaming = not session.settings.batch
    nodes = [part.node if isinstance(part, Insert) else part for part in parts]
    sinks = [_sink(session, part) if isinstance(part, Insert) else "" for part in parts]
    advised = ExplainDetail.PLAN_ADVICE in details
    if advised and not streaming:
        raise SqlError("EXPLAIN PLAN_ADVICE is not supported under batch mode")
    changelog = ExplainDetail.CHANGELOG_MODE in details and streaming
    narrowed = [narrow(node) for node in nodes]
    advice = _can_be_faster if advised else _never
    kinds = [kinds_of(node, before=_takes_before(session, part)) for node, part in zip(narrowed, parts, strict=True)]
    physical = _lines(narrowed, sinks, kinds if changelog else None, advice)
    told = f"\n{ADVICE}\n" if "advice=[1]" in physical else f"{NO_ADVICE}\n"
    sections = {
        "Abstract Syntax Tree": _lines(nodes, [sink and f"Logical{sink}" for sink in sinks], exchanges=False),
        f"Optimized Physical Plan{' With Advice' if advised else ''}": f"{physical}{told}" if advised else physical,
        "Optimized Execution Plan": _lines(narrowed, sinks),
    }
    if ExplainDetail.JSON_EXECUTION_PLAN in details:
        sections["Physical Execution Plan"] = session.describe_plan(partial(_translate, session, parts))
    return "\n".join(f"== {name} ==\n{text}" for name, text in sections.items())


def _never(_: Node) -> bool:
    return False


def _can_be_faster(node: Node) -> bool:
    """Return whether mini-batches would spare a step changes between the rows of a block."""
    built_in = isinstance(node, Grouped) and all(call.function is None for call in node.calls)
    return isinstance(node, Grouped) and built_in and node.window is None and not (node.final or node.by_block)


def _lines(
    nodes: Sequence[Node],
    sinks: Sequence[str],
    kinds: Sequence[Mapping[int, str]] | None = None,
    advised: Callable[[Node], bool] = _never,
    *,
    exchanges: bool = True,
) -> str:
    plans = []
    for i, (node, sink) in enumerate(zip(nodes, sinks, strict=True)):
        lines = plan_lines(node, None if kinds is None else kinds[i], advised, exchanges=exchanges)
        if sink:
            title = sink if kinds is None else f"{sink.removesuffix(')')}, changelogMode=[NONE])"
            lines = [title, *(f"{'   ' if number else '+- '}{line}" for number, line in enumerate(lines))]
        plans.append("".join(f"{line}\n" for line in lines))
    return "\n".join(plans)


def _sink(session: Session, insert: Insert) -> str:
    """Return the line of a sink."""
    path = ".".join(session.catalog.path(insert.name))
    return f"Sink(table=[{path}], fields=[{', '.join(column.name for column in insert.node.columns)}])"


def _takes_before(session: Session, part: Node | Insert) -> bool:
    """Return whether rows before an update are written, as the sink's connector asks for."""
    if not isinstance(part, Insert):
        return False
    options = session.catalog.find(part.name).options
    return options.get("connector") == "print" or options.get("format", "").endswith("-json")


def _translate(session: Session, parts: Sequence[Node | Insert]) -> None:
    expect([narrow(part.node if isinstance(part, Insert) else part) for part in parts], session.env)
    for part in parts:
        if isinstance(part, Insert):
            session.insert(part)
        else:
            collect_into(partial(add_collect_sink, translate(narrow(part), session.env)))
