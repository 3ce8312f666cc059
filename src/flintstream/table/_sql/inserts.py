"""``INSERT``: rows of a query for a table, and the plans of queries."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from flintstream.options.tables import STRICT
from flintstream.table._analyzer.queries import QueryPlanner
from flintstream.table._catalog.declared import DeclaredTable
from flintstream.table._connectors.registry import WriteOnlyError
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.casts import cast
from flintstream.table._expressions.expr import Const, Ref
from flintstream.table._expressions.resolver import Item
from flintstream.table._logical.nodes import Scan
from flintstream.table._logical.planned import PlannedQuery, Written
from flintstream.table._plan.build import calc, rename
from flintstream.table._session.inserts import CONFLICTS, Insert, InsertSet, PlanFile
from flintstream.table._sql.clauses import refuse_what_flink_refuses, refuse_words
from flintstream.table._sql.ddl import expect_end, names_in_parentheses
from flintstream.table._sql.dialect import Parsed
from flintstream.table._sql.hints import table_options
from flintstream.table._sql.queries import read_query
from flintstream.table._types.rules import sql_name, text_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.datastream import DataStream
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
    place = session.catalog.catalog, session.catalog.database

    def plan() -> Node:
        with session.catalog.within(*place):
            node = QueryPlanner(session.settings, session.scope(()), session.table).plan(syntax)
        return rename(node, list(columns)) if columns else node

    return plan


def _text_from(session: Session, tokens: Tokens, start: int, columns: Sequence[str] = ()) -> Written:
    """Return a statement from a token on as it was written."""
    sql = tokens.sql[tokens.all[start].start : tokens.all[-1].end + 1]
    return Written(sql, session.catalog.catalog, session.catalog.database, tuple(columns))


def plan_query(session: Session, tokens: Tokens, columns: Sequence[str] = ()) -> PlannedQuery:
    """Return the plan of the query at the cursor, perhaps with other names for its columns.

    Raises:
        SqlError: It is wrong.
    """
    written = _text_from(session, tokens, tokens.position, columns) if not tokens.ended else None
    plan = _planner(session, tokens, columns)
    return PlannedQuery(plan(), session.settings, lambda: session.settings, plan, written)


def whole_table(session: Session, name: tuple[str, ...]) -> PlannedQuery:
    """Return the plan that reads a declared table or view; a table that is only written has columns, but no rows.

    Raises:
        SqlError: There is none of this name.
    """
    path = session.catalog.path(name)
    full = ".".join(f"`{part}`" for part in path)
    catalog, database, _ = path
    written = Written(f"TABLE {full}", catalog, database)
    plan = partial(_scan_or_columns, session, path)
    return PlannedQuery(plan(), session.settings, lambda: session.settings, plan, written)


def _scan_or_columns(session: Session, path: tuple[str, ...]) -> Node:
    try:
        return session.table(path)
    except WriteOnlyError as error:
        return Scan(session.describe(path), path[-1], partial(_refuse, error))


def _refuse(error: WriteOnlyError, *_: object) -> DataStream:
    raise error


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
    written = _text_from(session, tokens, tokens.position - 1)
    overwrite = tokens.take("OVERWRITE")
    if not overwrite:
        tokens.expect("INTO")
    place, name = tokens.place(), tokens.path()
    session.catalog.find(name, place)
    path = session.catalog.path(name)  # whatever the current database is when the statement runs
    options = session.allow_hint(table_options(tokens.hints()), place)
    fixed = _partition(session, tokens, name) if tokens.take("PARTITION") else {}
    columns = names_in_parentheses(tokens) if tokens.peek() == "(" and tokens.peek(1) not in QUERIES else ()
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise SqlError(f"INSERT INTO {'.'.join(name)}{at(place)} names column '{twice}' twice")
    conflict = _conflict(tokens)
    node = plan_query(session, tokens).node()
    if not fixed:
        return Insert(node, path, columns, conflict, overwrite, options, written)
    table = session.catalog.find(name, place)
    kept = [sink_column.name for sink_column in session.sink_columns(table)] if isinstance(table, DeclaredTable) else []
    others = columns or tuple(item for item in kept if item not in fixed)
    items = [Item(item.name, Ref(item.type, i)) for i, item in enumerate(node.columns)]
    items += [Item(key, value) for key, value in fixed.items()]
    return Insert(calc(node, items), path, (*others, *fixed), conflict, overwrite, options, written)


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


def read_statement_set(session: Session, tokens: Tokens) -> InsertSet:
    """Read ``STATEMENT SET BEGIN INSERT ...; INSERT ...; END``.

    Raises:
        SqlError: It has no INSERT, or a wrong one.
    """
    tokens.expect("STATEMENT", "SET", "BEGIN")
    inserts: list[Insert] = []
    while not tokens.take("END"):
        one = tokens.statement()
        one.expect("INSERT")
        inserts.append(read_insert(session, one))
    expect_end(tokens)
    if not inserts:
        raise SqlError("a statement set needs an INSERT")
    return InsertSet(tuple(inserts))


def read_compile(session: Session, tokens: Tokens) -> PlanFile:
    """Read ``[AND EXECUTE] PLAN 'file' [IF NOT EXISTS] FOR`` and an INSERT or statement set.

    Raises:
        SqlError: The INSERT is wrong.
    """
    runs = tokens.take("AND", "EXECUTE")
    tokens.expect("PLAN")
    path = tokens.text()
    lenient = not runs and tokens.take("IF", "NOT", "EXISTS")
    tokens.expect("FOR")
    if tokens.peek() == "STATEMENT":
        return PlanFile(path, read_statement_set(session, tokens).inserts, lenient, runs)
    tokens.expect("INSERT")
    return PlanFile(path, (read_insert(session, tokens),), lenient, runs)
