"""The syntax of OVER and ORDER BY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, at
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

    from flintstream.table._errors import Place


def window_of(reader: Any, node: Expr, named: dict[str, Any], place: Place | None) -> s.Over:
    """Return the syntax of a function OVER a window; ``named`` are those of the clause WINDOW."""
    window = node
    alias = node.args.get("alias")
    if alias is not None:
        if alias.name not in named:
            raise SqlError(f"Window '{alias.name}'{at(place)} not found; available: {', '.join(named)}")
        window = named[alias.name]
    order = window.args.get("order")
    listed = tuple(sorted_by(reader, expression) for expression in ([] if order is None else order.expressions))
    spec = window.args.get("spec")
    frame: Any = None
    if spec is not None:
        ends = []
        for name in ("start", "end"):
            value, side = spec.args.get(name), str(spec.args.get(f"{name}_side") or "")
            text = value if isinstance(value, str) else None
            if value is None:
                text = "CURRENT ROW"
            ends.append((None if text else reader.read(value), text or side))
        frame = (str(spec.args["kind"]).upper() == "ROWS", *ends)
    partition = tuple(reader.read(arg) for arg in window.args.get("partition_by") or ())
    return s.Over(place, reader.read(node.this), partition, listed, frame)


def sorted_by(reader: Any, node: Expr) -> tuple[s.Syntax, bool, bool]:
    """Return an expression of ORDER BY, whether it is descending, and whether None comes first."""
    descending = bool(node.args.get("desc"))
    return reader.read(node.this), descending, bool(node.args.get("nulls_first"))


def keys_in_select(tree: Expr, order: Any) -> list[int | None]:
    """Add the expressions of ORDER BY that are not columns of the result to the end of SELECT.

    They can read all columns of FROM, and what SELECT names.

    Returns:
        For each expression its number among those added; None if it was not.
    """
    if order is None:
        return []
    found: list[int | None] = [None] * len(order.expressions)
    if type(tree).__name__ != "Select" or tree.args.get("distinct"):
        return found
    named = {
        expression.alias: expression.this for expression in tree.expressions if expression.args.get("alias") is not None
    }
    names = {*named, *(expression.name for expression in tree.expressions if type(expression).__name__ == "Column")}

    def meant(part: Any) -> Any:
        return named[part.name].copy() if _is_bare(part) and part.name in named else part

    added = 0
    for i, item in enumerate(order.expressions):
        key = item.this
        if key.is_int or (_is_bare(key) and key.name in names):
            continue
        tree.append("expressions", key.copy().transform(meant).as_(f"$o{added}"))
        found[i] = added
        added += 1
    return found


def _is_bare(node: Any) -> bool:
    return type(node).__name__ == "Column" and len(node.parts) == 1 and type(node.this).__name__ == "Identifier"
