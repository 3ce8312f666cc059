"""Programs that give something else on flintstream than on PyFlink, on purpose, and why."""

from __future__ import annotations

DEVIATIONS = {
    "integers_out_of_range": "a number that does not fit its type is an error, from a collection as from a function",
    "instants_finer_than_milliseconds": "instants keep their nanoseconds",
}
