"""Tables and views as programs declare them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError
from flintstream.table._logical.planned import PlannedQuery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import Origin
    from flintstream.table._syntax.scalar import Syntax


@dataclass(frozen=True)
class Declared:
    """A column as a program declares it."""

    name: str
    type: DataType | None
    """None for a computed column: its expression tells."""
    expression: Syntax | None = None
    metadata: str | None = None
    """The key of a metadata column."""
    virtual: bool = False
    comment: str | None = None
    text: str = ""
    """The expression as DESCRIBE shows it."""

    @property
    def extras(self) -> str | None:
        """How the column comes about, if not from the connector as it is."""
        if self.metadata is not None:
            source = "" if self.metadata == self.name else f" FROM '{self.metadata}'"
            return f"METADATA{source}{' VIRTUAL' if self.virtual else ''}"
        return None if self.expression is None else f"AS {self.text}"


@dataclass(frozen=True)
class DeclaredTable:
    """A table with a connector."""

    columns: tuple[Declared, ...]
    options: Mapping[str, str]
    watermark: tuple[str, Syntax] | None = None
    primary_key: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    comment: str | None = None
    watermark_text: str = ""
    buckets: str = ""
    """What ``DISTRIBUTED`` says."""
    key_name: str = ""
    """The name of the constraint, if the statement gives it one."""

    def with_options(self, options: Mapping[str, str]) -> DeclaredTable:
        """Return the table with more options, or other values of those it has."""
        return replace(self, options={**self.options, **options}) if options else self


@dataclass(frozen=True)
class MaterializedTable(DeclaredTable):
    """A table and the query that a service of Flink would fill it with; no job of a program does."""

    text: str = ""
    """The query as it was written."""
    freshness: str = ""
    """How old its rows may be, such as ``INTERVAL '3' MINUTE``."""
    refresh_mode: str = ""
    """``CONTINUOUS`` or ``FULL``."""


@dataclass(frozen=True)
class View:
    """A query with a name."""

    node: Node | PlannedQuery | None
    """None for a view that was created with its text alone."""
    text: str = ""
    comment: str | None = None
    schema: tuple[tuple[str, DataType], ...] = ()
    """The names and types of columns of a view without a plan."""
    options: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = None
    """Where the rows come from if the view is a ``Table`` without SQL text."""

    @property
    def plan(self) -> Node | None:
        """The plan for the settings of now; None for a view that was created with its text alone."""
        return self.node.node() if isinstance(self.node, PlannedQuery) else self.node


def check_names(names: Sequence[str]) -> None:
    """Refuse columns of the same name.

    >>> check_names(["id", "name", "id"])
    Traceback (most recent call last):
    flintstream.table._errors.SqlError: Schema must not contain duplicate column names. Found duplicates: [id]

    Raises:
        SqlError: There are some.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SqlError(f"Schema must not contain duplicate column names. Found duplicates: [{', '.join(twice)}]")


def kind_of(entry: DeclaredTable | View | type[DeclaredTable | View]) -> str:
    """Return what errors call a declaration, or a class of declarations.

    >>> kind_of(MaterializedTable)
    'materialized table'
    """
    kind = entry if isinstance(entry, type) else type(entry)
    return "view" if kind is View else "materialized table" if kind is MaterializedTable else "table"
