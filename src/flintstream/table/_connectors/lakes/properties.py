"""The options of catalogs of Iceberg in terms of pyiceberg."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = {"dynamodb": "dynamodb", "glue": "glue", "hive": "hive", "jdbc": "sql", "rest": "rest", "sql": "sql"}
"""The types of catalogs as Iceberg's tables for Flink name them, and as pyiceberg does."""
_HADOOP = "flintstream.connectors.lakes.hadoop.HadoopCatalog"
_CLASSES = {
    "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog": "dynamodb",
    "org.apache.iceberg.aws.glue.GlueCatalog": "glue",
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
    "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
}
_OF_JAVA = {
    "cache-enabled", "cache.expiration-interval-ms", "clients", "default-database", "hadoop-conf-dir", "hive-conf-dir",
    "io-impl", "property-version",
}  # fmt: skip
"""Options that change no result here: tables are not cached, and pyiceberg finds the file system by the URI."""


def catalog_properties(owner: str, name: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with which pyiceberg loads a catalog, and its name as ``name``.

    >>> catalog_properties("catalog 'c'", "c", {"catalog-type": "rest", "uri": "http://127.0.0.1:8181"})
    {'uri': 'http://127.0.0.1:8181', 'name': 'c', 'type': 'rest'}
    >>> catalog_properties("catalog 'c'", "c", {"catalog-type": "jdbc", "uri": "jdbc:sqlite:/tmp/c.db"})["uri"]
    'sqlite:////tmp/c.db'

    Raises:
        SqlError: The type is missing or unknown, or an option that it needs.
    """
    given = {key: value for key, value in options.items() if key not in _OF_JAVA}
    kind, implementation = given.pop("catalog-type", None), given.pop("catalog-impl", None)
    if implementation is not None:
        kind = _CLASSES.get(implementation, implementation)
    if kind is None:
        kind = "hive"
    needs = {"hadoop": "warehouse", "glue": "warehouse", "dynamodb": "warehouse"}.get(kind, "uri")
    if kind not in {"hadoop", *_TYPES}:
        raise SqlError(f"{owner}: 'catalog-type' must be one of {', '.join(sorted({'hadoop', *_TYPES}))}, got '{kind}'")
    if not given.get(needs, "").strip():
        raise SqlError(f"{owner}: a catalog of type '{kind}' needs the option '{needs}'")
    _set_for_s3(given)
    if kind == "hadoop":
        return {**given, "name": name, "py-catalog-impl": _HADOOP}
    if kind in {"jdbc", "sql"}:
        given["uri"] = _database(given["uri"], given.pop("jdbc.user", None), given.pop("jdbc.password", None))
    return {**given, "name": name, "type": _TYPES[kind]}


def _set_for_s3(given: dict[str, str]) -> None:
    """Set what clients of AWS find on their own, and pyiceberg's file system does not: the region and the endpoint."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        given.setdefault("s3.endpoint", endpoint)
    region = given.pop("aws.region", None)
    if region is not None:
        given.setdefault("client.region", region)


def _database(uri: str, user: str | None, password: str | None) -> str:
    """Return the URL of SQLAlchemy for one of JDBC."""
    if uri.startswith("jdbc:sqlite:") and not uri.startswith("jdbc:sqlite://"):
        return f"sqlite:///{uri.removeprefix('jdbc:sqlite:').removeprefix('file:')}"
    found = urlsplit(uri.removeprefix("jdbc:"))
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}
    place = found.netloc
    if user is not None:
        secret = "" if password is None else f":{quote(password, safe='')}"
        place = f"{quote(user, safe='')}{secret}@{place}"
    scheme = drivers.get(found.scheme, found.scheme) if uri.startswith("jdbc:") else found.scheme
    return urlunsplit(found._replace(scheme=scheme, netloc=place)) if place else uri.removeprefix("jdbc:")
