"""The types of catalogs whose tables another system keeps."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

from flintstream.errors import MissingDependencyError
from flintstream.table._catalog.remote import remote_store
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.table._catalog.remote import Metastore
    from flintstream.table._catalog.store import Store

    Open = Callable[[str, Mapping[str, str]], tuple[Metastore, str] | Store]

TYPES = {
    name: EntryPoint(name, f"flintstream.table._connectors.{place}", "catalogs")
    for name, place in {
        "delta-catalog": "lakes.delta_catalog:open_delta",
        "iceberg": "lakes.catalog:open_iceberg",
        "jdbc": "jdbc.catalog:open_jdbc",
    }.items()
}

_CHECKS = {
    "iceberg": EntryPoint("iceberg", "flintstream.table._connectors.lakes.properties:catalog_properties", "catalogs")
}


def check_catalog(name: str, options: Mapping[str, str]) -> None:
    """Check the options of ``CREATE CATALOG`` without a connection, as far as they tell by themselves.

    >>> check_catalog("lake", {"type": "iceberg", "catalog-type": "hadoop", "warehouse": ""})
    Traceback (most recent call last):
    flintstream.table._errors.SqlError: catalog 'lake': a catalog of type 'hadoop' needs the option 'warehouse'

    Raises:
        SqlError: An option is missing, or wrong.
    """
    check = _CHECKS.get(options["type"])
    if check is not None:
        check.load()(f"catalog '{name}'", name, {key: value for key, value in options.items() if key != "type"})


def open_catalog(name: str, options: Mapping[str, str], comment: str | None = None) -> Store:
    """Return the catalog of another system by the options of ``CREATE CATALOG``.

    Raises:
        SqlError: An option is missing, wrong or unknown, or the system does not answer.
    """
    kind = options["type"]
    try:
        connect: Open = TYPES[kind].load()
    except ModuleNotFoundError as error:
        raise MissingDependencyError(error.name or kind, extra=kind, purpose=f"catalog '{name}'") from None
    found = connect(name, options)
    if not isinstance(found, tuple):
        found.comment = comment
        return found
    return remote_store(name, *found, options, comment)


def check_keys(name: str, options: Mapping[str, str], needed: tuple[str, ...], more: tuple[str, ...] = ()) -> None:
    """Check the keys of the options of a catalog.

    Raises:
        SqlError: One is missing or unknown.
    """
    for key in needed:
        if key not in options:
            raise SqlError(f"catalog '{name}': the option '{key}' is missing")
    known = {"type", "property-version", *needed, *more}
    for key in options:
        if key not in known:
            raise SqlError(f"catalog '{name}': unknown option '{key}'{nearest(key, known)}")
