"""The names of columns that expressions of the Table API get without ``alias()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def name_items(
    items: Sequence[s.Syntax],
    is_property: Callable[[s.Syntax], bool] = lambda element: isinstance(element, s.Aggregate),
) -> list[s.Syntax]:
    """Return columns of ``select()``, of which more have a name.

    Different aggregates, and times of windows, are ``EXPR$0``, ``EXPR$1`` and so on, wherever they are. A cast of a
    column ``v`` is ``v-INT``, and a field of a row ``r$field``. The others keep none: their position names them.
    """
    properties: list[s.Syntax] = []
    for item in items:
        properties += [fromkey for fromkey in dict.fromkeys(_within(item, is_property)) if fromkey not in properties]

    def name_of(syntax: s.Syntax) -> str | None:
        if syntax in properties:
            return f"EXPR${properties.index(syntax)}"
        if isinstance(syntax, s.Name):
            return syntax.parts[-1]
        if isinstance(syntax, s.Convert) and not syntax.lenient:
            inner = None if isinstance(syntax.argument, s.Convert) else name_of(syntax.argument)
            return inner and f"{inner}-{sql_name(syntax.type)}"
        if isinstance(syntax, s.Apply) and syntax.function == "GET":
            row, field = syntax.arguments
            inner = name_of(row)
            value = getattr(field, "value", "")
            return inner and f"{inner}${f'_{value}' if isinstance(value, int) else value}"
        return None

    def with_name(syntax: s.Syntax) -> s.Syntax:
        name = None if isinstance(syntax, s.Name) else name_of(syntax)
        return syntax if name is None else s.Alias(syntax.place, syntax, (name,))

    return list(map(with_name, items))


def _within(syntax: s.Syntax, wanted: Callable[[s.Syntax], bool]) -> Iterator[s.Syntax]:
    if wanted(syntax):
        yield syntax
        return
    for part in s.parts(syntax):
        yield from _within(part, wanted)
