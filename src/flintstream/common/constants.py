"""Constants with the same meaning as in Flink."""

from __future__ import annotations

__all__ = ["DEFAULT_OUTPUT_TAG", "MAX_LONG_VALUE", "MIN_LONG_VALUE"]

MAX_LONG_VALUE = 2**63 - 1
"""The largest timestamp (ms), and the watermark after the end of a bounded input."""

MIN_LONG_VALUE = -(2**63)
"""The timestamp (ms) of a record without one, and the initial watermark."""

DEFAULT_OUTPUT_TAG = ""
"""The tag id of the main output."""
