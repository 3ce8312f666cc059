"""Parse JDBC URLs: address, credentials, and parameters in terms of a Python driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote_plus

from flintstream.common._text.secrets import without_secrets
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Reader: TypeAlias = "Callable[[str], Mapping[str, Any]]"
"""Converts the value of a parameter to driver arguments. Raises ValueError or KeyError if the value is invalid."""


@dataclass(frozen=True)
class JdbcUrl:
    """The parts of a JDBC URL. The form of the address depends on the database.

    >>> url = JdbcUrl.parse("jdbc:postgresql://db/shop?user=me&password=abc&ssl=true")
    >>> url
    JdbcUrl('jdbc:postgresql://db/shop?user=me&password=***&ssl=true')
    >>> url.address
    '//db/shop'
    >>> url.credentials(user=None, password=None)
    ('me', 'abc')
    >>> url.arguments({"ssl": rename("secure", as_bool)}, ignored="user password")
    {'secure': True}
    """

    shown: str
    """The URL without secrets, for messages."""
    address: str
    """The part between the database type and the parameters."""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, url: str) -> JdbcUrl:
        """Parse a URL.

        Raises:
            PlanError: A parameter has no value, or two.
        """
        shown = without_secrets(url)
        address, _, query = re.sub(r"^jdbc:\w+:", "", url).partition("?")
        found: dict[str, str] = {}
        for part in filter(None, query.split("&")):
            name, equals, value = part.partition("=")
            if not equals or name in found:
                what = "appears twice" if name in found else "has no value"
                raise PlanError(f"the parameter '{name}' {what}: {shown}")
            found[name] = unquote_plus(value)
        return cls(shown, address, found)

    def __repr__(self) -> str:
        return f"JdbcUrl({self.shown!r})"

    def credentials(
        self, user: str | None, password: str | None, in_address: Mapping[str, str] | None = None
    ) -> tuple[str, str]:
        """Return user and password; empty strings if they are not set.

        Args:
            user: the user that was given separately from the URL.
            password: the password that was given separately from the URL.
            in_address: ``user`` and ``password`` from the address, if it has them.

        Raises:
            PlanError: The URL contains different values than those given separately.
        """
        found = {**(in_address or {}), **self.parameters}
        both = []
        for name, given in (("user", user), ("password", password)):
            own = found.get(name)
            if own is not None and given is not None and own != given:
                raise PlanError(f"the URL contains a different {name} than the one given separately: {self.shown}")
            both.append((own if given is None else given) or "")
        return both[0], both[1]

    def arguments(self, known: Mapping[str, Reader], ignored: str = "") -> dict[str, Any]:
        """Return the parameters as driver arguments.

        Args:
            known: for each supported parameter, the function that reads its value.
            ignored: names of parameters to ignore, separated by spaces.

        Raises:
            PlanError: A parameter is unknown, or its value is invalid.
        """
        arguments: dict[str, Any] = {}
        for name, value in self.parameters.items():
            if name in known:
                try:
                    arguments |= known[name](value)
                except (ValueError, KeyError, OSError):  # OSError: the name of a zone is too long
                    raise PlanError(f"{value!r} is not a valid value of the parameter '{name}': {self.shown}") from None
            elif name not in ignored.split():
                raise PlanError(
                    f"the parameter '{name}' has no counterpart in Python: {self.shown}; "
                    f"the known ones are {', '.join(sorted(known))}"
                )
        return arguments


def as_bool(value: str) -> bool:
    """Read ``true`` or ``false``."""
    return {"true": True, "false": False}[value.lower()]


def rename(name: str, convert: Callable[[str], Any] = str) -> Reader:
    """Return a reader that passes a parameter's converted value to the driver under another name."""
    return lambda value: {name: convert(value)}
