"""The catalogs of a program, and what is temporary in it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintstream.common._java_exceptions import CatalogException
from flintstream.table._catalog.declared import DeclaredTable, View, kind_of
from flintstream.table._catalog.modules import Modules
from flintstream.table._catalog.objects import CatalogDatabase
from flintstream.table._catalog.store import Store
from flintstream.table._errors import ObjectExistsError, SqlError, TableNotFoundError, at, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping

    from flintstream.table._catalog.models import DeclaredModel
    from flintstream.table._errors import Place
    from flintstream.table._logical.nodes import Node
    from flintstream.table._logical.planned import Origin, PlannedQuery

TAKEN = "org.apache.flink.table.catalog.exceptions.TableAlreadyExistException"
"""Programs look for it in the texts of errors."""
CATALOG, DATABASE = "default_catalog", "default_database"
Entry = DeclaredTable | View


class CatalogError(SqlError, CatalogException):
    """A catalog or database is not there, or is there already."""


class CatalogExistsError(CatalogError, ObjectExistsError):
    """The name of a new catalog is taken."""


@dataclass
class CatalogManager:
    """Catalogs by name, and temporary tables, views and functions.

    Names without catalog and database are in the current ones.
    """

    catalog: str = CATALOG
    database: str = DATABASE
    catalogs: dict[str, Store] = field(default_factory=dict)
    temporary: dict[tuple[str, ...], Entry] = field(default_factory=dict)
    """Temporary tables and views by full name; they hide others of their names."""
    temporary_models: dict[tuple[str, ...], DeclaredModel] = field(default_factory=dict)
    """Models by full name; they hide others of their names."""
    functions: dict[str, Any] = field(default_factory=dict)
    """Functions of the program, by name in lower case."""
    places: dict[str, str] = field(default_factory=dict)
    """Where CREATE FUNCTION has found functions, by name in lower case."""
    function_kinds: dict[str, str] = field(default_factory=dict)
    """The words before FUNCTION in the statements that have declared functions, by name in lower case."""
    modules: Modules = field(default_factory=Modules)
    jars: dict[str, None] = field(default_factory=dict)
    """Those of ``ADD JAR``, in their order; nothing runs them."""
    unnamed: int = 0
    """The number of tables that are only described."""
    inline: int = 0
    """The number of tables that programs put into the text of a statement."""
    asks: bool = True
    """Whether catalogs of other systems are asked for their tables; without, they begin empty."""

    def __post_init__(self) -> None:
        self.catalogs.setdefault(self.catalog, Store(self.catalog, self.database, {"type": "generic_in_memory"}))

    @property
    def store(self) -> Store:
        """The current catalog."""
        return self.catalogs[self.catalog]

    @contextmanager
    def within(self, catalog: str, database: str) -> Iterator[None]:
        """Make a catalog and database the current ones inside the block."""
        here = self.catalog, self.database
        self.catalog, self.database = catalog, database
        try:
            yield
        finally:
            self.catalog, self.database = here

    # -- catalogs and databases ----------------------------------------------------------------------------------------

    def add_catalog(self, store: Store, *, lenient: bool = False) -> None:
        """Add a catalog.

        Raises:
            SqlError: There is one of this name already, unless ``lenient``.
        """
        if store.name not in self.catalogs:
            self.catalogs[store.name] = store
        elif not lenient:
            raise CatalogExistsError(f"Catalog {store.name}", store.name)

    def find_catalog(self, name: str, place: Place | None = None) -> Store:
        """Return a catalog.

        Raises:
            SqlError: There is none of this name.
        """
        if name not in self.catalogs:
            raise CatalogError(f"A catalog with name [{name}]{at(place)} does not exist{nearest(name, self.catalogs)}")
        return self.catalogs[name]

    def use_catalog(self, name: str, place: Place | None = None) -> None:
        """Make a catalog the current one, and its default database the current one.

        Raises:
            SqlError: There is none of this name.
        """
        if name != self.catalog:
            self.catalog, self.database = name, self.find_catalog(name, place).default_database

    def drop_catalog(self, name: str, *, lenient: bool) -> None:
        """Remove a catalog.

        Raises:
            SqlError: It is not there, or is the current one.
        """
        if name == self.catalog:
            raise SqlError(f"Catalog '{name}' is the current one: USE another one first")
        if not lenient or name in self.catalogs:
            self.find_catalog(name)
            del self.catalogs[name]

    def find_database(self, path: tuple[str, ...], place: Place | None = None) -> tuple[Store, str]:
        """Return the catalog and the name of a database.

        Raises:
            SqlError: There is none of this name.
        """
        store = self.find_catalog(path[-2], place) if len(path) > 1 else self.store
        if path[-1] not in store.databases:
            raise CatalogError(
                f"A database with name [{path[-1]}]{at(place)} does not exist in the catalog: [{store.name}]"
                f"{nearest(path[-1], store.databases)}"
            )
        return store, path[-1]

    def databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return sorted(self.store.databases)

    def create_database(
        self,
        path: tuple[str, ...],
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
        *,
        lenient: bool,
    ) -> None:
        """Add a database.

        Raises:
            SqlError: There is one of this name already, unless ``lenient``.
        """
        store = self.find_catalog(path[-2]) if len(path) > 1 else self.store
        if path[-1] not in store.databases:
            store.databases[path[-1]] = CatalogDatabase(dict(properties or {}), comment)
        elif not lenient:
            raise ObjectExistsError(f"A database '{path[-1]}'", path[-1])

    def use_database(self, path: tuple[str, ...], place: Place | None = None) -> None:
        """Make a database the current one, and its catalog.

        Raises:
            SqlError: There is none of this name.
        """
        store, self.database = self.find_database(path, place)
        self.catalog = store.name

    def drop_database(self, path: tuple[str, ...], *, lenient: bool, cascade: bool) -> None:
        """Remove a database, with its tables if ``cascade``.

        Raises:
            SqlError: It is not there, is the current one, or has tables.
        """
        store = self.find_catalog(path[-2]) if len(path) > 1 else self.store
        name = path[-1]
        if name not in store.databases:
            if lenient:
                return
            raise SqlError(f"Database '{name}' cannot be dropped{nearest(name, sorted(store.databases))}")
        if (store.name, name) == (self.catalog, self.database):
            raise SqlError(f"Database '{name}' is the current one: USE another one first")
        tables = store.tables.names(name)
        if tables and not cascade:
            raise SqlError(f"Database '{name}' is not empty: drop {', '.join(tables)}, or drop it with CASCADE")
        for table in tables:
            del store.tables.by_path[name, table]
        del store.databases[name]

    # -- tables and views ----------------------------------------------------------------------------------------------

    def add_unnamed(self, entry: DeclaredTable) -> tuple[str, ...]:
        """Add a table without a name, and return the one that it gets."""
        self.unnamed += 1
        name = (f"*anonymous_{entry.options.get('connector')}${self.unnamed}*",)
        self.add(name, entry, temporary=True)
        return name

    def name_of(self, node: Node | PlannedQuery, origin: Origin | None) -> str:
        """Give a table a name as a view, and return it."""
        self.inline += 1
        name = f"UnnamedTable${self.inline - 1}"
        self.add((name,), View(node, origin=origin), temporary=True)
        return name

    def path(self, name: tuple[str, ...]) -> tuple[str, ...]:
        """Return the full name."""
        return (self.catalog, self.database)[: 3 - len(name)] + name

    def models(self, database: tuple[str, str] | None = None) -> list[str]:
        """Return the names of the models in a database, the current one by default, in order."""
        catalog, name = database or (self.catalog, self.database)
        return self.find_catalog(catalog).models.list_names(name)

    def get(self, path: tuple[str, ...]) -> Entry | None:
        """Return what a full name means; None if nothing."""
        found = self.temporary.get(path)
        return self._permanent(path[0]).get(path[1:]) if found is None else found

    def _permanent(self, catalog: str) -> MutableMapping[tuple[str, ...], Entry]:
        store = self.catalogs.get(catalog)
        return {} if store is None else store.tables.by_path

    def find(self, name: tuple[str, ...], place: Place | None = None) -> Entry:
        """Return what a name means.

        Raises:
            TableNotFoundError: There is nothing of this name.
        """
        found = self.get(self.path(name))
        if found is None:
            near = self._names_near(self.path(name))
            raise TableNotFoundError(name, place, near, what="Object" if place else "Table")
        return found

    def _names_near(self, path: tuple[str, ...]) -> list[str]:
        """Return the names that a path may have meant: those beside it, and all in memory."""
        stores = [store for name, store in self.catalogs.items() if name != path[0]]
        memory = [key[-1] for store in stores if isinstance(store.tables.by_path, dict) for key in store.tables.by_path]
        own = self.catalogs.get(path[0])
        beside = [] if own is None else own.tables.list_names(path[1])
        return [*(key[-1] for key in self.temporary), *beside, *memory]

    def add(
        self,
        name: tuple[str, ...],
        entry: Entry,
        *,
        replace: bool = False,
        lenient: bool = False,
        temporary: bool = False,
    ) -> bool:
        """Add a declaration, and return whether the name was free.

        Raises:
            SqlError: There is one of this name already, unless it may be replaced or, if ``lenient``, kept.
        """
        path = self.path(name)
        if not temporary:
            self.find_database(path[:2])
        entries, key = (self.temporary, path) if temporary else (self._permanent(path[0]), path[1:])
        taken = key in entries
        if taken and not replace:
            if lenient:
                return False
            what = f"A {kind_of(entries[key])} '{'.'.join(path)}'"
            if temporary:
                raise ObjectExistsError(what, path[-1])
            full = ".".join(f"`{part}`" for part in path)
            raise ObjectExistsError(f"Could not execute CreateTable in path {full}: {what}", path[-1], f" ({TAKEN})")
        if taken:
            del entries[key]  # of another system, this deletes the rows of the old one, too
        entries[key] = entry
        return not taken

    def put(self, path: tuple[str, ...], entry: Entry) -> None:
        """Replace what a full name means."""
        if path in self.temporary:
            self.temporary[path] = entry
        else:
            self._permanent(path[0])[path[1:]] = entry

    def rename(self, path: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Give a table or view another name.

        Raises:
            SqlError: The name is taken.
        """
        if path in self.temporary:
            self.add(new, self.find(path), temporary=True)
            del self.temporary[path]
            return
        tables, target = self.find_catalog(path[0]).tables, self.path(new)
        if self.get(target) is not None:
            raise ObjectExistsError(f"A table '{'.'.join(target)}'", target[-1])
        tables.move(path[1:], target[1:])

    def drop(self, name: tuple[str, ...], kind: type[Entry], *, lenient: bool = False, temporary: bool = False) -> bool:
        """Remove a declaration, and return whether there was one.

        Raises:
            SqlError: There is none of this name, unless ``lenient``, or a temporary one hides it.
        """
        path = self.path(name)
        what = kind_of(kind)
        hides = type(self.temporary.get(path)) is kind
        permanent = self._permanent(path[0])
        if temporary and hides:
            del self.temporary[path]
            return True
        if not temporary and hides:
            full = ".".join(f"`{part}`" for part in path)
            raise SqlError(
                f"Temporary {what} with identifier '{full}' exists. Drop it first before removing the permanent "
                f"{what}: DROP TEMPORARY {what.upper()}"
            )
        if not temporary and type(permanent.get(path[1:])) is kind:
            del permanent[path[1:]]
            return True
        if lenient:
            return False
        names = self.names(kind, (path[0], path[1])) if path[0] in self.catalogs else []
        raise SqlError(f"{what.capitalize()} '{'.'.join(path)}' does not exist{nearest(name[-1], names)}")

    def names(
        self,
        kind: type[Entry] | None = None,
        database: tuple[str, str] | None = None,
        *,
        only_temporary: bool = False,
    ) -> list[str]:
        """Return the names in a database, given with its catalog, the current one by default."""
        here = database or (self.catalog, self.database)
        found = {
            path[-1]
            for path, entry in self.temporary.items()
            if path[:2] == here and path[-1][0] != "*" and (kind is None or type(entry) is kind)
        }
        if not only_temporary:
            tables = self.catalogs[here[0]].tables
            found |= {
                name
                for name in tables.list_names(here[1])
                if name[0] != "*" and (kind is None or type(tables.by_path[here[1], name]) is kind)
            }
        return sorted(found)
