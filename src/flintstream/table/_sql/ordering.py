"""The syntax of OVER and ORDER BY."""

from __future__ import annotations

from typing import Any

from flintstream.table._errors import SqlError, at
from flintstream.table._expressions import syntax as s


def window_of(reader: Any, node: Any, named: dict[str, Any], place: s.Place | None) -> s.Over:
    """Return the syntax of a function OVER a window; ``named`` are those of the clause WINDOW."""
    window = node
    alias = node.args.get("alias")
    if alias is not None:
        if alias.name not in named:
            raise SqlError(f"Window '{alias.name}'{at(place)} not found; there are: {', '.join(named)}")
        window = named[alias.name]
    order = window.args.get("order")
    listed = tuple(sorted_by(reader, each) for each in ([] if order is None else order.expressions))
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
    partition = tuple(reader.read(each) for each in window.args.get("partition_by") or ())
    return s.Over(place, reader.read(node.this), partition, listed, frame)


def sorted_by(reader: Any, node: Any) -> tuple[s.Syntax, bool, bool]:
    """Return an expression of ORDER BY, whether it is descending, and whether None comes first."""
    descending = bool(node.args.get("desc"))
    return reader.read(node.this), descending, bool(node.args.get("nulls_first"))
