"""From a compiled plan to what its statements insert."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from flintstream.options.tables import COMPILED_OBJECTS, RESTORED_OBJECTS
from flintstream.table._catalog.declared import DeclaredTable, View
from flintstream.table._compiled.calls import Replay
from flintstream.table._compiled.compiling import steps_of
from flintstream.table._compiled.contents import PlanFileError
from flintstream.table._session.inserts import Insert
from flintstream.table._sql.ddl import create_table
from flintstream.table._sql.dialect import Tokens
from flintstream.table._sql.inserts import plan_query, read_insert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.table._catalog.catalog import CatalogManager
    from flintstream.table._compiled.contents import StoredInsert, StoredPlan, StoredTable
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.recording import MakeTable
    from flintstream.table._session.session import Session


@contextmanager
def restore(
    session: Session, plan: StoredPlan, make: MakeTable, run: Callable[[str], object]
) -> Iterator[list[Insert]]:
    """Give a session the tables, views, functions and options of a plan inside the block, and return its inserts.

    Args:
        session: It has what the plan only names.
        plan: The plan.
        make: Makes a table of a plan.
        run: Runs ``CREATE FUNCTION``.

    Raises:
        PlanFileError: The session lacks a table or function, or plans the statements in another way.
    """
    catalog, configuration = session.catalog, session.env._configuration
    before = configuration.to_dict()
    source = configuration.get(RESTORED_OBJECTS)
    session.catalog = replace(catalog, temporary=dict(catalog.temporary), functions=dict(catalog.functions))
    try:
        for key, value in plan.options.items():
            configuration.set_string(key, value)
        replay = Replay(session, plan.calls, make)
        _declare(session, plan, source, replay, run)
        yield [_insert(session, stored, replay) for stored in plan.inserts]
    finally:
        session.catalog = catalog
        for key in plan.options:
            configuration.remove_config(key)
            if key in before:
                configuration.set_string(key, before[key])


def _declare(session: Session, plan: StoredPlan, source: str, replay: Replay, run: Callable[[str], object]) -> None:
    catalog = session.catalog
    for name, place in plan.functions.items():
        if name in catalog.functions:
            continue
        if not place:
            raise PlanFileError(
                f"the compiled plan calls the function '{name}', which is not in the session: register it"
            )
        run(f"CREATE FUNCTION `{name}` AS '{place}' LANGUAGE PYTHON")
    for table in plan.tables:
        catalog.temporary[table.identifier] = _table(catalog, table, source)
    for view in plan.views:
        if view.call is not None:
            catalog.temporary[view.identifier] = View(replay.table(view.call)._source)
            continue
        with catalog.within(view.catalog, view.database):
            planned = plan_query(session, Tokens(view.sql), view.columns)
        catalog.temporary[view.identifier] = View(planned, view.sql)


def _table(catalog: CatalogManager, stored: StoredTable, source: str) -> DeclaredTable:
    name, entry = ".".join(stored.identifier), catalog.get(stored.identifier)
    known = entry if isinstance(entry, DeclaredTable) else None
    alone = source == "ALL_ENFORCED" and stored.identifier not in catalog.temporary
    if alone and stored.options is None:
        raise PlanFileError(
            f"the compiled plan does not hold the table '{name}', but '{RESTORED_OBJECTS.key}' is ALL_ENFORCED: "
            f"compile it again with '{COMPILED_OBJECTS.key}' = 'ALL'"
        )
    if source == "IDENTIFIER" or stored.options is None:
        if known is None:
            raise PlanFileError(
                f"the compiled plan has only the name of the table '{name}', and the session has no such table: "
                "create it"
            )
        if source == "IDENTIFIER" or not stored.statement:
            return known
    tokens = Tokens(stored.statement)
    tokens.expect("CREATE", "TABLE")
    made = create_table(tokens, catalog.find, lambda _: _no_query(name))
    return made.table.with_options(
        known.options if stored.options is None and known is not None else stored.options or {}
    )


def _no_query(name: str) -> Node:
    raise PlanFileError(f"the compiled plan is damaged: the table '{name}' has a query")


def _insert(session: Session, stored: StoredInsert, replay: Replay) -> Insert:
    if stored.call is not None:
        session.catalog.find(stored.sink)
        made = Insert(replay.table(stored.call)._node, stored.sink, overwrite=stored.overwrite)
    else:
        tokens = Tokens(stored.sql)
        tokens.expect("INSERT")
        with session.catalog.within(stored.catalog, stored.database):
            made = read_insert(session, tokens)
    steps = steps_of(made.node)
    if steps != stored.steps:
        pairs = zip_longest(stored.steps, steps, fillvalue="nothing")
        old, new = next((old.strip(), new.strip()) for old, new in pairs if old != new)
        raise PlanFileError(
            f"the compiled plan has the step {old}, but this session plans {new} for the same statement, so that "
            "its state would not fit: compile it again, or restore the tables with which it was compiled"
        )
    return made
