"""Tables; mirrors ``pyflink.table.table``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flintstream.common._text.leaving import write_text
from flintstream.common._types import data_types as t
from flintstream.table._analyzer.grouping import aggregates_in, distinct
from flintstream.table._deep_stack import deep
from flintstream.table._errors import ColumnNotFoundError, SqlError, nearest
from flintstream.table._expressions.expr import Ref
from flintstream.table._expressions.resolver import Item, fields_of, items_of, resolve, resolve_condition, resolve_items
from flintstream.table._logical.recording import record_steps
from flintstream.table._plan.build import calc, rename, union_all
from flintstream.table._plan.joins import FULL, INNER, LEFT, RIGHT, join_tables
from flintstream.table._plan.sets import combine
from flintstream.table._plan.sorting import a_part, sort_rows
from flintstream.table._results.java_table import JavaBacked
from flintstream.table._results.pandas import data_frame
from flintstream.table._session.explain import explain
from flintstream.table._session.inserts import Insert, insert_query
from flintstream.table._steps.conditions import peer, select, where
from flintstream.table._steps.grouped import (
    AggregatedTable,
    Call,
    FlatAggregateTable,
    GroupedTable,
    GroupWindowedTable,
    WindowGroupedTable,
    lateral,
    list_items,
    named_keys,
)
from flintstream.table._steps.names import name_items
from flintstream.table._steps.over import OverWindowedTable, has_window
from flintstream.table._steps.texts import expression_of, syntaxes_of
from flintstream.table._syntax import scalar as s
from flintstream.table.catalog import resolve_schema
from flintstream.table.expression import Expression, syntax_of
from flintstream.table.table_pipeline import TablePipeline
from flintstream.table.table_schema import TableSchema

if TYPE_CHECKING:
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._executor import Executor
    from flintstream.table._expressions.scope import Scope
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import PlannedQuery
    from flintstream.table._syntax.queries import JoinKind, SetOperator
    from flintstream.table.catalog import ResolvedSchema
    from flintstream.table.table_descriptor import TableDescriptor
    from flintstream.table.table_result import TableResult
    from flintstream.table.window import GroupWindow, OverWindow

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]


def _named_from(items: list[Item], position: int) -> list[Item]:
    """Return items with names for those that have none, by their position in the table."""
    return [replace(item, name=f"_c{position + i}") if item.name.isdigit() else item for i, item in enumerate(items)]


@record_steps
class Table(JavaBacked):
    """A logical plan: rows that something will compute when a statement, sink or stream asks for them.

    >>> from flintstream.table import EnvironmentSettings, TableEnvironment
    >>> from flintstream.table.expressions import col
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> table = t_env.sql_query("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS T(id, name)")
    >>> table.filter(col("id") > 1).select(col("name")).get_schema().get_field_names()
    ['name']

    The examples below run queries in BATCH mode:

    >>> from flintstream.common import Configuration
    >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
    >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    >>> t_env = TableEnvironment.create(settings)
    >>> fruit = t_env.from_elements([(1, "pear"), (2, "apple"), (2, "apple")], ["id", "name"])
    >>> more = t_env.from_elements([(2, "apple"), (3, "fig")], ["id", "name"])
    >>> def rows(table):
    ...     return sorted(map(tuple, table.execute().collect()), key=str)
    >>> rows(fruit.where(col("id") > 1).distinct())
    [(2, 'apple')]
    >>> fruit.get_resolved_schema().get_column_names()
    ['id', 'name']
    >>> more.print_schema()
    (
      `id` BIGINT,
      `name` STRING
    )

    Columns:

    >>> rows(more.alias("number", "fruit").select(col("fruit")))
    [('apple',), ('fig',)]
    >>> rows(more.add_columns((col("id") * 10).alias("price")).drop_columns(col("name")))
    [(2, 20), (3, 30)]
    >>> rows(more.add_or_replace_columns((col("id") * 10).alias("id")))
    [(20, 'apple'), (30, 'fig')]
    >>> more.rename_columns(col("name").alias("fruit")).get_schema().get_field_names()
    ['id', 'fruit']

    Two tables as sets:

    >>> rows(fruit.union(more)), len(rows(fruit.union_all(more)))
    ([(1, 'pear'), (2, 'apple'), (3, 'fig')], 5)
    >>> rows(fruit.intersect(more)), rows(fruit.intersect_all(more))
    ([(2, 'apple')], [(2, 'apple')])
    >>> rows(fruit.minus(more)), rows(fruit.minus_all(more))
    ([(1, 'pear')], [(1, 'pear'), (2, 'apple')])

    Joins:

    >>> stock = t_env.from_elements([(2, 7), (4, 9)], ["key", "left"])
    >>> same = col("id") == col("key")
    >>> rows(more.join(stock, same)), rows(more.left_outer_join(stock, same))
    ([(2, 'apple', 2, 7)], [(2, 'apple', 2, 7), (3, 'fig', None, None)])
    >>> rows(more.right_outer_join(stock, same)), len(rows(more.full_outer_join(stock, same)))
    ([(2, 'apple', 2, 7), (None, None, 4, 9)], 3)

    Order and limits:

    >>> by_name = fruit.order_by(col("name"))
    >>> [row.name for row in by_name.execute().collect()]
    ['apple', 'apple', 'pear']
    >>> [row.name for row in by_name.offset(1).fetch(1).execute().collect()], len(rows(by_name.limit(2)))
    (['apple'], 2)

    Groups, and results:

    >>> rows(fruit.group_by(col("name")).select(col("name"), col("id").sum))
    [('apple', 4), ('pear', 1)]
    >>> more.to_pandas()["name"].tolist(), len(more.explain()) > 0
    (['apple', 'fig'], True)
    >>> _ = t_env.execute_sql("CREATE TABLE nowhere (id BIGINT, name STRING) WITH ('connector' = 'blackhole')")
    >>> more.execute_insert("nowhere").wait()
    >>> more.insert_into("nowhere").execute().wait()
    """

    def __init__(self, node: Node | PlannedQuery, executor: Executor, declared: DeclaredTable | None = None) -> None:
        """Wrap a plan, and the declaration if it is a declared table; programs get tables from an environment."""
        self._source, self._declared = node, declared
        self._executor, self._session = executor, executor.session
        self._name = ""

    def __str__(self) -> str:
        """Return a name of the table for SQL: ``t_env.sql_query(f"SELECT id FROM {table}")``."""
        if not self._name:
            self._name = self._session.catalog.name_of(self._source, self._origin)
        return self._name

    def __getattr__(self, name: str) -> Expression:
        """Return a column: ``orders.price`` is ``col("price")``.

        Raises:
            AttributeError: There is no column of this name.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        names = [column.name for column in self._node.columns]
        if name not in names:
            raise AttributeError(f"the table has neither a method nor a column '{name}'{nearest(name, names)}")
        return Expression(s.Name(None, (name,)))

    def _with(self, node: Node) -> Table:
        return Table(node, self._executor)

    def _scope(self) -> Scope:
        return self._session.scope(self._node.columns)

    def get_schema(self) -> TableSchema:
        """Return the columns."""
        columns, declared = self._node.columns, self._declared
        return TableSchema([c.name for c in columns], [c.type for c in columns], [c.time for c in columns], declared)

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns with their expressions, the watermark and the primary key."""
        return resolve_schema(self._node.columns, self._declared)

    def print_schema(self) -> None:
        """Print the columns."""
        write_text(sys.stdout, f"{self.get_resolved_schema()}\n")

    @deep
    def select(self, *fields: Expression) -> Table:
        """Return columns and expressions.

        Raises:
            SqlError: A column or function is unknown.
        """
        items = list_items(self, fields)
        if any(map(has_window, items)):
            return OverWindowedTable(self, ()).select(*fields)
        if any(map(aggregates_in, items)):
            return GroupedTable(self, []).select(*fields)
        return self._with(select(self._session, self._node, name_items(items)))

    @deep
    def filter(self, predicate: Expression) -> Table:
        """Return the rows for which a condition holds: an expression, or ``in_()`` with a table among its parts."""
        return self._with(where(self._session, self._node, syntax_of(expression_of(predicate))))

    where = filter  # noqa: A003 - the method

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with other names for its columns."""
        rest = [column.name for column in self._node.columns[len(fields) + 1 :]]
        return self._with(rename(self._node, [field, *fields, *rest]))

    def _items(self) -> list[Item]:
        return items_of(self._node.columns)

    @deep
    def add_columns(self, *fields: Expression) -> Table:
        """Return the table with more columns.

        Raises:
            SqlError: There is a column of this name.
        """
        items = self._items()
        more = _named_from(resolve_items(syntaxes_of(fields), self._scope(), ""), len(items))
        for element in more:
            if element.name in [item.name for item in items]:
                raise SqlError(f"Ambiguous column name: {element.name}. Use add_or_replace_columns() to replace it")
        return self._with(calc(self._node, [*items, *more]))

    @deep
    def add_or_replace_columns(self, *fields: Expression) -> Table:
        """Return the table with more columns, or others in place of those with the same names."""
        more = {item.name: item for item in resolve_items(syntaxes_of(fields), self._scope())}
        items = [more.pop(item.name, item) for item in self._items()]
        return self._with(calc(self._node, [*items, *more.values()]))

    def rename_columns(self, *fields: Expression) -> Table:
        """Return the table with other names for some columns: ``col("a").alias("b")``."""
        names = [column.name for column in self._node.columns]
        for syntax in syntaxes_of(fields):
            if not isinstance(syntax, s.Alias) or not isinstance(syntax.argument, s.Name):
                raise SqlError(f"rename_columns() needs col(...).alias(...), but got {Expression(syntax)!r}")
            names[names.index(self._check_name(syntax.argument.parts[0]))] = syntax.names[0]
        return self._with(rename(self._node, names))

    def _check_name(self, name: str) -> str:
        names = [column.name for column in self._node.columns]
        if name not in names:
            raise ColumnNotFoundError((name,), suggestion=nearest(name, names))
        return name

    def drop_columns(self, *fields: Expression) -> Table:
        """Return the table without some columns."""
        dropped = {self._check_name(getattr(syntax, "parts", ("",))[0]) for syntax in syntaxes_of(fields)}
        return self._with(calc(self._node, [item for item in self._items() if item.name not in dropped]))

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables."""
        return self._with(union_all([self._node, peer(self._session, right._session, right._node)], self._session.zone))

    def union(self, right: Table) -> Table:
        """Return each row of both tables once."""
        return self._combine(right, "UNION")

    def intersect(self, right: Table) -> Table:
        """Return each row once that is in both tables."""
        return self._combine(right, "INTERSECT")

    def intersect_all(self, right: Table) -> Table:
        """Return the rows that are in both tables, as often as in both."""
        return self._combine(right, "INTERSECT ALL")

    def minus(self, right: Table) -> Table:
        """Return each row once that is not in the other table."""
        return self._combine(right, "EXCEPT")

    def minus_all(self, right: Table) -> Table:
        """Return the rows as often as they are here more than in the other table."""
        return self._combine(right, "EXCEPT ALL")

    @deep
    def _combine(self, right: Table, operation: SetOperator) -> Table:
        other = peer(self._session, right._session, right._node)
        return self._with(combine(self._session.settings, self._node, other, operation, None))

    @deep
    def order_by(self, *fields: Expression) -> Table:
        """Return the table in an order: ``col("n").desc``; a stream needs a rowtime, or a limit by :meth:`fetch`.

        Raises:
            SqlError: A column or function is unknown.
        """
        keys = []
        for key in syntaxes_of(fields):
            order = key if isinstance(key, s.Apply) and key.function in {"ASC", "DESC"} else None
            descending = order is not None and order.function == "DESC"
            value = resolve(key if order is None else order.arguments[0], self._scope())
            keys.append((value, descending, descending))  # NULL is high, unlike in SQL
        return self._with(sort_rows(self._session.settings, self._node, keys))

    def offset(self, offset: int) -> Table:
        """Return the rows without the first ones of the order.

        Raises:
            SqlError: The number is negative, or there is an offset or limit already.
        """
        return self._with(a_part(self._session.settings, self._node, offset, None))

    def fetch(self, fetch: int) -> Table:
        """Return the first rows of the order.

        Raises:
            SqlError: The number is negative, or there is a limit already.
        """
        return self._with(a_part(self._session.settings, self._node, None, fetch))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return ``fetch`` rows of the order after the first ``offset``."""
        return self.offset(offset).fetch(fetch)

    def join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Return the pairs of rows for which a condition holds; without one, all pairs: filter them with ``where()``.

        Raises:
            SqlError: A column is in both tables.
        """
        return self._join(right, join_predicate, INNER)

    def left_outer_join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Return the same, and left rows without a partner with None."""
        return self._join(right, join_predicate, LEFT)

    def right_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Return the pairs, and right rows without a partner with None."""
        return self._join(right, join_predicate, RIGHT)

    def full_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Return the pairs, and rows of both tables without a partner with None."""
        return self._join(right, join_predicate, FULL)

    @deep
    def _join(self, right: Table, predicate: Expression | None, kind: JoinKind) -> Table:
        left = [column.name for column in self._node.columns]
        other = peer(self._session, right._session, right._node)
        ambiguous = [column.name for column in other.columns if column.name in left]
        if ambiguous:
            names = ", ".join(ambiguous)
            raise SqlError(f"join: Ambiguous column name: {names}. Rename the columns of one table with alias()")
        scope = self._session.scope((*self._node.columns, *other.columns))
        condition = None if predicate is None else resolve_condition(syntax_of(predicate), scope, "join", None)
        return self._with(join_tables(self._session.settings, self._node, other, kind, condition))

    def join_lateral(self, table_function_call: object, join_predicate: Expression | None = None) -> Table:
        """Return each row joined with the rows that a table function returns for it, and for which a condition holds.

        A function of ``udtf`` that is not called gets a row with all columns.

        >>> from flintstream.common import Configuration
        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import udtf
        >>> @udtf(result_types=[DataTypes.STRING()])
        ... def words(line):
        ...     yield from line.split()
        >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
        >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
        >>> lines = TableEnvironment.create(settings).from_elements([(1, "to be"), (2, "")], ["id", "line"])
        >>> sorted(tuple(row) for row in lines.join_lateral(words(col("line")).alias("word")).execute().collect())
        [(1, 'to be', 'be'), (1, 'to be', 'to')]
        """
        joined = lateral(self, table_function_call, outer=False)
        return joined if join_predicate is None else joined.filter(join_predicate)

    def left_outer_join_lateral(self, table_function_call: object, join_predicate: Expression | None = None) -> Table:
        """Return the same, and rows without any with None. Like Flink, it takes no condition but ``lit(True)``.

        Raises:
            SqlError: There is another condition.

        >>> from flintstream.common import Configuration
        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import udtf
        >>> @udtf(result_types=[DataTypes.STRING()])
        ... def words(line):
        ...     yield from line.split()
        >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
        >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
        >>> lines = TableEnvironment.create(settings).from_elements([(1, "be"), (2, "")], ["id", "line"])
        >>> sorted(
        ...     tuple(row)
        ...     for row in lines.left_outer_join_lateral(words(col("line")).alias("word")).execute().collect()
        ... )
        [(1, 'be', 'be'), (2, '', None)]
        """
        return lateral(self, table_function_call, outer=True, predicate=join_predicate)

    def flat_map(self, func: object) -> Table:
        """Return the rows that a table function returns for each row.

        A function of ``udtf`` that is not called gets a row with all columns.

        >>> from flintstream.common import Configuration
        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import udtf
        >>> @udtf(result_types=[DataTypes.STRING()])
        ... def words(line):
        ...     yield from line.split()
        >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
        >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
        >>> lines = TableEnvironment.create(settings).from_elements([(1, "to be")], ["id", "line"])
        >>> sorted(tuple(row) for row in lines.flat_map(words(col("line"))).execute().collect())
        [('be',), ('to',)]
        """
        call = Call(self, func)
        return call.table._with_table_function(call)

    @deep
    def _with_table_function(self, call: Call) -> Table:
        """Return only the rows of a table function."""
        node = lateral(self, Expression(call.syntax), outer=False)._node
        items = [Item(item.name, Ref(item.type, i)) for i, item in enumerate(node.columns)][len(self._node.columns) :]
        names = call.named([item.name for item in items])
        return self._with(calc(node, [replace(item, name=name) for item, name in zip(items, names, strict=True)]))

    def map(self, func: object) -> Table:
        """Return what a function returns for each row: a column, or the fields of a row.

        A function of ``udf`` that is not called gets a row with all columns.

        >>> from flintstream.common import Configuration
        >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.udf import udf
        >>> @udf(result_type=DataTypes.STRING())
        ... def upper(text):
        ...     return text.upper()
        >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
        >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
        >>> lines = TableEnvironment.create(settings).from_elements([(1, "to be")], ["id", "line"])
        >>> list(lines.map(upper(col("line"))).execute().collect())
        [<Row('TO BE')>]
        """
        call = Call(self, func)
        return call.table._map(call)

    @deep
    def _map(self, call: Call) -> Table:
        """Return only what a function returns."""
        made = resolve(call.syntax, self._scope())
        if not isinstance(made.type, t.RowType):
            return self._with(calc(self._node, [Item("_c0", made)]))
        fields = fields_of(Ref(made.type, 0))
        names = call.named([field.name for field in fields])
        items = [replace(item, name=name) for item, name in zip(fields, names, strict=True)]
        return self._with(calc(calc(self._node, [Item("$row", made)]), items))

    def group_by(self, *fields: Expression) -> GroupedTable:
        """Return the groups of rows with equal values; call ``select()`` with aggregates.

        An expression with a name, ``col("name").upper_case.alias("who")``, can be selected by its name.
        """
        return GroupedTable(*named_keys(self, fields))

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Return the table with a window, for ``group_by()``.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col, lit
        >>> from flintstream.table.window import Tumble
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> clicks = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann'), ('bob')) AS T(name)")
        >>> windowed = clicks.window(Tumble.over(lit(10).minutes).on(col("p")).alias("w")).group_by(col("w"))
        >>> windowed.select(col("w").end.alias("until"), col("name").count.alias("n")).get_schema().get_field_names()
        ['until', 'n']
        """
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Return the table with windows over the rows around each row, for ``select()``.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.window import Over
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> orders = t_env.sql_query("SELECT *, PROCTIME() AS p FROM (VALUES ('ann', 3), ('ann', 4)) AS T(name, n)")
        >>> running = orders.over_window(Over.partition_by(col("name")).order_by(col("p")).alias("w"))
        >>> running.select(col("name"), col("n").max.over(col("w")).alias("best")).get_schema().get_field_names()
        ['name', 'best']
        """
        return OverWindowedTable(self, over_windows)

    def aggregate(self, func: object) -> AggregatedTable:
        """Aggregate all rows; ``select()`` chooses among the results.

        >>> from flintstream.common import Configuration
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
        >>> inline = Configuration.from_dict({"flintstream.engine": "inline"})
        >>> settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
        >>> numbers = TableEnvironment.create(settings).from_elements([(3,), (4,)], ["n"])
        >>> list(numbers.aggregate(total(col("n")).alias("total")).select(col("total")).execute().collect())
        [<Row(7)>]
        """
        return GroupedTable(self, []).aggregate(func)

    def flat_aggregate(self, func: object) -> FlatAggregateTable:
        """Pass all rows to a function of ``udtaf``; ``select()`` chooses among the columns of its rows.

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
        >>> numbers = t_env.from_elements([(3,), (4,)], ["n"])
        >>> numbers.flat_aggregate(each(col("n"))).select(col("one")).get_schema().get_field_names()
        ['one']
        """
        return GroupedTable(self, []).flat_aggregate(func)

    @deep
    def distinct(self) -> Table:
        """Return each row once."""
        return self._with(distinct(self._session.settings, self._node, self._scope()))

    def explain(self, *extra_details: object) -> str:
        """Return the plan as text, with the details of :class:`~flintstream.table.ExplainDetail`."""
        return explain(self._session, [self._node], extra_details)

    def execute(self) -> TableResult:
        """Run a job that computes the rows."""
        return self._executor.execute(self._node)

    def to_pandas(self) -> Any:
        """Run a job that computes the rows, and return them as a ``DataFrame``; of changes, what they leave behind."""
        with self.execute()._iterate(precise=True) as changes:
            return data_frame(self._node.columns, changes, self._session.zone)

    def print_explain(self, *extra_details: object) -> None:
        """Print the plan.

        >>> from flintstream.table import EnvironmentSettings, TableEnvironment
        >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> t_env.sql_query("SELECT 1 AS n").print_explain()  # doctest: +ELLIPSIS
        == Abstract Syntax Tree ==
        Calc(select=[1 AS n])
        ...
        """
        write_text(sys.stdout, f"{self.explain(*extra_details)}\n")

    def execute_insert(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TableResult:
        """Run a job that writes the rows to a table."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TablePipeline:
        """Return the rows on their way to a table, or to replace its files: ``execute()`` runs the job.

        Raises:
            SqlError: There is no such table.
        """
        path = self._executor.target(table_path_or_descriptor, self._node)
        origin = insert_query(self._origin, path, overwrite=overwrite)
        return TablePipeline(self._executor, Insert(self._node, path, overwrite=overwrite, origin=origin))
