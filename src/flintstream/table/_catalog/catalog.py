"""Tables, views and functions that a program has declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.table._errors import SqlError, TableNotFoundError, at, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place
    from flintstream.table._logical.nodes import Node
    from flintstream.table._syntax.scalar import Syntax

CATALOG, DATABASE = "default_catalog", "default_database"


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


@dataclass(frozen=True)
class View:
    """A query with a name."""

    node: Node
    text: str = ""


@dataclass
class Catalog:
    """Declarations by name; names without catalog and database are in the current ones."""

    entries: dict[tuple[str, ...], DeclaredTable | View] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    catalog: str = CATALOG
    database: str = DATABASE
    built_in: str = DATABASE
    """The database that is always there."""
    more_databases: set[str] = field(default_factory=set)
    """Those that the program has created."""
    unnamed: int = 0
    """The number of tables that are only described."""
    inline: int = 0
    """The number of tables that programs put into the text of a statement."""

    def add_unnamed(self, entry: DeclaredTable) -> tuple[str, ...]:
        """Add a table without a name, and return the one that it gets."""
        self.unnamed += 1
        name = (f"*anonymous_{entry.options.get('connector')}${self.unnamed}*",)
        self.add(name, entry)
        return name

    def name_of(self, node: Node) -> str:
        """Give a table a name as a view, and return it."""
        self.inline += 1
        name = f"UnnamedTable${self.inline - 1}"
        self.add((name,), View(node))
        return name

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        return sorted({*self.more_databases, self.built_in})

    def create_database(self, name: str, *, lenient: bool) -> None:
        """Add a database.

        Raises:
            SqlError: There is one of this name already, unless ``lenient``.
        """
        if name in self.databases() and not lenient:
            raise SqlError(f"A database '{name}' already exists: drop it first, or use another name")
        self.more_databases.add(name)

    def use_database(self, name: str, place: Place | None = None) -> None:
        """Make a database the current one.

        Raises:
            SqlError: There is none of this name.
        """
        if name not in self.databases():
            raise SqlError(f"Database '{name}'{at(place)} does not exist{nearest(name, self.databases())}")
        self.database = name

    def drop_database(self, name: str, *, lenient: bool, cascade: bool) -> None:
        """Remove a database, with its tables if ``cascade``.

        Raises:
            SqlError: It is not there, is the built-in or the current one, or has tables.
        """
        if name not in self.more_databases:
            if lenient and name != self.built_in:
                return
            raise SqlError(f"Database '{name}' cannot be dropped{nearest(name, sorted(self.more_databases))}")
        if name == self.database:
            raise SqlError(f"Database '{name}' is the current one: USE another one first")
        inside = [path for path in self.entries if path[1] == name]
        if inside and not cascade:
            tables = ", ".join(sorted(path[-1] for path in inside))
            raise SqlError(f"Database '{name}' is not empty: drop {tables}, or drop it with CASCADE")
        for path in inside:
            del self.entries[path]
        self.more_databases.discard(name)

    def path(self, name: tuple[str, ...]) -> tuple[str, ...]:
        """Return the full name."""
        return (self.catalog, self.database)[: 3 - len(name)] + name

    def find(self, name: tuple[str, ...], place: Place | None = None) -> DeclaredTable | View:
        """Return what a name means.

        Raises:
            TableNotFoundError: There is nothing of this name.
        """
        found = self.entries.get(self.path(name))
        if found is None:
            known = [path[-1] for path in self.entries]
            raise TableNotFoundError(".".join(name), place, known)
        return found

    def add(
        self, name: tuple[str, ...], entry: DeclaredTable | View, *, replace: bool = False, lenient: bool = False
    ) -> None:
        """Add a declaration.

        Raises:
            SqlError: There is one of this name already, unless it may be replaced or, if ``lenient``, kept.
        """
        path = self.path(name)
        if path in self.entries and not replace:
            if lenient:
                return
            kind = "view" if isinstance(self.entries[path], View) else "table"
            raise SqlError(f"A {kind} '{'.'.join(path)}' already exists: drop it first, or use another name")
        self.entries[path] = entry

    def drop(self, name: tuple[str, ...], kind: type[DeclaredTable | View], *, lenient: bool = False) -> bool:
        """Remove a declaration, and return whether there was one.

        Raises:
            SqlError: There is none of this name, unless ``lenient``.
        """
        path = self.path(name)
        if not isinstance(self.entries.get(path), kind):
            if lenient:
                return False
            what = "View" if kind is View else "Table"
            names = [item[-1] for item, entry in self.entries.items() if isinstance(entry, kind)]
            raise SqlError(f"{what} '{'.'.join(path)}' does not exist{nearest(name[-1], names)}")
        del self.entries[path]
        return True

    def names(self, kind: type | None = None, database: str | None = None) -> list[str]:
        """Return the names in a database, the current one by default."""
        here = (self.catalog, database or self.database)
        return sorted(
            path[-1]
            for path, entry in self.entries.items()
            if path[:2] == here and path[-1][0] != "*" and (kind is None or isinstance(entry, kind))
        )
