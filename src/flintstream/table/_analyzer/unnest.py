"""``UNNEST`` of arrays, maps and multisets: each row once for each element."""

from __future__ import annotations

from itertools import chain, repeat
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.expr import Column
from flintstream.table._logical.nodes import Correlate
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node


class Elements:
    """The table function of a container: its elements, or keys and values, perhaps with a number from 1 on."""

    def __init__(self, kind: str, *, numbered: bool) -> None:
        """Take ARRAY, MAP, or ROW for an array of rows. A multiset maps elements to their numbers."""
        self.kind, self.numbered = kind, numbered

    def open(self, function_context: object) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def eval(self, container: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        parts = container or ()
        if isinstance(container, dict):
            counted = (repeat(part, count) for part, count in container.items())
            parts = container.items() if self.kind == "MAP" else chain.from_iterable(counted)
        for number, part in enumerate(parts, 1):
            row = (part,) if self.kind == "ARRAY" else tuple(part)
            yield (*row, number) if self.numbered else row


def unnest(
    node: Node, container: Expr, name: str, names: Sequence[str], place: Place | None, *, outer: bool, numbered: bool
) -> Node:
    """Return each row joined with the elements of a container.

    Without ``names``, a column of elements has the ``name`` of the table, or ``EXPR$0`` if that has none either.

    Raises:
        SqlError: It is neither an array, a map nor a multiset, or has another number of columns.
    """
    kind = container.type
    types: list[DataType]
    if isinstance(kind, t.MapType):
        what, types = "MAP", [kind.key_type, kind.value_type]
    elif isinstance(kind, (t.ArrayType, t.MultisetType)) and isinstance(kind.element_type, t.RowType):
        what, types = "ROW", list(kind.element_type.field_types())
    elif isinstance(kind, (t.ArrayType, t.MultisetType)):
        what, types = "ARRAY", [kind.element_type]
    else:
        raise SqlError(f"UNNEST{at(place)} takes an ARRAY, MAP or MULTISET, but got {sql_name(kind)}")
    defaults = {"ROW": list(getattr(getattr(kind, "element_type", None), "names", [])), "MAP": ["KEY", "VALUE"]}
    chosen = list(names) or [*defaults.get(what, [name or "EXPR$0"]), *(["ORDINALITY"] if numbered else [])]
    if numbered:
        types.append(t.IntType(False))
    if len(chosen) != len(types):
        raise SqlError(f"UNNEST{at(place)} has {len(types)} columns, but {len(chosen)} names: {', '.join(chosen)}")
    produced = [Column(n, k.nullable() if outer else k) for n, k in zip(chosen, types, strict=True)]
    function = SimpleNamespace(name="UNNEST", implementation=Elements(what, numbered=numbered))
    return Correlate((*node.columns, *produced), node, function, (container,), outer)
