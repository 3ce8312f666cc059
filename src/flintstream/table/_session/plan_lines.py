"""The lines of plans in EXPLAIN: steps, the exchanges between them, and the kinds of changes of each.

Kinds follow the rules of Flink's planner: what a step can produce follows from its inputs, and a row before an update
(``UB``) is there only if a step above needs it. The operators here may send more than Flink would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._deep_stack import deep
from flintstream.table._expressions.expr import Ref
from flintstream.table._logical.nodes import Calc, Correlate, Union, show
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import INNER, SEMI, Join
from flintstream.table._plan.lookups import LookupJoin
from flintstream.table._plan.over import OverWindow, Rank
from flintstream.table._plan.sorting import Sort
from flintstream.table._plan.upsert_keys import upsert_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.table._logical.nodes import Node

_FORWARDING = (Calc, Union, Correlate, LookupJoin)
"""Steps that pass changes on as they come."""


@deep
def plan_lines(
    node: Node,
    kinds: Mapping[int, str] | None = None,
    advised: Callable[[Node], bool] = lambda _: False,
    *,
    exchanges: bool = True,
) -> list[str]:
    """Return the lines of a plan, with the kinds of changes by the ids of steps, and where there is advice."""
    lines: list[str] = []
    waiting: list[tuple[Node, str, str, str]] = [(node, "", "", "")]
    while waiting:
        step, exchange, first, rest = waiting.pop()
        if exchange:
            lines.append(f"{first}{_with_kinds(exchange, step, kinds)}")
            first, rest = f"{rest}+- ", f"{rest}   "
        title = _with_kinds(step.title(), step, kinds)
        lines.append(first + (title.replace("(", "(advice=[1], ", 1) if advised(step) else title))
        branches = [(":- ", ":  ")] * (len(step.inputs) - 1) + [("+- ", "   ")]
        below = [
            (item, exchange_of(step, number) if exchanges else "", rest + begin, rest + more)
            for number, (item, (begin, more)) in enumerate(zip(step.inputs, branches, strict=False))
        ]
        waiting += reversed(below)
    return lines


def _with_kinds(title: str, step: Node, kinds: Mapping[int, str] | None) -> str:
    return title if kinds is None else f"{title.removesuffix(')')}, changelogMode=[{kinds[id(step)]}])"


# -- exchanges -------------------------------------------------------------------------------------------------------


def _by(names: list[str]) -> str:
    how = f"hash[{', '.join(names)}]" if names else "single"
    return f"Exchange(distribution=[{how}])"


def exchange_of(step: Node, number: int) -> str:
    """Return the line of the exchange between a step and its input with a number; empty if there is none."""
    if isinstance(step, Grouped):
        given = step.input.display_columns()
        return "" if step.final or step.in_place else _by([column.name for column in given[: step.keys]])
    if isinstance(step, Join) and not step.batch and not step.in_place(number):
        return _by([show(pair[number], step.inputs[number].columns) for pair in step.parts.keys])
    if isinstance(step, (Rank, OverWindow)) and not step.batch and not (isinstance(step, Rank) and step.in_place):
        return _by([step.input.columns[i].name for i in step.partition])
    return _by([]) if isinstance(step, Sort) and not step.batch else ""


# -- kinds of changes ------------------------------------------------------------------------------------------------


def kinds_of(node: Node, *, before: bool) -> dict[int, str]:
    """Return the kinds of changes of each step, by its id.

    Args:
        node: The last step.
        before: Whether the reader of its rows takes those before an update.
    """
    made: dict[int, tuple[bool, bool]] = {}
    _produce(node, made)
    found: dict[int, str] = {}
    waiting = [(node, before)]
    while waiting:
        step, needed = waiting.pop()
        needed = needed or _passes_both(step, made)
        if id(step) in found and (not needed or "UB" in found[id(step)]):
            continue  # another step has reached it
        updates, deletes = made[id(step)]
        kinds = {"I": True, "UB": updates and needed, "UA": updates, "D": deletes}
        found[id(step)] = ",".join(kind for kind, there in kinds.items() if there)
        needed = needed or not isinstance(step, (*_FORWARDING, Join))
        waiting += [(below, needed and made[id(below)][0]) for below in step.inputs]
    return found


@deep
def _produce(node: Node, made: dict[int, tuple[bool, bool]]) -> tuple[bool, bool]:
    """Return whether a step updates rows, and whether it deletes some."""
    if id(node) not in made:
        below = [_produce(item, made) for item in node.inputs]
        made[id(node)] = _changes(node, any(item[0] for item in below), any(item[1] for item in below))
    return made[id(node)]


def _changes(node: Node, updates: bool, deletes: bool) -> tuple[bool, bool]:
    if not node.changelog:
        return False, False
    if isinstance(node, Grouped):
        return True, updates or deletes
    if isinstance(node, _FORWARDING) or (isinstance(node, Join) and node.kind in {INNER, SEMI}):
        return updates, deletes
    return True, True


def _passes_both(step: Node, made: Mapping[int, tuple[bool, bool]]) -> bool:
    """Return whether a step needs the rows before updates itself, so that the one above gets them, too."""
    if isinstance(step, Calc):
        return step.condition is not None
    if not isinstance(step, Join):
        return False
    for number, below in enumerate(step.inputs):
        sides = [pair[number] for pair in step.parts.keys]
        keys = {side.index for side in sides if isinstance(side, Ref)}
        if made[id(below)][0] and not any(key <= keys for key in upsert_keys(below)):
            return True
    return False
