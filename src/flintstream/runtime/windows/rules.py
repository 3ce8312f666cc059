"""What a program says of its windows, as far as more than the operator needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.contracts.window import CountSlidingWindowAssigner, CountTrigger, CountTumblingWindowAssigner
from flintstream.runtime.operators.base import MAX_TIMESTAMP

if TYPE_CHECKING:
    from flintstream.contracts.window import Trigger, WindowAssigner


class WindowRules(NamedTuple):
    """Which windows there are, when they fire, and how long they stay."""

    assigner: WindowAssigner
    trigger: Trigger
    event_time: bool
    lateness: int
    """How long after its end a window still takes records (ms); 0 in processing time."""

    @property
    def purely_counting(self) -> bool:
        """Whether a window that fires is full: nothing comes after that, and time never ends it, so it can go."""
        assigner, trigger = self.assigner, self.trigger
        return (
            isinstance(assigner, (CountTumblingWindowAssigner, CountSlidingWindowAssigner))
            and type(trigger) is CountTrigger
            and trigger._window_size == assigner._window_size  # noqa: SLF001
        )

    def cleanup_time(self, window: Any) -> int:
        """Return when a window is dropped (ms)."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_TIMESTAMP)
