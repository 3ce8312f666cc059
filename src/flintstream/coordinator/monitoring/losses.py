"""Workers that a job has lost, and what was done about it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING

from flintstream.common._clock import wall_clock

if TYPE_CHECKING:
    from flintstream.coordinator.engine import Loss

KEPT = 16
"""As many as there are errors."""

_log = logging.getLogger(__name__)


class Losses:
    """The last lost workers of a job. One thread adds to them while others may read them."""

    def __init__(self, job_name: str) -> None:
        """Start without any."""
        self._job_name = job_name
        self._last: deque[dict[str, object]] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self.count = 0

    def add(self, loss: Loss, what_follows: str, *, warns: bool = True) -> None:
        """Note a lost worker, and log it unless an error that is logged tells the same."""
        known = {"process": loss.process, "subtask": None if loss.subtask is None else loss.subtask + 1}
        which = ", ".join(f"{name} {number}" for name, number in known.items() if number is not None)
        text = f"lost a worker{which and f' ({which})'}: it {loss.how}; {what_follows}"
        entry = {"process": loss.process, "subtask": loss.subtask, "how": loss.how, "then": what_follows}
        with self._lock:
            self.count += 1
            self._last.append({"at_ms": wall_clock(), **entry, "text": text})
        if warns:
            _log.warning("job '%s' has %s", self._job_name, text)

    def to_json(self) -> list[dict[str, object]]:
        """Return all, the oldest first."""
        with self._lock:
            return [dict(loss) for loss in self._last]
