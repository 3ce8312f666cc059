"""Tables between ``group_by()`` and ``select()``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._analyzer.grouping import Grouping
from flintstream.table._analyzer.windows import group_window
from flintstream.table._deep_stack import deep
from flintstream.table._errors import SqlError
from flintstream.table._expressions.aggregates import AGGREGATES
from flintstream.table._expressions.expr import Call as CallExpr
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._expressions.helpers import named_row
from flintstream.table._expressions.invocations import arguments_of
from flintstream.table._expressions.resolver import Item, fields_of, items_of, resolve, resolve_items
from flintstream.table._expressions.scope import HIDDEN
from flintstream.table._logical.recording import Unfinished, record_steps
from flintstream.table._plan.build import calc, correlate
from flintstream.table._plan.table_aggregates import flat_grouped
from flintstream.table._steps.names import name_items
from flintstream.table._steps.texts import expression_of, expressions_of, syntaxes_of
from flintstream.table._syntax import scalar as s
from flintstream.table._syntax.summary import function_named
from flintstream.table._types.rules import TIMESTAMPS
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.codegen import Generator
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._logical.nodes import Node
    from flintstream.table.table import Table
    from flintstream.table.window import GroupWindow


def list_items(table: Table, given: Sequence[Expression]) -> list[s.Syntax]:
    """Return expressions in which calls of aggregate functions by name are known as such."""
    functions = table._session.catalog.functions

    def known(syntax: s.Syntax) -> s.Syntax:
        if isinstance(syntax, s.Apply):
            own = functions.get(syntax.function.lower())
            if own is not None and own.kind in {"aggregate", "table aggregate"}:
                return s.aggregate_of(syntax.place, own, syntax.arguments)
            name = function_named(syntax.function) or syntax.function.upper()
            if own is None and name in AGGREGATES:
                return s.aggregate_of(syntax.place, name, syntax.arguments)
            counted = known(syntax.arguments[0]) if syntax.function == "DISTINCT" else None
            if isinstance(counted, s.Aggregate):
                return replace(counted, distinct=True)
        return syntax

    return [change_syntax(syntax, known) for syntax in syntaxes_of(given)]


def change_syntax(syntax: s.Syntax, change: Callable[[s.Syntax], s.Syntax]) -> s.Syntax:
    """Return an expression with each of its parts changed, the outer ones first."""
    return s.map_syntax(change(syntax), lambda part: change_syntax(part, change))


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
            (syntax,) = list_items(table, [given])
            if isinstance(syntax, s.Alias):
                self.names, syntax = syntax.names, syntax.argument
            self.syntax = syntax
            return
        node = table._node
        columns = [column for column in node.columns if column.name not in {without, HIDDEN}]
        function = given.of_rows([column.name for column in columns], [column.type for column in columns])
        self.names = given.alias_names
        self.table = table._with(with_row(node, columns))
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
        node = table._node
        items = items_of(node.columns)
        names = self.named([item.name for item in items[index + 1 :]])
        found = [replace(item, name=name) for item, name in zip(items[index + 1 :], names, strict=True)]
        return table._with(calc(node, [*items[:index], *found]))

    def flatten(self, table: Table, index: int) -> Table:
        """Return a table with the fields of the row at a position as columns; another value stays one column."""
        node = table._node
        items = items_of(node.columns)
        parts = fields_of(items[index].expression) or [items[index]]
        row = isinstance(items[index].expression.type, t.RowType)
        names = self.named([f"{_UNNAMED}${part.name}" if row else _UNNAMED for part in parts])
        found = [replace(item, name=name) for item, name in zip(parts, names, strict=True)]
        return table._with(calc(node, [*items[:index], *found, *items[index + 1 :]]))


def with_row(node: Node, columns: Sequence[Column]) -> Node:
    """Return a table with a last column, which ``*`` does not show, that is a row of others."""
    own = items_of(node.columns)
    return calc(node, [*own, Item(f"{HIDDEN}row", row_of(node, columns))])


def row_of(node: Node, columns: Sequence[Column]) -> Expr:
    """Return columns of a table as one row with their names."""
    kind = t.RowType([t.RowField(column.name, column.type) for column in columns], False)
    make = partial(named_row, tuple(column.name for column in columns))
    parts = tuple(Ref(column.type, node.columns.index(column)) for column in columns)

    def emit(generator: Generator, call: CallExpr, _: Sequence[str]) -> str:
        values = ", ".join(generator.value(argument) for argument in call.arguments)
        return f"{generator.known('row', make)}([{values}])"

    return CallExpr(kind, "ROW", parts, emit, strict=False)


def named_keys(table: Table, fields: Sequence[Expression]) -> tuple[Table, list[s.Syntax]]:
    """Return the keys of groups, and a table that has those with a name as columns."""
    fields = expressions_of(fields)
    keys = [syntax_of(field) for field in fields]
    named = [field for field, key in zip(fields, keys, strict=True) if isinstance(key, s.Alias)]
    if named:
        table = table.add_or_replace_columns(*named)
    return table, [s.Name(key.place, key.names[:1]) if isinstance(key, s.Alias) else key for key in keys]


@record_steps
class GroupedTable(Unfinished):
    """The groups of a table; mirrors PyFlink's class of this name.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> orders = TableEnvironment.create(settings).from_elements([("ann", 3), ("bob", 5), ("ann", 4)], ["name", "n"])
    >>> totals = orders.group_by(col("name")).select(col("name"), col("n").sum.alias("total"))
    >>> sorted(tuple(row) for row in totals.execute().collect())
    [('ann', 7), ('bob', 5)]
    """

    def __init__(self, table: Table, keys: list[s.Syntax]) -> None:
        """Hold the keys; :meth:`Table.group_by` makes them."""
        self._table, self._keys = table, keys

    @deep
    def select(self, *fields: Expression) -> Table:
        """Return keys and aggregates of each group.

        Raises:
            SqlError: A field is neither a key nor an aggregate.
        """
        table = self._table
        session = table._session
        grouping = Grouping(session.settings, table._node, table._scope(), self._keys)
        return table._with(grouping.plan(name_items(list_items(table, fields)), None, "_c"))

    def aggregate(self, func: object) -> AggregatedTable:
        """Add the columns of an aggregate to the keys; ``select()`` chooses among them.

        A function of ``udaf`` that is not called gets a row with all columns.

        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import AggregateFunction, udaf
        >>> class Total(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return [0]
        ...
        ...     def accumulate(self, accumulator, n):
        ...         accumulator[0] += n
        ...
        ...     def get_value(self, accumulator):
        ...         return accumulator[0]
        >>> total = udaf(Total(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT()))
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> orders = t_env.from_elements([("ann", 3), ("ann", 4)], ["name", "n"])
        >>> found = orders.group_by(col("name")).aggregate(total(col("n")).alias("total"))
        >>> found.select(col("name"), col("total")).get_schema().get_field_names()
        ['name', 'total']
        """
        call = Call(self._table, func)
        keys = [Expression(key) for key in self._keys]
        whole = GroupedTable(call.table, self._keys).select(*keys, Expression(call.syntax).alias(_WHOLE))
        return AggregatedTable(call.flatten(whole, len(keys)))

    def flat_aggregate(self, func: object) -> FlatAggregateTable:
        """Add the rows of a function of ``udtaf`` to the keys; ``select()`` chooses among the columns.

        Raises:
            SqlError: The function is none of ``udtaf``.

        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import TableAggregateFunction, udtaf
        >>> class Each(TableAggregateFunction):
        ...     def create_accumulator(self):
        ...         return []
        ...
        ...     def accumulate(self, accumulator, n):
        ...         accumulator.append(n)
        ...
        ...     def emit_value(self, accumulator):
        ...         yield from accumulator
        >>> each = udtaf(Each(), result_type=DataTypes.ROW([DataTypes.FIELD("one", DataTypes.BIGINT())]))
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> orders = t_env.from_elements([("ann", 3), ("ann", 4)], ["name", "n"])
        >>> found = orders.group_by(col("name")).flat_aggregate(each(col("n")))
        >>> found.select(col("name"), col("one")).get_schema().get_field_names()
        ['name', 'one']
        """
        call = Call(self._table, func)
        aggregate = call.syntax
        function: Any = getattr(aggregate, "function", None)
        if not isinstance(aggregate, s.Aggregate) or getattr(function, "kind", "") != "table aggregate":
            raise SqlError(f"flat_aggregate() needs a function of udtaf(), but got {func!r}")
        node, scope, session = call.table._node, call.table._scope(), call.table._session
        items = resolve_items(self._keys, scope, "EXPR$")
        written = [*([] if aggregate.argument is None else [aggregate.argument]), *aggregate.more]
        given = arguments_of(function, [resolve(item, scope) for item in written], session.zone, None)
        if node.changelog and not function.retracts:
            raise SqlError(f"{function.name} has no method retract(), but the rows that it reads can be retracted")
        keys = [(item.name, item.expression) for item in items]
        names = call.named(function.names)
        return FlatAggregateTable(self._table._with(flat_grouped(session.settings, node, keys, function, given, names)))


@record_steps
class AggregatedTable(Unfinished):
    """The keys and an aggregate of each group; mirrors PyFlink's class of this name.

    >>> from flintstream.common import Configuration
    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.udf import AggregateFunction, udaf
    >>> class Longest(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return [""]
    ...
    ...     def accumulate(self, accumulator, word):
    ...         accumulator[0] = max(accumulator[0], word, key=len)
    ...
    ...     def get_value(self, accumulator):
    ...         return accumulator[0]
    >>> longest = udaf(Longest(), result_type=DataTypes.STRING(), accumulator_type=DataTypes.ARRAY(DataTypes.STRING()))
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> words = TableEnvironment.create(settings).from_elements([(1, "to"), (1, "not")], ["id", "word"])
    >>> found = words.group_by(col("id")).aggregate(longest(col("word")).alias("longest"))
    >>> list(found.select(col("id"), col("longest")).execute().collect())
    [<Row(1, 'not')>]
    """

    def __init__(self, table: Table, rewrite: Callable[[s.Syntax], s.Syntax] | None = None) -> None:
        """Hold the result; :meth:`GroupedTable.aggregate` makes it."""
        self._table, self._rewrite = table, rewrite

    @deep
    def select(self, *fields: Expression) -> Table:
        """Return columns and expressions."""
        if self._rewrite is None:
            return self._table.select(*fields)
        return self._table.select(*(Expression(change_syntax(syntax_of(field), self._rewrite)) for field in fields))


class FlatAggregateTable(AggregatedTable):
    """The keys and the rows of a function for each group; mirrors PyFlink's class of this name.

    >>> from flintstream.common import Configuration
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> from flintstream.table import DataTypes, StreamTableEnvironment
    >>> from flintstream.table.expressions import col
    >>> from flintstream.table.udf import TableAggregateFunction, udtaf
    >>> class TwoLargest(TableAggregateFunction):
    ...     def create_accumulator(self):
    ...         return []
    ...
    ...     def accumulate(self, accumulator, n):
    ...         accumulator[:] = sorted([*accumulator, n])[-2:]
    ...
    ...     def emit_value(self, accumulator):
    ...         yield from accumulator
    >>> two = udtaf(TwoLargest(), result_type=DataTypes.ROW([DataTypes.FIELD("large", DataTypes.BIGINT())]))
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> env = StreamExecutionEnvironment.get_execution_environment(inline)
    >>> table = StreamTableEnvironment.create(env).from_elements([("a", 3), ("a", 8), ("a", 5)], ["k", "n"])
    >>> found = table.group_by(col("k")).flat_aggregate(two(col("n")))
    >>> type(found).__name__, found.select(col("k"), col("large")).get_schema().get_field_names()
    ('FlatAggregateTable', ['k', 'large'])
    """


@record_steps
class GroupWindowedTable(Unfinished):
    """A table with a window; mirrors PyFlink's class of this name.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Session
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> clicks = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann'), ('bob')) AS T(name)")
    >>> windowed = clicks.window(Session.with_gap(lit(10).minutes).on(col("p")).alias("w"))
    >>> type(windowed.group_by(col("w"), col("name"))).__name__
    'WindowGroupedTable'
    """

    def __init__(self, table: Table, window: GroupWindow) -> None:
        """Hold the window; :meth:`Table.window` makes it."""
        sizes = tuple(map(expression_of, window._sizes))
        self._table, self._window = table, replace(window, _sizes=sizes, _time=expression_of(window._time))

    def group_by(self, *fields: Expression) -> WindowGroupedTable:
        """Return the groups of rows with equal values in a window; its name must be among the fields.

        Raises:
            SqlError: The name of the window is missing.
        """
        table, keys = named_keys(self._table, fields)
        name = self._window._name
        if not any(isinstance(key, s.Name) and key.parts == (name,) for key in keys):
            raise SqlError(f"group_by() after window() needs the name of the window: col('{name}')")
        return WindowGroupedTable(table, keys, self._window)


def _may_be_null(syntax: s.Syntax) -> bool:
    """Return whether a column has the start or end of a window, or an aggregate other than a count."""
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


@record_steps
class WindowGroupedTable(Unfinished):
    """The groups of a window; mirrors PyFlink's class of this name.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col, lit
    >>> from flintstream.table.window import Tumble
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> clicks = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann'), ('bob')) AS T(name)")
    >>> windowed = clicks.window(Tumble.over(lit(10).minutes).on(col("p")).alias("w"))
    >>> counts = windowed.group_by(col("w"), col("name")).select(
    ...     col("name"), col("w").start.alias("since"), col("name").count.alias("n")
    ... )
    >>> counts.get_schema().get_field_names()
    ['name', 'since', 'n']
    """

    def __init__(self, table: Table, keys: list[s.Syntax], window: GroupWindow) -> None:
        """Hold keys and window; :meth:`GroupWindowedTable.group_by` makes them."""
        self._table, self._keys, self._window = table, keys, window

    @deep
    def select(self, *fields: Expression) -> Table:
        """Return keys, aggregates, and the ``start``, ``end``, ``rowtime`` or ``proctime`` of the window.

        Raises:
            SqlError: A field is neither a key nor an aggregate.
        """
        table, call = self._table, self._window._call()
        whole = s.Name(None, (self._window._name,))

        def in_sql(syntax: s.Syntax) -> s.Syntax:
            if isinstance(syntax, s.Apply) and syntax.arguments == (whole,):
                return replace(syntax, function=f"{call.function}_{syntax.function}", arguments=call.arguments)
            return call if syntax == whole else syntax

        keys = [in_sql(key) for key in self._keys]
        chosen = name_items(
            list_items(table, fields),
            lambda element: (
                isinstance(element, s.Aggregate) or (isinstance(element, s.Apply) and element.arguments == (whole,))
            ),
        )
        items = [change_syntax(element, in_sql) for element in chosen]
        session = table._session
        timed, scope = table._node, table._scope()
        time = resolve(call.arguments[0], scope)
        if session.settings.batch and isinstance(time, Ref) and isinstance(time.type, TIMESTAMPS):
            timed = session.with_time(timed, time.index) if not timed.columns[time.index].time else timed
        node, rewrite = group_window(timed, call, scope)
        grouping = Grouping(session.settings, node, scope.of(node.columns), rewrite(keys))
        found = grouping.plan(rewrite(items), None, "_c")
        if len(items) == len(found.columns):  # the types of the Table API, where those of SQL are NOT NULL
            pairs = zip(items, found.columns, strict=True)
            columns = [
                replace(element, type=element.type.nullable()) if _may_be_null(item) else element
                for item, element in pairs
            ]
            found = replace(found, columns=tuple(columns))
        return table._with(found)

    def aggregate(self, func: object) -> AggregatedTable:
        """Add the columns of an aggregate to the keys; ``select()`` chooses among them, and the window's times.

        A function of ``udaf`` that is not called gets a row with all columns but the time of the window.

        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col, lit
        >>> from flintstream.table.udf import AggregateFunction, udaf
        >>> from flintstream.table.window import Tumble
        >>> class Total(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return [0]
        ...
        ...     def accumulate(self, accumulator, n):
        ...         accumulator[0] += n
        ...
        ...     def get_value(self, accumulator):
        ...         return accumulator[0]
        >>> total = udaf(Total(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT()))
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> orders = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann', 3)) AS T(name, n)")
        >>> windows = orders.window(Tumble.over(lit(1).hours).on(col("p")).alias("w")).group_by(col("w"), col("name"))
        >>> sums = windows.aggregate(total(col("n")).alias("total")).select(col("name"), col("total"))
        >>> sums.get_schema().get_field_names()
        ['name', 'total']
        """
        whole = s.Name(None, (self._window._name,))
        time = syntax_of(self._window._time)
        call = Call(self._table, func, without=time.parts[-1] if isinstance(time, s.Name) else None)
        keys = [Expression(key) for key in self._keys if key != whole]
        times = [Expression(s.Apply(None, part, (whole,))).alias(f"{HIDDEN}_{part}") for part in _TIMES]
        grouped = WindowGroupedTable(call.table, self._keys, self._window)
        found = grouped.select(*keys, Expression(call.syntax).alias(_WHOLE), *times)

        def in_result(syntax: s.Syntax) -> s.Syntax:
            if isinstance(syntax, s.Apply) and syntax.arguments == (whole,):
                part = "ROWTIME" if syntax.function == "PROCTIME" else syntax.function
                return s.Name(None, (f"{HIDDEN}_{part}",))
            return syntax

        return AggregatedTable(call.flatten(found, len(keys)), in_result)


@deep
def lateral(table: Table, given: object, *, outer: bool, predicate: Expression | None = None) -> Table:
    """Return the rows of a table beside those of a call of a table function.

    Raises:
        SqlError: It is not such a call, or there is another condition than ``lit(True)``.
    """
    condition = None if predicate is None else resolve(syntax_of(predicate), table._scope())
    if condition is not None and not (isinstance(condition, Const) and condition.value is True):
        raise SqlError(
            "left_outer_join_lateral(): the condition of a left outer join with a table function must be lit(True); "
            "filter the rows with where()"
        )
    if not isinstance(given, Expression):
        call = Call(table, given)
        joined = lateral(call.table, Expression(call.syntax), outer=outer)
        return call.without_row(joined, len(table._node.columns))
    syntax: s.Syntax = syntax_of(given)
    names: tuple[str, ...] = ()
    if isinstance(syntax, s.Alias):
        names, syntax = syntax.names, syntax.argument
    session = table._session
    function = syntax.function if isinstance(syntax, (s.Invoke, s.Apply)) else None
    if isinstance(function, str):
        function = session.catalog.functions.get(function.lower())
    if function is None or not isinstance(syntax, (s.Invoke, s.Apply)):
        raise SqlError(f"join_lateral() needs a call of a table function, but got {given!r}")
    arguments = [resolve(argument, table._scope()) for argument in syntax.arguments]
    node = correlate(table._node, function, arguments, names, outer=outer, zone=session.zone, place=None)
    return table._with(node)
