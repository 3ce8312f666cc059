"""The interface of a database: driver, connection, value types and errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.common._text.secrets import HIDDEN, without_secrets
from flintstream.common._types.parts import element_of
from flintstream.common.time import Instant
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.values import class_of, instant_in_utc
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.values import Adapter


class JdbcError(FlintstreamError):
    """Writing to a database failed. The message names the statement and, if one record is the cause, the record.

    >>> raise JdbcError("INSERT INTO words: no such table")
    Traceback (most recent call last):
    flintstream.connectors.jdbc.database.JdbcError: INSERT INTO words: no such table
    """


class Database(ABC):
    """A database to which tasks connect. It is pickled to them, with the password.

    Args:
        url: for messages.
        user: the user, unless the URL names one.
        password: the password, unless the URL has one.
        timeout: how long to wait for a connection (s), unless the URL sets it.
    """

    module: ClassVar[str]
    """The driver, a module as in PEP 249, and the name of its package."""
    extra: ClassVar[str | None] = None
    """The extra of flintstream that installs it."""
    prefixes: ClassVar[tuple[str, ...]] = ()
    """Prefixes of its URLs."""
    java_drivers: ClassVar[tuple[str, ...]] = ()
    """Java driver classes of this database and of no other."""
    grammar: Grammar = Grammar.STANDARD
    paramstyle: str = "qmark"
    has_arrays: bool = False

    def __init__(self, url: str, user: str | None = None, password: str | None = None, timeout: int = 60) -> None:
        self.shown = without_secrets(url)
        self.user = user
        self.password = password
        self.timeout = timeout

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown})"

    def driver(self) -> ModuleType:
        """Return the driver.

        Raises:
            MissingDependencyError: The driver is not installed.
        """
        try:
            return import_module(self.module)
        except ImportError as error:
            raise MissingDependencyError(self.module, extra=self.extra, purpose=f"JDBC ({self.shown})") from error

    def check(self) -> None:
        """Raise an error, before the job runs, for settings that cannot work. Does not connect."""
        self.driver()

    @abstractmethod
    def connect(self) -> Any:
        """Return a new connection, as in PEP 249, without autocommit."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction, if the driver does not do so itself."""

    def adapters(self) -> Mapping[type, Adapter]:
        """Return, by class of value (see :func:`class_of`), the functions that convert values for the driver.

        Instants become datetimes, unless a database overrides this.
        """
        return {Instant: instant_in_utc}

    def adapter(self, type_info: TypeInformation) -> Adapter | None:
        """Return the function that converts values of this type for the driver; None if no conversion is needed.

        Raises:
            PlanError: The database does not support the type.
        """
        kind = class_of(type_info)
        if kind is not list:
            return self.adapters().get(kind) if kind else None
        if not self.has_arrays:
            raise PlanError(f"{self.shown} has no arrays, which {type_info} needs: convert it to text such as JSON")
        adapt = self.adapter(element_of(type_info))
        return adapt and (lambda values: [None if value is None else adapt(value) for value in values])

    def is_error(self, error: Exception) -> bool:
        """Return whether the error comes from the database or its driver, or the database is unreachable."""
        return isinstance(error, self.driver().Error)

    def may_pass(self, error: Exception) -> bool:
        """Return whether a retry may succeed."""
        driver = self.driver()
        lasting = (driver.DataError, driver.ProgrammingError, driver.NotSupportedError)
        return self.is_error(error) and not isinstance(error, lasting)

    def may_refuse_one(self, error: Exception) -> bool:
        """Return whether a single record of the batch may be the cause."""
        driver = self.driver()
        general = (driver.OperationalError, driver.InterfaceError, driver.InternalError)
        return not isinstance(error, general)

    def hide(self, text: str) -> str:
        """Return ``text`` with the password hidden."""
        return text.replace(self.password, HIDDEN) if self.password else text
