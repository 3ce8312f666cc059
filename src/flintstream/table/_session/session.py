"""What the statements of a program share: its environment, catalog and settings."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from flintstream.datastream._environment.job import client_of
from flintstream.datastream._streams.steps import steps_to_run
from flintstream.graph.transformation import SinkTransformation
from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.tables import (
    EXPANSION,
    HINTS,
    IDLE_TIMEOUT,
    LOCAL_TIME_ZONE,
    MINI_BATCH,
    PARALLELISM,
    STATE_TTL,
    STRICT,
)
from flintstream.options.units import parse_nanos
from flintstream.table._catalog.catalog import CatalogManager
from flintstream.table._catalog.declared import Declared, View
from flintstream.table._connectors.options import Options
from flintstream.table._connectors.registry import find
from flintstream.table._connectors.times import Watermarks, alignment_of
from flintstream.table._errors import ColumnNotFoundError, ComputedColumnError, SqlError, at, nearest, unsupported
from flintstream.table._expressions.codegen import source
from flintstream.table._expressions.expr import Column, Const, Ref
from flintstream.table._expressions.functions.times import in_millis
from flintstream.table._expressions.resolver import Item, resolve
from flintstream.table._expressions.scope import Scope
from flintstream.table._logical.nodes import Scan
from flintstream.table._logical.sharing import sharing
from flintstream.table._operators.field_rows import field_source
from flintstream.table._plan.build import calc, for_sink
from flintstream.table._plan.settings import PlannerSettings
from flintstream.table._session.metadata import of_metadata, to_metadata
from flintstream.table._session.sinks import write
from flintstream.table._session.sources import scan
from flintstream.table._session.times import (
    columns_with_watermarks,
    constant_delay,
    is_of_source,
    with_times,
    with_watermarks,
    without_watermarks,
)
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import TIMESTAMPS, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from flintstream.common.job_client import JobClient
    from flintstream.datastream import DataStream, StreamExecutionEnvironment
    from flintstream.graph.transformation import Transformation
    from flintstream.table._catalog.declared import DeclaredTable
    from flintstream.table._errors import Place
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.inserts import Insert

T = TypeVar("T")

_ALIASED, _DEFAULT = (f"EXCLUDE_{which}_VIRTUAL_METADATA_COLUMNS" for which in ("ALIASED", "DEFAULT"))


class Session:
    """The state behind a table environment."""

    def __init__(self, env: StreamExecutionEnvironment) -> None:
        self.env = env
        self.catalog = CatalogManager()
        self._initial = env._configuration.to_dict()
        self.query: Callable[[str], Node] = _refuse_view
        """Plans the text of a view; the layer above sets it."""

    @property
    def zone(self) -> str:
        """The time zone of the session."""
        found = self.env._configuration.get(LOCAL_TIME_ZONE)
        return "UTC" if found == "default" else found

    @property
    def settings(self) -> PlannerSettings:
        """What plans depend on, as it is set now."""
        configuration = self.env._configuration
        return PlannerSettings(
            self.zone,
            batch=configuration.get(RUNTIME_MODE) == "BATCH",
            by_block=configuration.get(MINI_BATCH),
            state_ttl_ms=configuration.get(STATE_TTL),
            options=configuration.to_dict(),
        )

    def reset(self, key: str | None) -> None:
        """Give an option, or all if ``key`` is None, the value that it had when the session began."""
        configuration = self.env._configuration
        for name in configuration.to_dict() if key is None else [key]:
            configuration.remove_config(name)
        for name, value in self._initial.items():
            if key in {None, name}:
                configuration.set_string(name, value)

    def scope(self, columns: tuple[Column, ...], tables: tuple[str, ...] = ()) -> Scope:
        """Return the names for expressions on columns."""
        strict = self.env._configuration.get(STRICT)
        return Scope(columns, tables, self.catalog.functions, self.zone, self.catalog.database, strict)

    def table(
        self, name: tuple[str, ...], place: Place | None = None, options: Mapping[str, str] | None = None
    ) -> Node:
        """Return the plan that reads a table or view; a table may get other options for this query.

        Raises:
            SqlError: There is none of this name, or a view has options.
        """
        found = self.catalog.find(name, place)
        if isinstance(found, View):
            if options:
                raise SqlError(f"OPTIONS{at(place)} apply to a table, but '{'.'.join(name)}' is a view")
            return self.view(found)
        return self.scan(name[-1], found.with_options(self.allow_hint(options or {}, place)))

    def allow_hint(self, options: Mapping[str, str], place: Place | None) -> Mapping[str, str]:
        """Return what the hint OPTIONS says.

        Raises:
            SqlError: The session does not allow it.
        """
        if options and not self.env._configuration.get(HINTS):
            raise SqlError(f"the hint OPTIONS{at(place)} is not allowed: '{HINTS.key}' is false")
        return options

    def describe(self, name: tuple[str, ...], place: Place | None = None) -> tuple[Column, ...]:
        """Return the columns of a table or view, whether or not it can be read.

        Raises:
            SqlError: A computed column or watermark is wrong.
        """
        found = self.catalog.find(name, place)
        return self.view(found).columns if isinstance(found, View) else self.columns_of(name[-1], found)

    def view(self, view: View) -> Node:
        """Return the plan of a view."""
        plan = view.plan
        return self.query(view.text) if plan is None else plan

    def columns_of(self, name: str, table: DeclaredTable) -> tuple[Column, ...]:
        """Return the columns of a declared table."""
        physical = tuple(Column(column.name, column.type) for column in table.columns if column.type is not None)
        node = Scan(physical, name, _empty)
        return self.completed(name, table, node, [column.name for column in table.columns]).columns

    def scan(self, name: str, table: DeclaredTable) -> Node:
        """Return the plan that reads a declared table: its source, computed columns, and watermarks."""
        node, by_split = scan(name, table)
        return self.completed(name, table, node, [column.name for column in table.columns], by_split=by_split)

    def completed(
        self, name: str, table: DeclaredTable, node: Node, order: Sequence[str], *, by_split: bool = False
    ) -> Node:
        """Return a table with its computed columns and watermarks, and its columns in an order.

        With ``by_split``, the source follows the time of each of its splits, and no row of a split that is behind the
        others is late.
        """
        key = table.primary_key
        known = tuple(replace(c, type=c.type.not_null()) if c.name in key else c for c in node.columns)
        names = [column.name for column in node.columns]
        if isinstance(node, Scan) and set(key) <= set(names):
            node = replace(node, key=tuple(map(names.index, key)))
        scope = self.scope(known)
        declared = {column.name: column for column in table.columns}
        if isinstance(node, Scan) and table.watermark is not None and is_of_source(table.watermark[1]):
            node = node if self.settings.batch else without_watermarks(node, table)
        items = [self._declared_item(declared.get(element, Declared(element, None)), scope) for element in order]
        keys = {key: items[order.index(key)].expression.type.not_null() for key in table.primary_key if key in order}
        position, marks = self.watermark(name, table, items) if table.watermark is not None else (-1, None)
        if position >= 0:
            items[position] = Item(items[position].name, items[position].expression, "ROWTIME")
        by_source = isinstance(node, Scan) and (by_split or not (node.changelog or key))
        if marks is not None and marks.code is None and isinstance(node, Scan) and by_source:
            moment = in_millis(items[position].expression)
            code = field_source(moment, None, stamped=False)
            if not code.functions:  # which only an operator can open
                in_source = partial(node.open, watermarks=(code, marks))
                node = (
                    replace(node, open=in_source, filtered=None, batches=None)
                    if by_split
                    else with_times(node, moment, code, marks)
                )
                marks = None
        if [column.name for column in node.columns] != list(order) or any(type(i.expression) is not Ref for i in items):
            node = calc(node, items)
        hidden = self._not_in_star(table)
        columns = tuple(
            Column(item.name, keys.get(item.name, item.expression.type), item.time, item.name not in hidden)
            for item in items
        )
        if marks is None:
            return replace(node, columns=columns)
        read = partial(with_watermarks, node, position, marks)
        lookup, places = node.lookup if isinstance(node, Scan) else None, tuple(map(list(order).index, key))
        fewer = None if marks.code else partial(columns_with_watermarks, node, position, marks)
        return Scan(columns, name, read, node.changelog, lookup, places, fewer)

    def _not_in_star(self, table: DeclaredTable) -> frozenset[str]:
        """Return the metadata columns for which ``*`` does not stand."""
        left_out = self.env._configuration.get(EXPANSION) or ()
        return frozenset(
            column.name
            for column in table.columns
            if column.metadata is not None
            and column.virtual
            and (_ALIASED if column.metadata != column.name else _DEFAULT) in left_out
        )

    def with_time(self, node: Node, position: int) -> Node:
        """Return a bounded table whose rows have the time of a column, which becomes a time attribute."""
        columns = [replace(item, time="ROWTIME") if i == position else item for i, item in enumerate(node.columns)]
        return Scan(tuple(columns), columns[position].name, partial(with_watermarks, node, position, Watermarks()))

    def _declared_item(self, declared: Declared, scope: Scope) -> Item:
        if declared.expression is None:
            index, _ = scope.find(s.Name(None, (declared.name,)))
            return Item(declared.name, of_metadata(declared, Ref(scope.columns[index].type, index), self.zone))
        try:
            made = resolve(declared.expression, scope)
        except SqlError as error:
            raise ComputedColumnError(declared.name, error) from error
        is_now = isinstance(declared.expression, s.Apply) and declared.expression.function.upper() == "PROCTIME"
        return Item(declared.name, made, "PROCTIME" if is_now else "")

    def watermark(self, name: str, table: DeclaredTable, items: Sequence[Item]) -> tuple[int, Watermarks | None]:
        """Return the position of the time column, and its watermarks; None keeps those of the stream."""
        if table.watermark is None:
            raise SqlError(f"table '{name}' has no watermark")
        column, syntax = table.watermark
        names = [item.name for item in items]
        if column not in names:
            raise SqlError(
                f"Invalid column name '{column}' for rowtime attribute of table '{name}'{nearest(column, names)}"
            )
        position = names.index(column)
        kind = items[position].expression.type
        if not isinstance(kind, TIMESTAMPS) or kind.precision > 3:
            raise SqlError(
                f"WATERMARK FOR {column}: it must be TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits, not {sql_name(kind)}"  # noqa: E501
            )
        if is_of_source(syntax):
            return position, None
        own = table.options.get("scan.watermark.idle-timeout")
        idle_ms = parse_nanos(own) // 1_000_000 if own else self.env._configuration.get(IDLE_TIMEOUT)
        marks = Watermarks(idle_ms=idle_ms, alignment=alignment_of(name, table.options))
        all_columns = tuple(Column(item.name, item.expression.type) for item in items)
        made = resolve(syntax, self.scope(all_columns))
        if isinstance(made, Ref) and made.index == position:
            return position, marks
        delay = constant_delay(made, position)
        if delay is not None:
            return position, replace(marks, delay_ms=delay)
        if not isinstance(made.type, TIMESTAMPS) or made.type.precision > 3:
            raise SqlError(
                f"WATERMARK FOR {column}: the watermark must be TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits, not "
                f"{sql_name(made.type)}"
            )
        code = source(in_millis(made), None, stamped=False)
        if code.functions:
            raise unsupported("a Python function in a watermark", syntax.place, "add a computed column")
        return position, replace(marks, code=code)

    # -- execution ---------------------------------------------------------------------------------------------------

    def sink_columns(self, table: DeclaredTable) -> list[Column]:
        """Return the columns that a sink takes."""
        return [
            Column(column.name, column.type)
            for column in table.columns
            if column.type is not None and not column.virtual
        ]

    def insert(self, insert: Insert) -> None:
        """Add a sink with the rows of a plan."""
        node, name = insert.node, insert.name
        found = self.catalog.find(name)
        if isinstance(found, View):
            raise SqlError(f"'{'.'.join(name)}' is a view: only tables can be written")
        columns = self.sink_columns(found)
        if insert.columns:
            strict = {c.name for c in columns if not is_nullable(c.type)}.union(found.primary_key)
            node = self._arrange(node, name, columns, insert.columns, strict)
        full = ".".join(self.catalog.path(name))
        ready, columns = to_metadata(for_sink(node, full, columns, self.zone), name[-1], found, columns, self.zone)
        write(self.env, self.settings, node, ready, name[-1], found.with_options(insert.options), columns, insert)

    def _arrange(
        self,
        node: Node,
        name: tuple[str, ...],
        columns: Sequence[Column],
        chosen: Sequence[str],
        strict: AbstractSet[str],
    ) -> Node:
        for item in chosen:
            if item not in [column.name for column in columns]:
                raise ColumnNotFoundError((item,), f" in {name[-1]}", nearest(item, [c.name for c in columns]))
        if len(chosen) != len(node.columns):
            raise SqlError(f"INSERT names {len(chosen)} columns, but the query has {len(node.columns)}")
        items = []
        for column in columns:
            if column.name in chosen:
                index = chosen.index(column.name)
                items.append(Item(column.name, Ref(node.columns[index].type, index)))
            elif column.name in strict:
                raise SqlError(f"Column '{column.name}' has no default value and does not allow NULLs")
            else:
                items.append(Item(column.name, Const(column.type.nullable(), None)))
        return calc(node, items)

    @property
    def _pending(self) -> list[Transformation]:
        """The steps of the program that no job has run."""
        return steps_to_run(self.env)

    @contextmanager
    def own_parallelism(self) -> Iterator[None]:
        """Give the steps that are added inside the block the parallelism of tables, if an option sets one."""
        first = len(self._pending)
        with sharing(self.env):
            yield
        parallelism = self.env._configuration.get(PARALLELISM)
        for step in self._pending[first:] if parallelism > 0 else ():
            if step.parallelism is None and not (isinstance(step, SinkTransformation) and step.follows_input):
                step.parallelism = parallelism

    def describe_plan(self, build: Callable[[], object]) -> str:
        """Return what ``build`` would run, as JSON; nothing runs, and the program keeps its steps."""
        pending = self._pending
        kept = list(pending)
        pending.clear()
        try:
            with self.own_parallelism():
                build()
            return self.env.get_execution_plan()
        finally:
            pending[:] = kept

    def alone(self, build: Callable[[], T], job_name: str, *, lasts: bool = False) -> tuple[T, JobClient]:
        """Run what ``build`` adds to the program, without the streams that wait for ``env.execute()``.

        If it ``lasts``, ``flintstream run`` waits for it when the program has ended.
        """
        pending = self._pending
        kept = list(pending)
        pending.clear()
        try:
            result = build()
            job = self.env._start(job_name, wait=False)
            job.lasts = lasts
            return result, client_of(job)
        finally:
            pending[:] = kept


class UnopenedSession(Session):
    """Plans statements without a look at data, so that a check needs neither files nor the network."""

    def scan(self, name: str, table: DeclaredTable) -> Node:
        """Return a plan that has no rows."""
        physical = tuple(Column(column.name, column.type) for column in table.columns if column.type is not None)
        node = Scan(physical, name, _empty)
        if not find(name, Options(name, table.options).text("connector")).looks_at_data:
            node = replace(scan(name, table)[0], open=_empty, narrowed=None, filtered=None, batches=None)
        return self.completed(name, table, node, [column.name for column in table.columns])


def _empty(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([])


def _refuse_view(text: str) -> Node:
    raise SqlError(f"nothing plans the view {text!r}")
