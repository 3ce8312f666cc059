"""``CREATE TABLE``: columns, watermark, key and options."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._catalog.declared import Declared, DeclaredTable, MaterializedTable, View, kind_of
from flintstream.table._errors import SqlError, at, nearest, place_at
from flintstream.table._expressions.sql_text import sql_text
from flintstream.table._sql.dialect import parsed_expression
from flintstream.table._sql.expressions import ExpressionReader
from flintstream.table._types.reader import read_type
from flintstream.table._types.rules import implicit, is_nullable, sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.table._errors import Place
    from flintstream.table._expressions.expr import Column
    from flintstream.table._logical.nodes import Node
    from flintstream.table._sql.dialect import Tokens
    from flintstream.table._syntax.scalar import Syntax


@dataclass(frozen=True)
class Created:
    """What ``CREATE TABLE`` declares."""

    name: tuple[str, ...]
    table: DeclaredTable
    lenient: bool
    """Whether the table may exist already."""
    rows: Node | None = None
    """Those of the query after AS."""
    by_name: bool = False
    """Whether the columns of the query are found by their names, because the statement declares some."""


def create_table(
    tokens: Tokens,
    find: Callable[[tuple[str, ...], Place], DeclaredTable | View],
    query: Callable[[Tokens], Node],
) -> Created:
    """Read what follows ``CREATE TABLE``.

    Args:
        tokens: The statement.
        find: Returns the table of a name, for ``LIKE``.
        query: Plans the query at the cursor, for ``AS``.

    Raises:
        SqlError: It is not a table.
    """
    lenient = tokens.take("IF", "NOT", "EXISTS")
    name, order, table = read_declaration(tokens)
    declares, rows = bool(order or table.columns), None
    if tokens.take("LIKE"):
        table = _like(tokens, table, find)
    elif tokens.take("AS"):
        rows = query(tokens)
        table = replace(table, columns=with_columns(table, order, rows.columns))
    elif order:
        raise SqlError(f"columns of '{name[-1]}' without types need a query: CREATE TABLE ... AS SELECT ...")
    expect_end(tokens)
    if not table.columns:
        raise SqlError(f"table '{name[-1]}' has no columns")
    names = [column.name for column in table.columns]
    for item in names:
        if names.count(item) > 1:
            raise SqlError(f"A column named '{item}' already exists in the table '{name[-1]}'")
    check_buckets(table)
    return Created(name, table, lenient, rows, declares)


def check_buckets(table: DeclaredTable) -> None:
    """Check that DISTRIBUTED BY names columns of a table.

    Raises:
        SqlError: It names another one, or one that is not stored.
    """
    stored = [column.name for column in table.columns if column.expression is None and column.metadata is None]
    for name in re.findall("`([^`]*)`", table.buckets):
        if name not in stored:
            raise SqlError(f"DISTRIBUTED BY '{name}': the table has no such stored column{nearest(name, stored)}")


def read_declaration(tokens: Tokens) -> tuple[tuple[str, ...], tuple[str, ...], DeclaredTable]:
    """Read from the name of a table to its options.

    Return the name, the columns without types, and the table.
    """
    name = tokens.path()
    order: tuple[str, ...] = ()
    body = Body(tokens)
    if tokens.peek() == "(" and tokens.peek(2) in {",", ")"}:
        order = names_in_parentheses(tokens)
    elif tokens.take("("):
        body.read()
    comment = tokens.text() if tokens.take("COMMENT") else None
    buckets = buckets_of(tokens) if tokens.take("DISTRIBUTED") else ""
    partitions: tuple[str, ...] = ()
    if tokens.take("PARTITIONED", "BY"):
        partitions = names_in_parentheses(tokens)
    options = options_of(tokens) if tokens.take("WITH") else {}
    columns, text = tuple(body.columns), body.watermark_text
    table = DeclaredTable(columns, options, body.watermark, body.key, partitions, comment, text, buckets, body.key_name)
    return name, order, table


def buckets_of(tokens: Tokens) -> str:
    """Read ``BY HASH (id) INTO 4 BUCKETS``, whose parts may be left out, and return it as Flink shows it."""
    text = ""
    if tokens.take("BY"):
        kind = tokens.next().upper() if tokens.peek() in {"HASH", "RANGE"} else ""
        columns = ", ".join(f"`{name}`" for name in names_in_parentheses(tokens))
        text = f"BY {kind}({columns})"
    if not text or tokens.peek() == "INTO":
        tokens.expect("INTO")
        place, number = tokens.place(), tokens.next()
        if not number.isdigit() or int(number) == 0:
            raise SqlError(f"DISTRIBUTED INTO {number} BUCKETS{at(place)}: Bucket count must be a positive integer")
        tokens.expect("BUCKETS")
        text = f"{text} INTO {number} BUCKETS".strip()
    return text


def with_columns(table: DeclaredTable, order: Sequence[str], rows: Sequence[Column]) -> tuple[Declared, ...]:
    """Return the columns that only a table has, then those of a query, in an order or with declared types.

    Raises:
        SqlError: A declared column cannot take the values of the query, or needs values that it does not have.
    """
    types, own = {column.name: column.type for column in rows}, {column.name: column for column in table.columns}
    if order:
        if sorted(order) != sorted(types):
            raise SqlError(f"the columns ({', '.join(order)}) are not those of the query: ({', '.join(types)})")
        return tuple(Declared(name, types[name]) for name in order)
    for column in table.columns:
        kind, given = column.type, types.get(column.name)
        if given is not None and (kind is None or column.virtual):
            raise SqlError(f"A column named '{column.name}' already exists in the query: it cannot be computed")
        if given is not None and kind is not None and not implicit(given, kind):
            raise SqlError(f"column '{column.name}' is {sql_name(kind)}, but the query has {sql_name(given)}")
        if given is None and kind is not None and not column.virtual and not is_nullable(kind):
            raise SqlError(f"Column '{column.name}' has no default value and does not allow NULLs")
    first = tuple(column for column in table.columns if column.name not in types)
    return first + tuple(own.get(column.name) or Declared(column.name, column.type) for column in rows)


_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_OVERWRITTEN = ("GENERATED", "METADATA", "OPTIONS", "WATERMARKS")
"""Those for which OVERWRITING is possible."""


def _read_features(tokens: Tokens, place: Place) -> dict[str, str]:
    """Read ``(EXCLUDING ALL INCLUDING OPTIONS)``, and return what to do with each feature that it names."""
    chosen: dict[str, str] = {}
    while not tokens.take(")"):
        how, what = tokens.next().upper(), tokens.next().upper()
        if how not in {"INCLUDING", "EXCLUDING", "OVERWRITING"} or what not in _FEATURES:
            raise SqlError(f"LIKE at {place} has no option {how} {what}{nearest(what, _FEATURES)}")
        if how == "OVERWRITING" and what not in _OVERWRITTEN:
            raise SqlError(f"LIKE at {place}: {what} cannot be OVERWRITING, only {', '.join(_OVERWRITTEN)} can")
        if what in chosen:
            raise SqlError(f"LIKE at {place}: Each like option feature can be declared only once, but {what} is twice")
        chosen[what] = how
    return chosen


def _like(
    tokens: Tokens, own: DeclaredTable, find: Callable[[tuple[str, ...], Place], DeclaredTable | View]
) -> DeclaredTable:
    """Return a table with the columns and options of another, and its own.

    As in Flink, partitions and buckets come from the other table even if the statement excludes them, unless it has its
    own.
    """
    place, name = tokens.place(), tokens.path()
    base = find(name, place)
    if isinstance(base, (View, MaterializedTable)):
        raise SqlError(f"LIKE at {place}: '{'.'.join(name)}' is a {kind_of(base)}, only those of a table can be used")
    chosen = _read_features(tokens, place) if tokens.take("(") else {}

    def how(feature: str) -> str:
        return chosen.get(feature, chosen.get("ALL", "OVERWRITING" if feature == "OPTIONS" else "INCLUDING"))

    def refuse_both(feature: str, what: str) -> None:
        remedy = f"EXCLUDING {feature}" + (f" or OVERWRITING {feature}" if feature in _OVERWRITTEN else "")
        raise SqlError(f"LIKE at {place}: '{'.'.join(name)}' and the new table have {what}: specify {remedy}")

    kinds = {"GENERATED": "expression", "METADATA": "metadata"}
    columns = list(base.columns)
    new = {column.name: column for column in own.columns}
    for feature, attribute in kinds.items():
        both = [item.name for item in columns if getattr(item, attribute) is not None and item.name in new]
        if how(feature) == "INCLUDING" and both:
            refuse_both(feature, f"a column '{both[0]}'")
        if how(feature) == "EXCLUDING":
            columns = [item for item in columns if getattr(item, attribute) is None]
        elif how(feature) == "OVERWRITING":
            columns = [new.pop(item.name) if item.name in both else item for item in columns]
    twice = sorted(base.options.keys() & own.options.keys())
    for feature, what in (
        ("OPTIONS", f"an option '{twice[0]}'" if twice else ""),
        ("WATERMARKS", "a watermark" if base.watermark and own.watermark else ""),
        ("CONSTRAINTS", "a primary key" if base.primary_key and own.primary_key else ""),
        ("PARTITIONS", "PARTITIONED BY" if base.partitions and own.partitions else ""),
        ("DISTRIBUTION", "DISTRIBUTED BY" if base.buckets and own.buckets else ""),
    ):
        if what and how(feature) == "INCLUDING":
            refuse_both(feature, what)
    watermark = base if own.watermark is None and how("WATERMARKS") != "EXCLUDING" else own
    for column in columns:
        if column.name in own.primary_key and column.type is not None and is_nullable(column.type):
            key = "_".join(own.primary_key)
            raise SqlError(f"Invalid primary key 'PK_{key}'. Column '{column.name}' is nullable.")
    keyed = own if own.primary_key or how("CONSTRAINTS") == "EXCLUDING" else base
    return DeclaredTable(
        (*columns, *new.values()),
        {**(base.options if how("OPTIONS") != "EXCLUDING" else {}), **own.options},
        watermark.watermark,
        keyed.primary_key,
        own.partitions or base.partitions,
        own.comment or base.comment,
        watermark.watermark_text,
        own.buckets or base.buckets,
        keyed.key_name,
    )


def options_of(tokens: Tokens) -> dict[str, str]:
    """Read ``('key' = 'value', ...)``."""
    tokens.expect("(")
    found: dict[str, str] = {}
    while not tokens.take(")"):
        key = tokens.text()
        tokens.expect("=")
        found[key] = tokens.text()
        next_of(tokens)
    return found


def next_of(tokens: Tokens) -> None:
    """Go to the next of several things in parentheses, or to their end.

    Raises:
        SqlError: There is neither a comma nor the end, or nothing after the comma.
    """
    comma = tokens.take(",")
    if comma == (tokens.peek() == ")"):
        wanted = "something after ','" if comma else "',' or ')'"
        raise SqlError(f"expected {wanted} but found '{tokens.peek()}' at {tokens.place()}")


def keys_of(tokens: Tokens) -> list[str]:
    """Read ``('key', ...)``."""
    tokens.expect("(")
    keys = [tokens.text()]
    while tokens.take(","):
        keys.append(tokens.text())
    tokens.expect(")")
    return keys


def names_in_parentheses(tokens: Tokens) -> tuple[str, ...]:
    """Read ``(a, b)``."""
    tokens.expect("(")
    found = [tokens.name()]
    while tokens.take(","):
        found.append(tokens.name())
    tokens.expect(")")
    return tuple(found)


def expect_end(tokens: Tokens) -> None:
    """Refuse what follows a complete statement.

    Raises:
        SqlError: There is something.
    """
    if not tokens.ended:
        raise SqlError(f"unexpected '{tokens.peek()}' at {tokens.place()}")


class Body:
    """The parentheses of ``CREATE TABLE``, or what ``ALTER TABLE`` adds to a table or modifies."""

    def __init__(self, tokens: Tokens) -> None:
        """Read from a place of a statement."""
        self.tokens = tokens
        self.columns: list[Declared] = []
        self.watermark: tuple[str, Syntax] | None = None
        self.watermark_text = ""
        self.key: tuple[str, ...] = ()
        self.key_name = ""

    def read(self) -> None:
        """Read up to the closing parenthesis."""
        tokens = self.tokens
        while not tokens.take(")"):
            self.element()
            next_of(tokens)

    def element(self) -> Declared | None:
        """Read a column and return it, or read a watermark or key."""
        tokens = self.tokens
        place = tokens.place()
        if tokens.take("WATERMARK", "FOR"):
            if self.watermark is not None:
                raise SqlError(f"a second WATERMARK at {place}: a table has one time attribute with a watermark")
            column = tokens.name()
            tokens.expect("AS")
            syntax, self.watermark_text = self.expression()
            self.watermark = (column, syntax)
        elif tokens.peek() == "CONSTRAINT" or (tokens.peek() == "PRIMARY" and tokens.peek(1) == "KEY"):
            self.begin_key()
            self.key = names_in_parentheses(tokens)
            self.not_enforced()
        else:
            self.columns.append(self.column())
            return self.columns[-1]
        return None

    def begin_key(self) -> None:
        """Read ``CONSTRAINT name PRIMARY KEY``, where the name may be absent."""
        if self.key:
            raise SqlError(f"Duplicate primary key definition at {self.tokens.place()}: name all its columns in one")
        self.key_name = self.tokens.name() if self.tokens.take("CONSTRAINT") else ""
        self.tokens.expect("PRIMARY", "KEY")

    def expression(self) -> tuple[Syntax, str]:
        """Read an expression up to ',' or ')', and return it with its text, in which columns are quoted."""
        part = self.tokens.until(",", ")", "COMMENT", "FIRST", "AFTER")
        parsed = parsed_expression(self.tokens.sql, part)
        syntax = ExpressionReader(parsed).read(parsed.tree.expressions[0])
        known = sql_text(syntax)
        if known is not None:
            return syntax, known
        names, sql, text, end = {column.name for column in self.columns}, self.tokens.sql, "", None
        for token in part:
            text += "" if end is None else sql[end : token.start]
            written = sql[token.start : token.end + 1]
            text += f"`{written}`" if written in names else written
            end = token.end + 1
        return syntax, text

    def not_enforced(self) -> None:
        """Read ``NOT ENFORCED``, which a key must have: no connector checks it."""
        if not self.tokens.take("NOT", "ENFORCED"):
            raise SqlError(
                f"PRIMARY KEY at {self.tokens.place()} must be NOT ENFORCED: Flink doesn't own the data, and cannot "
                "check it"
            )

    def column(self) -> Declared:
        """Read a column."""
        tokens = self.tokens
        name = tokens.name()
        if tokens.take("AS"):
            syntax, text = self.expression()
            return Declared(name, None, syntax, comment=self.comment(), text=text)
        sql, place = tokens.sql, tokens.place()
        data_type, tokens.position = read_type(tokens.all, tokens.position, lambda token: place_at(sql, token.start))
        if isinstance(data_type, (t.DayTimeIntervalType, t.YearMonthIntervalType)):
            raise SqlError(
                f"Incorrect syntax near the keyword 'INTERVAL'{at(place)}: a column of a table has no intervals"
            )
        if isinstance(data_type, t.NullType):
            raise SqlError(f"Incorrect syntax near the keyword 'NULL'{at(place)}: a column of a table has another type")
        metadata, virtual = None, False
        if tokens.take("METADATA"):
            metadata = tokens.text() if tokens.take("FROM") else name
            virtual = tokens.take("VIRTUAL")
        if tokens.peek() in {"CONSTRAINT", "PRIMARY"}:
            self.begin_key()
            self.key = (name,)
            self.not_enforced()
        return Declared(name, data_type, None, metadata, virtual, self.comment())

    def comment(self) -> str | None:
        """Read a comment, if there is one."""
        return self.tokens.text() if self.tokens.take("COMMENT") else None
