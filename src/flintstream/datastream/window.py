"""Windows, assigners and triggers (PyFlink's ``pyflink.datastream.window``)."""

from flintstream.contracts import window as _window
from flintstream.contracts.window import *  # noqa: F403 - one list of names, in contracts

__all__ = _window.__all__
