"""Queries as programs write them, before names are resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flintstream.table._syntax import scalar as s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._errors import Place

JoinKind = Literal["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
WindowKind = Literal["TUMBLE", "HOP", "CUMULATE", "SESSION"]
Skip = Literal["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]
SetOperator = Literal["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]


@dataclass(frozen=True)
class Hint:
    """A hint in a comment, with either pairs of texts or names."""

    place: Place
    name: str
    options: Mapping[str, str]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableName(s.Query):
    """A table of the catalog, or of WITH."""

    name: tuple[str, ...]
    options: Mapping[str, str]
    """What the hint OPTIONS says."""


@dataclass(frozen=True)
class Values(s.Query):
    """Rows of expressions."""

    rows: tuple[tuple[s.Syntax, ...], ...]


@dataclass(frozen=True)
class Window(s.Query):
    """A window table function."""

    kind: WindowKind
    table: s.Query
    column: str
    """That of the time."""
    sizes: tuple[tuple[str, s.Syntax], ...]
    """The names of arguments, empty if they have none, and their values."""
    partition: tuple[str, ...]


@dataclass(frozen=True)
class Changelog(s.Query):
    """``TO_CHANGELOG`` or ``FROM_CHANGELOG``."""

    function: str
    table: s.Query
    column: str
    """That of the kinds of change; empty for ``op``."""
    arguments: tuple[tuple[str, s.Syntax], ...]
    """The names of other arguments, empty if they have none, and their values."""
    partition: tuple[str, ...]


@dataclass(frozen=True)
class PatternVariable:
    """A variable of a pattern, and how many rows it takes."""

    place: Place | None
    name: str
    least: int = 1
    most: int | None = 1
    """None means any number."""
    greedy: bool = True


@dataclass(frozen=True)
class Subset:
    """A name for several variables of a pattern."""

    place: Place | None
    name: str
    variables: tuple[str, ...]


@dataclass(frozen=True)
class MatchRecognize(s.Query):
    """MATCH_RECOGNIZE: a row for each match of a pattern."""

    table: s.Query
    name: str
    """That of the table."""
    partition: tuple[s.Syntax, ...]
    order: tuple[tuple[s.Syntax, bool, bool], ...]
    """Expressions, whether they are descending, and whether None comes first."""
    measures: tuple[s.Alias, ...]
    skip: tuple[Skip, str]
    """Where the next match may begin, perhaps at a variable."""
    pattern: tuple[PatternVariable, ...]
    within: s.Syntax | None
    define: tuple[s.Alias, ...]
    """The conditions of variables, by their names."""
    subsets: tuple[Subset, ...] = ()
    anchors: str = ""
    """The signs ^ and $ that the pattern has."""


@dataclass(frozen=True)
class Source:
    """A table in FROM."""

    place: Place | None
    table: s.Query
    name: str
    columns: tuple[str, ...] = ()
    """Other names for its columns, if there are any."""
    columns_place: Place | None = None
    samples: tuple[s.Syntax, ...] = ()
    """The conditions of TABLESAMPLE."""


@dataclass(frozen=True)
class Join:
    """The next table in FROM, and how it is joined with those before it."""

    right: Source
    kind: JoinKind
    condition: s.Syntax | None = None
    condition_place: Place | None = None
    using: tuple[str, ...] = ()
    natural: bool = False
    time: s.Syntax | None = None
    """The time of the version of the right table, in the rows of the left one."""
    lateral: bool = False
    """Whether the right table is a query that may read the left row."""


@dataclass(frozen=True)
class Unnest:
    """The elements of a container of each row, as a table in FROM."""

    place: Place | None
    container: s.Syntax
    name: str
    columns: tuple[str, ...]
    numbered: bool
    outer: bool
    on: s.Syntax | None = None
    """Which of the rows count."""


@dataclass(frozen=True)
class Lateral:
    """The rows that a table function returns for each row, as a table in FROM."""

    place: Place | None
    function: str
    arguments: tuple[s.Syntax, ...]
    name: str
    columns: tuple[str, ...]
    outer: bool
    on: s.Syntax | None = None
    """Which of the rows count."""


@dataclass(frozen=True)
class Select(s.Query):
    """SELECT."""

    items: tuple[s.Syntax, ...]
    source: Source | Unnest | Lateral | None
    joins: tuple[Join | Unnest | Lateral, ...] = ()
    where: s.Syntax | None = None
    keys: tuple[s.Syntax, ...] | None = None
    """Those of GROUP BY; None without one."""
    sets: tuple[tuple[s.Syntax, ...], ...] = ()
    having: s.Syntax | None = None
    qualify: s.Syntax | None = None
    distinct: bool = False
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True)
class SetOperation(s.Query):
    """UNION, INTERSECT or EXCEPT of two tables."""

    operator: SetOperator
    left: s.Query
    right: s.Query


@dataclass(frozen=True)
class Ordered(s.Query):
    """ORDER BY, OFFSET and LIMIT of a query whose last ``hidden`` columns are only there for the order."""

    table: s.Query
    order: tuple[tuple[s.Syntax | int, bool, bool], ...]
    """Expressions or positions of columns from 0 on, whether they are descending, and whether None comes first."""
    hidden: int
    skipped: int
    limit: int | None


@dataclass(frozen=True)
class With(s.Query):
    """Tables that only one query knows, each with a name."""

    tables: tuple[Source, ...]
    table: s.Query
