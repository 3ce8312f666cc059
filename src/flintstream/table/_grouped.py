"""Tables between ``group_by()`` and ``select()``."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError
from flintstream.table._expressions import syntax as s
from flintstream.table._sql.grouping import Grouping
from flintstream.table._sql.windows import group_window
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table.table import Table
    from flintstream.table.window import GroupWindow


def listed(table: Table, given: Sequence[Expression]) -> list[s.Syntax]:
    """Return expressions in which calls of aggregate functions by name are known as such."""
    functions = table._t_env._session.catalog.functions  # noqa: SLF001 - one layer

    def known(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Apply):
            own = functions.get(syntax.function.lower())
            if own is not None and own.kind == "aggregate":
                return s.aggregate_of(syntax.place, own, syntax.arguments)
        return syntax

    return [_changed(syntax_of(each), known) for each in given]


def _changed(syntax: Any, change: Callable[[s.Syntax], s.Syntax]) -> Any:
    """Return an expression with each of its parts changed, the outer ones first."""
    if isinstance(syntax, tuple):
        return tuple(_changed(each, change) for each in syntax)
    if not isinstance(syntax, s.Syntax):
        return syntax
    made = change(syntax)
    if isinstance(made, s.Name):
        return made
    parts = [each.name for each in fields(made) if each.name != "place"]
    return replace(made, **{name: _changed(getattr(made, name), change) for name in parts})


class GroupedTable:
    """The groups of a table; mirrors PyFlink's class of this name."""

    def __init__(self, table: Table, keys: list[s.Syntax]) -> None:
        """Hold the keys; :meth:`Table.group_by` makes them."""
        self._table, self._keys = table, keys

    def select(self, *fields: Expression) -> Table:
        """Return keys and aggregates of each group.

        Raises:
            SqlError: A field is neither a key nor an aggregate.
        """
        table = self._table
        session = table._t_env._session  # noqa: SLF001 - one layer
        grouping = Grouping(session, table._node, table._scope(), self._keys)  # noqa: SLF001
        return table._with(grouping.plan(listed(table, fields), None, "EXPR$"))  # noqa: SLF001

    def aggregate(self, func: Expression) -> AggregatedTable:
        """Add an aggregate to the keys; ``select()`` chooses among them."""
        return AggregatedTable(self.select(*[Expression(each) for each in self._keys], func))


class AggregatedTable:
    """The keys and an aggregate of each group; mirrors PyFlink's class of this name."""

    def __init__(self, table: Table) -> None:
        """Hold the result; :meth:`GroupedTable.aggregate` makes it."""
        self._table = table

    def select(self, *fields: Expression) -> Table:
        """Return columns and expressions."""
        return self._table.select(*fields)


class GroupWindowedTable:
    """A table with a window; mirrors PyFlink's class of this name."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        """Hold the window; :meth:`Table.window` makes it."""
        self._table, self._window = table, window

    def group_by(self, *fields: Expression) -> WindowGroupedTable:
        """Return the groups of rows with equal values in a window; its name must be among the fields.

        Raises:
            SqlError: The name of the window is missing.
        """
        keys = [syntax_of(each) for each in fields]
        name = self._window._name  # noqa: SLF001 - one layer
        if not any(isinstance(each, s.Name) and each.parts == (name,) for each in keys):
            raise SqlError(f"group_by() after window() needs the name of the window: col('{name}')")
        return WindowGroupedTable(self._table, keys, self._window)


class WindowGroupedTable:
    """The groups of a window; mirrors PyFlink's class of this name."""

    def __init__(self, table: Table, keys: list[s.Syntax], window: GroupWindow) -> None:
        """Hold keys and window; :meth:`GroupWindowedTable.group_by` makes them."""
        self._table, self._keys, self._window = table, keys, window

    def select(self, *fields: Expression) -> Table:
        """Return keys, aggregates, and the ``start``, ``end``, ``rowtime`` or ``proctime`` of the window.

        Raises:
            SqlError: A field is neither a key nor an aggregate.
        """
        table, call = self._table, self._window._call()  # noqa: SLF001 - one layer
        whole = s.Name(None, (self._window._name,))  # noqa: SLF001

        def in_sql(syntax: s.Syntax) -> s.Syntax:
            if isinstance(syntax, s.Apply) and syntax.arguments == (whole,):
                return replace(syntax, function=f"{call.function}_{syntax.function}", arguments=call.arguments)
            return call if syntax == whole else syntax

        keys = [in_sql(each) for each in self._keys]
        items = [_changed(each, in_sql) for each in listed(table, fields)]
        node, rewrite = group_window(table._node, call, table._scope())  # noqa: SLF001
        session = table._t_env._session  # noqa: SLF001
        grouping = Grouping(session, node, session.scope(node.columns), rewrite(keys))
        return table._with(grouping.plan(rewrite(items), None, "EXPR$"))  # noqa: SLF001

    def aggregate(self, func: Expression) -> AggregatedTable:
        """Add an aggregate to the keys; ``select()`` chooses among them."""
        name = self._window._name  # noqa: SLF001 - one layer
        keys = [Expression(each) for each in self._keys if each != s.Name(None, (name,))]
        times = [Expression(s.Apply(None, part, (s.Name(None, (name,)),))) for part in ("START", "END")]
        named = [each.alias(part) for each, part in zip(times, ("start", "end"), strict=True)]
        return AggregatedTable(self.select(*keys, func, *named))
