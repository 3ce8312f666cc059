"""A catalog in memory."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from flintstream.common._java_exceptions import (
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    ModelAlreadyExistException,
    ModelNotExistException,
    TableAlreadyExistException,
    TableNotExistException,
)
from flintstream.table._catalog.objects import CatalogDatabase
from flintstream.table._errors import nearest

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from flintstream.common._java_exceptions import JavaException
    from flintstream.table._catalog.declared import DeclaredTable, View
    from flintstream.table._catalog.identifiers import ObjectPath
    from flintstream.table._catalog.models import DeclaredModel
    from flintstream.table._catalog.objects import (
        CatalogColumnStatistics,
        CatalogFunction,
        CatalogPartition,
        CatalogPartitionSpec,
        CatalogTableStatistics,
    )

V = TypeVar("V")


class Objects(Generic[V]):
    """The tables, functions or models of a catalog, by database and name."""

    def __init__(self, store: Store, what: str, absent: type[JavaException], present: type[JavaException]) -> None:
        self._store, self._what, self._absent, self._present = store, what, absent, present
        self.by_path: MutableMapping[tuple[str, ...], V] = {}

    def exists(self, path: ObjectPath) -> bool:
        """Return whether there is an object at a path."""
        return _key(path) in self.by_path

    def get(self, path: ObjectPath) -> V:
        """Return the object at a path."""
        found = self.by_path.get(_key(path))
        if found is None:
            raise self._missing(path)
        return found

    def create(self, path: ObjectPath, value: V, *, lenient: bool) -> None:
        """Add an object; if ``lenient``, keep the one that is there."""
        self._store.check_database(path.get_database_name())
        if not self.exists(path):
            self.by_path[_key(path)] = value
        elif not lenient:
            raise self._taken(path.get_full_name())

    def drop(self, path: ObjectPath, *, lenient: bool) -> None:
        """Remove an object."""
        if self.by_path.pop(_key(path), None) is None and not lenient:
            raise self._missing(path)

    def alter(self, path: ObjectPath, value: V, *, lenient: bool) -> None:
        """Replace an object."""
        if self.exists(path):
            self.by_path[_key(path)] = value
        elif not lenient:
            raise self._missing(path)

    def rename(self, path: ObjectPath, name: str, *, lenient: bool) -> None:
        """Give an object another name in its database."""
        if not self.exists(path):
            if not lenient:
                raise self._missing(path)
            return
        new = (path.get_database_name(), name)
        if new in self.by_path:
            raise self._taken(".".join(new))
        self.move(_key(path), new)

    def move(self, path: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Give an object, which is there, another path."""
        self.by_path[new] = self.by_path.pop(path)

    def names(self, database: str) -> list[str]:
        """Return the names in a database, in order."""
        self._store.check_database(database)
        return self.list_names(database)

    def list_names(self, database: str) -> list[str]:
        """Return the names in a database, in order; none if it is not there."""
        return sorted(name for place, name in self.by_path if place == database)

    def _missing(self, path: ObjectPath) -> JavaException:
        text = f"{self._what} {path} does not exist in Catalog {self._store.name}"
        return self._absent(f"{text}{nearest(path.get_object_name(), self.list_names(path.get_database_name()))}")

    def _taken(self, name: str) -> JavaException:
        return self._present(f"{self._what} {name} already exists in Catalog {self._store.name}: use another name")


def _key(path: ObjectPath) -> tuple[str, ...]:
    return path.get_database_name(), path.get_object_name()


@dataclass
class Store:
    """What a catalog holds. That of one in memory is lost at the end of the program."""

    name: str
    default_database: str = "default"
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None
    databases: MutableMapping[str, CatalogDatabase] = field(default_factory=dict)
    partitions: dict[tuple[ObjectPath, CatalogPartitionSpec], CatalogPartition] = field(default_factory=dict)
    table_statistics: dict[tuple[ObjectPath, CatalogPartitionSpec | None], CatalogTableStatistics] = field(
        default_factory=dict
    )
    column_statistics: dict[tuple[ObjectPath, CatalogPartitionSpec | None], CatalogColumnStatistics] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        if self.default_database not in self.databases:
            self.databases[self.default_database] = CatalogDatabase()
        self.tables: Objects[DeclaredTable | View] = Objects(
            self, "Table (or view)", TableNotExistException, TableAlreadyExistException
        )
        self.functions: Objects[CatalogFunction] = Objects(
            self, "Function", FunctionNotExistException, FunctionAlreadyExistException
        )
        self.models: Objects[DeclaredModel] = Objects(self, "Model", ModelNotExistException, ModelAlreadyExistException)

    def with_name(self, name: str) -> Store:
        """Return the catalog under another name; both share what is in it."""
        found = copy(self)
        found.name = name
        return found

    def check_database(self, name: str) -> None:
        """Refuse a database that is not there.

        Raises:
            DatabaseNotExistException: There is none of this name.
        """
        if name not in self.databases:
            raise DatabaseNotExistException(
                f"Database {name} does not exist in Catalog {self.name}{nearest(name, self.databases)}"
            )
