"""User functions (PyFlink's ``pyflink.datastream.functions``)."""

from typing import TYPE_CHECKING

from flintstream.contracts import functions as _functions
from flintstream.contracts.functions import *  # noqa: F403 - one list of names, in contracts

if not TYPE_CHECKING:  # mypy reads only lists, and would give a star import no names
    __all__ = _functions.__all__
