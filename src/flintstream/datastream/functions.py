"""User functions (PyFlink's ``pyflink.datastream.functions``)."""

from flintstream.contracts import functions as _functions
from flintstream.contracts.functions import *  # noqa: F403 - one list of names, in contracts

__all__ = _functions.__all__
