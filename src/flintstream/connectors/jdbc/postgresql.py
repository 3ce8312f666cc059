"""PostgreSQL, through psycopg 3."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from flintstream.connectors.jdbc.database import Database
from flintstream.connectors.jdbc.jdbc_url import JdbcUrl, as_bool, rename
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from flintstream.connectors.jdbc.jdbc_url import Reader

_HOST = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<name>[^:\[\]]*))(?::(?P<port>\d+))?")
_TARGETS = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "secondary": "standby",
    "slave": "standby",
    "preferSecondary": "prefer-standby",
    "preferSlave": "prefer-standby",
}


def _milliseconds(seconds: str) -> int:
    return int(seconds) * 1000


_PARAMETERS: dict[str, Reader] = {
    **{name: rename(name) for name in ("sslmode", "sslcert", "sslkey", "sslrootcert", "sslpassword")},
    "ssl": lambda value: {"sslmode": "verify-full"} if as_bool(value) else {},  # same meaning as in the Java driver
    "ApplicationName": rename("application_name"),
    "connectTimeout": rename("connect_timeout", int),
    "loginTimeout": rename("connect_timeout", int),
    "socketTimeout": rename("tcp_user_timeout", _milliseconds),
    "tcpKeepAlive": rename("keepalives", lambda value: int(as_bool(value))),
    "targetServerType": rename("target_session_attrs", _TARGETS.__getitem__),
    "loadBalanceHosts": rename("load_balance_hosts", lambda value: "random" if as_bool(value) else "disable"),
    "gssEncMode": rename("gssencmode"),
    "channelBinding": rename("channel_binding"),
    "requireAuth": rename("require_auth"),
    "currentSchema": rename("schema"),
    "options": rename("options"),
    "stringtype": lambda value: {"untyped": {"varchar": False, "unspecified": True}[value]},
}

_IGNORED = (
    "user password "  # read as credentials
    "adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum allowEncodingChanges assumeMinServerVersion autosave "
    "binaryTransfer binaryTransferDisable binaryTransferEnable cancelSignalTimeout cleanupSavepoints "
    "databaseMetadataCacheFields databaseMetadataCacheFieldsMiB defaultRowFetchSize disableColumnSanitiser "
    "escapeSyntaxCallMode groupStartupParameters hostRecheckSeconds logServerErrorDetail logUnclosedConnections "
    "loggerFile loggerLevel maxResultBuffer preferQueryMode preparedStatementCacheQueries "
    "preparedStatementCacheSizeMiB prepareThreshold reWriteBatchedInserts receiveBufferSize sendBufferSize "
    "tcpNoDelay unknownLength"
)


class PostgresqlDatabase(Database):
    """``jdbc:postgresql://host:port/database?parameters``, with one or more hosts.

    If user or password is missing, libpq's defaults apply: ``PGPASSWORD``, ``~/.pgpass``. The session time zone is UTC
    unless the parameter ``options`` sets it.
    """

    module = "psycopg"
    extra = "postgresql"
    grammar = Grammar.POSTGRESQL
    paramstyle = "format"
    has_arrays = True

    prefixes = ("jdbc:postgresql:",)
    java_drivers = ("org.postgresql.Driver",)

    def __init__(self, url: str, user: str | None = None, password: str | None = None, timeout: int = 60) -> None:
        super().__init__(url, user, password, timeout)
        parsed = JdbcUrl.parse(url)
        self.user, self.password = parsed.credentials(user, password)
        arguments = {"connect_timeout": timeout, **parsed.arguments(_PARAMETERS, _IGNORED)}
        address = parsed.address
        hosts, _, database = address[2:].partition("/") if address.startswith("//") else ("", "", address.strip("/"))
        matches = [_HOST.fullmatch(host) for host in hosts.split(",")]
        if not all(matches):
            raise PlanError(f"the URL must have the form jdbc:postgresql://host:port/database: {self.shown}")
        arguments["host"] = ",".join((m["six"] or m["name"] or "localhost") for m in matches if m)
        arguments["port"] = ",".join((m["port"] or "5432") for m in matches if m)
        if database:
            arguments["dbname"] = unquote_plus(database)
        arguments["options"] = _options(arguments.get("options", ""), arguments.pop("schema", ""))
        self.untyped_texts: bool = arguments.pop("untyped", False)
        self.arguments = arguments

    def connect(self) -> Any:
        """Connect."""
        own = {name: value for name, value in (("user", self.user), ("password", self.password)) if value}
        connection = self.driver().connect(**self.arguments, **own)
        from psycopg.types.string import StrDumperVarchar, TextLoader

        for kind in ("json", "jsonb"):  # as the texts that they are, which no parser has changed
            connection.adapters.register_loader(kind, TextLoader)
        if not self.untyped_texts:  # psycopg sends texts untyped, the Java driver as varchar
            connection.adapters.register_dumper(str, StrDumperVarchar)
        return connection


def _options(given: str, schema: str) -> str:
    options = [given] if given else []
    if "timezone" not in given.lower():
        options.append("-c TimeZone=UTC")
    if schema:
        options.append("-c search_path=" + re.sub(r"([\\\s])", r"\\\1", schema))
    return " ".join(options)
