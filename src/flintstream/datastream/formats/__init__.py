"""Formats that convert between records and bytes; mirrors ``pyflink.datastream.formats``."""

from __future__ import annotations

from flintstream.connectors.formats.errors import FormatError

__all__ = ["FormatError"]
