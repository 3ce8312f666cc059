"""What catalogs hold beside tables: databases, partitions, functions and statistics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flintstream.table._types.java_maps import hash_order

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common.configuration import Configuration

__all__ = [
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Procedure",
]


@dataclass(frozen=True)
class _Described:
    """Something with properties and a comment."""

    properties: dict[str, str] = field(default_factory=dict)
    comment: str | None = None

    def get_properties(self) -> dict[str, str]:
        """Return the properties by key."""
        return dict(self.properties)

    def get_comment(self) -> str | None:
        """Return the comment, if there is one."""
        return self.comment

    def get_description(self) -> str | None:
        """Return the comment, if there is one."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment, if there is one."""
        return self.comment

    def copy(self) -> Self:
        """Return an equal object."""
        return replace(self)


class CatalogDatabase(_Described):
    """A database.

    >>> database = CatalogDatabase.create_instance({"owner": "shop"}, "of the shop")
    >>> database.get_properties(), database.get_comment(), database.copy() == database
    ({'owner': 'shop'}, 'of the shop', True)
    >>> database.get_description(), database.get_detailed_description()
    ('of the shop', 'of the shop')
    """

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogDatabase:
        """Return a database, to be given to ``Catalog.create_database``."""
        return CatalogDatabase(dict(properties), comment)


class CatalogPartition(_Described):
    """A partition of a table.

    >>> partition = CatalogPartition.create_instance({"files": "3"}, "of May")
    >>> partition.get_properties(), partition.get_comment(), partition.copy() == partition
    ({'files': '3'}, 'of May', True)
    >>> partition.get_description(), partition.get_detailed_description()
    ('of May', 'of May')
    """

    @staticmethod
    def create_instance(properties: dict[str, str], comment: str | None = None) -> CatalogPartition:
        """Return a partition, to be given to ``Catalog.create_partition``."""
        return CatalogPartition(dict(properties), comment)


@dataclass(frozen=True)
class CatalogFunction:
    """A function, by the name under which tasks import it.

    >>> function = CatalogFunction.create_instance("shop.functions.total")
    >>> function.get_class_name(), function.get_function_language(), function.get_options()
    ('shop.functions.total', 'PYTHON', {})
    >>> function.copy() == function, function.get_description(), function.get_detailed_description()
    (True, 'a function in PYTHON', 'a function in PYTHON')
    """

    class_name: str
    language: str = "PYTHON"

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """Return a function, to be given to ``Catalog.create_function``."""
        return CatalogFunction(class_name, function_language.upper())

    def get_class_name(self) -> str:
        """Return the full name."""
        return self.class_name

    def get_function_language(self) -> str:
        """Return the language, in upper case."""
        return self.language

    def get_options(self) -> dict[str, str]:
        """Return no options."""
        return {}

    def get_description(self) -> str:
        """Return what the function is written in."""
        return f"a function in {self.language}"

    get_detailed_description = get_description

    def copy(self) -> CatalogFunction:
        """Return an equal function."""
        return replace(self)


class Procedure:
    """A procedure of a catalog; those in memory have none.

    >>> isinstance(None, Procedure)
    False
    """


class CatalogPartitionSpec:
    """The values of partition columns.

    >>> print(CatalogPartitionSpec({"day": "1"}), CatalogPartitionSpec({"day": "1"}).get_partition_spec())
    CatalogPartitionSpec{{day=1}} {'day': '1'}
    """

    def __init__(self, partition_spec: dict[str, str]) -> None:
        """Take the values by column."""
        self._values = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by column."""
        return dict(self._values)

    def __eq__(self, other: object) -> bool:
        """Return whether the values are the same."""
        return isinstance(other, CatalogPartitionSpec) and self._values == other._values

    def __hash__(self) -> int:
        """Return the hash of the values."""
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        """Return Flink's text."""
        return (
            f"CatalogPartitionSpec{{{{{', '.join(f'{key}={self._values[key]}' for key in hash_order(self._values))}}}}}"
        )


@dataclass(frozen=True)
class CatalogTableStatistics:
    """The number of rows and bytes of a table; -1 if unknown.

    >>> statistics = CatalogTableStatistics(10, 2, 300, 200, {"by": "hand"})
    >>> statistics.get_row_count(), statistics.get_field_count(), statistics.get_total_size()
    (10, 2, 300)
    >>> statistics.get_raw_data_size(), statistics.get_properties(), statistics.copy() == statistics
    (200, {'by': 'hand'}, True)
    """

    row_count: int = -1
    field_count: int = -1
    total_size: int = -1
    raw_data_size: int = -1
    properties: dict[str, str] = field(default_factory=dict)

    def get_row_count(self) -> int:
        """Return the number of rows."""
        return self.row_count

    def get_field_count(self) -> int:
        """Return the number of files."""
        return self.field_count

    def get_total_size(self) -> int:
        """Return the bytes of the files."""
        return self.total_size

    def get_raw_data_size(self) -> int:
        """Return the bytes of the rows without compression."""
        return self.raw_data_size

    def get_properties(self) -> dict[str, str]:
        """Return the properties by key."""
        return dict(self.properties)

    def copy(self) -> CatalogTableStatistics:
        """Return equal statistics."""
        return replace(self)


@dataclass(frozen=True)
class CatalogColumnStatistics:
    """Statistics of columns, by name, in any form.

    >>> statistics = CatalogColumnStatistics({"n": 3}, {"by": "hand"})
    >>> statistics.get_column_statistics_data(), statistics.get_properties(), statistics.copy() == statistics
    ({'n': 3}, {'by': 'hand'}, True)
    """

    column_statistics_data: dict[str, object] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)

    def get_column_statistics_data(self) -> dict[str, object]:
        """Return the statistics by column."""
        return dict(self.column_statistics_data)

    def get_properties(self) -> dict[str, str]:
        """Return the properties by key."""
        return dict(self.properties)

    def copy(self) -> CatalogColumnStatistics:
        """Return equal statistics."""
        return replace(self)


@dataclass(frozen=True)
class CatalogDescriptor:
    """The options of a catalog that ``TableEnvironment.create_catalog`` creates.

    >>> from flintstream.common import Configuration
    >>> CatalogDescriptor.of("shop", Configuration.from_dict({"type": "generic_in_memory"})).catalog_name
    'shop'
    """

    catalog_name: str
    configuration: Configuration
    comment: str | None = None

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None) -> CatalogDescriptor:
        """Return a descriptor."""
        return CatalogDescriptor(catalog_name, configuration, comment)
