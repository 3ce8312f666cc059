"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus
from zoneinfo import ZoneInfo

from flintstream.common.time import Instant
from flintstream.connectors.jdbc.database import Database
from flintstream.connectors.jdbc.jdbc_url import JdbcUrl, as_bool, rename
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.values import instant_in_utc
from flintstream.errors import PlanError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from flintstream.connectors.jdbc.jdbc_url import Reader
    from flintstream.connectors.jdbc.values import Adapter

_ADDRESS = re.compile(
    r"//(?:(?P<user>[^:@/]*)(?::(?P<password>.*))?@)?(?P<host>\[[^\]]+\]|[^:/,@]*)(?::(?P<port>\d+))?(?:/(?P<name>[^/]*))?"
)
_CHARSETS = {"utf-8": "utf8mb4", "utf8": "utf8mb4", "utf8mb4": "utf8mb4", "iso-8859-1": "latin1", "latin1": "latin1"}
_TLS = {
    "disabled": "disabled",
    "disable": "disabled",
    "preferred": "preferred",
    "required": "required",
    "trust": "required",
    "verify_ca": "authority",
    "verify-ca": "authority",
    "verify_identity": "identity",
    "verify-full": "identity",
}


def _seconds(milliseconds: str) -> int | None:
    return -(-int(milliseconds) // 1000) or None


def _both_timeouts(value: str) -> dict[str, Any]:
    return {"read_timeout": _seconds(value), "write_timeout": _seconds(value)}


def _zone(value: str) -> dict[str, Any]:
    ZoneInfo(value)  # raises an error if the zone does not exist
    return {"zone": value}


def _tls(value: str) -> dict[str, Any]:
    return {"tls": _TLS[value.lower()]}


def _use_tls(value: str) -> dict[str, Any]:
    return {"tls": "preferred" if as_bool(value) else "disabled"}


_PARAMETERS: dict[str, Reader] = {
    "connectTimeout": rename("connect_timeout", _seconds),
    "socketTimeout": _both_timeouts,
    "characterEncoding": rename("charset", lambda value: _CHARSETS[value.lower()]),
    "connectionCollation": rename("collation"),
    "localSocket": rename("unix_socket"),
    "connectionTimeZone": _zone,
    "serverTimezone": _zone,
    "sessionVariables": rename("variables"),
    "sslMode": _tls,
    "useSSL": _use_tls,
    "useSsl": _use_tls,
    "requireSSL": lambda value: {"tls": "required"} if as_bool(value) else {},
    "serverSslCert": rename("authority"),
}

_IGNORED = (
    "user password "  # read as credentials
    "allowMultiQueries allowPublicKeyRetrieval autoReconnect cachePrepStmts cacheServerConfiguration "
    "defaultFetchSize elideSetAutoCommits failOverReadOnly jdbcCompliantTruncation maintainTimeStats maxReconnects "
    "noAccessToProcedureBodies nullCatalogMeansCurrent nullDatabaseMeansCurrent permitMysqlScheme "
    "prepStmtCacheSize prepStmtCacheSqlLimit rewriteBatchedStatements tcpKeepAlive tinyInt1isBit useBatchMultiSend "
    "useBulkStmts useCursorFetch useJDBCCompliantTimezoneShift useLegacyDatetimeCode useLocalSessionState "
    "useMysqlMetadata useServerPrepStmts useUnicode yearIsDateType zeroDateTimeBehavior"
)


class MysqlDatabase(Database):
    """``jdbc:mysql://host:port/database?parameters``, or ``jdbc:mariadb:``.

    The session time zone is UTC unless ``connectionTimeZone`` (or ``serverTimezone``) names another one. In that case
    instants are written as times in that zone.
    """

    module = "pymysql"
    extra = "mysql"
    grammar = Grammar.MYSQL
    paramstyle = "format"

    prefixes = ("jdbc:mysql:", "jdbc:mariadb:")
    java_drivers = ("com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver")

    def __init__(self, url: str, user: str | None = None, password: str | None = None, timeout: int = 60) -> None:
        super().__init__(url, user, password, timeout)
        parsed = JdbcUrl.parse(url)
        match = _ADDRESS.fullmatch(parsed.address)
        if match is None:
            raise PlanError(f"the URL must have the form jdbc:mysql://host:port/database, with one host: {self.shown}")
        in_address = {name: unquote(match[name]) for name in ("user", "password") if match[name] is not None}
        self.user, self.password = parsed.credentials(user, password, in_address)
        arguments: dict[str, Any] = {"connect_timeout": timeout, "charset": "utf8mb4"}
        arguments |= parsed.arguments(_PARAMETERS, _IGNORED)
        self.zone: str = arguments.pop("zone", "")
        self.tls: str = arguments.pop("tls", "preferred")
        self.authority: str | None = arguments.pop("authority", None)
        settings = [] if self.zone else ["time_zone = '+00:00'"]
        settings += [arguments.pop("variables")] if "variables" in arguments else []
        if settings:
            arguments["init_command"] = f"SET {', '.join(settings)}"
        arguments |= {"host": (match["host"] or "localhost").strip("[]"), "port": int(match["port"] or 3306)}
        if match["name"]:
            arguments["database"] = unquote_plus(match["name"])
        self.arguments = {name: value for name, value in arguments.items() if value is not None}

    def connect(self) -> Any:
        """Connect."""
        password = (self.password or "").encode()  # PyMySQL would encode a str as Latin-1
        return self.driver().connect(user=self.user, password=password, **self.arguments, **self._tls_arguments())

    def _tls_arguments(self) -> dict[str, Any]:
        if self.tls == "disabled":
            return {"ssl_disabled": True}
        if self.tls == "preferred":
            return {}
        import ssl

        context = ssl.create_default_context(cafile=self.authority)
        context.check_hostname = self.tls == "identity"
        context.verify_mode = ssl.CERT_NONE if self.tls == "required" else ssl.CERT_REQUIRED
        return {"ssl": context}

    def adapters(self) -> Mapping[type, Adapter]:
        """Return the adapter that converts instants to times in the session time zone."""
        zone = ZoneInfo(self.zone or "UTC")

        def local(instant: Instant) -> dt.datetime:
            return instant_in_utc(instant).astimezone(zone).replace(tzinfo=None)

        return {Instant: local}
