"""Times as text, in UTC."""

from __future__ import annotations

import time
from functools import lru_cache


def hour(milliseconds: int) -> int:
    """Return the hour of the day."""
    return milliseconds // 3_600_000 % 24


def day(milliseconds: int) -> str:
    """Return the date."""
    return _text("%Y-%m-%d", milliseconds // 86_400_000 * 86_400)


def minute(milliseconds: int) -> str:
    """Return hour and minute."""
    return _text("%H:%M", milliseconds // 60_000 * 60)


@lru_cache(maxsize=1024)
def _text(form: str, seconds: int) -> str:
    return time.strftime(form, time.gmtime(seconds))
