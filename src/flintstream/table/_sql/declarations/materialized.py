"""Materialized tables: declared, shown and dropped as in PyFlink without a SQL gateway; nothing refreshes them."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from flintstream.table._catalog.declared import Declared, MaterializedTable, kind_of
from flintstream.table._errors import SqlError, at, nearest, unsupported
from flintstream.table._sql.answers import DONE, texts
from flintstream.table._sql.ddl import expect_end, read_declaration, with_columns
from flintstream.table._sql.inserts import plan_query
from flintstream.table._sql.show_create import show_create_materialized
from flintstream.table._types.rules import is_nullable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table._catalog.declared import DeclaredTable, View
    from flintstream.table._expressions.expr import Column
    from flintstream.table._session.session import Session
    from flintstream.table._sql.answers import Answer
    from flintstream.table._sql.dialect import Tokens

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}
_START = re.compile(r"(RESUME_OR_)?FROM_(BEGINNING|NOW|TIMESTAMP)")
_NUMBER = re.compile(r"(\d{1,2})(\.\d+)?")
_FULL_FROM = 1800
"""The freshness in seconds from which the whole table is replaced, unless the statement says otherwise."""
_FACTORS = {"SECOND": 60, "MINUTE": 60, "HOUR": 24, "DAY": 2}
"""What the number of each unit must divide, and be smaller than, for a table that is replaced at fixed times."""


def is_materialized(tokens: Tokens) -> bool:
    """Return whether a statement declares, shows, alters or drops a materialized table."""
    word, words = tokens.peek(), [tokens.peek(ahead) for ahead in range(1, 5)]
    if word not in {"CREATE", "ALTER", "DROP", "SHOW"} or "MATERIALIZED" not in words:
        return False
    return words[words.index("MATERIALIZED") + 1 :][:1] == ["TABLE"]


def run_materialized(session: Session, tokens: Tokens) -> Answer:
    """Run a statement about materialized tables.

    Raises:
        SqlError: The statement is wrong, or only Flink's SQL gateway can run it.
    """
    place, word = tokens.place(), tokens.next().upper()
    if word == "ALTER":
        raise unsupported("ALTER MATERIALIZED TABLE", place, "drop it, and create it again")
    either = word == "CREATE" and tokens.take("OR", "ALTER")
    if word == "SHOW":
        tokens.expect("CREATE")
    if tokens.peek() != "MATERIALIZED":
        raise SqlError(f"{word} {tokens.peek()} MATERIALIZED TABLE{at(place)} is not supported")
    tokens.expect("MATERIALIZED", "TABLE")
    if word == "SHOW":
        return _show(session, tokens)
    if word == "DROP":
        lenient = tokens.take("IF", "EXISTS")
        name = tokens.path()
        expect_end(tokens)
        session.catalog.drop(name, MaterializedTable, lenient=lenient)
    else:
        _create(session, tokens, either=either)
    return DONE


def _show(session: Session, tokens: Tokens) -> Answer:
    place, name = tokens.place(), tokens.path()
    expect_end(tokens)
    found = session.catalog.find(name, place)
    if not isinstance(found, MaterializedTable):
        raise SqlError(f"SHOW CREATE MATERIALIZED TABLE{at(place)}: '{'.'.join(name)}' is not a materialized table")
    columns = session.describe(name, place)
    return texts("result", [show_create_materialized(session.catalog.path(name), found, columns)])


def _create(session: Session, tokens: Tokens, *, either: bool) -> None:
    """Read from the name on, and add the table."""
    name, order, table = read_declaration(tokens)
    _skip_start(tokens)
    freshness, seconds = _freshness(tokens) if tokens.take("FRESHNESS") else ("", 0)
    mode = _refresh_mode(tokens)
    tokens.expect("AS")
    text = tokens.sql[tokens.all[tokens.position].start :].rstrip().rstrip(";") if not tokens.ended else ""
    rows = plan_query(session, tokens).node().columns
    expect_end(tokens)
    _check(table, rows)
    path = session.catalog.path(name)
    old = session.catalog.get(path) if either else None
    if old is not None:
        session.catalog.put(path, _alter(old, rows, table.options, text, mode, ".".join(path)))
        return
    mode = mode or ("FULL" if seconds >= _FULL_FROM else "CONTINUOUS")
    freshness = freshness or ("INTERVAL '1' HOUR" if mode == "FULL" else "INTERVAL '3' MINUTE")
    if mode == "FULL":
        _check_factor(freshness)
    values = {item.name: getattr(table, item.name) for item in fields(table)}
    values["columns"] = with_columns(table, order, rows)
    made = MaterializedTable(**values, text=text, freshness=freshness, refresh_mode=mode)
    session.columns_of(name[-1], made)
    session.catalog.add(name, made)


def _alter(
    old: DeclaredTable | View, rows: Sequence[Column], options: Mapping[str, str], text: str, mode: str, name: str
) -> MaterializedTable:
    """Return a materialized table with other options and another query, which may have more columns.

    Its comment and freshness stay, as in Flink.

    Raises:
        SqlError: It is another kind of table, the query lacks one of its columns, or the refresh mode differs.
    """
    if not isinstance(old, MaterializedTable):
        raise SqlError(f"CREATE OR ALTER MATERIALIZED TABLE: '{name}' is a {kind_of(old)}, not a materialized table")
    known = [(column.name, column.type.nullable()) for column in old.columns if column.type is not None]
    if [(column.name, column.type.nullable()) for column in rows[: len(known)]] != known:
        raise SqlError(f"the query of '{name}' must begin with its columns: {', '.join(name for name, _ in known)}")
    if mode not in {"", old.refresh_mode}:
        raise SqlError(f"REFRESH_MODE of '{name}' is {old.refresh_mode}, and cannot change: drop it first")
    more = tuple(Declared(column.name, column.type.nullable()) for column in rows[len(known) :])
    return replace(old, columns=(*old.columns, *more), options=options, text=text)


def _refresh_mode(tokens: Tokens) -> str:
    """Read ``REFRESH_MODE``, and return an empty text without it."""
    if not tokens.take("REFRESH_MODE"):
        return ""
    tokens.expect("=")
    place, mode = tokens.place(), tokens.next().upper()
    if mode not in {"CONTINUOUS", "FULL"}:
        raise SqlError(f"REFRESH_MODE{at(place)} is CONTINUOUS or FULL, but not {mode}")
    return mode


def _skip_start(tokens: Tokens) -> None:
    """Read ``START_MODE``, which the catalog of Flink forgets, too.

    Raises:
        SqlError: It is none of Flink's modes.
    """
    if not tokens.take("START_MODE"):
        return
    tokens.expect("=")
    place, mode = tokens.place(), tokens.next().upper()
    if not _START.fullmatch(mode):
        raise SqlError(f"START_MODE{at(place)} is FROM_BEGINNING, FROM_NOW or FROM_TIMESTAMP, but not {mode}")
    if tokens.take("("):
        tokens.until(")")
        tokens.expect(")")


def _freshness(tokens: Tokens) -> tuple[str, int]:
    """Read what follows ``FRESHNESS``, and return it as Flink shows it, and in seconds."""
    tokens.expect("=")
    place = tokens.place()
    tokens.expect("INTERVAL")
    number, unit = tokens.text(), tokens.next().upper()
    unit = unit if unit in _SECONDS else unit.removesuffix("S")
    if unit not in _SECONDS or tokens.peek() == "TO":
        raise SqlError(f"FRESHNESS{at(place)} is in SECOND, MINUTE, HOUR, DAY or WEEK, but not in {unit}")
    found = _NUMBER.fullmatch(number)
    count = 0 if found is None or (found[2] and unit != "SECOND") else int(found[1])
    if count == 0:
        raise SqlError(f"FRESHNESS{at(place)} is a whole number of {unit} from 1 to 99, but not '{number}'")
    return f"INTERVAL '{count}' {unit}", count * _SECONDS[unit]


def _check_factor(freshness: str) -> None:
    """Refuse times that are not at the same places of each minute, hour or day.

    Raises:
        SqlError: The number does not divide the larger unit.
    """
    _, number, unit = freshness.replace("'", "").split()
    factor = _FACTORS.get(unit, 1)
    if int(number) >= factor or factor % int(number):
        raise SqlError(
            f"FRESHNESS = {freshness} with REFRESH_MODE = FULL: use seconds or minutes that divide 60, hours that "
            "divide 24, or 1 DAY"
        )


def _check(table: DeclaredTable, rows: Sequence[Column]) -> None:
    """Refuse columns that the query does not have.

    Raises:
        SqlError: A declared column, a key or a partition needs one.
    """
    types = {column.name: column.type for column in rows}
    declared = {column.name for column in table.columns}
    for column in table.columns:
        if column.type is not None and column.metadata is None and column.name not in types:
            raise SqlError(f"column '{column.name}' is not a column of the query{nearest(column.name, types)}")
    for key in (*table.primary_key, *table.partitions):
        if key not in types and key not in declared:
            raise SqlError(f"column '{key}' of a key or partition does not exist{nearest(key, types)}")
    for key in table.primary_key:
        if key not in declared and is_nullable(types[key]):
            raise SqlError(f"Invalid primary key 'PK_{'_'.join(table.primary_key)}'. Column '{key}' is nullable.")
