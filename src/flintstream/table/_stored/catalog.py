"""A catalog as programs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._java_exceptions import DatabaseAlreadyExistException, DatabaseNotEmptyException
from flintstream.common._java_view import behind
from flintstream.table._catalog.declared import MaterializedTable, View
from flintstream.table._catalog.store import Store
from flintstream.table._catalog.types import open_catalog
from flintstream.table._errors import unsupported
from flintstream.table._stored.objects import StoredObjects
from flintstream.table._stored.partitions import Partitions
from flintstream.table._stored.tables import CatalogBaseTable

if TYPE_CHECKING:
    from flintstream.common._java_view import JavaView
    from flintstream.table._catalog.identifiers import ObjectPath
    from flintstream.table._catalog.objects import CatalogDatabase


class Catalog(Partitions, StoredObjects):
    """A catalog in memory: what ``TableEnvironment.get_catalog`` returns.

    >>> from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment, TableSchema
    >>> from flintstream.table.catalog import *
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> catalog = t_env.get_catalog("default_catalog")

    >>> catalog.store.name
    'default_catalog'

    Databases:

    >>> catalog.create_database("shop", CatalogDatabase.create_instance({}, "orders"), False)
    >>> catalog.list_databases(), catalog.get_default_database(), catalog.database_exists("shop")
    (['default_database', 'shop'], 'default_database', True)
    >>> catalog.alter_database("shop", CatalogDatabase.create_instance({}, "all orders"), False)
    >>> catalog.get_database("shop").get_comment()
    'all orders'

    Tables and views:

    >>> path = ObjectPath("shop", "orders")
    >>> schema = TableSchema(["id", "day"], [DataTypes.INT(), DataTypes.STRING()])
    >>> table = CatalogBaseTable.create_table(schema, ["day"], {"connector": "blackhole"})
    >>> catalog.create_table(path, table, False)
    >>> catalog.rename_table(path, "sales", False)
    >>> path = ObjectPath("shop", "sales")
    >>> catalog.list_tables("shop"), catalog.list_views("shop"), catalog.list_materialized_tables("shop")
    (['sales'], [], [])
    >>> t_env.from_path("shop.sales").get_schema().get_field_names()
    ['id', 'day']
    >>> catalog.alter_table(path, CatalogBaseTable.create_table(schema, ["day"], {"connector": "print"}), False)
    >>> catalog.table_exists(path), catalog.get_table(path).get_options()
    (True, {'connector': 'print'})

    Partitions and statistics, which programs keep for others:

    >>> may = CatalogPartitionSpec({"day": "5"})
    >>> catalog.create_partition(path, may, CatalogPartition.create_instance({}, "May"), False)
    >>> catalog.alter_partition(path, may, CatalogPartition.create_instance({}, "the 5th"), False)
    >>> catalog.get_partition(path, may).get_comment(), catalog.partition_exists(path, may)
    ('the 5th', True)
    >>> len(catalog.list_partitions(path)), len(catalog.list_partitions(path, may))
    (1, 1)
    >>> catalog.alter_table_statistics(path, CatalogTableStatistics(7), False)
    >>> catalog.alter_partition_statistics(path, may, CatalogTableStatistics(5), False)
    >>> catalog.get_table_statistics(path).get_row_count()
    7
    >>> [found.get_row_count() for found in catalog.bulk_get_partition_statistics(path, [may])]
    [5]
    >>> catalog.alter_table_column_statistics(path, CatalogColumnStatistics({"id": 7}), False)
    >>> catalog.alter_partition_column_statistics(path, may, CatalogColumnStatistics({"id": 5}), False)
    >>> catalog.get_table_column_statistics(path).get_column_statistics_data()
    {'id': 7}
    >>> catalog.get_partition_column_statistics(path, may).get_column_statistics_data()
    {'id': 5}
    >>> len(catalog.bulk_get_partition_column_statistics(path, [may]))
    1
    >>> catalog.get_partition_statistics(path, may).get_row_count()
    5
    >>> catalog.drop_partition(path, may, False)
    >>> catalog.drop_table(path, False)

    Functions and models:

    >>> path = ObjectPath("shop", "total")
    >>> catalog.create_function(path, CatalogFunction.create_instance("shop.total"), False)
    >>> catalog.alter_function(path, CatalogFunction.create_instance("shop.sum"), False)
    >>> catalog.list_functions("shop"), catalog.function_exists(path), catalog.get_function(path).get_class_name()
    (['total'], True, 'shop.sum')
    >>> catalog.drop_function(path, False)
    >>> catalog.list_procedures("shop")
    []
    >>> catalog.get_procedure(path)
    Traceback (most recent call last):
    flintstream.common._java_exceptions.CatalogException: there is no procedure shop.total: catalogs in memory have none
    >>> from flintstream.table import Schema
    >>> columns = Schema.new_builder().column("text", DataTypes.STRING()).build()
    >>> catalog.create_model(path, CatalogModel.create_model(columns, columns), False)
    >>> catalog.alter_model(path, CatalogModel.create_model(columns, columns, {"provider": "x"}), False)
    >>> catalog.rename_model(path, "embedding", False)
    >>> path = ObjectPath("shop", "embedding")
    >>> catalog.list_models("shop"), catalog.model_exists(path), catalog.get_model(path).get_options()
    (['embedding'], True, {'provider': 'x'})
    >>> catalog.drop_model(path, False)
    >>> catalog.drop_database("shop", False)
    """

    def __init__(self, j_catalog: Store | JavaView) -> None:
        """Show a catalog; programs call ``TableEnvironment.get_catalog``.

        Raises:
            TypeError: It is another object.
        """
        found = behind(j_catalog)
        if not isinstance(found, Store):
            raise TypeError(f"Catalog() shows a catalog in memory, but got {j_catalog!r}")
        self._store = found

    @property
    def store(self) -> Store:
        """What the catalog holds."""
        return self._store

    # -- databases -----------------------------------------------------------------------------------------------------

    def get_default_database(self) -> str:
        """Return the database that is the current one after ``USE CATALOG``."""
        return self._store.default_database

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return sorted(self._store.databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database.

        Raises:
            DatabaseNotExistException: It is not there.
        """
        self._store.check_database(database_name)
        return self._store.databases[database_name]

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database."""
        return database_name in self._store.databases

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database.

        Raises:
            DatabaseAlreadyExistException: There is one of this name.
        """
        if not self.database_exists(name):
            self._store.databases[name] = database
        elif not ignore_if_exists:
            raise DatabaseAlreadyExistException(f"Database {name} already exists in Catalog {self._store.name}")

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database; with ``ignore_if_exists``, nothing happens if it is not there.

        Raises:
            DatabaseNotExistException: It is not there.
            DatabaseNotEmptyException: There are tables, functions or models in it.
        """
        if not self.database_exists(name) and ignore_if_exists:
            return
        self._store.check_database(name)
        kinds = (self._store.tables, self._store.functions, self._store.models)
        inside = [item for kind in kinds for item in kind.names(name)]
        if inside:
            raise DatabaseNotEmptyException(
                f"Database {name} in Catalog {self._store.name} is not empty: drop {', '.join(inside)} first"
            )
        del self._store.databases[name]

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Replace the properties and the comment of a database.

        Raises:
            DatabaseNotExistException: It is not there.
        """
        if not self.database_exists(name) and ignore_if_not_exists:
            return
        self._store.check_database(name)
        self._store.databases[name] = new_database

    # -- tables and views ----------------------------------------------------------------------------------------------

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of tables and views."""
        return self._store.tables.names(database_name)

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of views."""
        entries = self._store.tables.by_path
        return [name for name in self.list_tables(database_name) if isinstance(entries[database_name, name], View)]

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of materialized tables."""
        self._store.check_database(database_name)
        entries, names = self._store.tables.by_path, self.list_tables(database_name)
        return [name for name in names if isinstance(entries[database_name, name], MaterializedTable)]

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view.

        Raises:
            TableNotExistException: It is not there.
        """
        return CatalogBaseTable(self._store.tables.get(table_path))

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view.

        Raises:
            TableNotExistException: It is not there.
        """
        self._store.tables.drop(table_path, lenient=ignore_if_not_exists)

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or view another name.

        Raises:
            TableNotExistException: It is not there.
            TableAlreadyExistException: The name is taken.
        """
        self._store.tables.rename(table_path, new_table_name, lenient=ignore_if_not_exists)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or view.

        Raises:
            DatabaseNotExistException: There is no such database.
            TableAlreadyExistException: There is one of this name.
        """
        self._store.tables.create(table_path, table.entry, lenient=ignore_if_exists)

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        """Replace a table or view.

        Raises:
            TableNotExistException: It is not there.
        """
        self._store.tables.alter(table_path, new_table.entry, lenient=ignore_if_not_exists)


class HiveCatalog(Catalog):
    """The metastore of Hive, which flintstream does not read.

    >>> HiveCatalog("hive", "default", "/etc/hive")
    Traceback (most recent call last):
    flintstream.table._errors.UnsupportedClauseError: HiveCatalog('hive') is not supported yet: declare its tables with
    CREATE TABLE. For bounded data, Spark SQL can run the query: env.to_dataframe() and env.from_dataframe() are the
    bridge
    """

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None:
        """Raise an error.

        Raises:
            UnsupportedClauseError: Always.
        """
        raise unsupported(f"HiveCatalog({catalog_name!r})", None, "declare its tables with CREATE TABLE")


class JdbcCatalog(Catalog):
    """The tables of a server of PostgreSQL, MySQL or MariaDB. They can be read and written, not created or dropped.

    >>> JdbcCatalog("pg", "shop", "me", "secret", "jdbc:sqlite:shop.db")
    Traceback (most recent call last):
    flintstream.table._errors.SqlError: catalog 'pg': a catalog of type 'jdbc' is for PostgreSQL, MySQL and MariaDB, got
    'jdbc:sqlite:shop.db'
    """

    def __init__(self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str) -> None:
        """Connect to a server, whose URL names no database.

        Raises:
            SqlError: The server does not answer, or has no such database.
        """
        options = {
            "type": "jdbc",
            "default-database": default_database,
            "username": username,
            "password": pwd,
            "base-url": base_url,
        }
        super().__init__(open_catalog(catalog_name, options))
