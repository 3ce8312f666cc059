"""Keyed state (PyFlink's ``pyflink.datastream.state``)."""

from flintstream.contracts import state as _state
from flintstream.contracts.state import *  # noqa: F403 - one list of names, in contracts

__all__ = _state.__all__
