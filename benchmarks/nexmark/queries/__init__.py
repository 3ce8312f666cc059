"""The queries, in PyFlink's API: each takes the inputs and returns a stream of tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.nexmark.queries import joins, selections, tables, windows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

QUERIES: dict[str, Callable[[Any], Any]] = {
    f"q{number}": getattr(module, f"q{number}")
    for number in range(23)
    for module in (selections, joins, windows, tables)
    if hasattr(module, f"q{number}")
}
