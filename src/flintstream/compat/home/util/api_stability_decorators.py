"""Decorators for the stability of an API (``pyflink.util.api_stability_decorators``)."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from inspect import cleandoc, isclass, isfunction
from typing import Any, TypeVar

__all__ = ["Deprecated", "Experimental", "Internal", "Public", "PublicEvolving"]

T = TypeVar("T", bound=Any)


def override(method: T) -> T:
    """Mark a method that overrides one of a base class."""
    method.__override__ = True
    return method


class BaseAPIStabilityDecorator(ABC):
    """Adds a directive to the docstring of a function or class."""

    @abstractmethod
    def get_directive(self, func_or_cls: Any) -> str:
        """Return the directive for a docstring, in reStructuredText."""

    @staticmethod
    def _get_element_type_name(func_or_cls: Any) -> str:
        return "function" if isfunction(func_or_cls) else "class" if isclass(func_or_cls) else "API"

    def __call__(self, func_or_cls: T) -> T:
        """Decorate."""
        directive = self.get_directive(func_or_cls)
        documented = cleandoc(func_or_cls.__doc__ or "")
        if directive not in documented:
            func_or_cls.__doc__ = f"{documented}\n\n{directive}"
        return func_or_cls


class Deprecated(BaseAPIStabilityDecorator):
    """Marks a deprecated element and emits a warning.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     old = Deprecated(since="1.2", detail="Use new().")(lambda: 0)
    >>> "deprecated since version 1.2. Use new()." in str(caught[0].message)
    True
    """

    def __init__(self, since: str, detail: str | None = None) -> None:
        self.since = since
        self.detail = detail

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the directive."""
        return f".. deprecated:: {self.since}" + (f"\n   {self.detail}" if self.detail else "")

    def __call__(self, func_or_cls: T) -> T:
        """Emit the warning and decorate."""
        detail = f" {self.detail}" if self.detail else ""
        text = f"{func_or_cls.__qualname__} has been deprecated since version {self.since}.{detail}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return super().__call__(func_or_cls)


class _Marker(BaseAPIStabilityDecorator):
    _directive = "note"
    _stability = ""

    def get_directive(self, func_or_cls: Any) -> str:
        """Return the directive."""
        return f".. {self._directive}:: This {self._get_element_type_name(func_or_cls)} is **{self._stability}**."


class Experimental(_Marker):
    """Marks an element that may change or disappear."""

    _directive = "warning"
    _stability = "experimental"


class Internal(_Marker):
    """Marks an element that programs should not use."""

    _directive = "caution"
    _stability = "internal"


class PublicEvolving(_Marker):
    """Marks a public element whose signature may change."""

    _stability = "evolving"


class Public(_Marker):
    """Marks a public element that is stable within a major version."""

    _stability = "public"
