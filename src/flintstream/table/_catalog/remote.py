"""Catalogs whose databases and tables are kept by another system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from flintstream.common._java_exceptions import TableAlreadyExistException, TableNotExistException
from flintstream.table._catalog.declared import DeclaredTable, MaterializedTable, View
from flintstream.table._catalog.objects import CatalogDatabase
from flintstream.table._catalog.store import Objects, Store
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Entry = DeclaredTable | View


class Metastore(ABC):
    """A system that keeps databases and tables. Each call asks it, so changes of other programs are seen."""

    kind: str
    """What the option ``type`` of ``CREATE CATALOG`` says."""

    @abstractmethod
    def list_databases(self) -> list[str]:
        """Return the names of the databases."""

    @abstractmethod
    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables of a database, which is there."""

    @abstractmethod
    def table(self, database: str, name: str) -> DeclaredTable | None:
        """Return a table; None if there is none of this name."""

    def has_database(self, name: str) -> bool:
        """Return whether a database is there."""
        return name in self.list_databases()

    def create_database(self, name: str, properties: Mapping[str, str]) -> None:
        """Add a database."""
        raise self._refuse(f"CREATE DATABASE {name}")

    def drop_database(self, name: str) -> None:
        """Remove an empty database."""
        raise self._refuse(f"DROP DATABASE {name}")

    def create_table(self, database: str, name: str, table: DeclaredTable) -> None:
        """Add a table."""
        raise self._refuse(f"CREATE TABLE {database}.{name}")

    def alter_table(self, database: str, name: str, table: DeclaredTable) -> None:
        """Replace the declaration of a table."""
        raise self._refuse(f"ALTER TABLE {database}.{name}")

    def rename_table(self, database: str, name: str, new: str) -> None:
        """Give a table another name."""
        raise self._refuse(f"ALTER TABLE {database}.{name} RENAME TO {new}")

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table."""
        raise self._refuse(f"DROP TABLE {database}.{name}")

    def _refuse(self, statement: str) -> SqlError:
        return SqlError(f"{statement}: a catalog of type '{self.kind}' is read-only: change it in its own system")


class _Databases(MutableMapping[str, CatalogDatabase]):
    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._metastore.has_database(name)

    def __getitem__(self, name: str) -> CatalogDatabase:
        if name not in self:
            raise KeyError(name)
        return CatalogDatabase()

    def __setitem__(self, name: str, database: CatalogDatabase) -> None:
        if name in self:
            raise SqlError(f"ALTER DATABASE {name}: its properties are those of the system that keeps it")
        self._metastore.create_database(name, database.properties)

    def __delitem__(self, name: str) -> None:
        self._metastore.drop_database(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._metastore.list_databases())

    def __len__(self) -> int:
        return len(self._metastore.list_databases())


class _Tables(MutableMapping[tuple[str, ...], Entry]):
    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore

    def __getitem__(self, path: tuple[str, ...]) -> Entry:
        found = self._metastore.table(*path)
        if found is None:
            raise KeyError(path)
        return found

    def __setitem__(self, path: tuple[str, ...], entry: Entry) -> None:
        if isinstance(entry, View):
            raise SqlError(
                f"CREATE VIEW {'.'.join(path)}: a catalog of type '{self._metastore.kind}' keeps no views of "
                "flintstream: CREATE TEMPORARY VIEW"
            )
        if isinstance(entry, MaterializedTable):
            raise SqlError(
                f"CREATE MATERIALIZED TABLE {'.'.join(path)}: a catalog of type '{self._metastore.kind}' keeps none: "
                "CREATE TABLE, and INSERT INTO"
            )
        database, name = path
        change = self._metastore.alter_table if path in self else self._metastore.create_table
        change(database, name, entry)

    def __delitem__(self, path: tuple[str, ...]) -> None:
        self._metastore.drop_table(*path)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        for database in self._metastore.list_databases():
            for name in self._metastore.list_tables(database):
                yield database, name

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _RemoteObjects(Objects[Entry]):
    def __init__(self, store: Store, metastore: Metastore) -> None:
        super().__init__(store, "Table (or view)", TableNotExistException, TableAlreadyExistException)
        self._metastore = metastore
        self.by_path = _Tables(metastore)

    def list_names(self, database: str) -> list[str]:
        """Return the names in a database."""
        return sorted(self._metastore.list_tables(database)) if self._metastore.has_database(database) else []

    def move(self, path: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Give a table another name."""
        (database, name), (other, wanted) = path, new
        if other != database:
            raise SqlError(f"ALTER TABLE {database}.{name} RENAME TO {other}.{wanted}: it stays in its database")
        self._metastore.rename_table(database, name, wanted)


def remote_store(
    name: str, metastore: Metastore, default_database: str, options: Mapping[str, str], comment: str | None
) -> Store:
    """Return the catalog of a metastore.

    Raises:
        SqlError: The default database is not there.
    """
    found = Store(name, default_database, dict(options), comment, _Databases(metastore))
    found.tables = _RemoteObjects(found, metastore)
    return found
