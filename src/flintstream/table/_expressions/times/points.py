"""Points in time of numbers and texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flintstream.common._types.nanoseconds import from_nanoseconds
from flintstream.table._expressions.helpers import cut, is_zone, unzoned, whole, wrap
from flintstream.table._expressions.times.helpers import FIRST_MS, LAST_MS, from_millis
from flintstream.table._expressions.times.texts import read_timestamp

if TYPE_CHECKING:
    from datetime import datetime

_DIGITS = 9


def to_ltz(digits: int, given: Any, more: Any = 3, named: str = "UTC") -> datetime | None:
    """Return the point in time of seconds (0 digits) or ms (3 digits) since the epoch, or of a text and its pattern."""
    if isinstance(given, str):
        found = read_timestamp(given, more if isinstance(more, str) else None, precise=True)
        named = "UTC" if named == "Z" else named
        return None if found is None or not is_zone(named) else unzoned(cut(found, digits), named)
    if not 0 <= more <= _DIGITS:
        return None
    if digits > 3 and (not isinstance(given, float) or abs(given) < 1 << 63):
        unit: int = 10 ** (_DIGITS - more)
        nanos = int(given * unit) if isinstance(given, float) else wrap(int(given), 64) * unit
        return cut(from_nanoseconds(nanos), digits) if FIRST_MS <= nanos // 1_000_000 <= LAST_MS else None
    if isinstance(given, float):
        ms = given * 1000 / 10**more
        # Flink rounds to nanoseconds, and then cuts.
        given = whole(math.floor(ms * 1e6 + 0.5) // 1_000_000 if abs(ms) < math.inf else ms, 64)
    else:
        given = wrap(int(given), 64) * 1000 // 10**more
    return from_millis(int(given)) if FIRST_MS <= given <= LAST_MS else None
