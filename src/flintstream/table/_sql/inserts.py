"""``INSERT``: rows of a query for a table, and the plans of queries."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from flintstream.options.tables import STRICT
from flintstream.table._analyzer.queries import QueryPlanner
from flintstream.table._catalog.declared import DeclaredTable
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._expressions.resolver import Item
from flintstream.table._logical.planned import PlannedQuery
from flintstream.table._plan.build import calc, rename
from flintstream.table._session.inserts import CONFLICTS, Insert
from flintstream.table._sql.clauses import refuse_what_flink_refuses, refuse_words
from flintstream.table._sql.ddl import expect_end, names_in_parentheses
from flintstream.table._sql.dialect import Parsed
from flintstream.table._sql.hints import table_options
from flintstream.table._sql.queries import read_query
from flintstream.table._types.rules import sql_name, text_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._expressions.expr import Expr
    from flintstream.table._logical.nodes import Node
    from flintstream.table._session.inserts import ConflictStrategy
    from flintstream.table._session.session import Session
    from flintstream.table._sql.dialect import Tokens

QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "(")
"""The words that begin a query."""


def _planner(session: Session, tokens: Tokens, columns: Sequence[str] = ()) -> Callable[[], Node]:
    """Return what plans the query at the cursor, perhaps with other names for its columns.

    Names of tables mean what they mean now, whatever the current database is later.
    """
    refuse_words(tokens)
    parsed = Parsed(tokens.sql, tokens.rest())
    if session.settings.value(STRICT):
        refuse_what_flink_refuses(parsed)
    syntax = read_query(parsed, session.catalog.functions)

    catalog = session.catalog
    place = catalog.catalog, catalog.database

    def plan() -> Node:
        here = catalog.catalog, catalog.database
        catalog.catalog, catalog.database = place
        try:
            node = QueryPlanner(session.settings, session.scope(()), session.table).plan(syntax)
        finally:
            catalog.catalog, catalog.database = here
        return rename(node, list(columns)) if columns else node

    return plan


def plan_query(session: Session, tokens: Tokens, columns: Sequence[str] = ()) -> PlannedQuery:
    """Return the plan of the query at the cursor, perhaps with other names for its columns.

    Raises:
        SqlError: It is wrong.
    """
    plan = _planner(session, tokens, columns)
    return PlannedQuery(plan(), session.settings, lambda: session.settings, plan)


def _conflict(tokens: Tokens) -> ConflictStrategy | None:
    """Cut ``ON CONFLICT DO ...`` off the end of a statement, and return what it does."""
    words = [str(token.text).upper() for token in tokens.all]
    start = next((i for i in range(tokens.position, len(words)) if words[i : i + 2] == ["ON", "CONFLICT"]), -1)
    if start < 0:
        return None
    clause = copy(tokens)
    clause.position = start + 2
    clause.expect("DO")
    place, word = clause.place(), clause.next().upper()
    known = CONFLICTS.get(word)
    if known is None:
        raise SqlError(f"ON CONFLICT DO {word}{at(place)}: use DO {', DO '.join(CONFLICTS)}")
    expect_end(clause)
    tokens.all = tokens.all[:start]
    return known


def read_insert(session: Session, tokens: Tokens) -> Insert:
    """Read what follows ``INSERT``.

    Raises:
        SqlError: There is no such table, or the rows do not fit.
    """
    overwrite = tokens.take("OVERWRITE")
    if not overwrite:
        tokens.expect("INTO")
    place, name = tokens.place(), tokens.path()
    session.catalog.find(name, place)
    options = session.allow_hint(table_options(tokens.hints()), place)
    fixed = _partition(session, tokens, name) if tokens.take("PARTITION") else {}
    columns = names_in_parentheses(tokens) if tokens.peek() == "(" and tokens.peek(1) not in QUERIES else ()
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise SqlError(f"INSERT INTO {'.'.join(name)}{at(place)} names column '{twice}' twice")
    conflict = _conflict(tokens)
    node = plan_query(session, tokens).node()
    if not fixed:
        return Insert(node, name, columns, conflict, overwrite, options)
    table = session.catalog.find(name, place)
    kept = [sink_column.name for sink_column in session.sink_columns(table)] if isinstance(table, DeclaredTable) else []
    others = columns or tuple(item for item in kept if item not in fixed)
    items = [Item(item.name, Ref(item.type, i)) for i, item in enumerate(node.columns)]
    items += [Item(key, value) for key, value in fixed.items()]
    return Insert(calc(node, items), name, (*others, *fixed), conflict, overwrite, options)


def _partition(session: Session, tokens: Tokens, name: tuple[str, ...]) -> dict[str, Expr]:
    """Read ``(day = '2020-01-31', hour = 7)``: the columns that have one value for all rows."""
    table = session.catalog.find(name)
    types = {column.name: column.type for column in table.columns} if isinstance(table, DeclaredTable) else {}
    found: dict[str, Expr] = {}
    tokens.expect("(")
    while not found or tokens.take(","):
        place, key = tokens.place(), tokens.name()
        kind = types.get(key)
        if kind is None or not isinstance(table, DeclaredTable) or key not in table.partitions:
            raise SqlError(f"PARTITION{at(place)}: '{'.'.join(name)}' is not partitioned by '{key}'")
        tokens.expect("=")
        text = tokens.text() if tokens.peek()[:1] == "'" else tokens.next()
        made = cast(Const(text_type(text), text), kind, session.zone)
        if made is None:
            raise SqlError(f"PARTITION{at(place)}: '{text}' is not a {sql_name(kind)}")
        found[key] = made
    tokens.expect(")")
    return found
