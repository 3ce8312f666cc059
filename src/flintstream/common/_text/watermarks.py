"""Watermarks as people read them."""

from __future__ import annotations

from datetime import datetime, timezone

from flintstream.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE


def watermark_text(watermark_ms: int) -> str:
    """Format a watermark (ms since the epoch).

    >>> watermark_text(0), watermark_text(-(2**63)), watermark_text(2**63 - 1)
    ('1970-01-01 00:00:00 UTC', 'none yet', 'end')
    """
    if watermark_ms == MIN_LONG_VALUE:
        return "none yet"
    if watermark_ms == MAX_LONG_VALUE:
        return "end"
    try:
        return f"{datetime.fromtimestamp(watermark_ms // 1000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{watermark_ms} ms"
