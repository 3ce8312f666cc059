"""What differs from database to database."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote_plus

from flintstream.connectors.jdbc.statement import Grammar
from flintstream.connectors.jdbc.values import class_of
from flintstream.errors import FlintstreamError, MissingDependencyError, PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.jdbc.values import Adapter

HIDDEN = "***"
_SECRET_PARAMETER = re.compile(r"(?i)((?:password|passwd|pwd|secret|token)[^=&;?]*=)[^&;]*")
_SECRET_USER = re.compile(r"(//[^:/?]*:)[^?]*@")


class JdbcError(FlintstreamError):
    """A database could not be written to; names the statement and, if one is to blame, the record."""


def without_secrets(url: str) -> str:
    """Return a URL with its passwords hidden.

    >>> without_secrets("jdbc:postgresql://db/shop?user=me&password=abc&sslmode=require")
    'jdbc:postgresql://db/shop?user=me&password=***&sslmode=require'
    >>> without_secrets("mysql+pymysql://me:a/b@c@db/shop")
    'mysql+pymysql://me:***@db/shop'
    """
    return _SECRET_USER.sub(rf"\1{HIDDEN}@", _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", url))


class Database(ABC):
    """A database and how to reach it: where tasks connect to. It is pickled to them, with the password.

    Args:
        url: for messages.
        user: who connects, if the URL does not say.
        password: likewise.
        timeout: how long to wait for a connection (s), if the URL does not say.
    """

    module: ClassVar[str]
    """The driver, a module as PEP 249 has it."""
    extra: ClassVar[str | None] = None
    """What of flintstream is to be installed for it."""
    package: ClassVar[str] = ""
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
            raise MissingDependencyError(
                self.package or self.module, extra=self.extra, purpose=f"JDBC ({self.shown})"
            ) from error

    def check(self) -> None:
        """Refuse, before the job runs, what cannot work; nothing is connected."""
        self.driver()

    @abstractmethod
    def connect(self) -> Any:
        """Return a new connection, as PEP 249 has them, that does not commit by itself."""

    def begin(self, connection: Any) -> None:
        """Begin a transaction where the driver does not by itself."""

    def adapters(self) -> Mapping[type, Adapter]:
        """Return, by the class of a value (see :func:`class_of`), what makes one of it that the driver takes."""
        return {}

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


def credentials(found: dict[str, str], user: str | None, password: str | None, url: str) -> tuple[str, str]:
    """Take user and password out of the parameters of a URL, and combine them with those that were given beside it.

    Raises:
        PlanError: They are not the same.
    """
    both = []
    for name, given in (("user", user), ("password", password)):
        own = found.pop(name, None)
        if own is not None and given is not None and own != given:
            raise PlanError(f"there is a {name} in the URL and another one beside it: {without_secrets(url)}")
        both.append((own if given is None else given) or "")
    return both[0], both[1]


def parameters_of(query: str, url: str) -> dict[str, str]:
    """Read ``a=b&c=d``.

    Raises:
        PlanError: A parameter has no value, or two.
    """
    found: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        if not equals or name in found:
            what = "is there twice" if name in found else "has no value"
            raise PlanError(f"the parameter '{name}' {what}: {without_secrets(url)}")
        found[name] = unquote_plus(value)
    return found


def translate(
    given: Mapping[str, str],
    known: Mapping[str, Callable[[str], Mapping[str, Any]]],
    ignored: str,
    url: str,
) -> dict[str, Any]:
    """Return what a URL's parameters mean to the driver.

    Args:
        given: the parameters.
        known: by the name of a parameter, what makes of its value arguments for the driver.
        ignored: names of what makes a Java driver faster or changes no result.
        url: for the message.

    Raises:
        PlanError: A parameter, or the value of one, is not known.
    """
    arguments: dict[str, Any] = {}
    for name, value in given.items():
        if name in known:
            try:
                arguments |= known[name](value)
            except (ValueError, KeyError):
                raise PlanError(f"{value!r} is no value for the parameter '{name}': {without_secrets(url)}") from None
        elif name not in ignored.split():
            raise PlanError(
                f"the parameter '{name}' has no counterpart in Python: {without_secrets(url)}; "
                f"known are {', '.join(sorted(known))}"
            )
    return arguments


def as_bool(value: str) -> bool:
    """Read ``true`` or ``false``."""
    return {"true": True, "false": False}[value.lower()]


def renamed(name: str, convert: Callable[[str], Any] = str) -> Callable[[str], dict[str, Any]]:
    """Return what gives a parameter's value, converted, to the driver under another name."""
    return lambda value: {name: convert(value)}
