"""Catalogs and databases of the environment of DataFrames; mirrors ``pyflink.dataframe.catalog``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._public import publish
from flintstream.common._text.secrets import hide_secrets
from flintstream.common.configuration import Configuration
from flintstream.dataframe._checks import require_text
from flintstream.dataframe.context import get_or_create_table_environment
from flintstream.dataframe.errors import as_value_errors
from flintstream.table.catalog import CatalogDescriptor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table.catalog import Catalog

__all__ = [
    "create_catalog",
    "get_catalog",
    "get_current_catalog",
    "get_current_database",
    "list_catalogs",
    "list_databases",
    "use_catalog",
    "use_database",
]


def create_catalog(name: str, options: Mapping[str, str]) -> None:
    """Create a catalog, as CREATE CATALOG does; the option ``type`` says which.

    Raises:
        TypeError: The name is not a text, or the options are not texts.
        ValueError: The name or a key is empty, there is a catalog of this name, or the options are wrong.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.create_catalog("shop", {"type": "generic_in_memory"})
    >>> pf.list_catalogs()
    ['default_catalog', 'shop']
    """
    require_text(name, "name")
    if not isinstance(options, dict):
        raise TypeError("options must be a dict of string keys and values")
    for key, value in options.items():
        if not isinstance(key, str):
            raise TypeError("option keys must be strings")
        require_text(key, "option keys")
        if not isinstance(value, str):
            raise TypeError(f"option {key!r} must have a string value")
    environment = get_or_create_table_environment()
    if name in environment.list_catalogs():
        raise ValueError(f"a catalog named {name!r} already exists")
    given = ", ".join(f"'{key}'='{value}'" for key, value in hide_secrets(options).items())
    with as_value_errors(f"Unable to create catalog '{name}' with {given}: "):
        environment.create_catalog(name, CatalogDescriptor.of(name, Configuration.from_dict(dict(options))))


def get_catalog(name: str) -> Catalog | None:
    """Return a catalog; None if there is none of this name.

    Raises:
        TypeError: The name is not a text.
        ValueError: The name is empty.

    >>> import flintstream.dataframe as pf
    >>> pf.get_catalog("no_such_catalog") is None
    True
    """
    return get_or_create_table_environment().get_catalog(require_text(name, "name"))


def use_catalog(name: str) -> None:
    """Make a catalog the current one, with its default database.

    Raises:
        TypeError: The name is not a text.
        ValueError: The catalog does not exist.

    >>> import flintstream.dataframe as pf
    >>> pf.use_catalog("default_catalog")
    >>> pf.get_current_catalog()
    'default_catalog'
    """
    environment = get_or_create_table_environment()
    if require_text(name, "name") not in environment.list_catalogs():
        raise ValueError(f"no catalog named {name!r} exists")
    environment.use_catalog(name)


def get_current_catalog() -> str:
    """Return the name of the current catalog.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.get_current_catalog()
    'default_catalog'
    """
    return get_or_create_table_environment().get_current_catalog()


def list_catalogs() -> list[str]:
    """Return the names of all catalogs.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.list_catalogs()
    ['default_catalog']
    """
    return get_or_create_table_environment().list_catalogs()


def use_database(name: str) -> None:
    """Make a database of the current catalog the current one.

    Raises:
        TypeError: The name is not a text.
        ValueError: The current catalog has no such database.

    >>> import flintstream.dataframe as pf
    >>> pf.use_database("default_database")
    >>> pf.get_current_database()
    'default_database'
    """
    environment = get_or_create_table_environment()
    if require_text(name, "name") not in environment.list_databases():
        raise ValueError(f"no database named {name!r} exists in catalog {environment.get_current_catalog()!r}")
    environment.use_database(name)


def get_current_database() -> str:
    """Return the name of the current database.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.get_current_database()
    'default_database'
    """
    return get_or_create_table_environment().get_current_database()


def list_databases() -> list[str]:
    """Return the names of the databases of the current catalog.

    >>> import flintstream.dataframe as pf
    >>> pf.set_table_environment(None)
    >>> pf.list_databases()
    ['default_database']
    """
    return get_or_create_table_environment().list_databases()


publish(__name__, __all__, globals())
