"""Settings of a session that plans depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from flintstream.options.option import Option

    T = TypeVar("T")


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

    def value(self, option: Option[T]) -> T:
        """Return the value of an option.

        Raises:
            SqlError: It is invalid.
        """
        try:
            return option.read(self.options)
        except ValueError as error:
            raise SqlError(f"the option {error}") from None
