"""The version of PyFlink whose API flintstream has (``pyflink.version``)."""

from __future__ import annotations

__version__ = "2.3.0"
