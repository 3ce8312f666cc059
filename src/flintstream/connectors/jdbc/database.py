"""What differs from database to database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from flintstream.common.time import Instant
from flintstream.connectors.jdbc.jdbc_url import HIDDEN, without_secrets
from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.values import class_of, instant_in_utc
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.values import Adapter


class JdbcError(FlintstreamError):
    """A database could not be written to; names the statement and, if one is to blame, the record."""


class Database(ABC):
    """A database and how to reach it: where tasks connect to. It is pickled to them, with the password.

    Args:
        url: for messages.
        user: who connects, if the URL does not say.
        password: likewise.
        timeout: how long to wait for a connection (s), if the URL does not say.
    """

    module: ClassVar[str]
    """The driver, a module as PEP 249 has it, and the name of its package."""
    extra: ClassVar[str | None] = None
    """The extra of flintstream that installs it."""
    prefixes: ClassVar[tuple[str, ...]] = ()
    """What its URLs begin with."""
    java_drivers: ClassVar[tuple[str, ...]] = ()
    """Classes in Java for it and for no other database."""
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
            MissingDependencyError: It is not installed.
        """
        try:
            return import_module(self.module)
        except ImportError as error:
            raise MissingDependencyError(self.module, extra=self.extra, purpose=f"JDBC ({self.shown})") from error

    def check(self) -> None:
        """Refuse, before the job runs, what cannot work; nothing is connected."""
        self.driver()

    @abstractmethod
    def connect(self) -> Any:
        """Return a new connection, as PEP 249 has them, that does not commit by itself."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction where the driver does not by itself."""

    def adapters(self) -> Mapping[type, Adapter]:
        """Return, by the class of a value (see :func:`class_of`), what makes one of it that the driver takes.

        Every driver is given datetimes for instants, unless the database says otherwise.
        """
        return {Instant: instant_in_utc}

    def adapter(self, type_info: TypeInformation) -> Adapter | None:
        """Return what makes of a value of this type one that the driver takes; None if it takes it as it is.

        Raises:
            PlanError: The database has no such values.
        """
        kind = class_of(type_info)
        if kind is not list:
            return self.adapters().get(kind) if kind else None
        if not self.has_arrays:
            raise PlanError(f"{self.shown} has no arrays, which {type_info} needs; make a text of it, for example JSON")
        adapt = self.adapter(type_info._element_type)  # type: ignore[attr-defined] # noqa: SLF001 - own kind
        return adapt and (lambda values: [None if value is None else adapt(value) for value in values])

    def is_error(self, error: Exception) -> bool:
        """Tell whether the database, or its driver, has refused something or is out of reach."""
        return isinstance(error, self.driver().Error)

    def may_pass(self, error: Exception) -> bool:
        """Tell whether the same may work when it is tried again."""
        driver = self.driver()
        lasting = (driver.DataError, driver.ProgrammingError, driver.NotSupportedError)
        return self.is_error(error) and not isinstance(error, lasting)

    def may_refuse_one(self, error: Exception) -> bool:
        """Tell whether it may be one record of a batch that is refused, and not all of them."""
        driver = self.driver()
        general = (driver.OperationalError, driver.InterfaceError, driver.InternalError)
        return not isinstance(error, general)

    def hide(self, text: str) -> str:
        """Return a text without the password."""
        return text.replace(self.password, HIDDEN) if self.password else text
