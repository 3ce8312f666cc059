"""The syntax of OVER and ORDER BY."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flintstream.table._errors import SqlError, at
from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._errors import Place
    from flintstream.table._sql import exp


class Reader(Protocol):
    """What reads expressions."""

    def read(self, node: exp.Expr) -> s.Syntax:
        """Return the syntax of an expression."""


def window_of(reader: Reader, node: exp.Expr, named: Mapping[str, exp.Expr], place: Place | None) -> s.Over:
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
    frame = None
    if spec is not None:
        ends = (_end(reader, spec, "start"), _end(reader, spec, "end"))
        frame = (str(spec.args["kind"]).upper() == "ROWS", *ends)
    partition = tuple(reader.read(arg) for arg in window.args.get("partition_by") or ())
    return s.Over(place, reader.read(node.this), partition, listed, frame)


def _end(reader: Reader, spec: exp.Expr, name: str) -> tuple[s.Syntax | None, str]:
    value = spec.args.get(name)
    if value is None or isinstance(value, str):
        return None, value or "CURRENT ROW"
    return reader.read(value), str(spec.args.get(f"{name}_side") or "").upper()


def sorted_by(reader: Reader, node: exp.Expr) -> tuple[s.Syntax, bool, bool]:
    """Return an expression of ORDER BY, whether it is descending, and whether None comes first."""
    descending = bool(node.args.get("desc"))
    return reader.read(node.this), descending, bool(node.args.get("nulls_first"))
