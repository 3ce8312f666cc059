"""Parts of PyFlink outside the packages that flintstream mirrors: ``pyflink`` itself and its top-level modules.

Programs see this package as ``pyflink``; ``pyflink.__path__`` contains its directory.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from flintstream.compat.home.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["__version__"]


def keyword(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method accept only keyword arguments, and store them as ``_input_kwargs`` of its object."""

    @wraps(func)
    def taking_names(self: Any, **kwargs: Any) -> Any:
        self._input_kwargs = kwargs
        return func(self, **kwargs)

    return taking_names


def add_version_doc(f: Callable[..., Any], version: str) -> None:
    """Note in the docstring of ``f`` which version added it."""
    f.__doc__ = f"{(f.__doc__ or '').rstrip()}\n\n.. versionadded:: {version}"
