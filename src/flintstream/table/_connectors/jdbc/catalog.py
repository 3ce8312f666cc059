"""Catalogs of type ``jdbc``: the tables of PostgreSQL, MySQL and MariaDB without a declaration of each."""

from __future__ import annotations

import re
from abc import abstractmethod
from contextlib import closing
from typing import TYPE_CHECKING

from flintstream.common._types.data_types import DataTypes
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.urls import database_of
from flintstream.table._catalog.declared import Declared, DeclaredTable
from flintstream.table._catalog.remote import Metastore
from flintstream.table._catalog.types import check_keys
from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flintstream.common._types.data_types import DataType
    from flintstream.connectors.jdbc.database import Database

_TYPE = re.compile(
    r"(?P<word>[a-z_ \"]+?) ?(?:\((?P<size>\d+)(?:,(?P<scale>\d+))?\))?(?P<zone> with(?:out)? time zone)?"
    r"(?P<unsigned> unsigned)?(?: zerofill)?(?P<dimensions>(?:\[\])*)"
)
_PLAIN: Mapping[str, Callable[[], DataType]] = {
    "bigint": DataTypes.BIGINT,
    "boolean": DataTypes.BOOLEAN,
    "bytea": DataTypes.BYTES,
    "date": DataTypes.DATE,
    "double precision": DataTypes.DOUBLE,
    "integer": DataTypes.INT,
    "json": DataTypes.STRING,
    "jsonb": DataTypes.STRING,
    "real": DataTypes.FLOAT,
    "smallint": DataTypes.SMALLINT,
    "text": DataTypes.STRING,
    "uuid": DataTypes.STRING,
}
_WHOLE: Mapping[str, tuple[Callable[[], DataType], Callable[[], DataType]]] = {
    "bigint": (DataTypes.BIGINT, lambda: DataTypes.DECIMAL(20, 0)),
    "int": (DataTypes.INT, DataTypes.BIGINT),
    "mediumint": (DataTypes.INT, DataTypes.INT),
    "smallint": (DataTypes.SMALLINT, DataTypes.INT),
    "tinyint": (DataTypes.TINYINT, DataTypes.SMALLINT),
}
_TEXTS = ("tinytext", "text", "mediumtext", "longtext", "json")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "geometry")


def open_jdbc(name: str, options: Mapping[str, str]) -> tuple[Metastore, str]:
    """Return the tables of a database server, and the database that names without one mean.

    Raises:
        SqlError: An option is missing or unknown, the server does not answer, or the database is not there.
    """
    check_keys(name, options, ("base-url", "default-database", "username", "password"), ("compatible-mode",))
    url, default = options["base-url"].rstrip("/"), options["default-database"]
    if url.partition("//")[2].count("/"):
        raise SqlError(f"catalog '{name}': 'base-url' must not name a database, got '{options['base-url']}'")
    grammar = database_of(f"{url}/{default}", options["username"], options["password"]).grammar
    kind = {Grammar.POSTGRESQL: PostgresqlTables, Grammar.MYSQL: MysqlTables}.get(grammar)
    if kind is None:
        raise SqlError(f"catalog '{name}': a catalog of type 'jdbc' is for PostgreSQL, MySQL and MariaDB, got '{url}'")
    found = kind(name, url, default, options["username"], options["password"])
    if not found.has_database(default):
        raise SqlError(f"catalog '{name}': the server has no database '{default}'")
    return found, default


class JdbcTables(Metastore):
    """The tables of a database server."""

    kind = "jdbc"

    def __init__(self, catalog: str, url: str, default: str, user: str, password: str) -> None:
        """Connect with each question."""
        self._catalog, self._url, self._default = catalog, url, default
        self._user, self._password = user, password

    def _ask(self, database: str, query: str, *arguments: str) -> list[tuple[object, ...]]:
        place: Database = database_of(f"{self._url}/{database}", self._user, self._password, 60)
        try:
            with closing(place.connect()) as connection, closing(connection.cursor()) as cursor:
                cursor.execute(query, arguments or None)
                return list(cursor.fetchall())
        except Exception as error:
            if not place.is_error(error):
                raise
            raise SqlError(f"catalog '{self._catalog}': {place.hide(str(error).strip())}") from None

    def _names(self, database: str, query: str, *arguments: str) -> list[str]:
        return [str(row[0]) for row in self._ask(database, query, *arguments)]

    @abstractmethod
    def _columns(self, database: str, name: str) -> list[tuple[object, ...]]:
        """Return name, type and whether it is never null of each column."""

    @abstractmethod
    def _key(self, database: str, name: str) -> list[str]:
        """Return the columns of the primary key."""

    def table(self, database: str, name: str) -> DeclaredTable | None:
        """Return a table.

        Raises:
            SqlError: Flink's tables have no type for a column.
        """
        if not self.has_database(database):
            return None
        columns = tuple(
            Declared(str(column), self._type(f"{database}.{name}", str(column), str(text), bool(required)))
            for column, text, required in self._columns(database, name)
        )
        if not columns:
            return None
        options = {
            "connector": "jdbc",
            "url": f"{self._url}/{database}",
            "table-name": name,
            "username": self._user,
            "password": self._password,
        }
        return DeclaredTable(columns, options, primary_key=tuple(self._key(database, name)))

    def _type(self, table: str, column: str, text: str, required: bool) -> DataType:
        found = _TYPE.fullmatch(text)
        made = None if found is None else self._basic(found)
        for _ in range(found["dimensions"].count("[") if found else 0):
            made = None if made is None else DataTypes.ARRAY(made)
        if made is None:
            raise SqlError(
                f"catalog '{self._catalog}': column '{column}' of table {table} has the type {text}, for "
                "which tables have none: declare the table with CREATE TABLE and its other columns"
            )
        return made.not_null() if required else made

    @abstractmethod
    def _basic(self, found: re.Match[str]) -> DataType | None:
        """Return a type by its name in the database, and the numbers in brackets."""


class PostgresqlTables(JdbcTables):
    """The tables of PostgreSQL; those of other schemas than ``public`` are named ``schema.table``."""

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return self._names(
            self._default,
            "SELECT datname FROM pg_database WHERE datname NOT IN ('template0', 'template1') ORDER BY 1",
        )

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables, with their schemas."""
        return self._names(
            database,
            "SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
            "WHERE relkind IN ('r', 'p') AND nspname NOT IN ('information_schema', 'pg_catalog', 'pg_toast') "
            "AND nspname NOT LIKE 'pg\\_temp%' ORDER BY 1",
        )

    def _columns(self, database: str, name: str) -> list[tuple[object, ...]]:
        return self._ask(
            database,
            "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
            "JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace "
            "WHERE nspname = %s AND relname = %s AND relkind IN ('r', 'p', 'v', 'm', 'f') AND attnum > 0 "
            "AND NOT attisdropped ORDER BY attnum",
            *_with_schema(name),
        )

    def _key(self, database: str, name: str) -> list[str]:
        return self._names(
            database,
            "SELECT attname FROM pg_index JOIN pg_class c ON c.oid = indrelid JOIN pg_namespace n "
            "ON n.oid = relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND attnum = ANY(indkey) "
            "WHERE nspname = %s AND relname = %s AND indisprimary ORDER BY array_position(indkey::int2[], attnum)",
            *_with_schema(name),
        )

    def _basic(self, found: re.Match[str]) -> DataType | None:
        word, size = found["word"], _size(found)
        zone = found["zone"] == " with time zone"
        plain = _PLAIN.get(word)
        if plain is not None:
            return plain()
        if word == "numeric":
            return (
                DataTypes.DECIMAL(38, 18)
                if size is None
                else DataTypes.DECIMAL(min(size, 38), int(found["scale"] or 0))
            )
        if word == "character varying":
            return DataTypes.STRING() if size is None else DataTypes.VARCHAR(size)
        if word in {"character", "bpchar"}:
            return DataTypes.CHAR(size or 1)
        if word == "timestamp":
            precision = 6 if size is None else size
            return DataTypes.TIMESTAMP_LTZ(precision) if zone else DataTypes.TIMESTAMP(precision)
        return DataTypes.TIME(6 if size is None else size) if word == "time" and not zone else None


def _size(found: re.Match[str]) -> int | None:
    return None if found["size"] is None else int(found["size"])


def _with_schema(name: str) -> tuple[str, str]:
    schema, dot, table = name.partition(".")
    return (schema, table) if dot else ("public", name)


class MysqlTables(JdbcTables):
    """The tables of MySQL or MariaDB."""

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return self._names(
            self._default,
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN "
            "('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1",
        )

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables."""
        return self._names(
            database, "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1", database
        )

    def _columns(self, database: str, name: str) -> list[tuple[object, ...]]:
        return self._ask(
            database,
            "SELECT column_name, column_type, is_nullable = 'NO' FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            database,
            name,
        )

    def _key(self, database: str, name: str) -> list[str]:
        return self._names(
            database,
            "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s "
            "AND constraint_name = 'PRIMARY' ORDER BY ordinal_position",
            database,
            name,
        )

    def _basic(self, found: re.Match[str]) -> DataType | None:
        word, size = found["word"], _size(found)
        if (word == "tinyint" and size == 1) or (word == "bit" and size in {None, 1}):
            return DataTypes.BOOLEAN()
        if word in _WHOLE:
            return _WHOLE[word][found["unsigned"] is not None]()
        if word == "decimal":
            return DataTypes.DECIMAL(min(size or 10, 38), int(found["scale"] or 0))
        if word in {"float", "double"}:
            return DataTypes.FLOAT() if word == "float" else DataTypes.DOUBLE()
        if word in {"char", "varchar"}:
            return DataTypes.CHAR(size or 1) if word == "char" else DataTypes.VARCHAR(size or 1)
        if word in {"datetime", "timestamp"}:
            return DataTypes.TIMESTAMP(size or 0)
        if word in _TEXTS:
            return DataTypes.STRING()
        if word in _BYTES:
            return DataTypes.BYTES()
        if word == "date":
            return DataTypes.DATE()
        return DataTypes.TIME(size or 0) if word == "time" else None
