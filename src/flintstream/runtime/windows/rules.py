"""A program's settings for its windows, which the operator shares with its fast paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.contracts.window import CountSlidingWindowAssigner, CountTrigger, CountTumblingWindowAssigner
from flintstream.runtime.times import MAX_TIMESTAMP

if TYPE_CHECKING:
    from flintstream.contracts.window import Trigger, WindowAssigner


class WindowRules(NamedTuple):
    """Rules for assigning, firing and dropping windows."""

    assigner: WindowAssigner
    trigger: Trigger
    event_time: bool
    lateness: int
    """Time after its end in which a window still accepts records (ms); 0 in processing time."""

    @property
    def purely_counting(self) -> bool:
        """Whether windows fire only when full, and no later record or timer needs them, so that they can be dropped."""
        assigner, trigger = self.assigner, self.trigger
        return (
            isinstance(assigner, (CountTumblingWindowAssigner, CountSlidingWindowAssigner))
            and type(trigger) is CountTrigger
            and trigger._window_size == assigner._window_size > 0
        )

    def cleanup_time(self, window: Any) -> int:
        """Return the time (ms) at which a window is dropped."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_TIMESTAMP)
