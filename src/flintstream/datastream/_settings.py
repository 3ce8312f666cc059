"""Common checks and comparisons of the settings classes."""

from __future__ import annotations

import warnings
from enum import Enum
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from flintstream.errors import UnsupportedByDesignError
from flintstream.options.types import MAX_INT, MAX_LONG

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.options.option import Option

__all__ = [
    "MAX_INT",
    "MAX_LONG",
    "Settings",
    "check_bool",
    "check_for",
    "check_integer",
    "check_member",
    "is_java",
    "load_callable",
    "name_of",
    "warn_removed",
]

E = TypeVar("E", bound=Enum)


class Settings:
    """Base class of settings, with equality and repr by attributes."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        # settings may change while the object is in a set or dict
        return hash(type(self))

    def __repr__(self) -> str:
        values = ", ".join(f"{name.removeprefix('_')}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def check_integer(value: int, what: str, *, minimum: int, maximum: int = MAX_INT, hint: str = "") -> int:
    """Return ``value`` if it is an int within the bounds; the error message contains ``what`` and ``hint``.

    Raises:
        TypeError: the value is not an int.
        ValueError: the value is out of bounds.

    >>> check_integer(5, "the interval in ms", minimum=10, hint="leave it unset for none")
    Traceback (most recent call last):
    ValueError: the interval in ms must be at least 10, got 5; leave it unset for none
    """
    advice = f"; {hint}" if hint else ""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be a whole number (int), got {value!r} of type {type(value).__name__}{advice}")
    if value < minimum:
        raise ValueError(f"{what} must be at least {minimum}, got {value}{advice}")
    if value > maximum:
        raise ValueError(f"{what} must be at most {maximum}, got {value}{advice}")
    return value


def check_for(option: Option[int] | Option[int | None], value: int, what: str, *, hint: str = "") -> int:
    """Return ``value`` if it is an int within the option's bounds; the error message has ``what`` and ``hint``.

    Raises:
        TypeError: the value is not an int.
        ValueError: the value is out of bounds.
    """
    return check_integer(value, what, minimum=option.type.minimum, maximum=option.type.maximum, hint=hint)


def check_bool(value: bool, what: str) -> bool:
    """Return ``value`` if it is True or False.

    Raises:
        TypeError: the value is neither.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, got {value!r} of type {type(value).__name__}")
    return value


def check_text(value: object, what: str) -> str:
    """Return ``value`` if it is a str.

    Raises:
        TypeError: It is not.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, but got {value!r}")
    return value


def check_member(value: object, kind: type[E], what: str) -> E:
    """Return ``value`` if it is a member of the enum.

    Raises:
        TypeError: the value is not a member.
    """
    if not isinstance(value, kind):
        choices = ", ".join(f"{kind.__name__}.{name}" for name in kind.__members__)
        raise TypeError(f"{what} must be one of {choices}, got {value!r}")
    return value


def is_java(value: object) -> bool:
    """Return whether ``value`` is a Java object, which PyFlink's wrappers accept."""
    return type(value).__module__.partition(".")[0] == "py4j"


def load_callable(name: str, what: str, else_use: str) -> Callable[..., Any]:
    """Return the function or class named ``module:name``; the error message contains ``what`` and ``else_use``.

    Raises:
        UnsupportedByDesignError: the name does not refer to a Python callable.

    >>> load_callable("collections:OrderedDict", "the factory", "").__name__
    'OrderedDict'
    """
    module, colon, attribute = name.partition(":")
    why = ""
    if colon:
        try:
            found = attrgetter(attribute)(import_module(module))
        except (ImportError, AttributeError, ValueError) as error:
            why = f" ({error})"
        else:
            if callable(found):
                return found  # type: ignore[no-any-return]
            why = f" ({found!r} cannot be called)"
    raise UnsupportedByDesignError(
        f"{what} is '{name}', which is not the name of a Python function or class{why}; Java classes cannot be used: "
        f"write 'module:function', {else_use}"
    )


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function for :func:`load_callable`, assuming that it can be imported.

    >>> name_of(load_callable)
    'flintstream.datastream._settings:load_callable'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def warn_removed(name: str, instead: str, *, stacklevel: int = 3) -> None:
    """Warn that ``name`` is not part of PyFlink 2. The warning points to the caller's caller."""
    message = f"{name} still works here, but PyFlink 2 has removed it; use {instead}"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
