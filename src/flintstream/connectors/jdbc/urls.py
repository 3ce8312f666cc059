"""From the URL of a database to what connects to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.connectors.jdbc.alchemy import AlchemyDatabase
from flintstream.connectors.jdbc.jdbc_url import without_secrets
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
    """Say how URLs of one more kind are to be understood; it comes before those that are known.

    >>> register_jdbc_url("jdbc:example:", lambda url: "sqlite:////" + url.removeprefix("jdbc:example:"))
    >>> database_of("jdbc:example:data/shop.db")
    AlchemyDatabase(sqlite:////data/shop.db)

    Args:
        prefix: what the URLs begin with, such as ``jdbc:oracle:thin:``.
        to_sqlalchemy: makes a URL of SQLAlchemy of such a URL, where the program is built.
    """
    if not isinstance(prefix, str) or not prefix.startswith("jdbc:") or not callable(to_sqlalchemy):
        raise TypeError(f"a prefix such as 'jdbc:oracle:' and a function are needed, got {prefix!r}, {to_sqlalchemy!r}")
    _registered[prefix] = to_sqlalchemy


def database_of(
    url: str,
    user: str | None = None,
    password: str | None = None,
    timeout: int = 60,
    driver_name: str | None = None,
) -> Database:
    """Return what a URL names; nothing is connected.

    Args:
        url: of JDBC, or of SQLAlchemy.
        user: who connects, if the URL does not say.
        password: likewise.
        timeout: how long to wait for a connection (s), if the URL does not say.
        driver_name: the class in Java, if it is known here it must be one for the URL.

    Raises:
        PlanError: It is not known, or a part of it is wrong.
        MissingDependencyError: SQLAlchemy, or what its dialect needs, is not installed.
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
            f"{without_secrets(url)} is of no kind that is known: {', '.join(_KNOWN)}; for others give the URL as "
            "SQLAlchemy has it, or call flintstream.connectors.jdbc.register_jdbc_url()"
        )
    return AlchemyDatabase(url, user, password, timeout)
