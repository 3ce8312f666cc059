"""Settings of a session that plans depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class PlannerSettings:
    """What a plan depends on beside the statement."""

    zone: str
    """The time zone of the session."""
    batch: bool
    """Whether only final results count."""
    by_block: bool
    """Whether groups emit changes once for a block of records."""
    state_ttl_ms: int
    """How long state of unbounded operators stays, 0 for no limit."""
    options: Mapping[str, str]
    """All options of the session."""

    def choice(self, key: str, known: Sequence[str]) -> str:
        """Return which of some words an option is, the first one by default.

        Raises:
            SqlError: It is another word.
        """
        found = self.options.get(key, known[0]).upper()
        if found not in known:
            raise SqlError(f"the option '{key}' does not accept '{found}'{nearest(found, known)}")
        return found
