"""How long sources may read in an epoch."""

from __future__ import annotations

SHORTEST_MS = 50
"""An epoch costs about this much however little it does."""


class Pace:
    """Keeps epochs as long as they should be when what follows the sources is slower than they are.

    A source ends its part of the epoch after a time; what it has read by then passes through all supersteps that
    follow. Where these take longer, the source is given less time. Without that, checkpoints and processing-time timers
    would have to wait for everything that a fast source could read.

    >>> pace = Pace(1000)
    >>> pace.observe(5000)
    >>> pace.limit_ms
    200
    >>> pace.observe(900), pace.limit_ms
    (None, 400)
    """

    def __init__(self, target_ms: int) -> None:
        """Aim at epochs of ``target_ms``."""
        self.target_ms = max(target_ms, SHORTEST_MS)
        self.limit_ms: int | None = None
        """What sources are given, None for as long as they like."""
        self.last_ms = 0
        """How long the last epoch took."""

    def observe(self, epoch_ms: int) -> None:
        """Learn how long an epoch took."""
        self.last_ms = epoch_ms
        now = self.target_ms if self.limit_ms is None else self.limit_ms
        if epoch_ms > 2 * self.target_ms:
            self.limit_ms = max(SHORTEST_MS, now * self.target_ms // epoch_ms)
        elif epoch_ms < self.target_ms and self.limit_ms is not None:
            self.limit_ms = None if 2 * now >= self.target_ms else 2 * now
