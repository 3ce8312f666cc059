"""Catalogs of type ``iceberg``: their tables are there without a declaration, and new ones are created in them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NotInstalledError,
    RESTError,
)
from pyiceberg.transforms import IdentityTransform

from flintstream.connectors.lakes.partitions import columns_of
from flintstream.table._catalog.declared import Declared, DeclaredTable
from flintstream.table._catalog.remote import Metastore
from flintstream.table._connectors.lakes.iceberg_types import from_iceberg, schema_of
from flintstream.table._connectors.lakes.properties import catalog_properties
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.types import NestedField


_OWN = ("connector", "catalog-name", "catalog-database", "catalog-table")
"""Options by which a table is found, which are not properties of it."""


def open_iceberg(name: str, options: Mapping[str, str]) -> tuple[Metastore, str]:
    """Return the tables of a catalog of Iceberg, and the database that names without one mean.

    Raises:
        SqlError: An option is missing or wrong, or the catalog does not answer.
    """
    kept = {key: value for key, value in options.items() if key != "type"}
    properties = catalog_properties(f"catalog '{name}'", name, kept)
    return IcebergTables(name, properties, kept), options.get("default-database", "default")


class IcebergTables(Metastore):
    """The namespaces and tables of a catalog."""

    kind = "iceberg"

    def __init__(self, name: str, properties: Mapping[str, str], options: Mapping[str, str]) -> None:
        """Load the catalog."""
        self._name, self._options = name, options
        given = {key: value for key, value in properties.items() if key != "name"}
        with self._asking():
            self._catalog: Catalog = load_catalog(name, **given)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except (RESTError, CommitFailedException, NotInstalledError, NotImplementedError, ValueError, OSError) as error:
            raise SqlError(f"catalog '{self._name}': {error}") from None

    def list_databases(self) -> list[str]:
        """Return the names of the namespaces."""
        with self._asking():
            return sorted(".".join(names) for names in self._catalog.list_namespaces())

    def has_database(self, name: str) -> bool:
        """Return whether there is a namespace."""
        with self._asking():
            return self._catalog.namespace_exists(name)

    def create_database(self, name: str, properties: Mapping[str, str]) -> None:
        """Create a namespace."""
        with self._asking():
            self._catalog.create_namespace(name, dict(properties))

    def drop_database(self, name: str) -> None:
        """Remove an empty namespace."""
        try:
            with self._asking():
                self._catalog.drop_namespace(name)
        except NamespaceNotEmptyError as error:
            raise SqlError(f"DROP DATABASE {name}: {error}") from None

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables."""
        try:
            with self._asking():
                return sorted(names[-1] for names in self._catalog.list_tables(database))
        except NoSuchNamespaceError:
            return []

    def table(self, database: str, name: str) -> DeclaredTable | None:
        """Return a table as it is now.

        Raises:
            SqlError: A column has a type that tables lack.
        """
        found = self._load(database, name)
        if found is None:
            return None
        schema = found.schema()
        columns = tuple(self._column(f"{database}.{name}", item) for item in schema.fields)
        by = columns_of(found)
        own = {"connector": "iceberg", "catalog-name": self._name, "catalog-database": database, "catalog-table": name}
        given = {key: text for key, text in found.properties.items() if not key.startswith("flintstream.")}
        key = [item.name for item in schema.fields if item.field_id in schema.identifier_field_ids]
        return DeclaredTable(columns, {**given, **self._options, **own}, primary_key=tuple(key), partitions=tuple(by))

    def _load(self, database: str, name: str) -> Table | None:
        try:
            with self._asking():
                return self._catalog.load_table((*database.split("."), name))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _column(self, table: str, column: NestedField) -> Declared:
        found = from_iceberg(column)
        if found is None:
            raise SqlError(
                f"catalog '{self._name}': column '{column.name}' of table {table} has the type {column.field_type}, "
                "for which tables have none"
            )
        return Declared(column.name, found, comment=column.doc)

    def create_table(self, database: str, name: str, table: DeclaredTable) -> None:
        """Create a table; its options become properties of the table.

        Raises:
            SqlError: A column is computed, there is a watermark, or Iceberg has no such type.
        """
        where = f"CREATE TABLE {database}.{name}"
        if table.watermark is not None:
            raise SqlError(f"{where}: Iceberg keeps no watermark: declare it in a temporary table LIKE this one")
        schema = schema_of(where, table.columns, table.primary_key)
        properties = {key: value for key, value in table.options.items() if key not in {*_OWN, *self._options}}
        with (
            self._asking(),
            self._catalog.create_table_transaction((*database.split("."), name), schema, properties=properties) as new,
            new.update_spec() as spec,
        ):
            for key in table.partitions:
                spec.add_field(key, IdentityTransform(), key)

    def alter_table(self, database: str, name: str, table: DeclaredTable) -> None:
        """Change the properties of a table, and add columns to it, or remove some.

        Raises:
            SqlError: Something else changes.
        """
        found, old = self._load(database, name), self.table(database, name)
        if found is None or old is None:
            raise SqlError(f"ALTER TABLE {database}.{name}: the table is not there any more")
        before, after = {c.name: c for c in old.columns}, {c.name: c for c in table.columns}
        changed = [c for c in before if c in after and after[c].type != before[c].type]
        if changed or table.watermark is not None or table.partitions != old.partitions:
            what = f"the type of column '{changed[0]}'" if changed else "its watermark or partitions"
            raise SqlError(f"ALTER TABLE {database}.{name}: a table of Iceberg cannot change {what}")
        added = schema_of("ALTER TABLE", [column for column in table.columns if column.name not in before], ())
        with self._asking(), found.transaction() as changes:
            with changes.update_schema() as update:
                for column in set(before) - set(after):
                    update.delete_column(column)
                for item in added.fields:
                    update.add_column(item.name, item.field_type, item.doc)
            new = {key: value for key, value in table.options.items() if old.options.get(key) != value}
            if new:
                changes.set_properties(new)
            for key in set(found.properties) & (set(old.options) - set(table.options)):
                changes.remove_properties(key)

    def rename_table(self, database: str, name: str, new: str) -> None:
        """Give a table another name."""
        with self._asking():
            self._catalog.rename_table((*database.split("."), name), (*database.split("."), new))

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table and its data, as Iceberg's catalog for Flink does."""
        with self._asking():
            self._catalog.purge_table((*database.split("."), name))
