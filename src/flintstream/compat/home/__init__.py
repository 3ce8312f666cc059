"""What PyFlink has beside the packages that flintstream mirrors: ``pyflink`` itself and the modules directly in it.

Programs see this package as ``pyflink``: its directory is what ``pyflink.__path__`` holds.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from flintstream.compat.home.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["__version__"]


def keyword(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method take named arguments only, and keep them as ``_input_kwargs`` of its object."""

    @wraps(func)
    def taking_names(self: Any, **kwargs: Any) -> Any:
        self._input_kwargs = kwargs
        return func(self, **kwargs)

    return taking_names


def add_version_doc(f: Callable[..., Any], version: str) -> None:
    """Say in the docstring of ``f`` which version added it."""
    f.__doc__ = f"{(f.__doc__ or '').rstrip()}\n\n.. versionadded:: {version}"
