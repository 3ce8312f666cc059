"""Partitions and statistics of a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._java_exceptions import (
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableNotPartitionedException,
)
from flintstream.table._catalog.declared import View
from flintstream.table._catalog.objects import CatalogColumnStatistics, CatalogTableStatistics

if TYPE_CHECKING:
    from flintstream.table._catalog.identifiers import ObjectPath
    from flintstream.table._catalog.objects import CatalogPartition, CatalogPartitionSpec
    from flintstream.table._catalog.store import Store


class Partitions:
    """The methods of a catalog on partitions and statistics."""

    _store: Store

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or view."""
        return self._store.tables.exists(table_path)

    # -- partitions ----------------------------------------------------------------------------------------------------

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, or those with some values.

        Raises:
            TableNotExistException: There is no such table.
            TableNotPartitionedException: It has no partitions.
        """
        self._columns(table_path)
        wanted = {} if partition_spec is None else partition_spec.get_partition_spec()
        found = [spec for path, spec in self._store.partitions if path == table_path]
        return [spec for spec in found if wanted.items() <= spec.get_partition_spec().items()]

    def _columns(self, path: ObjectPath) -> tuple[str, ...]:
        table = self._store.tables.get(path)
        if isinstance(table, View) or not table.partitions:
            raise TableNotPartitionedException(f"Table {path} in Catalog {self._store.name} is not partitioned")
        return table.partitions

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        found = self._store.partitions.get((table_path, partition_spec))
        if found is None:
            raise self._no_partition(table_path, partition_spec)
        return found

    def _no_partition(self, path: ObjectPath, spec: CatalogPartitionSpec) -> PartitionNotExistException:
        return PartitionNotExistException(
            f"Partition {spec} of table {path} in catalog {self._store.name} does not exist."
        )

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is a partition."""
        return (table_path, partition_spec) in self._store.partitions

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition.

        Raises:
            TableNotExistException: There is no such table.
            TableNotPartitionedException: It has no partitions.
            PartitionSpecInvalidException: The values are not those of its columns.
            PartitionAlreadyExistsException: There is one with these values.
        """
        columns = self._columns(table_path)
        if {*columns} != {*partition_spec.get_partition_spec()}:
            raise PartitionSpecInvalidException(
                f"PartitionSpec {partition_spec} does not match partition keys [{', '.join(columns)}] of table "
                f"{table_path} in catalog {self._store.name}."
            )
        if not self.partition_exists(table_path, partition_spec):
            self._store.partitions[table_path, partition_spec] = partition
        elif not ignore_if_exists:
            raise PartitionAlreadyExistsException(
                f"Partition {partition_spec} of table {table_path} in catalog {self._store.name} already exists."
            )

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        """Remove a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        if self._store.partitions.pop((table_path, partition_spec), None) is None and not ignore_if_not_exists:
            raise self._no_partition(table_path, partition_spec)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        if self.partition_exists(table_path, partition_spec):
            self._store.partitions[table_path, partition_spec] = new_partition
        elif not ignore_if_not_exists:
            raise self._no_partition(table_path, partition_spec)

    # -- statistics ----------------------------------------------------------------------------------------------------

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return the statistics of a table; its numbers are -1 until a program sets them.

        Raises:
            TableNotExistException: There is no such table.
        """
        self._store.tables.get(table_path)
        return self._store.table_statistics.get((table_path, None), CatalogTableStatistics())

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return the statistics of the columns of a table.

        Raises:
            TableNotExistException: There is no such table.
        """
        self._store.tables.get(table_path)
        return self._store.column_statistics.get((table_path, None), CatalogColumnStatistics())

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return the statistics of a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        self.get_partition(table_path, partition_spec)
        return self._store.table_statistics.get((table_path, partition_spec), CatalogTableStatistics())

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return the statistics of several partitions."""
        return [self.get_partition_statistics(table_path, spec) for spec in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return the statistics of the columns of a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        self.get_partition(table_path, partition_spec)
        return self._store.column_statistics.get((table_path, partition_spec), CatalogColumnStatistics())

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return the statistics of the columns of several partitions."""
        return [self.get_partition_column_statistics(table_path, spec) for spec in partition_specs]

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Set the statistics of a table.

        Raises:
            TableNotExistException: There is no such table.
        """
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._store.tables.get(table_path)
            self._store.table_statistics[table_path, None] = table_statistics

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Set the statistics of the columns of a table.

        Raises:
            TableNotExistException: There is no such table.
        """
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._store.tables.get(table_path)
            self._store.column_statistics[table_path, None] = column_statistics

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        if self.partition_exists(table_path, partition_spec) or not ignore_if_not_exists:
            self.get_partition(table_path, partition_spec)
            self._store.table_statistics[table_path, partition_spec] = partition_statistics

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Set the statistics of the columns of a partition.

        Raises:
            PartitionNotExistException: It is not there.
        """
        if self.partition_exists(table_path, partition_spec) or not ignore_if_not_exists:
            self.get_partition(table_path, partition_spec)
            self._store.column_statistics[table_path, partition_spec] = column_statistics
