"""Logical plans of tables: immutable nodes with resolved columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.table._expressions.expr import Invocation, Ref, Unread, calls_python

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.datastream import DataStream
    from flintstream.table._expressions.expr import Column, Expr
    from flintstream.table._operators.lookups import Lookup

    Opener = Callable[..., DataStream]


@dataclass(frozen=True)
class Node:
    """A table: its columns, and how its rows come about.

    A record of its stream is a tuple of the columns. If ``changelog``, the kind of change follows as a last element.
    """

    columns: tuple[Column, ...]

    stamps: ClassVar[bool] = False
    """Whether the step gives its records the time of a column."""

    def __post_init__(self) -> None:
        """Find out about the inputs while they are at hand, rather than by a walk down a long plan."""
        _ = self.depth, self.changelog

    @cached_property
    def depth(self) -> int:
        """How many steps are on top of each other, with this one."""
        return 1 + max((item.depth for item in self.inputs), default=0)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return ()

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes, not only insertions."""
        return any(item.changelog for item in self.inputs)

    @property
    def null_columns(self) -> frozenset[int]:
        """The positions of columns that are NULL because no step reads them; see :func:`narrow`."""
        return frozenset()

    @property
    def placed(self) -> frozenset[tuple[int, ...]]:
        """The columns, in this order, by whose values rows are in subtasks as by a key; there may be several such."""
        return frozenset()

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return type(self).__name__

    def display_columns(self) -> Sequence[Column]:
        """Return the columns with the names that ``explain()`` shows in the step above."""
        return self.columns


@dataclass(frozen=True)
class Scan(Node):
    """Reads a stream of tuples that ``open`` adds to the program."""

    name: str
    open: Opener
    updates: bool = False
    lookup: Callable[[Sequence[int]], Lookup] | None = None
    """Makes what finds rows by the columns at these positions, if the connector can."""
    key: tuple[int, ...] = ()
    """The positions of the declared primary key."""
    narrowed: Callable[[frozenset[int]], Opener] | None = None
    """Makes what opens only the columns at these positions, if the source gains by it; the others are None."""
    need: frozenset[int] | None = None
    """The positions of the columns that ``open`` opens; None for all."""
    batches: Callable[[tuple[int, ...], int], Opener] | None = None
    """Makes what opens the columns at these positions as batches of Arrow, of up to a number of rows, if it can."""
    filtered: Callable[[Expr], Scan | None] | None = None
    """Makes the table without some of the rows that a condition refuses, if the connector can leave out any."""
    ends: bool = False
    """Whether no row comes after its event time has ended: the source is bounded, and nothing else tells the time."""

    @cached_property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return self.updates

    @property
    def null_columns(self) -> frozenset[int]:
        """The columns that ``open`` does not open."""
        return frozenset() if self.need is None else frozenset(range(len(self.columns))) - self.need

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"TableSourceScan(table=[{self.name}], fields=[{_names(self.columns)}])"


@dataclass(frozen=True)
class Calc(Node):
    """Filters and projects; ``projection`` None keeps the columns."""

    input: Node
    projection: tuple[Expr, ...] | None
    condition: Expr | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @cached_property
    def null_columns(self) -> frozenset[int]:
        """The columns that no step above reads."""
        below = self.input.null_columns
        parts = self.projection or tuple(Ref(item.type, i) for i, item in enumerate(self.columns))
        return frozenset(
            i
            for i, part in enumerate(parts)
            if (part.index in below if isinstance(part, Ref) else isinstance(part, Unread))
        )

    @property
    def placed(self) -> frozenset[tuple[int, ...]]:
        """Those of the input that are left."""
        if self.projection is None or not self.input.placed:
            return self.input.placed
        places = {item.index: i for i, item in enumerate(self.projection) if isinstance(item, Ref)}
        return frozenset(tuple(places[i] for i in key) for key in self.input.placed if places.keys() >= set(key))

    @property
    def untimed_input(self) -> Node:
        """The table that it reads; without a time in the results, records need not have the time of a column."""
        if not self.input.stamps or any(column.time == "ROWTIME" for column in self.columns):
            return self.input
        return replace(self.input, columns=tuple(replace(column, time="") for column in self.input.columns))

    def title(self) -> str:
        """Return the line of ``explain()``."""
        given = self.input.display_columns()
        where = "" if self.condition is None else f", where=[{show(self.condition, given)}]"
        parts = self.projection or tuple(Ref(item.type, i) for i, item in enumerate(self.columns))
        pairs = zip(parts, self.columns, strict=True)
        select = ", ".join(_as(show(item, given), column.name) for item, column in pairs)
        conditions = () if self.condition is None else (self.condition,)
        python = "Python" if any(map(calls_python, (*parts, *conditions))) else ""
        return f"{python}Calc(select=[{select}]{where})"

    def display_columns(self) -> Sequence[Column]:
        """Return the columns; those that the planner has named have the texts of their expressions."""
        given = self.input.display_columns()
        parts = self.projection or tuple(Ref(item.type, i) for i, item in enumerate(self.columns))
        pairs = zip(parts, self.columns, strict=True)
        return [replace(item, name=show(part, given)) if item.name[:1] == "$" else item for part, item in pairs]


@dataclass(frozen=True)
class Union(Node):
    """All rows of several tables."""

    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables that it reads."""
        return self.parts

    @property
    def null_columns(self) -> frozenset[int]:
        """The columns that a part does not have: no step reads them of the other parts either."""
        return frozenset().union(*(part.null_columns for part in self.parts))

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"Union(all=[true], union=[{_names(self.columns)}])"


@dataclass(frozen=True)
class Values(Node):
    """Rows of expressions without columns."""

    rows: tuple[tuple[Expr, ...], ...]

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"Values(tuples=[{len(self.rows)}], fields=[{_names(self.columns)}])"


@dataclass(frozen=True)
class Correlate(Node):
    """Joins each row with the rows that a table function returns for it."""

    input: Node
    function: Any
    arguments: tuple[Expr, ...]
    outer: bool

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        given = ", ".join(show(argument, self.input.columns) for argument in self.arguments)
        kind = "LeftOuterJoin" if self.outer else "InnerJoin"
        return f"Correlate(invocation=[{self.function.name}({given})], joinType=[{kind}])"


def show(expression: Expr, columns: Sequence[Column]) -> str:
    """Return an expression as ``explain()`` shows it."""
    if isinstance(expression, Ref):
        return columns[expression.index].name
    arguments = getattr(expression, "arguments", None)
    if arguments is None:
        value = getattr(expression, "value", None)
        return f"'{value}'" if isinstance(value, str) else str(value)
    name = getattr(expression, "name", "")
    parts = [show(argument, columns) for argument in arguments]
    if isinstance(expression, Invocation):
        return f"{name}({', '.join(parts)})"
    return (
        f"({f' {name} '.join(parts)})" if not name[:1].isalpha() and len(parts) == 2 else f"{name}({', '.join(parts)})"
    )


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(column.name for column in columns)


def _as(text: str, name: str) -> str:
    return text if text == name or name[:1] == "$" else f"{text} AS {name}"
