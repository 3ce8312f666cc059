"""Whether the changes of a query take back the rows that they mean.

An update or deletion names the row as it was. If a function such as ``UUID`` computes that row again, its value is
another one, and the row stays. These are the rules of ``table.optimizer.non-deterministic-update.strategy``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.options.tables import UPDATE_STRATEGY
from flintstream.table._errors import SqlError
from flintstream.table._expressions.expr import Call, Invocation
from flintstream.table._logical.nodes import Calc, Union
from flintstream.table._plan.grouping import Grouped
from flintstream.table._plan.joins import ANTI, SEMI, Join
from flintstream.table._plan.narrowing import columns_of
from flintstream.table._plan.over import Rank
from flintstream.table._plan.upsert_keys import upsert_keys

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node
    from flintstream.table._plan.settings import PlannerSettings

_CLOCKS = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "NOW", "PROCTIME")
_NON_DETERMINISTIC = {*_CLOCKS, "CURRENT_ROW_TIMESTAMP", "CURRENT_WATERMARK", "RAND", "RAND_INTEGER", "UUID"}


def check_determinism(settings: PlannerSettings, plan: Node, key: Sequence[int] = ()) -> None:
    """If an option asks for it, check what a sink gets from a plan; its primary key, if any, is at these positions.

    Raises:
        SqlError: Its changes are found by columns that a non-deterministic function computes.
    """
    if settings.value(UPDATE_STRATEGY) == "IGNORE" or not plan.changelog:
        return
    by_key = bool(key) and bool(upsert_keys(plan))
    _check(plan, frozenset(key) if by_key else _all_of(plan))


def _all_of(node: Node) -> frozenset[int]:
    return frozenset(range(len(node.columns)))


def _check(node: Node, need: AbstractSet[int]) -> None:
    """Check the columns by which the step above finds rows of this one again."""
    if isinstance(node, Calc):
        need = _calc(node, need)
    for number, below in enumerate(node.inputs):
        if number and isinstance(node, Join) and node.kind in {SEMI, ANTI}:
            continue  # only whether there is a partner counts
        if below.changelog:
            _check(below, _needed_of(node, number, below, need))


def _calc(node: Calc, need: AbstractSet[int]) -> frozenset[int]:
    """Return the columns of the input that the needed ones come from."""
    if not node.input.changelog:
        return frozenset()
    chosen = [] if node.projection is None else [node.projection[i] for i in sorted(need)]
    named = [f"the column '{node.columns[i].name}'" for i in sorted(need)]
    for what, item in [*zip(named, chosen, strict=False), ("a condition", node.condition)]:
        called = None if item is None else _non_deterministic(item)
        if called is not None:
            raise SqlError(
                f"{what} has results of the non-deterministic function {called}, and changes find the rows that they "
                f"replace by them: old rows would stay. Leave {called} out, call it before rows change, or write to a "
                f"table whose PRIMARY KEY is the query's. '{UPDATE_STRATEGY.key}' = 'TRY_RESOLVE' checks this"
            )
    if node.projection is None:
        return frozenset(need) | columns_of([node.condition])
    return columns_of([*chosen, node.condition])


def _needed_of(node: Node, number: int, below: Node, need: AbstractSet[int]) -> frozenset[int]:
    """Return the columns of an input by which a step finds its rows again."""
    if isinstance(node, (Calc, Union)):
        return frozenset(need)
    if isinstance(node, Grouped):
        calls = (item for call in node.calls for item in (call.argument, call.condition, *call.more))
        return frozenset(range(node.keys)) | {item for item in calls if item is not None}
    keys = upsert_keys(below)
    if not keys or not isinstance(node, (Join, Rank)):
        return _all_of(below)
    start = len(node.inputs[0].columns) * number
    if isinstance(node, Rank):
        read = frozenset((*node.partition, *(item.index for item in node.order)))
    else:
        read = columns_of([node.condition])
    return frozenset(i - start for i in (*need, *read) if 0 <= i - start < len(below.columns)) | min(keys, key=sorted)


def _non_deterministic(expression: Expr) -> str | None:
    """Return the name of a function that may have another result for the same row."""
    if not isinstance(expression, Call) or _is_constant(expression):
        return None
    if isinstance(expression, Invocation):
        if expression.function is not None and not expression.function._deterministic:
            return expression.name
    elif expression.name in _NON_DETERMINISTIC or (expression.name == "UNIX_TIMESTAMP" and not expression.arguments):
        return expression.name
    return next(filter(None, map(_non_deterministic, expression.arguments)), None)


def _is_constant(call: Call) -> bool:
    """Return whether a call asks for NULL where there is none."""
    return call.name in {"IS NULL", "IS NOT NULL"} and not call.arguments[0].nullable
