"""Keyed state (PyFlink's ``pyflink.datastream.state``)."""

from typing import TYPE_CHECKING

from flintstream.contracts import state as _state
from flintstream.contracts.state import *  # noqa: F403 - one list of names, in contracts

if not TYPE_CHECKING:  # mypy reads only lists, and would give a star import no names
    __all__ = _state.__all__
