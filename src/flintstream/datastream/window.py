"""Windows, assigners and triggers (PyFlink's ``pyflink.datastream.window``)."""

from typing import TYPE_CHECKING

from flintstream.contracts import window as _window
from flintstream.contracts.window import *  # noqa: F403 - one list of names, in contracts

if not TYPE_CHECKING:  # mypy reads only lists, and would give a star import no names
    __all__ = _window.__all__
