"""All other databases, through SQLAlchemy's dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.connectors.jdbc.database import Database
from flintstream.connectors.jdbc.sqlite import ADAPTERS
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.errors import MissingDependencyError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from flintstream.connectors.jdbc.values import Adapter

_GRAMMARS = {
    "sqlite": Grammar.SQLITE,
    "postgresql": Grammar.POSTGRESQL,
    "mysql": Grammar.MYSQL,
    "mariadb": Grammar.MYSQL,
    "mssql": Grammar.SQLSERVER,
    "duckdb": Grammar.POSTGRESQL,
    "cockroachdb": Grammar.POSTGRESQL,
    "redshift": Grammar.POSTGRESQL,
}


def grammar_of(backend: str) -> Grammar:
    """Return the grammar of a database, given SQLAlchemy's name for it."""
    return _GRAMMARS.get(backend, Grammar.STANDARD)


class AlchemyDatabase(Database):
    """A database behind an SQLAlchemy URL. Its dialect only finds the driver and connects."""

    module = "sqlalchemy"
    extra = "jdbc"

    def __init__(self, url: str, user: str | None = None, password: str | None = None, timeout: int = 60) -> None:
        super().__init__(url, user, password, timeout)
        alchemy = super().driver()
        try:
            parsed = alchemy.make_url(url)
        except alchemy.exc.ArgumentError:
            raise PlanError(f"neither a JDBC URL nor an SQLAlchemy URL: {self.shown}") from None
        if user is not None:
            parsed = parsed.set(username=user)
        if password is not None:
            parsed = parsed.set(password=password)
        self.password = parsed.password
        self.url: str = parsed.render_as_string(hide_password=False)
        self.backend: str = parsed.get_backend_name()
        self.grammar = grammar_of(self.backend)
        self.has_arrays = self.backend in {"postgresql", "duckdb"}
        self.paramstyle = self._engine().dialect.paramstyle

    def _engine(self) -> Any:
        alchemy = super().driver()
        try:
            return alchemy.create_engine(self.url, poolclass=alchemy.pool.NullPool)
        except alchemy.exc.NoSuchModuleError:
            raise PlanError(f"SQLAlchemy has no dialect for {self.shown}: install the package that has it") from None
        except ImportError as error:
            raise MissingDependencyError(error.name or "of the driver", purpose=f"JDBC ({self.shown})") from error

    def driver(self) -> ModuleType:
        """Return the driver that the dialect uses."""
        driver: ModuleType = self._engine().dialect.dbapi
        return driver

    def connect(self) -> Any:
        """Connect."""
        return self._engine().raw_connection()

    def adapters(self) -> Mapping[type, Adapter]:
        """Return the adapter from instants to datetimes. The driver converts all other values."""
        return ADAPTERS if self.backend == "sqlite" else super().adapters()
