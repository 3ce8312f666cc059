"""The PyFlink version whose API flintstream implements (``pyflink.version``)."""

from __future__ import annotations

__version__ = "2.3.0"
