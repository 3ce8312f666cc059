"""From statements to a compiled plan."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from flintstream.options.tables import COMPILED_OBJECTS, EXPANSION, LOCAL_TIME_ZONE
from flintstream.table._catalog.catalog import CatalogManager
from flintstream.table._catalog.declared import View
from flintstream.table._compiled.calls import CallWriter, Replay
from flintstream.table._compiled.contents import StoredInsert, StoredPlan, StoredTable, StoredView
from flintstream.table._logical.planned import PlannedQuery, Written
from flintstream.table._plan.narrowing import narrow
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.inserts import plan_query, read_insert
from flintstream.table._sql.show_create import declaration
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._catalog.catalog import Entry
    from flintstream.table._errors import Place
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.recording import MakeTable
    from flintstream.table._session.inserts import Insert
    from flintstream.table._session.session import Session

T = TypeVar("T")
_PLANNING = ("table.exec.", "table.optimizer.", LOCAL_TIME_ZONE.key, EXPANSION.key)
"""The beginnings of the keys of options on which plans depend."""


class _Asked(dict[str, object]):
    """Functions by name, and those that were asked for."""

    def __init__(self, functions: dict[str, object]) -> None:
        super().__init__(functions)
        self.found: dict[str, object] = {}

    def get(self, key: str, default: object = None) -> object:
        """Return a function, and remember it."""
        if key in self:
            self.found[key] = self[key]
        return super().get(key, default)


@dataclass
class _AskedCatalog(CatalogManager):
    """The catalogs of a session, and what was asked for."""

    found: dict[tuple[str, ...], Entry] = field(default_factory=dict)

    def find(self, name: tuple[str, ...], place: Place | None = None) -> Entry:
        """Return what a name means, and remember it."""
        entry = super().find(name, place)
        self.found.setdefault(self.path(name), entry)
        return entry


def compile_plan(session: Session, inserts: Sequence[Insert], make: MakeTable) -> StoredPlan:
    """Return statements, and calls of the Table API, with the tables, views and options that they need.

    Args:
        session: It has the tables.
        inserts: What is stored.
        make: Makes a table of a plan.

    Raises:
        PlanFileError: A table comes from a stream, or a call has a function or value that plans do not store.
    """
    collected = _Collected(session, make)
    stored = [collected.insert(insert) for insert in inserts]
    configuration = session.env._configuration
    options = {key: value for key, value in sorted(configuration.to_dict().items()) if key.startswith(_PLANNING)}
    return StoredPlan(
        tuple(stored),
        tuple(collected.tables.values()),
        tuple(collected.views.values()),
        tuple(collected.writer.calls),
        {
            name: session.catalog.places.get(name, "")
            for name in sorted(collected.functions | collected.writer.functions)
        },
        options,
    )


def _plan_insert(session: Session, tokens: Tokens) -> Node:
    tokens.expect("INSERT")
    return read_insert(session, tokens).node


def steps_of(node: Node) -> tuple[str, ...]:
    """Return the steps of a plan, each with the columns of its rows."""
    lines: list[str] = []
    waiting = [(narrow(node), 0)]
    while waiting:
        step, depth = waiting.pop()
        columns = ", ".join(f"{column.name} {sql_name(column.type)}" for column in step.columns)
        lines.append(f"{' ' * depth}{type(step).__name__}({columns})")
        waiting += [(below, depth + 1) for below in reversed(step.inputs)]
    return tuple(lines)


class _Collected:
    """The tables, views and functions of statements."""

    def __init__(self, session: Session, make: MakeTable) -> None:
        self.session, self.make = session, make
        self.kept = session.env._configuration.get(COMPILED_OBJECTS)
        self.tables: dict[tuple[str, ...], StoredTable] = {}
        self.views: dict[tuple[str, ...], StoredView] = {}
        self.functions: set[str] = set()
        self.writer = CallWriter(session.catalog)

    def insert(self, insert: Insert) -> StoredInsert:
        """Return what is stored of an insert."""
        session, origin = self.session, insert.origin
        if isinstance(origin, Written):
            plan = partial(_plan_insert, session, Tokens(origin.sql))
            steps = steps_of(self.plan(plan, origin.catalog, origin.database))
            return StoredInsert(origin.sql, origin.catalog, origin.database, steps)
        number = self.writer.add(origin)
        catalog, database, _ = insert.name

        def plan_call() -> Node:
            session.catalog.find(insert.name)
            return self.node(number)

        steps = steps_of(self.plan(plan_call, catalog, database))
        return StoredInsert("", catalog, database, steps, number, insert.name, insert.overwrite)

    def node(self, number: int) -> Node:
        """Return the plan that a call makes."""
        return Replay(self.session, self.writer.calls, self.make).table(number)._node

    def plan(self, plan: Callable[[], T], catalog_name: str, database: str) -> T:
        """Plan something within a database, and collect what it asks for."""
        session, catalog = self.session, self.session.catalog
        parts = {item.name: getattr(catalog, item.name) for item in fields(catalog)}
        functions = parts["functions"] = _Asked(catalog.functions)
        session.catalog = asked = _AskedCatalog(**parts)
        try:
            with asked.within(catalog_name, database):
                made = plan()
        finally:
            session.catalog = catalog
        self.functions.update(functions.found)
        for path, entry in asked.found.items():
            if isinstance(entry, View):
                if path not in self.views:
                    self._add_view(path, entry)
            elif path not in self.tables:
                self.tables[path] = self._table(path, entry)
        return made

    def _add_view(self, path: tuple[str, ...], view: View) -> None:
        written = view.node.written if isinstance(view.node, PlannedQuery) else None
        if written is not None:
            tokens = Tokens(written.sql)
            self.plan(partial(plan_query, self.session, tokens), written.catalog, written.database)
            self.views[path] = StoredView(path, written.sql, written.catalog, written.database, written.columns)
            return
        number = self.writer.add(view.origin)
        catalog, database = path[:2]
        self.plan(partial(self.node, number), catalog, database)
        self.views[path] = StoredView(path, "", catalog, database, (), number)

    def _table(self, path: tuple[str, ...], entry: Entry) -> StoredTable:
        if isinstance(entry, View):
            raise TypeError(f"{path} is a view")
        inline = path[-1].startswith("*anonymous")
        if self.kept == "IDENTIFIER" or (path in self.session.catalog.temporary and not inline):
            return StoredTable(path, "", None)
        lines = declaration(path, entry, self.session.columns_of(path[-1], entry))
        return StoredTable(path, "\n".join(lines), None if self.kept == "SCHEMA" else dict(entry.options))
