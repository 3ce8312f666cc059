"""Methods of table environments about catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._sql.catalogs import store_of
from flintstream.table.catalog import Catalog
from flintstream.table.module import ModuleEntry

if TYPE_CHECKING:
    from flintstream.table._session.session import Session
    from flintstream.table.catalog import CatalogDescriptor


class Catalogs:
    """The catalogs of a program."""

    _session: Session

    def __repr__(self) -> str:
        """Return the mode, and the current catalog and database."""
        session, mode = self._session, "BATCH" if self._session.settings.batch else "STREAMING"
        return f"{type(self).__name__}({mode}, {session.catalog.catalog}.{session.catalog.database})"

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Add a catalog by its options.

        Raises:
            SqlError: There is one of this name already, or no type of catalog like this.
        """
        options = catalog_descriptor.configuration.to_dict()
        catalog = self._session.catalog
        catalog.add_catalog(store_of(catalog_name, options, catalog_descriptor.comment, asks=catalog.asks))

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog under a name.

        Raises:
            SqlError: There is one of this name already.
        """
        self._session.catalog.add_catalog(catalog.store.with_name(catalog_name))

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return a catalog; None if there is none of this name."""
        store = self._session.catalog.catalogs.get(catalog_name)
        return None if store is None else Catalog(store)

    def get_current_catalog(self) -> str:
        """Return the catalog of names without one."""
        return self._session.catalog.catalog

    def get_current_database(self) -> str:
        """Return the database of names without one."""
        return self._session.catalog.database

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return sorted(self._session.catalog.catalogs)

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return self._session.catalog.databases()

    def list_modules(self) -> list[str]:
        """Return the modules that are used."""
        return self._session.catalog.modules.names

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return the loaded modules, each with whether it is used."""
        return [ModuleEntry(name, used=used) for name, used in self._session.catalog.modules.loaded.items()]

    def load_module(self, module_name: str, module: object) -> None:
        """Load a module; the only one is ``core``, the built-in functions.

        Raises:
            SqlError: It is loaded, or is another one.
        """
        self._session.catalog.modules.load(module_name)

    def unload_module(self, module_name: str) -> None:
        """Remove a module: ``SHOW FUNCTIONS`` no longer lists its functions. Queries still call them.

        Raises:
            SqlError: It is not loaded.
        """
        self._session.catalog.modules.unload(module_name)

    def use_modules(self, *module_names: str) -> None:
        """Use these of the loaded modules.

        Raises:
            SqlError: One is not loaded, or named twice.
        """
        self._session.catalog.modules.use(module_names)

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one, and its default database the current one.

        Raises:
            SqlError: There is none of this name; also a ``CatalogException``.
        """
        self._session.catalog.use_catalog(catalog_name)

    def use_database(self, database_name: str) -> None:
        """Make a database of the current catalog the current one.

        Raises:
            SqlError: There is none of this name; also a ``CatalogException``.
        """
        self._session.catalog.use_database((database_name,))
