"""Names for side outputs (PyFlink's ``pyflink.datastream.output_tag``)."""

from __future__ import annotations

from flintstream.contracts.output_tag import OutputTag

__all__ = ["OutputTag"]
