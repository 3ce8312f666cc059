"""What a statement inserts, and what becomes of rows with the same primary key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from flintstream.table._logical.planned import Written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import Origin

ConflictStrategy = Literal["DEDUPLICATE", "ERROR", "NOTHING"]
CONFLICTS: dict[str, ConflictStrategy] = {"DEDUPLICATE": "DEDUPLICATE", "ERROR": "ERROR", "NOTHING": "NOTHING"}


@dataclass(frozen=True)
class Insert:
    """Rows for a table."""

    node: Node
    name: tuple[str, ...]
    columns: tuple[str, ...] = ()
    """The columns that the rows have; all if empty."""
    conflict: ConflictStrategy | None = None
    """What ON CONFLICT says about rows with different keys in the query and the same primary key in the table."""
    overwrite: bool = False
    """Whether the rows replace what the table, or each partition that gets rows, has had."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What the hint OPTIONS says."""
    origin: Origin | None = None
    """The statement, if it is one or can be written as one; else where the rows come from, if a plan can store that."""


@dataclass(frozen=True)
class InsertSet:
    """Inserts of one job."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True)
class PlanFile:
    """A compiled plan to write, to run, or both."""

    path: str
    inserts: tuple[Insert, ...] = ()
    """The statements to compile if the file does not exist."""
    lenient: bool = False
    """Whether the file may be there already."""
    runs: bool = True
    """Whether the plan runs."""


def insert_query(query: Origin | None, path: tuple[str, ...], *, overwrite: bool) -> Origin | None:
    """Return the statement that inserts a query into the table with a full name; what is not written stays as it is."""
    if not isinstance(query, Written):
        return query
    sink = ".".join(f"`{part}`" for part in path)
    return replace(query, sql=f"INSERT {'OVERWRITE' if overwrite else 'INTO'} {sink} {query.sql}")
