"""How records become bytes, and bytes records; mirrors ``pyflink.datastream.formats``."""

from __future__ import annotations

from flintstream.connectors.formats.errors import FormatError

__all__ = ["FormatError"]
