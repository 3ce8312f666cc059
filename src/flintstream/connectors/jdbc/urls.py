"""Find the database class for a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._text.secrets import without_secrets
from flintstream.connectors.jdbc.alchemy import AlchemyDatabase
from flintstream.connectors.jdbc.mysql import MysqlDatabase
from flintstream.connectors.jdbc.postgresql import PostgresqlDatabase
from flintstream.connectors.jdbc.sqlite import SqliteDatabase
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.connectors.jdbc.database import Database

_KINDS: tuple[type[Database], ...] = (SqliteDatabase, PostgresqlDatabase, MysqlDatabase)
_KNOWN = {prefix: kind for kind in _KINDS for prefix in kind.prefixes}
_DRIVERS = {name: kind for kind in _KINDS for name in kind.java_drivers}
_registered: dict[str, Callable[[str], str]] = {}


def register_jdbc_url(prefix: str, to_sqlalchemy: Callable[[str], str]) -> None:
    """Register a function for one more kind of JDBC URL. It takes precedence over the built-in kinds.

    >>> register_jdbc_url("jdbc:example:", lambda url: "sqlite:////" + url.removeprefix("jdbc:example:"))
    >>> database_of("jdbc:example:data/shop.db")
    AlchemyDatabase(sqlite:////data/shop.db)

    Args:
        prefix: the prefix of the URLs, such as ``jdbc:oracle:thin:``.
        to_sqlalchemy: converts a URL to one for SQLAlchemy. It runs when the program is built.
    """
    if not isinstance(prefix, str) or not prefix.startswith("jdbc:") or not callable(to_sqlalchemy):
        raise TypeError(f"expected a prefix such as 'jdbc:oracle:' and a function, got {prefix!r}, {to_sqlalchemy!r}")
    _registered[prefix] = to_sqlalchemy


def database_of(
    url: str,
    user: str | None = None,
    password: str | None = None,
    timeout: int = 60,
    driver_name: str | None = None,
) -> Database:
    """Return the database for a URL, without connecting to it.

    Args:
        url: a JDBC or SQLAlchemy URL.
        user: the user, unless the URL names one.
        password: the password, unless the URL has one.
        timeout: how long to wait for a connection (s), unless the URL sets it.
        driver_name: the Java driver class. If flintstream knows it, it must match the URL.

    Raises:
        PlanError: The kind of URL is unknown, or a part of it is invalid.
        MissingDependencyError: SQLAlchemy, or a package that its dialect needs, is not installed.
    """
    for prefix in sorted(_registered, key=len, reverse=True):
        if url.startswith(prefix):
            return AlchemyDatabase(_registered[prefix](url), user, password, timeout)
    for prefix, kind in _KNOWN.items():
        if url.startswith(prefix):
            if _DRIVERS.get(driver_name or "", kind) is not kind:
                raise PlanError(f"{driver_name} is not the driver for {without_secrets(url)}")
            return kind(url, user, password, timeout)
    if url.startswith("jdbc:"):
        raise PlanError(
            f"{without_secrets(url)} is not a supported JDBC URL: supported are {', '.join(_KNOWN)}. For other "
            "databases, pass an SQLAlchemy URL, or call flintstream.connectors.jdbc.register_jdbc_url()"
        )
    return AlchemyDatabase(url, user, password, timeout)
