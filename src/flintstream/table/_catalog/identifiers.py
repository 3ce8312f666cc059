"""Names of objects of a catalog."""

from __future__ import annotations

from functools import total_ordering

from flintstream.table._catalog.columns import quote_name

__all__ = ["ObjectIdentifier", "ObjectPath"]


@total_ordering
class ObjectPath:
    """The name of a database, and that of a table, view or function in it.

    >>> print(ObjectPath("shop", "orders"), ObjectPath.from_string("shop.orders").get_object_name())
    shop.orders orders
    >>> path = ObjectPath("shop", "orders")
    >>> path.get_database_name(), path.get_full_name(), path.compare_to(ObjectPath("shop", "prices"))
    ('shop', 'shop.orders', -1)
    """

    def __init__(self, database_name: str, object_name: str) -> None:
        """Take both names."""
        self._database_name, self._object_name = database_name, object_name

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of a text such as ``shop.orders``.

        Raises:
            ValueError: It does not have two parts.
        """
        database, dot, name = full_name.partition(".")
        if not dot or "." in name:
            raise ValueError(
                f"Cannot get split '{full_name}' to get databaseName and objectName: write database.object"
            )
        return ObjectPath(database, name)

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._database_name

    def get_object_name(self) -> str:
        """Return the name of the table, view or function."""
        return self._object_name

    def get_full_name(self) -> str:
        """Return both names with a dot between them."""
        return f"{self._database_name}.{self._object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return a number below, above or equal to 0 by the order of the names."""
        return (self > other) - (self < other)

    def _key(self) -> tuple[str, str]:
        return self._database_name, self._object_name

    def __lt__(self, other: ObjectPath) -> bool:
        """Compare the names."""
        return self._key() < other._key()

    def __eq__(self, other: object) -> bool:
        """Return whether both names are the same."""
        return isinstance(other, ObjectPath) and self._key() == other._key()

    def __hash__(self) -> int:
        """Return the hash of both names."""
        return hash(self._key())

    __str__ = get_full_name


class ObjectIdentifier:
    """The names of a catalog, of a database, and of a table, view or function in it.

    >>> print(ObjectIdentifier.of("default_catalog", "shop", "orders"))
    `default_catalog`.`shop`.`orders`
    >>> name = ObjectIdentifier.of("c", "shop", "orders")
    >>> name.get_catalog_name(), name.get_database_name(), name.get_object_name(), name.to_list()
    ('c', 'shop', 'orders', ['c', 'shop', 'orders'])
    >>> print(name.to_object_path(), name.as_summary_string(), name.as_serializable_string())
    shop.orders c.shop.orders `c`.`shop`.`orders`
    """

    def __init__(self, *names: str) -> None:
        """Take the three names; programs call :meth:`of`."""
        self._names = names

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return an identifier."""
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self._names[0]

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._names[1]

    def get_object_name(self) -> str:
        """Return the name of the table, view or function."""
        return self._names[2]

    def to_object_path(self) -> ObjectPath:
        """Return the names without that of the catalog."""
        return ObjectPath(*self._names[1:])

    def to_list(self) -> list[str]:
        """Return the three names."""
        return list(self._names)

    def as_serializable_string(self) -> str:
        """Return the identifier as SQL."""
        return ".".join(map(quote_name, self._names))

    def as_summary_string(self) -> str:
        """Return the names with dots between them."""
        return ".".join(self._names)

    def __eq__(self, other: object) -> bool:
        """Return whether all names are the same."""
        return isinstance(other, ObjectIdentifier) and self._names == other._names

    def __hash__(self) -> int:
        """Return the hash of the names."""
        return hash(self._names)

    __str__ = as_serializable_string
