"""Tables between ``group_by()`` and ``select()``."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common import _datatypes as t
from flintstream.table._errors import SqlError
from flintstream.table._expressions import syntax as s
from flintstream.table._expressions.expr import Call as CallExpr
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.helpers import named_row
from flintstream.table._expressions.resolver import Item, fields_of, resolve, resolve_items
from flintstream.table._expressions.types import TIMESTAMPS
from flintstream.table._names import named
from flintstream.table._plan.build import calc
from flintstream.table._plan.settings import is_batch
from flintstream.table._plan.table_aggregates import flat_grouped
from flintstream.table._sql.grouping import Grouping
from flintstream.table._sql.over import HIDDEN
from flintstream.table._sql.windows import group_window
from flintstream.table._udfs import arguments_of
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._plan.nodes import Node
    from flintstream.table.table import Table
    from flintstream.table.window import GroupWindow


def listed(table: Table, given: Sequence[Expression]) -> list[s.Syntax]:
    """Return expressions in which calls of aggregate functions by name are known as such."""
    functions = table._t_env._session.catalog.functions  # noqa: SLF001 - one layer

    def known(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Apply):
            own = functions.get(syntax.function.lower())
            if own is not None and own.kind in {"aggregate", "table aggregate"}:
                return s.aggregate_of(syntax.place, own, syntax.arguments)
        return syntax

    return [changed(syntax_of(each), known) for each in given]


def changed(syntax: Any, change: Callable[[s.Syntax], s.Syntax]) -> Any:
    """Return an expression with each of its parts changed, the outer ones first."""
    if isinstance(syntax, tuple):
        return tuple(changed(each, change) for each in syntax)
    if not isinstance(syntax, s.Syntax):
        return syntax
    made = change(syntax)
    if isinstance(made, s.Name):
        return made
    parts = [each.name for each in fields(made) if each.name != "place"]
    return replace(made, **{name: changed(getattr(made, name), change) for name in parts})


_WHOLE = "$result"
_UNNAMED = "TMP_0"
"""How Flink calls an aggregate without a name."""
_TIMES = ("START", "END", "ROWTIME")


class Call:
    """A function as methods of tables take it: a call of it, perhaps with names, or the function for whole rows."""

    def __init__(self, table: Table, given: Any, without: str | None = None) -> None:
        """Take the table, and the column that rows are without."""
        self.table = table
        """The table that the call reads, which has a column with the whole row if the function needs one."""
        self.names: tuple[str, ...] = ()
        if isinstance(given, Expression):
            (syntax,) = listed(table, [given])
            if isinstance(syntax, s.Alias):
                self.names, syntax = syntax.names, syntax.argument
            self.syntax = syntax
            return
        node = table._node  # noqa: SLF001 - one layer
        columns = [each for each in node.columns if each.name not in {without, HIDDEN}]
        function = given.of_rows([each.name for each in columns], [each.type for each in columns])
        self.names = given.alias_names
        self.table = table._with(with_row(node, columns))  # noqa: SLF001
        self.syntax = syntax_of(function(Expression(s.Name(None, (f"{HIDDEN}row",)))))

    def named(self, own: Sequence[str]) -> list[str]:
        """Return the names of the columns, which are ``own`` unless the call has others.

        Raises:
            SqlError: It has more or fewer.
        """
        if self.names and len(self.names) != len(own):
            raise SqlError(f"alias() has {len(self.names)} names for {len(own)} columns: {', '.join(self.names)}")
        return list(self.names or own)

    def without_row(self, table: Table, index: int) -> Table:
        """Return a table without the column of whole rows at a position, and name the columns behind it."""
        node = table._node  # noqa: SLF001 - one layer
        items = [Item(each.name, Ref(each.type, i), each.time) for i, each in enumerate(node.columns)]
        names = self.named([each.name for each in items[index + 1 :]])
        found = [replace(each, name=name) for each, name in zip(items[index + 1 :], names, strict=True)]
        return table._with(calc(node, [*items[:index], *found]))  # noqa: SLF001 - one layer

    def flattened(self, table: Table, index: int) -> Table:
        """Return a table with the fields of the row at a position as columns; another value stays one column."""
        node = table._node  # noqa: SLF001 - one layer
        items = [Item(each.name, Ref(each.type, i), each.time) for i, each in enumerate(node.columns)]
        parts = fields_of(items[index].expression) or [items[index]]
        row = isinstance(items[index].expression.type, t.RowType)
        names = self.named([f"{_UNNAMED}${each.name}" if row else _UNNAMED for each in parts])
        found = [replace(each, name=name) for each, name in zip(parts, names, strict=True)]
        return table._with(calc(node, [*items[:index], *found, *items[index + 1 :]]))  # noqa: SLF001


def with_row(node: Node, columns: Sequence[Column]) -> Node:
    """Return a table with a last column, which ``*`` does not show, that is a row of others."""
    own = [Item(each.name, Ref(each.type, i), each.time) for i, each in enumerate(node.columns)]
    return calc(node, [*own, Item(f"{HIDDEN}row", row_of(node, columns))])


def row_of(node: Node, columns: Sequence[Column]) -> Expr:
    """Return columns of a table as one row with their names."""
    kind = t.RowType([t.RowField(each.name, each.type) for each in columns], False)
    make = partial(named_row, tuple(each.name for each in columns))
    parts = tuple(Ref(each.type, node.columns.index(each)) for each in columns)

    def emit(generator: Generator, call: CallExpr, _: Sequence[str]) -> str:
        values = ", ".join(generator.value(each) for each in call.arguments)
        return f"{generator.known('row', make)}([{values}])"

    return CallExpr(kind, "ROW", parts, emit, strict=False)


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
        return table._with(grouping.plan(named(listed(table, fields)), None, "_c"))  # noqa: SLF001

    def aggregate(self, func: Any) -> AggregatedTable:
        """Add the columns of an aggregate to the keys; ``select()`` chooses among them.

        A function of ``udaf`` that is not called gets a row with all columns.
        """
        call = Call(self._table, func)
        keys = [Expression(each) for each in self._keys]
        whole = GroupedTable(call.table, self._keys).select(*keys, Expression(call.syntax).alias(_WHOLE))
        return AggregatedTable(call.flattened(whole, len(keys)))

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """Add the rows of a function of ``udtaf`` to the keys; ``select()`` chooses among the columns.

        Raises:
            SqlError: The function is none of ``udtaf``.
        """
        call = Call(self._table, func)
        aggregate = call.syntax
        function: Any = getattr(aggregate, "function", None)
        if not isinstance(aggregate, s.Aggregate) or getattr(function, "kind", "") != "table aggregate":
            raise SqlError(f"flat_aggregate() needs a function of udtaf(), but got {func!r}")
        node, scope, session = call.table._node, call.table._scope(), call.table._t_env._session  # noqa: SLF001
        items = resolve_items(self._keys, scope, "EXPR$")
        written = [*([] if aggregate.argument is None else [aggregate.argument]), *aggregate.more]
        given = arguments_of(function, [resolve(each, scope) for each in written], session.zone, None)
        if node.changelog and not function.retracts:
            raise SqlError(f"{function.name} has no method retract(), but the rows that it reads can be taken back")
        keys = [(each.name, each.expression) for each in items]
        names = call.named(function.names)
        return FlatAggregateTable(self._table._with(flat_grouped(session, node, keys, function, given, names)))  # noqa: SLF001


class AggregatedTable:
    """The keys and an aggregate of each group; mirrors PyFlink's class of this name."""

    def __init__(self, table: Table, rewrite: Callable[[s.Syntax], s.Syntax] | None = None) -> None:
        """Hold the result; :meth:`GroupedTable.aggregate` makes it."""
        self._table, self._rewrite = table, rewrite

    def select(self, *fields: Expression) -> Table:
        """Return columns and expressions."""
        if self._rewrite is None:
            return self._table.select(*fields)
        return self._table.select(*(Expression(changed(syntax_of(each), self._rewrite)) for each in fields))


class FlatAggregateTable(AggregatedTable):
    """The keys and the rows of a function for each group; mirrors PyFlink's class of this name."""


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


def _may_be_null(syntax: s.Syntax) -> bool:
    """Return whether a column has the start or end of a window, or an aggregate that is no count."""
    inner = syntax.argument if isinstance(syntax, s.Alias) else syntax
    if isinstance(inner, s.Aggregate):
        return bool(inner.function != "COUNT")
    if isinstance(inner, s.Convert):
        return _may_be_null(inner.argument)
    if not isinstance(inner, s.Apply):
        return False
    return inner.function.endswith(("_START", "_END")) or (
        inner.function in {"+", "-", "*", "/"} and any(map(_may_be_null, inner.arguments))
    )


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
        chosen = named(
            listed(table, fields),
            lambda each: isinstance(each, s.Aggregate) or (isinstance(each, s.Apply) and each.arguments == (whole,)),
        )
        items = [changed(each, in_sql) for each in chosen]
        session = table._t_env._session  # noqa: SLF001
        timed, scope = table._node, table._scope()  # noqa: SLF001
        position = scope.find(call.arguments[0])[0]
        if (
            is_batch(session)
            and not timed.columns[position].time
            and isinstance(timed.columns[position].type, TIMESTAMPS)
        ):
            timed = session.with_time(timed, position)
        node, rewrite = group_window(timed, call, scope)
        grouping = Grouping(session, node, session.scope(node.columns), rewrite(keys))
        found = grouping.plan(rewrite(items), None, "_c")
        if len(items) == len(found.columns):  # the types of the Table API, where those of SQL are NOT NULL
            pairs = zip(items, found.columns, strict=True)
            columns = [replace(each, type=each.type.nullable()) if _may_be_null(item) else each for item, each in pairs]
            found = replace(found, columns=tuple(columns))
        return table._with(found)  # noqa: SLF001

    def aggregate(self, func: Any) -> AggregatedTable:
        """Add the columns of an aggregate to the keys; ``select()`` chooses among them, and the window's times.

        A function of ``udaf`` that is not called gets a row with all columns but the time of the window.
        """
        whole = s.Name(None, (self._window._name,))  # noqa: SLF001 - one layer
        time = syntax_of(self._window._time)  # noqa: SLF001
        call = Call(self._table, func, without=time.parts[-1] if isinstance(time, s.Name) else None)
        keys = [Expression(each) for each in self._keys if each != whole]
        times = [Expression(s.Apply(None, part, (whole,))).alias(f"{HIDDEN}_{part}") for part in _TIMES]
        grouped = WindowGroupedTable(call.table, self._keys, self._window)
        found = grouped.select(*keys, Expression(call.syntax).alias(_WHOLE), *times)

        def in_result(syntax: s.Syntax) -> s.Syntax:
            if isinstance(syntax, s.Apply) and syntax.arguments == (whole,):
                part = "ROWTIME" if syntax.function == "PROCTIME" else syntax.function
                return s.Name(None, (f"{HIDDEN}_{part}",))
            return syntax

        return AggregatedTable(call.flattened(found, len(keys)), in_result)
