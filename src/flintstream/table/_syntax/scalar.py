"""Expressions as programs write them, in SQL or with the Table API, before names and types are resolved."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place

S = TypeVar("S", bound="Syntax")


@dataclass(frozen=True)
class Syntax:
    """An unresolved expression."""

    place: Place | None


@dataclass(frozen=True)
class Name(Syntax):
    """A column, with the name of its table or the fields within it: ``orders.address.city``."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Value(Syntax):
    """A literal."""

    value: Any
    type: DataType


@dataclass(frozen=True)
class Apply(Syntax):
    """A function or operator and its arguments."""

    function: str
    arguments: tuple[Syntax, ...]


@dataclass(frozen=True)
class Convert(Syntax):
    """``CAST``, or ``TRY_CAST`` if ``lenient``."""

    argument: Syntax
    type: DataType
    lenient: bool = False


@dataclass(frozen=True)
class Invoke(Syntax):
    """A Python function that the program holds, not one of the catalog."""

    function: Any
    arguments: tuple[Syntax, ...]


@dataclass(frozen=True)
class Aggregate(Syntax):
    """An aggregate function of the rows of a group; no argument is ``*``."""

    function: Any
    """Its name, or a function that the program holds."""
    argument: Syntax | None
    distinct: bool = False
    condition: Syntax | None = None
    """Only rows for which it holds count."""
    option: str | None = None
    """The separator of LISTAGG, or NULL or ABSENT for JSON."""
    more: tuple[Syntax, ...] = ()
    """Further arguments."""


def aggregate_of(place: Place | None, function: object, arguments: tuple[Syntax, ...]) -> Aggregate:
    """Return a call of an aggregate function that the program holds."""
    return Aggregate(place, function, arguments[0] if arguments else None, more=arguments[1:])


@dataclass(frozen=True)
class Over(Syntax):
    """A function of the rows around each row."""

    function: Syntax
    partition: tuple[Syntax, ...]
    order: tuple[tuple[Syntax, bool, bool], ...]
    """Expressions, whether they are descending, and whether None comes first."""
    frame: tuple[bool, tuple[Syntax | None, str], tuple[Syntax | None, str]] | None = None
    """Whether it counts rows, and both ends: a distance with PRECEDING or FOLLOWING, CURRENT ROW or UNBOUNDED."""


@dataclass(frozen=True)
class Star(Syntax):
    """``*``, ``orders.*``, or the fields of a row: ``orders.address.*``."""

    table: str | None = None
    """The table, or the first part of the name of a row."""
    row: tuple[str, ...] = ()
    """The other parts of the name of a row."""


@dataclass(frozen=True)
class Alias(Syntax):
    """An expression with new names; several for a table function."""

    argument: Syntax
    names: tuple[str, ...]


@dataclass(frozen=True)
class Columns(Syntax):
    """``with_columns`` (or ``without_columns``): names, positions from 1 on, or ranges of them."""

    chosen: tuple[Any, ...]
    without: bool = False


@dataclass(frozen=True)
class Query:
    """A table that a statement describes."""

    place: Place | None


@dataclass(frozen=True)
class Subquery(Syntax):
    """The value of a query with one row and one column."""

    query: Query

    @property
    def clause(self) -> str:
        """What an error calls it where there can be none."""
        return "a subquery within an expression"


@dataclass(frozen=True)
class Exists(Subquery):
    """Whether a query has rows."""

    @property
    def clause(self) -> str:
        """What an error calls it where there can be none."""
        return "EXISTS"


@dataclass(frozen=True)
class Quantified(Subquery):
    """``a > ALL (SELECT ...)``; IN is ``= ANY``."""

    values: tuple[Syntax, ...]
    sign: str
    quantifier: Literal["ANY", "ALL", "IN"]

    @property
    def clause(self) -> str:
        """What an error calls it where there can be none."""
        return "IN with a subquery" if self.quantifier == "IN" else f"{self.quantifier} of a query here"


def parts(syntax: Syntax) -> Iterator[Syntax]:
    """Yield the expressions of which an expression directly consists; those of a query within it are not among them."""
    for field in fields(syntax):
        yield from _parts(getattr(syntax, field.name))


def _parts(value: object) -> Iterator[Syntax]:
    if isinstance(value, Syntax):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts(item)


def has_query(syntax: Syntax) -> bool:
    """Return whether a query is within an expression."""
    return isinstance(syntax, Subquery) or any(map(has_query, parts(syntax)))


def conjuncts(syntax: Syntax) -> Iterator[Syntax]:
    """Yield the conditions that AND connects."""
    if isinstance(syntax, Apply) and syntax.function == "AND":
        for argument in syntax.arguments:
            yield from conjuncts(argument)
    else:
        yield syntax


def map_syntax(syntax: S, change: Callable[[Syntax], Syntax]) -> S:
    """Return an expression with each of its direct parts changed."""
    found: dict[str, Any] = {}
    for field in fields(syntax):
        value = getattr(syntax, field.name)
        if isinstance(value, (Syntax, tuple)):
            found[field.name] = _map(value, change)
    return replace(syntax, **found)


def _map(value: object, change: Callable[[Syntax], Syntax]) -> object:
    if isinstance(value, Syntax):
        return change(value)
    return tuple([_map(item, change) for item in value]) if isinstance(value, tuple) else value
