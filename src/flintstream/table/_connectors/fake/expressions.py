"""Expressions of Java Faker: texts with parts in ``#{...}``."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from flintstream.errors import optional_module
from flintstream.table._connectors.fake.values import value_of
from flintstream.table._errors import SqlError
from flintstream.table._expressions import helpers

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[], object]

_PART = re.compile(r"#\{\s*([A-Za-z][\w.]*)((?:'[^']*'|[^'}])*)\}")
_ARGUMENT = re.compile("'([^']*)'")


@cache
def _library(locales: tuple[str, ...]) -> object:
    module = optional_module("faker", extra="faker", purpose="the connector 'faker'")
    try:
        return module.Faker(list(locales) or None, use_weighting=False)
    except AttributeError:
        raise SqlError(f"the package faker does not have all of the locales {', '.join(locales)}") from None


def maker_of(expression: str, locales: tuple[str, ...] = ()) -> Make:
    """Return the function that makes values of an expression: those of its part, or texts of several.

    Raises:
        SqlError: A part is unknown, or has wrong arguments.
        MissingDependencyError: The package ``faker`` is needed, and not installed.

    >>> maker_of("A#{number.numberBetween '5','6'}-#{regexify '(x|x){2}'}")()
    'A5-xx'
    """
    parts: list[str | Make] = []
    end = 0
    for found in _PART.finditer(expression):
        parts.append(_plain(expression[end : found.start()], expression))
        arguments = _ARGUMENT.findall(found[2])
        parts.append(value_of(found[1], arguments, lambda: _library(locales)))
        end = found.end()
    parts.append(_plain(expression[end:], expression))
    kept = [item for item in parts if item != ""]
    if len(kept) == 1:
        only = kept[0]
        return (lambda: only) if isinstance(only, str) else only
    return lambda: "".join([part if isinstance(part, str) else text_of(part()) for part in kept])


def _plain(text: str, expression: str) -> str:
    if "#{" in text:
        raise SqlError(f"the expression '{expression}' has a part that cannot be parsed: '{text[text.index('#{') :]}'")
    return text


def text_of(value: object) -> str:
    """Return a value as a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return helpers.double_to_text(value)
    if isinstance(value, datetime):
        return helpers.timestamp_to_text(value, 3)
    return str(value)
